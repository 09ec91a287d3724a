"""Whether the facts of a random star can answer a query, found out by hand: what each item needs, and which partitions
lie one behind the other.

What items need is written down here, and not derived from what the query's text means. A query is answerable if for
each of its aggregates the partitions of some storage tables, which have all that it needs, divide the time that is
asked for; each of several aggregates may have tables of its own.
"""

# ruff: noqa: DTZ001  times have no time zone, as in the queries

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from hbstore.timelines import UpdatePeriod
from hbstore.timelines.declaration import PARTITION_UPDATE_PERIOD
from tests.cubes.query.star_model import BEGIN, END
from tests.cubes.query.stars import World

HOUR = dt.timedelta(hours=1)
ANY, RAW = "any rows", "rows that are not rolled up"
HOURLY, DAILY, WEEKLY, MONTHLY = "HOURLY", "DAILY", "WEEKLY", "MONTHLY"


@dataclass(frozen=True)
class Item:
    """A part of a query, and what it needs.

    Attributes:
        text: as it is written.
        aggregates: for each aggregate the measures, the attributes, and which rows will do.
        attributes: what all rows have to have.
        periods: update periods whose partitions tell the time as precisely as the item asks, where rows do not.
        border: when the definition of the item changes.
    """

    text: str
    aggregates: Sequence[tuple[str, str, str]] = ()
    attributes: str = ""
    periods: tuple[str, ...] = ()
    border: dt.datetime | None = None


MEASURES = [
    *(Item(name, [(name, "", ANY)]) for name in ("revenue", "n", "low", "high")),
    Item("sum(revenue)", [("revenue", "", ANY)]),
    Item("max(revenue)", [("revenue", "", RAW)]),
    Item("revenue / n", [("revenue", "", ANY), ("n", "", ANY)]),
    Item("ratio", [("revenue", "", ANY), ("n", "", ANY)]),
    Item("eu_revenue", [("revenue", "region", ANY)]),
    Item("sum(case when region = 'us' then revenue else 0 end)", [("revenue", "region", ANY)]),
    Item("max(if(bike = 'a', high, null))", [("high", "bike", ANY)]),
    Item("count(distinct customer)", [("", "customer", ANY)]),
    Item("min(customer)", [("", "customer", ANY)]),
    Item("count(distinct to_date(ts))", [("", "", ANY)], periods=(HOURLY, DAILY)),
    Item("sum(revenue * high)", [("revenue high", "", RAW)]),
    Item("sum(dated)", [("revenue", "", ANY)], border=dt.datetime(2015, 1, 20)),
    Item("case when revenue > 100 then 'much' else 'little' end", [("revenue", "", ANY)]),
]
ATTRIBUTES = [
    *(Item(name, attributes=name) for name in ("region", "bike", "customer", "customer_name")),
    Item("cust.name", attributes="customer"),
    Item("cust.shout", attributes="customer"),
    Item("town.name", attributes="customer"),
    Item("label", attributes="region bike"),
    Item("season", attributes="bike", border=dt.datetime(2015, 2, 10)),
    Item("date_trunc('month', ts)", periods=(HOURLY, DAILY, MONTHLY)),
    Item("year(ts)", periods=(HOURLY, DAILY, MONTHLY)),
    Item("to_date(ts)", periods=(HOURLY, DAILY)),
    Item("hour(ts)", periods=(HOURLY,)),
    Item("date_trunc('week', ts)", periods=(HOURLY, DAILY, WEEKLY)),
    Item("ts", attributes="ts"),
]
CONDITIONS = [
    Item("region = 'eu'", attributes="region"),
    Item("not bike in ('a', 'x')", attributes="bike"),
    Item("cust.name like 'n%'", attributes="customer"),
    Item("customer_name is null", attributes="customer_name"),
    Item("(town.name = 'Ulm' or bike = 'b')", attributes="customer bike"),
    Item("month(ts) = 2", periods=(HOURLY, DAILY, MONTHLY)),
]
OF_ROWS = Item("revenue > 20", attributes="revenue")
HAVINGS = [
    Item("revenue > 50", [("revenue", "", ANY)]),
    Item("max(high) > 10 and n > 1", [("high", "", ANY), ("n", "", ANY)]),
]


CHAINED = {"customer_name": "customer"}
"""Attributes that a table without them has behind the join chain of a column."""


@dataclass
class Query:
    """A random query.

    Attributes:
        text: as the cube is asked.
        items: its parts.
        hours: what holds in each hour that is asked for; a partition may not lie across where that changes.
    """

    text: str
    items: list[Item]
    hours: dict[int, object] = field(default_factory=dict)

    @staticmethod
    def of(random: Random) -> Query:
        """A query of one or two ranges."""
        attributes = random.sample(ATTRIBUTES, random.choice([0, 0, 1, 1, 2]))
        measures = random.sample(MEASURES, random.choice([0, 1, 2, 3]) if attributes else random.randint(1, 3))
        conditions = random.sample(CONDITIONS, random.choice([0, 0, 0, 1, 2])) + [OF_ROWS] * (random.random() < 0.1)
        havings = random.sample(HAVINGS, 1) if measures and attributes and random.random() < 0.2 else []
        items = [*attributes, *measures, *conditions, *havings]
        first, other = _range(random), _range(random)
        form = random.choice(["one", "one", "one", "or", "minus", "and", "mixed"])
        where = {
            "one": _text(first),
            "or": f"({_text(first)} or {_text(other)})",
            "minus": f"({_text(first)} and not {_text(other)})",
            "and": f"({_text(first)} and {_text(other)})",
            "mixed": f"(({_text(first)} and bike = 'a') or ({_text(other)} and region = 'eu'))",
        }[form]
        if form == "mixed":
            items.append(Item("", attributes="bike region"))
        text = f"select {', '.join(one.text for one in [*attributes, *measures])} from rides where {where}"
        text += "".join(f" and {one.text}" for one in conditions)
        text += "".join(f" having {one.text}" for one in havings)
        made = Query(text, items)
        borders = [item.border for item in items if item.border is not None]
        for hour in range(int((END - BEGIN) / HOUR)):
            in_first, in_other = (low <= hour < high for low, high in (first, other))
            holds = {
                "one": in_first,
                "or": in_first or in_other,
                "minus": in_first and not in_other,
                "and": in_first and in_other,
                "mixed": (in_first, in_other) if in_first or in_other else False,
            }[form]
            if holds:
                made.hours[hour] = (holds, *(BEGIN + hour * HOUR < border for border in borders))
        return made


@dataclass
class Table:
    """A storage table.

    Attributes:
        columns: that its rows have.
        raw: whether they are not rolled up.
        parts: the hours and the update period of its partitions, first and last.
        dates: the hours in which a column, or the fact (""), is right.
    """

    columns: set[str]
    raw: bool
    parts: list[tuple[int, int, str]]
    dates: dict[str, tuple[float, float]]


def tables_of(world: World) -> list[Table]:
    """The storage tables of a star, as its model and its partitions say."""
    found = []
    for fact in world.cubes.list("fact"):
        dates = {one.name: _dates(one.start_time, one.end_time) for one in fact.columns}
        dates[""] = _dates(fact.start_time, fact.end_time)
        for on in fact.storage_tables:
            columns = {one.name for one in fact.columns} | {one.name for one in on.partition_columns} - {"dt"}
            parts = set()
            for partition in world.cubes.partitions(fact.name, on.storage):
                period = UpdatePeriod[partition.parameters[PARTITION_UPDATE_PERIOD]]
                at = period.parse_index(partition.values[0])
                parts.add((_hour(period.time(at)), _hour(period.time(at + 1)), period.name))
            raw = fact.properties.get("cube.fact.is.aggregated") == "false"
            found.append(Table(columns, raw, sorted(parts), dates))
    return found


def is_answerable(query: Query, tables: Sequence[Table]) -> bool:
    """Whether some partitions of some tables can answer a query."""
    names = {name for item in query.items for name in item.attributes.split()}
    aggregates = [one for item in query.items for one in item.aggregates] or [("", "", ANY)]
    return all(
        _divide(query, tables, names | {*measures.split(), *own.split()}, rows) for measures, own, rows in aggregates
    )


def _divide(query: Query, tables: Sequence[Table], asked: set[str], rows: str) -> bool:
    """Whether partitions of tables that have some columns divide the hours of a query."""
    stops: dict[int, set[int]] = {}
    periods = [set(item.periods) for item in query.items if item.periods]
    some = False
    for table in tables:
        names = {*asked} if asked <= table.columns else {CHAINED.get(name, name) for name in asked}
        if names <= table.columns and (table.raw or (rows == ANY and OF_ROWS not in query.items)):
            there = {
                period for *_, period in table.parts if "ts" in table.columns or all(period in one for one in periods)
            }
            some = some or bool(there)
            low, high = (
                ends(table.dates[name] for name in {"", *names} & table.dates.keys()) for ends in (_last, _first)
            )
            for start, stop, period in table.parts:
                if period in there and low <= start and stop <= high:
                    stops.setdefault(start, set()).add(stop)
                    for hour in range(start, stop) if table.raw and "ts" in table.columns else ():
                        stops.setdefault(hour, set()).add(hour + 1)  # rows of any hour can be found
    for start, stop in _stretches(query.hours):
        reached = {start}
        for at in range(start, stop):
            if at in reached:
                reached |= {end for end in stops.get(at, ()) if end <= stop}
        if stop not in reached:
            return False
    return some


def _last(dates: Iterable[tuple[float, float]]) -> float:
    return max(low for low, _ in dates)


def _first(dates: Iterable[tuple[float, float]]) -> float:
    return min(high for _, high in dates)


def _stretches(hours: dict[int, object]) -> list[tuple[int, int]]:
    """The hours that follow one another and in which the same holds."""
    found: list[tuple[int, int]] = []
    for hour in sorted(hours):
        goes_on = found and found[-1][1] == hour and hours[hour] == hours[hour - 1]
        found.append((found.pop()[0] if goes_on else hour, hour + 1))
    return found


def _range(random: Random) -> tuple[int, int]:
    """The first hour and the one behind the last."""
    unit = random.choice([1, 24, 24, 168])
    most = int((END - BEGIN) / HOUR) // unit
    start = random.choice([0, 0, random.randrange(most)])
    return start * unit, random.choice([random.randint(start + 1, most), min(start + 2, most)]) * unit


def _text(hours: tuple[int, int]) -> str:
    start, stop = (f"{BEGIN + hour * HOUR:%Y-%m-%d-%H}" for hour in hours)
    return f"time_range_in(ts, '{start}', '{stop}')"


def _hour(time: dt.datetime) -> int:
    return int((time.replace(tzinfo=None) - BEGIN) / HOUR)


def _dates(start: object, end: object) -> tuple[float, float]:
    low, high = (None if one is None else _hour(dt.datetime.fromisoformat(str(one))) for one in (start, end))
    return float("-inf") if low is None else low, float("inf") if high is None else high
