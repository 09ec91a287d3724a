"""How tables name the fields of Java's objects."""

from __future__ import annotations

from typing import TypeAlias

Fields: TypeAlias = tuple[tuple[str, str], ...]
"""Names and kinds: an ``object`` has its class before it, all others are known without; what is ``absent`` is null."""
