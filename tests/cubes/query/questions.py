"""Random queries of the cube of random stars: how the cube is asked, and what the answer is by its own rows.

A question is made of terms (`terms.py`), each of which has two texts. ``text`` is the cube query. ``sql`` is the query
of the cube's own rows in DuckDB, which knows no cube: it selects the rows of the times that are asked for, with their
keys, and aggregates them. No name of one is read from the other.
"""

# ruff: noqa: DTZ001  times of rows have no time zone, as in the tables

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.cubes.query.stars import ATTRIBUTES, BEGIN, END
from tests.cubes.query.terms import ATOM, DATE, FLOAT, NUMBER, TEXT, TIME, TRUTH, UNITS, Term, Terms, call

TS = Term("ts", "ts", TIME)
_DATED = "(CASE WHEN ts < TIMESTAMP '2015-01-20' THEN revenue ELSE revenue * 2 END)"
_DAYS = "['Mon', 'Tue', 'Wed', 'it''s Thu', 'Fri', 'Sat', 'Sun']"
OF_FACTS = {
    TEXT: [Term(name, name, TEXT) for name, kind in ATTRIBUTES.items() if kind == "string"],
    NUMBER: [Term(name, name, NUMBER) for name, kind in ATTRIBUTES.items() if kind == "int"],
}
BEHIND_CHAINS = [
    Term("cust.name", "customer_name", TEXT),
    Term("cust.shout", "upper(customer_name)", TEXT),
    Term("town.name", "town_name", TEXT),
]
EXPRESSIONS = [
    Term("customer_name", "customer_name", TEXT),
    Term("label", "(region || '-' || bike)", TEXT),
    Term("season", "(CASE WHEN ts < TIMESTAMP '2015-02-10' THEN upper(bike) ELSE bike END)", TEXT),
    Term("quoted", """(CASE WHEN region = 'o''brien' THEN 'a"b' ELSE 'it''s' END)""", TEXT),
    Term("day_name", f"({_DAYS})[isodow(ts)]", TEXT),
]
EITHER = Term("either", "(region = 'eu' OR bike = 'a')", TRUTH)
NAMES = ("d", "e", "f", "Total", "`a b`", "`it's`", '`a"b`', "x1")
"""Aliases, as they are written."""


@dataclass(frozen=True, slots=True)
class Item:
    """What is selected: a key of groups, or what is aggregated.

    Attributes:
        term: the expression.
        alias: as it is written; None: the item has none.
        aggregated: whether it is computed of groups, not of rows.
    """

    term: Term
    alias: str | None
    aggregated: bool

    @property
    def text(self) -> str:
        """As it stands in SELECT."""
        return self.term.text if self.alias is None else f"{self.term.text} as {self.alias}"


@dataclass(frozen=True, slots=True)
class Question:
    """A query of the cube.

    Attributes:
        cube: its name.
        items: what is selected.
        where: conditions on rows, of which the first are the ranges of time.
        grouped: what is grouped by, as it is written; None: as is selected.
        having: a condition on groups.
        order: what the rows are ordered by, and whether the largest comes first.
        limit: how many rows are asked for; they are ordered then by all that is selected.
    """

    cube: str
    items: Sequence[Item]
    where: Sequence[Term]
    grouped: Sequence[str] | None
    having: Term | None
    order: Sequence[tuple[Term, bool]]
    limit: int | None

    @property
    def is_ordered(self) -> bool:
        """Whether the order of its rows is asked for."""
        return bool(self.order)

    @property
    def is_aggregated(self) -> bool:
        """Whether it has aggregates."""
        return any(item.aggregated for item in self.items) or (self.having is not None and "(" in self.having.meaning)

    @property
    def text(self) -> str:
        """As the cube is asked."""
        text = f"cube select {', '.join(item.text for item in self.items)} from {self.cube}"
        text += " where " + " and ".join(one.at(2) for one in self.where)
        if self.grouped is not None:
            text += f" group by {', '.join(self.grouped)}"
        if self.having is not None:
            text += f" having {self.having.text}"
        if self.order:
            text += " order by " + ", ".join(term.text + " desc" * descends for term, descends in self.order)
        return text if self.limit is None else f"{text} limit {self.limit}"

    def sql(self, missing: Sequence[tuple[dt.datetime, dt.datetime]] = ()) -> str:
        """The same of the cube's own rows in DuckDB, but for those of some times."""
        keys = [item.term for item in self.items if not item.aggregated]
        where = [one.meaning for one in self.where]
        where += [
            f"NOT (ts >= '{start:%Y-%m-%d %H:%M:%S}' AND ts < '{stop:%Y-%m-%d %H:%M:%S}')" for start, stop in missing
        ]
        named = ", ".join(f"{key.meaning} AS k{number}" for number, key in enumerate(keys))
        rows = f"SELECT *, {named or 'NULL'} FROM cube_rows WHERE {' AND '.join(where)}"
        selected, number = [], 0
        for item in self.items:
            selected.append(item.term.meaning if item.aggregated else f"k{number}")
            number += not item.aggregated
        sql = f"WITH rows_of_times AS ({rows}) SELECT {', '.join(selected)} FROM rows_of_times"
        if keys:
            sql += f" GROUP BY {', '.join(f'k{number}' for number in range(len(keys)))}"
        if self.having is not None:
            sql += f" HAVING {self.having.meaning}"
        if self.order:
            sides = {False: "ASC NULLS FIRST", True: "DESC NULLS LAST"}
            sql += " ORDER BY " + ", ".join(f"{term.meaning} {sides[descends]}" for term, descends in self.order)
        return sql if self.limit is None else f"{sql} LIMIT {self.limit}"


def question(random: Random) -> Question:
    """A random query of the cube."""
    easy = random.random() < 0.5  # what rolled-up facts can answer, often of several facts
    rows = Terms(random, _leaves(random, easy=easy))
    keys = [_key(rows, easy=easy) for _ in range(random.choice((0, 1, 1)) if easy else random.choice((0, 1, 1, 2)))]
    number = random.choice((0, 1, 2, 3) if keys else (1, 2, 3))
    number = random.randint(2, 4) if easy and random.random() < 0.8 else number
    aggregates = [_aggregate(rows, easy=easy) for _ in range(number)]
    groups = Terms(random, _by_kind(aggregates))
    if number and random.random() < 0.4:  # what is computed of aggregates
        aggregates.append(groups.varying(random.choice(groups.kinds()), 2))
    names = random.sample(NAMES, len(NAMES))
    items = [Item(term, names.pop() if random.random() < 0.6 else None, aggregated=False) for term in keys]
    items += [Item(term, names.pop() if random.random() < 0.6 else None, aggregated=True) for term in aggregates]
    random.shuffle(items)
    where = [
        _ranges(random),
        *(rows.varying(TRUTH, 1 if easy else 2) for _ in range(random.choice((0, 0, 1) if easy else (0, 0, 1, 2)))),
    ]
    if not easy and random.random() < 0.1:
        where.append(Term("revenue > 20", "(revenue > 20)", TRUTH, 3))
    grouped = None
    if keys and random.random() < 0.35:
        grouped = [_grouped(random, at, item) for at, item in enumerate(items, 1) if not item.aggregated]
    result = Terms(random, _results(items))
    more = Terms(
        random,
        _by_kind(
            [*(aggregates or ()), *(_aggregate(rows, easy=easy) for _ in range(bool(aggregates)))], _results(items)
        ),
    )
    having = None
    if (keys or aggregates) and random.random() < 0.3:
        having = more.varying(TRUTH, random.choice((1, 2)))
    order: list[tuple[Term, bool]] = []
    if random.random() < 0.4:
        order = [
            (result.varying(random.choice(result.kinds()), random.choice((0, 1, 2))), random.random() < 0.5)
            for _ in range(random.choice((1, 1, 2)))
        ]
        order += [(Term(str(at), _result(items, at), NUMBER), random.random() < 0.3) for at in range(1, len(items) + 1)]
    limit = random.choice((1, 2, 5)) if order and random.random() < 0.3 else None
    made = Question("rides", items, where, grouped, having, order, limit)
    if "cust." in made.text or "town." in made.text or random.random() < 0.8:  # chains are not fields of it
        return made
    return Question("part", items, where, grouped, having, order, limit)


def _leaves(random: Random, *, easy: bool) -> dict[str, list[Term]]:
    """Names of rows."""
    leaves = {kind: list(terms) for kind, terms in OF_FACTS.items()}
    leaves[TRUTH] = [EITHER]
    leaves[TEXT] += random.sample(BEHIND_CHAINS, 1)
    leaves[TEXT] += [one for one in EXPRESSIONS if one.text != "day_name" or not easy]
    if not easy or random.random() < 0.5:
        leaves[TIME] = [TS]
    return leaves


def _by_kind(terms: Sequence[Term], leaves: dict[str, list[Term]] | None = None) -> dict[str, list[Term]]:
    made = {kind: list(some) for kind, some in (leaves or {}).items()}
    for term in terms:
        made.setdefault(term.kind, []).append(term)
    return made


def _result(items: Sequence[Item], place: int) -> str:
    """What is selected at a place, of groups."""
    item = items[place - 1]
    before = sum(not one.aggregated for one in items[: place - 1])
    return item.term.meaning if item.aggregated else f"k{before}"


def _results(items: Sequence[Item]) -> dict[str, list[Term]]:
    """What is selected, by its alias if it has one."""
    terms = []
    for place, item in enumerate(items, 1):
        text, level = (item.term.text, item.term.level) if item.alias is None else (item.alias, ATOM)
        terms.append(Term(text, _result(items, place), item.term.kind, level))
    return _by_kind(terms)


def _grouped(random: Random, place: int, item: Item) -> str:
    return random.choice([item.term.text, str(place), *([item.alias] * 2 if item.alias is not None else [])])


def _key(rows: Terms, *, easy: bool) -> Term:
    """What groups are made by: a name, or what is computed of names."""
    random = rows.random
    if easy and random.random() < 0.6:
        return random.choice([*OF_FACTS[TEXT], *OF_FACTS[NUMBER], *EXPRESSIONS[:4]])
    if not rows.leaves.get(TIME):
        return rows.varying(random.choice((TEXT, TEXT, NUMBER, TRUTH)), random.choice((0, 1, 2)))
    if random.random() < 0.05:
        return TS
    if random.random() < 0.4:
        return call("date_trunc", TIME, random.choice(UNITS), TS)
    kind = random.choice((TEXT, TEXT, NUMBER, TRUTH, TIME, DATE))
    return rows.varying(kind, random.choice((1, 2, 3)))


_OWN = (
    *(("revenue", "sum(revenue)", NUMBER), ("n", "count(n)", NUMBER), ("low", "min(low)", NUMBER)),
    *(("high", "max(high)", NUMBER), ("diff", "(sum(revenue) - max(high))", NUMBER)),
)
_OF_PARTS = (
    *(("price", "avg(price)", FLOAT), ("sum(revenue)", "sum(revenue)", NUMBER), ("sum(price)", "sum(price)", NUMBER)),
    *(("avg(revenue)", "avg(revenue)", FLOAT), ("count(revenue)", "count(revenue)", NUMBER)),
    ("ratio", "(sum(revenue) / nullif(count(n), 0))", FLOAT),
)
_OF_ROWS = (
    *(("max(revenue)", "max(revenue)", NUMBER), ("count(*)", "count(*)", NUMBER)),
    *(("sum(revenue * high)", "sum(revenue * high)", NUMBER), ("count(customer)", "count(customer)", NUMBER)),
    *(("sum(dated)", f"sum({_DATED})", NUMBER), ("max(dated)", f"max({_DATED})", NUMBER)),
    ("eu_revenue", "sum(CASE WHEN region = 'eu' THEN revenue END)", NUMBER),
    ("count(distinct to_date(ts))", "count(DISTINCT CAST(ts AS DATE))", NUMBER),
)


def _aggregate(rows: Terms, *, easy: bool) -> Term:  # noqa: PLR0911  a form, a branch
    """An aggregate of rows, or a measure that stands for one."""
    random = rows.random
    chance = random.random()
    if chance < (0.7 if easy else 0.4):
        return Term(*random.choice(_OWN))
    if chance < (0.95 if easy else 0.6):
        return Term(*random.choice(_OF_PARTS))
    if chance < 0.75:
        return Term(*random.choice(_OF_ROWS))
    when = rows.varying(TRUTH, random.choice((0, 1, 2)))
    which = random.randrange(6)
    if which == 0:
        name, other = random.choice((("sum", "0"), ("avg", "0"), ("count", "null")))
        text = f"{name}(case when {when.text} then revenue else {other} end)"
        return Term(
            text, f"{name}(CASE WHEN {when.meaning} THEN revenue ELSE {other} END)", FLOAT if name == "avg" else NUMBER
        )
    if which == 1:
        return Term(f"max(if({when.text}, high, null))", f"max(CASE WHEN {when.meaning} THEN high END)", NUMBER)
    if which == 2:
        return Term(
            f"sum(revenue) filter (where {when.text})", f"sum(CASE WHEN {when.meaning} THEN revenue END)", NUMBER
        )
    if which == 3:
        return Term(f"mean(price) filter (where {when.text})", f"avg(CASE WHEN {when.meaning} THEN price END)", FLOAT)
    kind = random.choice((TEXT, NUMBER))
    of = rows.varying(kind, random.choice((0, 1, 2)))
    if which == 4:
        return Term(f"count(distinct {of.text})", f"count(DISTINCT {of.meaning})", NUMBER)
    name = random.choice(("min", "max"))
    return Term(f"{name}({of.text})", f"{name}({of.meaning})", kind)


def _ranges(random: Random) -> Term:
    first = _range(random)
    kind = random.random()
    if kind < 0.6:
        return first
    second = _range(random)
    a, b = (first.text, second.text), (first.meaning, second.meaning)
    if kind < 0.75:
        return Term(f"({a[0]} or {a[1]})", f"({b[0]} OR {b[1]})", TRUTH)
    if kind < 0.9:
        return Term(f"({a[0]} and not {a[1]})", f"({b[0]} AND NOT {b[1]})", TRUTH)
    return Term(
        f"(({a[0]} and bike = 'a') or ({a[1]} and region = 'eu'))",
        f"(({b[0]} AND bike = 'a') OR ({b[1]} AND region = 'eu'))",
        TRUTH,
    )


def _range(random: Random) -> Term:
    unit = random.choice(["hour", "day", "day", "month", "all"])
    if unit == "all":
        start, end = BEGIN, dt.datetime(2015, 3, 10)
    elif unit == "month":
        start, end = random.choice(
            [(dt.datetime(2015, 1, 1), dt.datetime(2015, 3, 1)), (dt.datetime(2015, 2, 1), dt.datetime(2015, 3, 1))]
        )
    else:
        length = dt.timedelta(hours=1) if unit == "hour" else dt.timedelta(days=1)
        start = BEGIN + length * random.randrange(int(dt.timedelta(days=60) / length))
        end = min(start + length * random.randint(1, 40), END)
    low, high = (f"TIMESTAMP '{time:%Y-%m-%d %H:%M:%S}'" for time in (start, end))
    return Term(
        f"time_range_in(ts, '{start:%Y-%m-%d-%H}', '{end:%Y-%m-%d-%H}')", f"(ts >= {low} AND ts < {high})", TRUTH
    )
