"""Random filters on a world, made to meet its values: at them, right beside them, and far away."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal

from hbstore.filters.tree import (
    And,
    Between,
    Boolean,
    Comparison,
    Date,
    In,
    Integer,
    IsNull,
    Like,
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
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import BooleanType, DateType, DecimalType, FloatType, IntegerType, StringType, TimestampType
from hbstore.texts.like import parse_like
from tests.exactness.literals import beside_float
from tests.fuzz.values import WORDS, valid_text

_OPERATORS = tuple(Operator)
_TIMES = (
    *("0001", "0002-06", "0012", "0101", "2012-12-30", "2013", "2013-01-02", "2013-01-01-00:00:11", "2013-01-20"),
    *("2013-01-01-00:00:00,500", "2013-12-30", "2014", "9999-12-31-23:59:59,999"),
)
_DAY = dt.date(1970, 1, 1)
_HUGE = (2**31, -(2**31) - 1, 2**63, -(2**63), -(2**63) - 1, 10**30, -(10**30), 128, 300)


def random_tree(random, world, depth=3):
    """A tree of random shape; one leaf in three is alone."""
    kind = random.random()
    if depth == 0 or kind < 0.25:
        return random_leaf(random, world)
    if kind < 0.35:
        return random_box(random, world)
    if kind < 0.45:
        return Not(random_tree(random, world, depth - 1))
    node = And if kind < 0.72 else Or
    return joined(node, [random_tree(random, world, depth - 1) for _ in range(random.choice((2, 2, 3, 5)))])


def random_box(random, world):
    """One condition on each of some columns, as most filters of real queries are."""
    chosen = [at for at in range(len(world.columns)) if random.random() < 0.8]
    leaves = [random.choice((random_leaf, random_narrow))(random, world, at) for at in chosen]
    return joined(And, leaves) if leaves else random_leaf(random, world)


def random_narrow(random, world, at):
    """One value of a column, or a range that holds few of them."""
    low = random_literal(random, world, at)
    if random.random() < 0.4 or not isinstance(low, Integer | Date):
        return Comparison(world.names[at], Operator.EQ, low)
    width = random.choice((1, 1, 2, 3, 10))
    if isinstance(low, Integer):
        return Between(world.names[at], low, Integer(low.value + width))
    ordinal = min(low.value.toordinal() + width, dt.date.max.toordinal())
    return Between(world.names[at], low, Date(dt.date.fromordinal(ordinal)))


def random_leaf(random, world, at=None):  # noqa: PLR0911  one for each kind of leaf
    """One condition on one column, or on several as a struct."""
    at = random.randrange(len(world.columns)) if at is None else at
    name, negated = world.names[at], random.random() < 0.3
    kind = random.random()

    def literal():
        return random_literal(random, world, at)

    if kind < 0.05 and isinstance(world.kinds[at], DateType | TimestampType | IntegerType | StringType):
        return random_time_range(random, world, at)
    if kind < 0.45:
        return Comparison(name, random.choice(_OPERATORS), literal())
    if kind < 0.6:
        return Between(name, literal(), literal(), negated)
    if kind < 0.75:
        return In(name, tuple(literal() for _ in range(random.choice((1, 2, 3, 8, 20)))), negated)
    if kind < 0.85:
        return Like(name, random_pattern(random, world, at), negated)
    if kind < 0.9:
        return IsNull(name, negated)
    return _struct_in(random, world, negated=negated)


def random_time_range(random, world, at):
    """Between two of the column's times, or others near the tables' days."""
    texts = [random.choice(world.partitions)[at] for _ in range(4)]
    times = [text for text in texts if re.fullmatch(r"[1-9][0-9]{3}(-01(-0[1-9](-05)?)?)?", text)]
    start, end = sorted(random.choice((*times, *_TIMES)) for _ in range(2))
    return TimeRangeIn(world.names[at], start, end)


def _struct_in(random, world, *, negated):
    columns = [random.randrange(len(world.columns)) for _ in range(random.choice((1, 2, 2, 3)))]
    rows = [tuple(random_literal(random, world, at) for at in columns) for _ in range(random.choice((1, 2, 5)))]
    return StructIn(tuple(world.names[at] for at in columns), tuple(rows), negated)


def random_literal(random, world, at):
    """A literal that the column's type converts exactly."""
    kind = world.kinds[at]
    if random.random() < 0.05:
        return Text(NULL_PARTITION)
    text = random.choice(world.partitions)[at]
    value = None if text == NULL_PARTITION else _parsed(kind, text)
    if value is None or random.random() < 0.2:
        text = valid_text(random, kind)
        value = kind.parse(text)
    if random.random() < 0.4:
        return Text(text)
    return _beside(random, kind, text, value)


def _parsed(kind, text):
    try:
        return kind.parse(text)
    except ValueError:
        return None


def _beside(random, kind, text, value):  # noqa: PLR0911  one for each type
    step = random.choice((-1, 0, 0, 1))
    if isinstance(kind, IntegerType):
        number = random.choice(_HUGE) if random.random() < 0.1 else value + step
        return Number(Decimal(f"{number}.00")) if random.random() < 0.1 else Integer(number)
    if isinstance(kind, DecimalType):
        if random.random() < 0.2:
            return Integer(random.choice((*_HUGE, int(value), int(value) + step)))
        return Number(value.normalize() + step * Decimal(1).scaleb(-kind.scale - random.choice((0, 1, 5))))
    if isinstance(kind, DateType):
        day = dt.date.fromordinal(min(max(value.toordinal() + step, 1), dt.date.max.toordinal()))
        return Date(day) if random.random() < 0.7 else Timestamp(((day - _DAY).days * 86_400, 0))
    if isinstance(kind, TimestampType):
        if random.random() < 0.3:
            return Date(_DAY + dt.timedelta(days=value[0] // 86_400))
        return Timestamp((value[0] + step, random.choice((value[1], 0, 999_999_999))))
    if isinstance(kind, BooleanType):
        return Boolean(value)
    if isinstance(kind, FloatType):
        return Number(random.choice(beside_float(kind, value))) if math.isfinite(value) else Text(text)
    return Text(random.choice((text, f"{text}\0", text[:-1], f"{text}a", random.choice(WORDS))))


def random_pattern(random, world, at):
    """A value's text with wildcards in place of some of its characters."""
    kind = world.kinds[at]
    text = random.choice(world.partitions)[at]
    value = None if text == NULL_PARTITION else _parsed(kind, text)
    text = text if value is None else kind.text(value)
    dialect, wildcards = random.choice((("sql", ("%", "%", "_", "", "\\%", "\\")), ("hive2", (".*", ".*", ".", ""))))
    for _ in range(random.choice((0, 1, 1, 2))):
        start = random.randint(0, len(text))
        text = text[:start] + random.choice(wildcards) + text[start + random.choice((0, 0, 1, 2, 99)) :]
    return parse_like(text, dialect)
