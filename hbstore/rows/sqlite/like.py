r"""LIKE on text cells as SQL over their bytes.

A text's cell is 02, its UTF-8 with 00 written as 00 FF, and a final 00. UTF-8 is self-synchronizing and FF stands in
no character, so that a piece of text is found in another exactly where its bytes are found in the other's bytes:

    abc%      k >= 02 'abc' and k < 02 'abd'
    %xyz      the tag is 02 and the last bytes are 'xyz' 00
    %mid%     the tag is 02 and instr finds 'mid' behind it

A pattern with ``_`` or with more than three pieces becomes the part of that which SQL can say, and is not exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from hbstore.keys.row_key import TAG_VALUE, successor
from hbstore.keys.types import escape
from hbstore.texts.like import ONE, RUN, LikePattern

Parameter: TypeAlias = bytes | int
IS_VALUE: Final = "{0} >= x'02' and {0} < x'03'"
_ENDS: Final = 2
_PIECES: Final = 3


@dataclass(frozen=True, slots=True)
class LikeSql:
    """An SQL condition for a pattern, never NULL where the cell is not; where not exact, true for more cells."""

    sql: str
    parameters: tuple[Parameter, ...]
    exact: bool


def like_sql(pattern: LikePattern, cell: str) -> LikeSql:
    """The condition that a text cell is a value that matches the pattern.

    Args:
        pattern: what to match.
        cell: the cell as SQL.

    Raises:
        UnicodeEncodeError: the pattern has a lone surrogate.
    """
    pieces = _pieces(pattern)
    if any(ONE in piece for piece in pieces):
        return _superset(pieces, cell)
    texts = ["".join(part for part in piece if isinstance(part, str)) for piece in pieces]
    if len(texts) == 1:
        return LikeSql(f"{cell} = ?", (TAG_VALUE + escape(texts[0]),), exact=True)
    if len(texts) > _PIECES:
        return _superset(pieces, cell)
    return _prefix_middle_suffix(texts, cell)


def _pieces(pattern: LikePattern) -> list[list[object]]:
    """What stands between the runs."""
    pieces: list[list[object]] = [[]]
    for part in pattern.parts:
        if part is RUN:
            pieces.append([])
        else:
            pieces[-1].append(part)
    return pieces


def _inner(text: str) -> bytes:
    """The bytes of a text inside of a cell: without the end."""
    return escape(text)[:-1]


def _prefix_middle_suffix(texts: list[str], cell: str) -> LikeSql:
    prefix, suffix = _inner(texts[0]), escape(texts[-1])
    sql, parameters = _prefixed(prefix, cell)
    if texts[-1]:
        sql += f" and length({cell}) >= ? and substr({cell}, ?) = ?"
        parameters += (1 + len(prefix) + len(suffix), -len(suffix), suffix)
    if len(texts) == _ENDS or not texts[1]:
        return LikeSql(f"({sql})", parameters, exact=True)
    middle = _inner(texts[1])
    if len(prefix) == 0 and len(suffix) == 1 and middle[:1] != TAG_VALUE:  # U+0002 would be found in the tag
        return LikeSql(f"({sql} and instr({cell}, ?) > 0)", (*parameters, middle), exact=True)
    sql += f" and instr(substr({cell}, ?, length({cell}) - ?), ?) > 0"
    parameters += (2 + len(prefix), 1 + len(prefix) + len(suffix), middle)
    return LikeSql(f"({sql})", parameters, exact=True)


def _prefixed(prefix: bytes, cell: str) -> tuple[str, tuple[Parameter, ...]]:
    if not prefix:
        return IS_VALUE.format(cell), ()
    return f"{cell} >= ? and {cell} < ?", (TAG_VALUE + prefix, successor(TAG_VALUE + prefix))


def _superset(pieces: list[list[object]], cell: str) -> LikeSql:
    """The literal beginning, and that every other literal is in it somewhere."""
    literals = [_inner(part) for piece in pieces for part in piece if isinstance(part, str)]
    first = literals.pop(0) if pieces[0] and isinstance(pieces[0][0], str) else b""
    sql, parameters = _prefixed(first, cell)
    for literal in dict.fromkeys(literals):
        sql += f" and instr({cell}, ?) > 0"
        parameters += (literal,)
    return LikeSql(f"({sql})", parameters, exact=False)
