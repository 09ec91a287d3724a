"""Random queries of the cube of random stars: how the cube is asked, and how its own rows are."""

# ruff: noqa: DTZ001  times of rows have no time zone, as in the tables

from __future__ import annotations

import datetime as dt
from random import Random

from tests.cubes.query.stars import ATTRIBUTES, BEGIN, END, MEASURES, in_duckdb

DATED = "case when ts < timestamp '2015-01-20' then revenue else revenue * 2 end"
OWN_ITEMS = [(name, f"{kind}({name})") for name, kind in MEASURES.items() if kind != "avg"]
ROLLED_UP_ITEMS = [
    *((name, f"{kind}({name})") for name, kind in MEASURES.items()),
    ("sum(revenue)", "sum(revenue)"),
    ("avg(revenue)", "avg(revenue)"),
    ("count(revenue)", "count(revenue)"),
    ("sum(price)", "sum(price)"),
]
MEASURE_ITEMS = [
    *ROLLED_UP_ITEMS,
    ("1 - 60 / price", "1 - 60 / avg(price)"),
    ("avg(case when region = 'eu' then revenue end)", "avg(case when region = 'eu' then revenue end)"),
    ("avg(case when region = 'eu' then revenue else 0 end)", "avg(case when region = 'eu' then revenue else 0 end)"),
    ("mean(price) filter (where bike = 'a')", "avg(price) filter (where bike = 'a')"),
    ("count(case when bike = 'a' then n end)", "count(case when bike = 'a' then n end)"),
    ("count(n) filter (where customer > 1)", "count(n) filter (where customer > 1)"),
    ("sum(revenue) filter (where high > 20)", "sum(revenue) filter (where high > 20)"),
    ("max(revenue)", "max(revenue)"),
    ("count(*)", "count(*)"),
    ("revenue / n", "sum(revenue) / count(n)"),
    ("ratio", "(sum(revenue) / count(n))"),
    ("eu_revenue", "sum(case when region = 'eu' then revenue end)"),
    ("sum(case when region = 'us' then revenue else 0 end)", "sum(case when region = 'us' then revenue else 0 end)"),
    ("max(if(bike = 'a', high, null))", "max(if(bike = 'a', high, null))"),
    ("count(distinct customer)", "count(distinct customer)"),
    ("min(customer)", "min(customer)"),
    ("count(distinct to_date(ts))", "count(distinct to_date(ts))"),
    ("sum(revenue * high)", "sum(revenue * high)"),
    ("count(customer)", "count(customer)"),
    ("sum(dated)", f"sum({DATED})"),
    ("max(dated)", f"max({DATED})"),
    (
        "case when revenue > 100 then 'much' else 'little' end",
        "case when sum(revenue) > 100 then 'much' else 'little' end",
    ),
]
ATTRIBUTE_ITEMS = [
    *((name, name) for name in ATTRIBUTES),
    ("customer_name", "c.name"),
    ("cust.name", "c.name"),
    ("cust.shout", "upper(c.name)"),
    ("town.name", "t.name"),
    ("label", "concat(region, '-', bike)"),
    ("upper(bike)", "upper(bike)"),
    ("season", "case when ts < timestamp '2015-02-10' then upper(bike) else bike end"),
    ("date_trunc('month', ts)", "date_trunc('month', ts)"),
    ("year(ts)", "year(ts)"),
    ("to_date(ts)", "to_date(ts)"),
    ("hour(ts)", "hour(ts)"),
    ("date_trunc('week', ts)", "date_trunc('week', ts)"),
    ("ts", "ts"),
]
CONDITIONS = [
    ("region = 'eu'", "region = 'eu'"),
    ("not region = 'eu'", "not region = 'eu'"),
    ("bike in ('a', 'x')", "bike in ('a', 'x')"),
    ("customer > 1", "customer > 1"),
    ("cust.name like 'n%'", "c.name like 'n%'"),
    ("customer_name is null", "c.name is null"),
    ("town.name = 'Ulm' or bike = 'b'", "t.name = 'Ulm' or bike = 'b'"),
    ("revenue > 20", "revenue > 20"),
    ("month(ts) = 2", "month(ts) = 2"),
]
HAVINGS = [
    ("revenue > 50", "sum(revenue) > 50"),
    ("price > 40", "avg(price) > 40"),
    ("max(high) > 10 and n > 1", "max(high) > 10 and count(n) > 1"),
]
OWN_ITEMS, ROLLED_UP_ITEMS, MEASURE_ITEMS, ATTRIBUTE_ITEMS, CONDITIONS, HAVINGS = (
    [(ours, in_duckdb(theirs)) for ours, theirs in some]
    for some in (OWN_ITEMS, ROLLED_UP_ITEMS, MEASURE_ITEMS, ATTRIBUTE_ITEMS, CONDITIONS, HAVINGS)
)
FROM = "base LEFT JOIN shop.lake_customers c ON base.customer = c.id LEFT JOIN shop.lake_citys t ON c.city = t.id"


def query(random: Random) -> tuple[str, str]:
    """A query of the cube, and the same of its rows in DuckDB's SQL; columns may differ in their names."""
    attributes = random.sample(ATTRIBUTE_ITEMS, random.choice([0, 1, 1, 2]))
    measures = random.sample(MEASURE_ITEMS, random.choice([0, 1, 2, 3]) if attributes else random.choice([1, 2, 3]))
    if random.random() < 0.5:  # what rolled-up facts can answer, often of several facts
        attributes, measures = (
            attributes[:1],
            random.sample(random.choice([OWN_ITEMS, ROLLED_UP_ITEMS]), random.randint(2, 4)),
        )
    items = [*attributes, *measures]
    random.shuffle(items)
    where, base_where = _ranges(random)
    for ours, theirs in random.sample(CONDITIONS, random.choice([0, 0, 1, 2])):
        where, base_where = f"{where} and ({ours})", f"{base_where} and ({theirs})"
    ours, theirs = (", ".join(one[at] for one in items) for at in (0, 1))
    ours, theirs = f"cube select {ours} from rides where {where}", f"select {theirs} from {FROM} where {base_where}"
    if measures:
        if attributes:
            theirs += f" group by {', '.join(one[1] for one in attributes)}"
            if random.random() < 0.4:
                ours += f" group by {', '.join(one[0] for one in attributes)}"
            if random.random() < 0.3:
                having = random.choice(HAVINGS)
                ours, theirs = f"{ours} having {having[0]}", f"{theirs} having {having[1]}"
        if random.random() < 0.3:
            ours += f" order by {items[0][0]} desc"
    else:
        theirs = theirs.replace("select ", "select distinct ", 1)
    if "cust." not in ours and "town." not in ours and random.random() < 0.2:  # chains are not fields of it
        ours = ours.replace(" from rides ", " from part ")
    return ours, theirs


def _ranges(random):
    first = _range(random)
    kind = random.random()
    if kind < 0.6:
        return first
    second = _range(random)
    if kind < 0.75:
        return f"({first[0]} or {second[0]})", f"({first[1]} or {second[1]})"
    if kind < 0.9:
        return f"({first[0]} and not {second[0]})", f"({first[1]} and not {second[1]})"
    return (
        f"(({first[0]} and bike = 'a') or ({second[0]} and region = 'eu'))",
        f"(({first[1]} and bike = 'a') or ({second[1]} and region = 'eu'))",
    )


def _range(random):
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
    ours = [f"{time:%Y-%m-%d-%H}" for time in (start, end)]
    theirs = [f"timestamp '{time:%Y-%m-%d %H:%M:%S}'" for time in (start, end)]
    return f"time_range_in(ts, '{ours[0]}', '{ours[1]}')", f"(ts >= {theirs[0]} and ts < {theirs[1]})"
