"""Strategies for worlds, and for filters on a world that find something now and then."""

from __future__ import annotations

from itertools import islice, product

from hypothesis import strategies as st

from hbstore.filters.tree import Between, Comparison, Holds, In, IsNull, Like, Operator, StructIn
from hbstore.keys.row_key import NULL_PARTITION, fits
from hbstore.keys.types import DateType, IntegerType, StringType, TimestampType
from hbstore.texts.like import parse_like
from tests import strategies
from tests.exactness.computed import ANSWERS, Computed
from tests.exactness.literals import literals
from tests.exactness.worlds import World
from tests.filters.strategies import time_ranges, trees

_NAMES = ("p0", "Größe", "and", "a b", "1st", "dt", "q`r", "Hour", "İ")
_WILDCARDS = ("%", "_", "%", "\\%", "a", "")

small_numbers = st.integers(-3, 6).map(str)
days = st.integers(1, 9).map(lambda day: f"2013-01-0{day}")
moments = days | st.integers(0, 9).map(lambda second: f"2013-01-01 00:00:0{second}")
times = st.sampled_from(
    (
        *("2012-W52", "2013", "2013-01", "2013-01-01", "2013-01-01-00", "2013-01-01-05", "2013-01-02", "2013-W01"),
        *("2013-W02", "2013-01-09-00-00-30", "2013-12-31", "2014-W01", "2014", "2014-01-01-00", "2013-W", "2013-1"),
    )
)
ends_of_ranges = st.sampled_from(
    (
        *("0001", "0003", "0006-02", "2012-12-31", "2013", "2013-01-01-00:00:05", "2013-01-01-00:00:05,500"),
        *("2013-01-03", "2013-01-07", "2013-12-30", "2014", "2014-01-01-06", "9999-12-31-23:59:59,999"),
    )
)
"""Of time ranges."""

words = st.text(st.sampled_from("ab%_\\'\"\0\U0010ffff"), max_size=3)


def _dense(kind):
    """Texts of few values that lie close together, some of which have other spellings."""
    spellings = _SPELLINGS.get(kind.partition("(")[0], ("{} ", "\t{}"))
    texts = _values(kind)
    if kind.startswith(("string", "varchar", "char")):
        return texts
    return texts | texts | st.builds(str.format, st.sampled_from(spellings), texts)


_SPELLINGS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), ("{}.0", "{}.5", " {}")),
    "date": ("{} 00:00:00", "{}T", " {}"),
}


def _values(kind):
    if kind.startswith("date"):
        return days
    if kind.startswith("timestamp"):
        return moments
    if kind.startswith(("string", "varchar", "char")):
        texts = words.map(lambda text: text[:3])
        return texts | times if kind == "string" else texts
    if kind == "boolean":
        return st.sampled_from(("true", "FALSE"))
    return st.sampled_from(("0", "0.0", "0.1")) if kind == "decimal(38,38)" else small_numbers


@st.composite
def worlds(draw, max_columns=4):
    """Tables that are dense, as real ones are: most combinations of a few values for each column."""
    names = draw(
        st.lists(st.sampled_from(_NAMES), min_size=1, max_size=max_columns, unique_by=lambda name: name.lower())
    )
    columns = [(name, draw(st.sampled_from(strategies.TYPE_TEXTS))) for name in names]
    pools = []
    for _, kind in columns:
        text = st.one_of(
            _dense(kind), _dense(kind), strategies.texts(strategies.parse_type(kind)), st.just(NULL_PARTITION)
        )
        pool = draw(st.lists(text, min_size=1, max_size=12 if len(names) < 3 else 5))
        if draw(st.booleans()):  # in a column without them a value is a single key
            pool = [one for one in pool if not _is_respelled(strategies.parse_type(kind), one)] or [NULL_PARTITION]
        pools.append(pool)
    partitions = list(islice(product(*pools), 150))
    holes = draw(st.sets(st.integers(0, len(partitions) - 1), max_size=min(12, len(partitions) - 1)))
    return World.of(columns, [values for at, values in enumerate(partitions) if at not in holes])


def _is_respelled(kind, text):
    return kind.width is not None and not fits(kind, text) and kind.read(text) is not None


def filters(world):
    """Trees of conditions on the world's columns."""
    return trees(st.one_of(*[_leaves(world, at) for at in range(len(world.columns))], _struct_ins(world)), max_leaves=8)


def _leaves(world, at):
    name, kind, texts = world.names[at], world.kinds[at], world.texts(at)
    column, literal, negated = st.just(name), literals(kind, texts), st.booleans()
    comparison = st.builds(Comparison, column, st.sampled_from(Operator), literal)
    found = [
        comparison,
        comparison,
        st.builds(Between, column, literal, literal, negated),
        st.builds(In, column, st.lists(literal, min_size=1, max_size=6).map(tuple), negated),
        st.builds(Like, column, _patterns(kind, texts), negated),
        st.builds(IsNull, column, negated),
        st.builds(Holds, column, st.builds(Computed, st.just(kind), st.integers(0, 2), st.sampled_from(ANSWERS))),
    ]
    if isinstance(kind, DateType | TimestampType | StringType | IntegerType):
        found += [time_ranges(column, ends_of_ranges, st.nothing())] * 2
    return st.one_of(found)


@st.composite
def _struct_ins(draw, world):
    chosen = draw(st.lists(st.integers(0, len(world.columns) - 1), min_size=1, max_size=3))
    row = st.tuples(*[literals(world.kinds[at], world.texts(at)) for at in chosen])
    rows = draw(st.lists(row, min_size=1, max_size=4))
    return StructIn(tuple(world.names[at] for at in chosen), tuple(rows), draw(st.booleans()))


def _patterns(kind, texts):
    """Texts of the column with wildcards in place of some of their characters."""

    def with_wildcard(text, start, length, wildcard, dialect):
        start = min(start, len(text))
        return parse_like(f"{text[:start]}{wildcard}{text[start + length :]}", dialect)

    some = st.sampled_from(texts) | strategies.valid_texts(kind)
    cut = st.integers(0, 10), st.sampled_from((0, 1, 1, 2, 100))
    sql = st.builds(with_wildcard, some, *cut, st.sampled_from(_WILDCARDS), st.just("sql"))
    hive = st.builds(with_wildcard, some, *cut, st.sampled_from((".*", ".", "")), st.just("hive2"))
    return sql | hive
