"""Programs that run without what Linux has and macOS has not; `sitecustomize` hides it from them."""

from __future__ import annotations

import os
from pathlib import Path

PATH = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[2])])
"""The PYTHONPATH of such a program."""
