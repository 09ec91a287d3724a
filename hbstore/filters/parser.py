"""Filter text to ExpressionTree.

    text -- scanner --> shape and values -- compiler (cached by shape) --> program -- run on the values --> tree

How long a filter takes whose shape is known, and one of a new shape: two terms 10 µs and 50 µs, 200 triples
joined by OR 2 ms and 8 ms, 5,000 equalities 15 ms and 70 ms.
"""

from __future__ import annotations

from typing import Final

from hbstore.errors import FilterTooLarge
from hbstore.filters.compiler import ShapeError, compile_shape, expected_after, language
from hbstore.filters.diagnosis import Diagnosis
from hbstore.filters.programs import TimeRangeError, UnevenRowError
from hbstore.filters.scanner import LITERAL_KINDS, Scan, TokenKind, fold
from hbstore.filters.tree import ExpressionTree
from hbstore.texts.arguments import expect
from hbstore.texts.like import LikeDialect

MAX_FILTER_LENGTH: Final = 4 * 1024 * 1024
"""Characters; room for MAX_FILTER_TERMS terms of 40 characters."""

MAX_FILTER_TERMS: Final = 100_000
"""Literals, or columns if those are more: each comparison and each value of an IN list is a term."""

MAX_FILTER_DEPTH: Final = 10_000
"""Parentheses and NOTs around one place."""

_SHORTER: Final = "Write ranges (BETWEEN) in place of long lists, or split the query"
_DEEPENING: Final = (TokenKind.OPEN, TokenKind.STRUCT, TokenKind.TIME_RANGE_IN, TokenKind.NOT)


def parse_filter(text: str | None, like_dialect: LikeDialect = "sql") -> ExpressionTree | None:
    """The tree of a filter; None, which means all partitions, for None and for blank text. O(text).

    Args:
        text: the filter; docs/filter-language.md says what may stand in it.
        like_dialect: how LIKE patterns are written: ``sql`` (``%``, ``_``) or ``hive2`` (``.*``, ``.``).

    Raises:
        InvalidInput: it is neither a text nor None.
        FilterSyntaxError: the text is not a filter; the error says where and what was expected.
        InvalidTimeRange: a time range whose ends are both written out ends before it begins.
        FilterTooLarge: the text is longer, has more terms or is nested deeper than the caps above.

    >>> parse_filter("ds = '2013-01-01'")
    <Comparison ds = '2013-01-01'>
    >>> print(parse_filter("10 < HOUR and (region) in ('eu', 'us')"))
    HOUR > 10 and region in ('eu', 'us')
    >>> print(parse_filter("ds like '2013-.*'", like_dialect="hive2"))
    ds like '2013-%'
    """
    if text is None:
        return None
    expect("text", text, str, hint='Give a text, such as "hour = 5", or None')
    if not text or text.isspace():
        return None
    if len(text) > MAX_FILTER_LENGTH:
        raise FilterTooLarge("the filter is too long", characters=len(text), limit=MAX_FILTER_LENGTH, hint=_SHORTER)
    kinds, texts = language().scanner.cut(text)
    if len(kinds) > MAX_FILTER_DEPTH:  # a filter of fewer tokens passes both caps
        _check_caps(kinds)
    scan = fold(kinds, texts)
    try:
        return compile_shape(scan.shape).run(scan.values, like_dialect)
    except ShapeError as error:
        raise Diagnosis(text).unexpected(*_fault(error, kinds, scan)) from None
    except UnevenRowError as error:
        raise Diagnosis(text).uneven_row(scan.token_number(error.token), error.columns) from None
    except TimeRangeError as error:
        raise Diagnosis(text).bad_time_range(scan.token_number(error.token)) from None
    except ValueError:
        fault = Diagnosis(text).bad_literal()
        if fault is None:
            raise
        raise fault from None


def _fault(error: ShapeError, kinds: str, scan: Scan) -> tuple[int, frozenset[str]]:
    """The token that does not fit, and what would.

    Where one literal could stand and a list does, all of which is one token of the shape, it is the first comma.
    """
    token = scan.token_number(error.token)
    if token < len(kinds) and TokenKind(kinds[token]).name in error.expected:
        return token + 1, expected_after(scan.shape[: error.token] + kinds[token])
    return token, error.expected


def _check_caps(kinds: str) -> None:
    terms = max(sum(map(kinds.count, LITERAL_KINDS)), kinds.count(TokenKind.NAME))
    if terms > MAX_FILTER_TERMS:
        raise FilterTooLarge("the filter has too many terms", terms=terms, limit=MAX_FILTER_TERMS, hint=_SHORTER)
    if sum(map(kinds.count, _DEEPENING)) > MAX_FILTER_DEPTH and _is_too_deep(kinds):
        hint = "AND and OR join any number of conditions without parentheses"
        raise FilterTooLarge("the filter is nested too deeply", limit=MAX_FILTER_DEPTH, hint=hint)


def _is_too_deep(kinds: str, limit: int = MAX_FILTER_DEPTH) -> bool:
    """Whether more parentheses and NOTs than the limit stand around one token. O(tokens).

    >>> _is_too_deep("!(c=s&!!(c!E(s)))", limit=5)  # not (c = s and not not (c not in (s)))
    True
    >>> _is_too_deep("!(c=s&!!(c!E(s)))", limit=6)
    False
    """
    depth = nots = 0
    opened: list[int] = []
    before = ""
    for kind in kinds:
        if kind in "(ST":  # a parenthesis ends together with the NOTs in front of it
            opened.append(nots + 1)
            depth += nots + 1
            nots = 0
        elif kind == ")":
            depth -= opened.pop() if opened else 0
        elif kind == "!" and before not in ("c", ")"):  # else it is that of NOT IN
            nots += 1
        else:
            nots = 0
        if depth + nots > limit:
            return True
        before = kind
    return False
