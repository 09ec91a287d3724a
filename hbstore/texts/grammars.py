"""Where the grammars are: inside an installed hbstore, or at the top level of a checkout."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2] / "grammar"


def grammar_text(name: str) -> str:
    """The text of a grammar, such as ``filter.lark``.

    Raises:
        FileNotFoundError: hbstore was installed without its grammars.

    >>> grammar_text("filter.lark").startswith("// The partition filter language")
    True
    """
    packaged = files("hbstore") / "grammar" / name
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (_CHECKOUT / name).read_text(encoding="utf-8")
