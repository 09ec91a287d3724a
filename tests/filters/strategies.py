"""Hypothesis strategies for filters, shared with the other rooms' tests.

`trees` makes trees as the parser would: no And in an And, no Or in an Or, texts with at most one kind of quote.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from hypothesis import strategies as st

from hbstore.filters.tree import (
    And,
    Between,
    Boolean,
    Comparison,
    Date,
    ExpressionTree,
    In,
    Integer,
    IsNull,
    Like,
    Literal,
    Not,
    Number,
    Operator,
    Or,
    StructIn,
    Text,
    TimeRangeIn,
    Timestamp,
    joined,
)
from hbstore.texts.like import parse_like

KEYWORD_LIKE = [
    *("and", "AND", "or", "not", "in", "like", "between", "is", "null", "true", "false"),
    *("date", "DATE", "timestamp", "struct", "const", "e", "E1", "_", "ıs", "iſ", "li\u212ae"),
]

texts = st.text(max_size=12).filter(lambda text: not ("'" in text and '"' in text))
columns = (
    st.sampled_from(["ds", "hour", "Region", "größe", "_x1"]) | st.sampled_from(KEYWORD_LIKE) | st.text(min_size=1)
)
seconds = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(  # noqa: DTZ001
    lambda moment: (moment - datetime(1970, 1, 1)).days * 86_400 + moment.hour * 3600 + moment.second  # noqa: DTZ001
)
decimals = st.decimals(allow_nan=False, allow_infinity=False) | st.integers().map(Decimal)

literals: st.SearchStrategy[Literal] = st.one_of(
    texts.map(Text),
    st.integers().map(Integer),
    decimals.map(Number),
    st.booleans().map(Boolean),
    st.dates().map(Date),
    st.tuples(seconds, st.integers(0, 999_999_999)).map(Timestamp),
)


@st.composite
def struct_ins(draw: st.DrawFn, columns: st.SearchStrategy[str], literals: st.SearchStrategy[Literal]) -> StructIn:
    names = draw(st.lists(columns, min_size=1, max_size=3))
    row = st.tuples(*[literals for _ in names])
    return StructIn(tuple(names), tuple(draw(st.lists(row, min_size=1, max_size=4))), draw(st.booleans()))


absolute_times = st.builds(
    lambda time, length: time.isoformat()[:length].replace("T", "-"),
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), allow_imaginary=False),  # noqa: DTZ001
    st.sampled_from((4, 7, 10, 13, 16, 19)),
)
relative_times = st.builds(
    "{}{}{}".format,
    st.sampled_from(("now", "NOW", " now.day", "now.quarter", "Now.Week")),
    st.sampled_from(("", "-3days", " + 1 month", "-1year+2hours")),
    st.sampled_from(("", " ")),
)


def time_ranges(
    columns: st.SearchStrategy[str],
    times: st.SearchStrategy[str] = absolute_times,
    others: st.SearchStrategy[str] = relative_times,
) -> st.SearchStrategy[TimeRangeIn]:
    """Time ranges whose ends are in order where both are written out."""
    absolute = st.tuples(times, times).map(sorted)
    mixed = st.tuples(times | others, others) | st.tuples(others, times)
    return st.builds(lambda column, ends: TimeRangeIn(column, *ends), columns, absolute | mixed)


def leaves(
    columns: st.SearchStrategy[str] = columns, literals: st.SearchStrategy[Literal] = literals
) -> st.SearchStrategy[ExpressionTree]:
    """Conditions on the given columns with the given literals."""
    negated = st.booleans()
    patterns = texts.map(lambda text: parse_like(text, "sql"))
    return st.one_of(
        st.builds(Comparison, columns, st.sampled_from(Operator), literals),
        st.builds(Between, columns, literals, literals, negated),
        st.builds(In, columns, st.lists(literals, min_size=1, max_size=5).map(tuple), negated),
        struct_ins(columns, literals),
        st.builds(Like, columns, patterns, negated),
        st.builds(IsNull, columns, negated),
        time_ranges(columns),
    )


def trees(
    leaves: st.SearchStrategy[ExpressionTree] | None = None, max_leaves: int = 12
) -> st.SearchStrategy[ExpressionTree]:
    """Trees over the given leaves."""

    def larger(children: st.SearchStrategy[ExpressionTree]) -> st.SearchStrategy[ExpressionTree]:
        several = st.lists(children, min_size=2, max_size=4)
        return st.one_of(
            several.map(lambda parts: joined(And, parts)),
            several.map(lambda parts: joined(Or, parts)),
            children.map(Not),
        )

    return st.recursive(_LEAVES if leaves is None else leaves, larger, max_leaves=max_leaves)


_LEAVES = leaves()

_FRAGMENTS = [
    *("ds", "hour", "`b c`", "`a``b`", "and", "or", "not", "in", "like", "between", "is", "null", "true", "AND", "Or"),
    *("time_range_in", "TIME_RANGE_IN(", "time_range_in(ds, ", "'2019'", "'now.day'", "'now-1dy'"),
    *("date", "timestamp", "struct", "const struct(", "struct(", "(", ")", ",", "=", "==", "!=", "<>", "<=", ">"),
    *("!", "&&", "||", ";", ".", "+", "-", "%", "'", '"', "`", "\\", "\n", "\t", "'x'", '"y"', "'it''s'"),
    *("5", "-7", "+3", "10.5", "1e3", ".5", "5.", "10x", "1e", "2019-01-01", "2019-13-45", "date '2019-01-01'"),
    *('DATE "2019-1-1"', "timestamp '2019-01-01 00:00:00'", "timestamp 'x'", "timestamp 2019-01-01 00:00:00"),
]
garbage = st.one_of(
    st.text(),
    st.lists(st.sampled_from(_FRAGMENTS), max_size=30).map(" ".join),
    st.lists(st.sampled_from(_FRAGMENTS), max_size=30).map("".join),
)
"""Texts that are hardly ever filters."""
