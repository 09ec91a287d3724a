"""Several facts for measures that no fact has together, against a search through all ways to deal measures out."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from hbstore.cubes.logical_tables import Column
from hbstore.cubes.query.blocks import best_blocks
from hbstore.cubes.query.ranges import ConditionRange
from hbstore.cubes.query.rates import Rates
from hbstore.timelines import UpdatePeriod
from hbstore.timelines.runs import Runs
from tests.cubes.query.test_choice import cost_of, least, source
from tests.cubes.small_cube import CUBE, fact, opened, partitions

PERIODS = [UpdatePeriod.HOURLY, UpdatePeriod.DAILY, UpdatePeriod.WEEKLY]
HOUR, DAY = UpdatePeriod.HOURLY, UpdatePeriod.DAILY
HOUR_LENGTH = HOUR.moment(1) - HOUR.moment(0)
FIRST = DAY.parse_index("2015-01-01")


@dataclass(eq=False)
class Table:
    """A storage table: its sources, and the measures that are right only in the first of its days."""

    sources: list
    short: frozenset
    columns: dict = field(default_factory=dict)

    def __post_init__(self):
        self.columns = {name: Column(name=name, type="int", end_time="2015-01-04") for name in self.short}

    def own_columns(self, fields):
        return frozenset(fields).intersection(self.columns)

    def of(self, names):
        """The sources for some measures."""
        if not self.short & set(names):
            return self.sources
        end = DAY.moment(FIRST + 3)
        return [
            source(
                one.table,
                one.period,
                [
                    at
                    for at in range(one.period.floor_index(DAY.moment(FIRST - 7)), one.period.floor_index(end))
                    if any(True for _ in one.ranges(at, at + 1))
                ],
                one.weight,
                one.rate,
            )
            for one in self.sources
        ]


@dataclass
class Needs:
    """What `best_blocks` asks of the needs of a query."""

    aggregates: list
    stretches: list
    by = SimpleNamespace(column="dt")

    @staticmethod
    def sources(candidate, aggregates, _):
        return candidate.of({name for aggregate in aggregates for name in aggregate.needed(candidate)})


def aggregate(name, **elsewhere):
    """An aggregate of a measure, which some tables hold in another column."""
    return SimpleNamespace(needed=lambda candidate: frozenset({elsewhere.get(candidate.sources[0].table, name)}))


@st.composite
def worlds(draw, most):
    """Some tables, the stretches that are asked for, and which tables have each of some measures."""
    tables = []
    for number in range(draw(st.integers(1, 4))):
        sources = []
        for place in range(draw(st.integers(1, 2))):
            period = draw(st.sampled_from(PERIODS))
            first, last = period.floor_index(DAY.moment(FIRST - 1)), period.ceil_index(DAY.moment(FIRST + 16))
            holes = draw(st.sets(st.integers(first, min(last, first + 40)), max_size=draw(st.sampled_from([0, 2, 6]))))
            weight, rate = draw(st.sampled_from([0.0, 0.5, 2.0])), draw(st.sampled_from([0, 0, 3]))
            sources.append(source(f"t{number}.{place}", period, set(range(first, last)) - holes, weight, rate))
        tables.append(
            Table(sources, frozenset(draw(st.sets(st.sampled_from("abc"), max_size=draw(st.sampled_from([0, 1, 2]))))))
        )
    names = "abcdefgh"[: draw(st.integers(1, most))]
    aggregates = [aggregate(name) for name in names]
    some = st.one_of(st.just(frozenset(tables)), st.frozensets(st.sampled_from(tables), min_size=1))
    able = {at: draw(some) for at in range(len(names))}
    ends = sorted(draw(st.sets(st.integers(0, 15 * 24), min_size=2, max_size=4)))
    hour = UpdatePeriod.HOURLY
    pairs = zip(ends[::2], ends[1::2], strict=False)
    stretches = [
        ConditionRange(hour.moment(FIRST * 24 + start), hour.moment(FIRST * 24 + stop), {}) for start, stop in pairs
    ]
    return tables, aggregates, able, stretches


def partitions_of(numbers):
    """All ways to divide numbers into sets."""
    if not numbers:
        yield []
        return
    first, *rest = numbers
    for found in partitions_of(rest):
        yield [[first], *found]
        for at in range(len(found)):
            yield [*found[:at], [first, *found[at]], *found[at + 1 :]]


def naive_cost(tables, aggregates, able, stretches, dealt, *, partial=False):
    """What it costs to deal measures out so; None if no table has a set.

    All periods lie within each other, so what partitions can answer of some hours is what lies in one of them.
    """
    sources_of = []
    for numbers in dealt:
        common = [table for table in tables if all(table in able[number] for number in numbers)]
        if not common:
            return None
        own = [aggregates[number] for number in numbers]
        sources_of.append([each for table in common for each in Needs.sources(table, own, 0)])
    asked = [frozenset(range(HOUR.floor_index(one.start), HOUR.floor_index(one.stop))) for one in stretches]
    read = [[covered(hours, sources) for hours in asked] for sources in sources_of]
    there = [frozenset.intersection(*(one[at] for one in read)) for at in range(len(asked))]
    total = [HOUR_LENGTH * (sum(map(len, asked)) - sum(map(len, there))), len(dealt), 0, 0, 0]
    while partial and any(one != there for one in read):
        read = [[covered(hours, sources) for hours in there] for sources in sources_of]
        there = [frozenset.intersection(*(one[at] for one in read)) for at in range(len(asked))]
        total[0] = HOUR_LENGTH * (sum(map(len, asked)) - sum(map(len, there)))
    for sources, of_block in zip(sources_of, read, strict=True):
        for hours in of_block:
            for start, stop in Runs.of(sorted(hours)):
                cost = least(HOUR.moment(start), HOUR.moment(stop), sources)
                assert not cost[0]
                total[2:] = [sum(pair) for pair in zip(total[2:], cost[1:], strict=True)]
    return tuple(total)


def covered(hours, sources):
    """The hours of which some partition lies within these hours."""
    there = set()
    for one in sources if hours else ():
        period = one.period
        first, last = period.floor_index(HOUR.moment(min(hours))), period.ceil_index(HOUR.moment(max(hours) + 1))
        for low, high in one.ranges(first, last):
            for at in range(low, high):
                own = range(HOUR.floor_index(period.moment(at)), HOUR.floor_index(period.moment(at + 1)))
                there.update(own if hours.issuperset(own) else ())
    return frozenset(there)


def missing_hours(block):
    spans = (map(HOUR.floor_index, span) for choice in block.choices for span in choice.missing)
    return {at for span in spans for at in range(*span)}


def check(tables, able, cost, blocks):
    """That blocks are an answer, and cost what they say."""
    assert sorted(number for block in blocks for number in block.aggregates) == sorted(able)
    missing = set().union(*map(missing_hours, blocks))
    total = [HOUR_LENGTH * len(missing), len(blocks), 0, 0, 0]
    for block in blocks:
        assert list(block.candidates) == [
            table for table in tables if all(table in able[number] for number in block.aggregates)
        ]
        for choice in block.choices:
            own = cost_of(choice)
            total[2:] = [sum(pair) for pair in zip(total[2:], own[1:], strict=True)]
    assert cost == tuple(total)


@given(worlds(4), st.booleans())
def test_no_other_way_to_deal_measures_out_costs_less(world, partial):
    tables, aggregates, able, stretches = world
    cost, blocks = best_blocks(Needs(aggregates, stretches), able, tables, Rates(), partial=partial)
    check(tables, able, cost, blocks)
    costs = [naive_cost(*world, dealt, partial=partial) for dealt in partitions_of(sorted(able))]
    assert cost == min(one for one in costs if one is not None)


@given(worlds(8))
def test_many_measures_are_answered_whenever_they_can_be(world):
    tables, aggregates, able, stretches = world
    cost, blocks = best_blocks(Needs(aggregates, stretches), able, tables, Rates(), partial=False)
    check(tables, able, cost, blocks)
    alone = naive_cost(*world, [[number] for number in able])
    assert (cost[0] == 0) == (alone[0] == 0)
    assert cost <= alone


@given(worlds(8))
def test_a_partial_answer_of_several_facts_is_of_the_same_times(world):
    tables, aggregates, able, stretches = world
    cost, blocks = best_blocks(Needs(aggregates, stretches), able, tables, Rates(), partial=True)
    check(tables, able, cost, blocks)
    assert all(missing_hours(block) == missing_hours(blocks[0]) for block in blocks)
    alone = naive_cost(*world, [[number] for number in able], partial=True)
    assert cost <= alone


def test_facts_that_have_both_measures_but_each_only_one_of_them_in_time():
    """Neither fact has both measures in January; together they have them."""
    early, late = ({}, {"start_time": "2015-02-01"})
    with opened(*CUBE) as cubes:
        for name, fares, minutes in (("fares", early, late), ("durations", late, early)):
            columns = Column(name="fare", type="double", **fares), Column(name="minutes", type="bigint", **minutes)
            cubes.create(fact(name, "fare minutes").changed(columns=columns))
            cubes.add_partitions(name, "lake", partitions("DAILY", [f"2015-01-{day:02}" for day in range(1, 32)]))
        month = "time_range_in(start_time, '2015-01', '2015-02')"
        found = cubes.rewrite(f"cube select fare, minutes from rides where {month}")
    assert {table: len(some) for table, some in found.partitions.items()} == {"lake_fares": 31, "lake_durations": 31}
    sql = " ".join(found.sql.split())
    assert "SELECT `fare`, NULL AS `minutes`, TRUE AS `block 0`, FALSE AS `block 1` FROM `shop`.`lake_fares`" in sql
    assert "SELECT NULL AS `fare`, `minutes`, FALSE AS `block 0`, TRUE AS `block 1` FROM `shop`.`lake_durations`" in sql


def test_the_number_of_blocks_comes_before_weight():
    hours = [source("t", DAY, range(FIRST, FIRST + 3), weight) for weight in (9.0, 1.0, 1.0)]
    both, one, other = (Table([each], frozenset()) for each in hours)
    aggregates = [aggregate(name) for name in "ab"]
    able = {0: frozenset({both, one}), 1: frozenset({both, other})}
    stretch = ConditionRange(DAY.moment(FIRST), DAY.moment(FIRST + 3), {})
    cost, blocks = best_blocks(Needs(aggregates, [stretch]), able, [both, one, other], Rates(), partial=False)
    assert [block.aggregates for block in blocks] == [(0, 1)]
    assert cost[:3] == (0, 1, Fraction(9 * (stretch.stop - stretch.start)))


def test_tables_that_hold_measures_in_other_columns_for_some_time():
    one, other = (
        Table([source(name, DAY, range(FIRST, FIRST + 9))], frozenset({short}))
        for name, short in (("t", "x"), ("u", "y"))
    )
    aggregates = [aggregate("a", t="x"), aggregate("b", u="y")]
    able = dict.fromkeys((0, 1), frozenset({one, other}))
    stretch = ConditionRange(DAY.moment(FIRST), DAY.moment(FIRST + 9), {})
    cost, blocks = best_blocks(Needs(aggregates, [stretch]), able, [one, other], Rates(), partial=False)
    assert cost[0] == 0
    assert [[run.source.table for run in block.choices[0].runs] for block in blocks] == [["t", "u"], ["t"]]
