"""Random queries of the cube of random stars (`question.py`).

They have aliases, quotes of both kinds within texts, brackets, functions of time within each other, conditions on
groups with and without measures, and orders; names as users write them, in capitals or with the cube before them.
"""

# ruff: noqa: DTZ001  times of rows have no time zone, as in the tables

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random

from tests.cubes.query.question import Item, Order, Question, place
from tests.cubes.query.star_model import BEGIN, END
from tests.cubes.query.stars import PLAIN, Kind
from tests.cubes.query.terms import DATE, FLOAT, NUMBER, TEST, TEXT, TIME, TRUTH, UNITS, Term, Terms, call

TS = Term("ts", "ts", TIME)
OF_FACTS = [Term("region", "region", TEXT), Term("bike", "bike", TEXT), Term("customer", "customer", NUMBER)]
BEHIND_CHAINS = [
    Term("cust.name", "customer_name", TEXT),
    Term("cust.shout", "upper(customer_name)", TEXT),
    Term("town.name", "town_name", TEXT),
]
_DAYS = "['Mon', 'Tue', 'Wed', 'it''s Thu', 'Fri', 'Sat', 'Sun']"
EXPRESSIONS = [
    Term("customer_name", "customer_name", TEXT),
    Term("label", "(region || '-' || bike)", TEXT),
    Term("season", "(CASE WHEN deciding < TIMESTAMP '2015-02-10' THEN upper(bike) ELSE bike END)", TEXT),
    Term("quoted", """(CASE WHEN region = 'o''brien' THEN 'a"b' ELSE 'it''s' END)""", TEXT),
    Term("either", "(region = 'eu' OR bike = 'a')", TRUTH),
]
OF_TIMES = [TS, Term("day_name", f"({_DAYS})[isodow(ts)]", TEXT)]
_DATED = "(CASE WHEN deciding < TIMESTAMP '2015-01-20' THEN revenue ELSE revenue * 2 END)"
OWN = [
    *(Term("revenue", "sum(revenue)", NUMBER), Term("n", "count(n)", NUMBER), Term("low", "min(low)", NUMBER)),
    *(Term("high", "max(high)", NUMBER), Term("diff", "(sum(revenue) - max(high))", NUMBER)),
]
OF_PARTS = [
    *(Term("price", "avg(price)", FLOAT), Term("ratio", "(sum(revenue) / nullif(count(n), 0))", FLOAT)),
    *(Term("sum(revenue)", "sum(revenue)", NUMBER), Term("sum(price)", "sum(price)", NUMBER)),
    *(Term("avg(revenue)", "avg(revenue)", FLOAT), Term("count(revenue)", "count(revenue)", NUMBER)),
]
OF_ROWS = [
    *(Term("max(revenue)", "max(revenue)", NUMBER), Term("count(*)", "count(*)", NUMBER)),
    *(Term("sum(revenue * high)", "sum(revenue * high)", NUMBER), Term("count(customer)", "count(customer)", NUMBER)),
    *(Term("sum(dated)", f"sum({_DATED})", NUMBER), Term("max(dated)", f"max({_DATED})", NUMBER)),
    Term("eu_revenue", "sum(CASE WHEN region = 'eu' THEN revenue END)", NUMBER),
]
OF_DAYS = Term("count(distinct to_date(ts))", "count(DISTINCT CAST(ts AS DATE))", NUMBER)
FIELDS = ("region", "bike", "customer")
ALIASES = ("d", "e", "f", "Total", "`a b`", "`it's`", '`a"b`', "x1", "`column 3`", *FIELDS)
"""Names of what is selected, some of which are names of fields as well."""
HALF = dt.timedelta(minutes=30)
COMMENTS = (" /* it's */", " -- it's\n")
OF_PARTS_ALONE = 0.5
"""How many questions ask for what rolled-up facts can answer, often several of them together."""


def question(random: Random, kind: Kind = PLAIN) -> Question:
    """A random query of the cube of a star."""
    return _Asking(random, kind, of_parts=random.random() < OF_PARTS_ALONE).question()


class _Asking:
    """One random query as it is made.

    Attributes:
        random: decides all.
        kind: of the star.
        plain: whether rolled-up facts are to answer it.
        source: what stands in FROM.
        paid: the time of the cube that is no time of partitions.
        time: of both, the first in whose ranges all rows are.
        rows: terms of rows.
        keys: what is grouped by.
    """

    def __init__(self, random: Random, kind: Kind, *, of_parts: bool) -> None:
        self.random, self.kind, self.plain = random, kind, of_parts
        self.source, self._before = random.choice(
            (*[("rides", "")] * 6, ("rides r", "r."), ("rides", "rides."), ("part", ""))
        )
        names = [*OF_FACTS, *EXPRESSIONS]
        if self.source != "part":  # chains are not fields of it
            names += random.sample(BEHIND_CHAINS, 1)
        if kind.known and (not of_parts or random.random() < 0.6):
            names += OF_TIMES
        self.paid = Term("paid", "paid", DATE if kind.paid == "date" else TIME)
        if random.random() < (0.1 if kind == PLAIN else 0.5):
            names.append(self.paid)
        self.rows = Terms(random, _by_kind(map(self._named, names)))
        self.keys: list[Term] = []
        self.time = "ts"

    def question(self) -> Question:
        """All of it."""
        random = self.random
        self.keys = [self._key() for _ in range(random.choice((0, 1, 1) if self.plain else (0, 1, 1, 2)))]
        number = random.choice((0, 1, 2, 3) if self.keys else (1, 2, 3))
        if self.plain and random.random() < 0.8:
            number = random.randint(2, 4)
        aggregates = [self._aggregate() for _ in range(number)]
        if aggregates and random.random() < 0.5:  # what is computed of aggregates
            of_groups = Terms(random, _by_kind(aggregates))
            kind = random.choice([*of_groups.kinds(), NUMBER, TRUTH])
            aggregates.append(of_groups.varying(kind, random.choice((1, 2))))
        items = self._items(aggregates)
        comment = random.choice(COMMENTS) if random.random() < 0.05 else ""
        where = self._where()
        made = Question(self.source, items, where, self.keys, comment=comment, time=self.time)
        if self.keys and random.random() < 0.4:
            made = replace(
                made, grouped=[self._grouped(at, item) for at, item in enumerate(items, 1) if item.key is not None]
            )
            if random.random() < 0.15:  # by more than is selected
                other = self._key()
                made = replace(made, keys=[*self.keys, other], grouped=[*(made.grouped or ()), other.text])
        if random.random() < 0.3:
            more = [self._aggregate()] if aggregates else []
            of_groups = Terms(random, _by_kind([*_in_having(items, made.keys), *aggregates, *more]))
            made = replace(made, having=of_groups.varying(TRUTH, random.choice((1, 2))))
        # Of two columns of one name, none is meant by an expression of it.
        repeated = len({key.text.lower() for key in self.keys}) < len(self.keys)
        if len(made.keys) == len(self.keys) and random.random() < 0.4 and not repeated:
            order = self._order(items)
            return replace(made, order=order, limit=random.choice((1, 2, 5)) if random.random() < 0.3 else None)
        return replace(made, distinct=random.random() < 0.05)

    def _named(self, term: Term) -> Term:
        """A name as users write it, perhaps in capitals or with the cube before it; other texts stay."""
        if not term.text.isidentifier():
            return term
        text = term.text.upper() if self.random.random() < 0.05 else term.text
        return replace(term, text=f"{self._before}{text}")

    def _items(self, aggregates: Iterable[Term]) -> list[Item]:
        terms = [*((term, number) for number, term in enumerate(self.keys)), *((term, None) for term in aggregates)]
        aliases = self.random.sample(ALIASES, len(terms))
        items = [
            Item(term, alias if self.random.random() < 0.6 else None, key)
            for (term, key), alias in zip(terms, aliases, strict=True)
        ]
        self.random.shuffle(items)
        return items

    def _grouped(self, at: int, item: Item) -> str:
        aliases = [] if item.alias in (None, *FIELDS) else [item.alias] * 2  # the name of a field means the field
        return self.random.choice([item.term.text, str(at), *aliases])

    def _order(self, items: list[Item]) -> list[Order]:
        random = self.random
        clear = [item for item in items if _is_clear(item, items)]
        results = Terms(random, _by_kind(item.result for item in clear))
        order = []
        for _ in range(random.choice((1, 1, 2)) if clear else 0):
            named = [item.result for item in clear if item.alias is not None]
            if named and random.random() < 0.4:
                term = _tightly(random, random.choice(named))
            else:
                term = results.varying(random.choice(results.kinds()), random.choice((0, 1, 2)))
            order.append(Order(term, random.random() < 0.5, random.choice((None, None, None, True, False))))
        return [*order, *(place(at, item, descends=random.random() < 0.3) for at, item in enumerate(items, 1))]

    def _key(self) -> Term:
        """What groups are made by: a name, or what is computed of names."""
        random, rows = self.random, self.rows
        special = self.kind != PLAIN and random.random() < 0.1
        if special or (self.plain and random.random() < 0.4):
            return self._named(self.paid if special else random.choice([*OF_FACTS, *EXPRESSIONS]))
        if TS.kind not in rows.leaves or not self.kind.known:
            return rows.varying(random.choice((TEXT, TEXT, NUMBER, TRUTH)), random.choice((0, 1, 2)))
        chance, ts = random.random(), self._named(TS)
        if chance < 0.05:
            return ts
        if chance < 0.25:
            return call("date_trunc", TIME, random.choice(UNITS), ts)
        if chance < 0.55:
            return _calendar(random, ts)
        return rows.varying(random.choice((TEXT, TEXT, NUMBER, TRUTH, TIME, DATE)), random.choice((1, 2, 3)))

    def _aggregate(self) -> Term:
        """An aggregate of rows, or a measure that stands for one."""
        random = self.random
        chance = random.random()
        if chance < (0.95 if self.plain else 0.75):
            own, parts = (0.7, 0.95) if self.plain else (0.4, 0.6)
            of_rows = [*OF_ROWS, OF_DAYS] if self.kind.known else OF_ROWS
            return self._named(random.choice(OWN if chance < own else OF_PARTS if chance < parts else of_rows))
        if random.random() < 0.3:
            kind = random.choice((TEXT, NUMBER))
            of, name = self.rows.varying(kind, random.choice((0, 1, 2))), random.choice(("min", "max", "count"))
            if name == "count":
                return Term(f"count(distinct {of.text})", f"count(DISTINCT {of.meaning})", NUMBER)
            return Term(f"{name}({of.text})", f"{name}({of.meaning})", kind)
        when = self.rows.varying(TRUTH, random.choice((0, 1, 2)))
        form, meaning, kind = random.choice(
            (
                ("sum(case when {} then revenue else 0 end)", "sum(CASE WHEN {} THEN revenue ELSE 0 END)", NUMBER),
                ("avg(case when {} then revenue else 0 end)", "avg(CASE WHEN {} THEN revenue ELSE 0 END)", FLOAT),
                ("count(case when {} then n end)", "count(CASE WHEN {} THEN n END)", NUMBER),
                ("max(if({}, high, null))", "max(CASE WHEN {} THEN high END)", NUMBER),
                ("sum(revenue) filter (where {})", "sum(CASE WHEN {} THEN revenue END)", NUMBER),
                ("mean(price) filter (where {})", "avg(CASE WHEN {} THEN price END)", FLOAT),
            )
        )
        return Term(form.replace("{}", when.text), meaning.replace("{}", when.meaning), kind)

    def _where(self) -> list[Term]:
        random = self.random
        number = random.choice((0, 0, 1) if self.plain else (0, 0, 1, 2))
        conditions = [self.rows.varying(TRUTH, 1 if self.plain else 2) for _ in range(number)]
        if not self.plain and random.random() < 0.1:
            conditions.append(Term("revenue > 20", "(revenue > 20)", TRUTH, TEST))
        return [self._ranges(), *conditions]

    def _ranges(self) -> Term:
        first, second, kind = self._range(), self._range(), self.random.random()
        # By the other time, a range of this one is a condition on its column, in which rows without it are not.
        if self.kind.known and self.random.random() < (0.1 if self.kind == PLAIN else 0.4):
            second = self._range_of_paid()
            if self.random.random() < 0.3:
                self.time = "paid"
                return second
        if kind < 0.3 and "paid" in second.text:
            self.time = "paid"
            first, second = second, first
        if kind < 0.6:
            return _both(first, second) if "paid" in first.text + second.text else first
        a, b = (first.text, second.text), (first.meaning, second.meaning)
        if kind < 0.75 and "paid" not in a[1]:
            return Term(f"({a[0]} or {a[1]})", f"({b[0]} OR {b[1]})", TRUTH)
        if kind < 0.9:
            return Term(f"({a[0]} and not {a[1]})", f"({b[0]} AND NOT {b[1]})", TRUTH)
        if "paid" in a[1]:
            return Term(f"({a[0]} and ({a[1]} or bike = 'a'))", f"({b[0]} AND ({b[1]} OR bike = 'a'))", TRUTH)
        return Term(
            f"(({a[0]} and bike = 'a') or ({a[1]} and region = 'eu'))",
            f"(({b[0]} AND bike = 'a') OR ({b[1]} AND region = 'eu'))",
            TRUTH,
        )

    def _range(self) -> Term:
        random = self.random
        unit = random.choice(["hour", "day", "day", "month", "all"])
        if unit == "all":
            start, end = BEGIN, dt.datetime(2015, 3, 10)
        elif unit == "month":
            start, end = dt.datetime(2015, random.choice((1, 2)), 1), dt.datetime(2015, 3, 1)
        else:
            length = dt.timedelta(hours=1) if unit == "hour" else dt.timedelta(days=1)
            start = BEGIN + length * random.randrange(int(dt.timedelta(days=60) / length))
            end = min(start + length * random.randint(1, 40), END)
        if self.kind.known and random.random() < 0.05:
            start += HALF
        return _within(f"{self._before}ts", "ts", start, end)

    def _range_of_paid(self) -> Term:
        """A range of the other time: far from the ends, as a row is paid days after its time, or a bit before it."""
        random = self.random
        start = BEGIN + dt.timedelta(days=random.randint(4, 50))
        end = start + dt.timedelta(days=random.randint(1, 12))
        if self.kind.paid == "timestamp" and random.random() < 0.6:
            start += random.choice((6, 1)) * HALF
            end -= random.choice((0, 1, 12)) * HALF
        return _within(f"{self._before}paid", "paid", start, end)


def _in_having(items: Iterable[Item], keys: Iterable[Term]) -> Iterator[Term]:
    """What HAVING can name: keys as they are written, and aliases that no key has as the name of a field."""
    for item in items:
        if item.key is not None:
            yield replace(item, alias=None).result
        if item.alias not in FIELDS or not any(_names(key, item.alias) for key in keys):
            yield item.result


def _is_clear(item: Item, items: Iterable[Item]) -> bool:
    """Whether ORDER BY means an item by its text: there an alias comes before a field of its name."""
    others = [other for other in items if other is not item]
    if item.alias in FIELDS:
        return not any(other.alias is None and _names(other.term, item.alias) for other in others)
    clashing = [other.alias for other in others if other.alias in FIELDS and _names(item.term, other.alias)]
    return item.alias is not None or item.key is None or not clashing


def _names(term: Term, name: str) -> bool:
    return re.search(rf"\b{name}\b", term.text, re.IGNORECASE) is not None


def _both(a: Term, b: Term) -> Term:
    return Term(f"({a.text} and {b.text})", f"({a.meaning} AND {b.meaning})", TRUTH)


def _within(name: str, meaning: str, start: dt.datetime, end: dt.datetime) -> Term:
    """That a time is in a range."""
    low, high = (f"TIMESTAMP '{time:%Y-%m-%d %H:%M:%S}'" for time in (start, end))
    return Term(
        f"time_range_in({name}, '{start:%Y-%m-%d-%H:%M}', '{end:%Y-%m-%d-%H:%M}')",
        f"({meaning} >= {low} AND {meaning} < {high})",
        TRUTH,
    )


def _tightly(random: Random, name: Term) -> Term:
    """A name in an operator that holds its parts together more than most of what an alias may stand for."""
    if name.kind == TRUTH:
        return Term(f"not {name.text}", f"(NOT {name.meaning})", TRUTH)
    if name.kind not in (NUMBER, FLOAT):
        return Term(f"{name.text} is null", f"({name.meaning} IS NULL)", TRUTH)
    form, meaning = random.choice((("10 - {}", "(10 - {})"), ("-{}", "(- {})"), ("{} * 3", "({} * 3)")))
    return Term(form.format(name.text), meaning.format(name.meaning), name.kind)


def _calendar(random: Random, ts: Term) -> Term:
    """A function of a time that another has moved, perhaps into another month, quarter or year."""
    moved = random.choice(
        (
            *(call("date_trunc", TIME, "week", ts), call("trunc", DATE, ts, "week"), call("last_day", DATE, ts)),
            *(call("next_day", DATE, ts, "MON"), call("date_trunc", TIME, "month", ts), call("to_date", DATE, ts)),
        )
    )
    name = random.choice(("year", "quarter", "month", "weekofyear", "date_trunc", "date_format"))
    if name == "date_trunc":
        return call(name, TIME, random.choice(("year", "quarter", "month", "week")), moved)
    return (
        call(name, TEXT, moved, random.choice(("yyyy-MM", "yyyy", "MM")))
        if name == "date_format"
        else call(name, NUMBER, moved)
    )


def _by_kind(terms: Iterable[Term]) -> Mapping[str, list[Term]]:
    made: dict[str, list[Term]] = {}
    for term in terms:
        made.setdefault(term.kind, []).append(term)
    return made
