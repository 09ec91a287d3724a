"""What to do where stored bytes do not decode."""

from __future__ import annotations

from typing import Final

RESTORE: Final = "Restore the store from a backup; `hbstore check` lists what else is damaged"
"""The hint of errors about rows that nothing can be made of."""
