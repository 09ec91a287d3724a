"""Random stars: rows of a cube, facts rolled up from them with holes, dimensions; and random queries of the cube.

Each query is made twice: as the cube is asked, and as it is asked of the cube's own rows. Tables of facts hold rows in
the partitions that they lack as well, which must not be read: their measures are far too large.
"""

# ruff: noqa: DTZ001  times of rows have no time zone, as in the tables

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from random import Random

import duckdb
import sqlglot

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc
from hbstore.cubes.concepts import Cube, Dimension, Storage
from hbstore.cubes.fields import ChainField, DimAttribute, Edge, Expression, ExpressionSpec, JoinChain, Measure
from hbstore.cubes.logical_tables import Column, DimTable, Fact, StorageTable, TableDescription
from hbstore.timelines import UpdatePeriod

BEGIN, END = dt.datetime(2015, 1, 1), dt.datetime(2015, 3, 11)
HOURS = int((END - BEGIN).total_seconds() // 3600)
NOW = dt.datetime(2015, 4, 1, tzinfo=dt.UTC)
ATTRIBUTES = {"region": "string", "bike": "string", "customer": "int"}
MEASURES = {"revenue": "sum", "n": "count", "low": "min", "high": "max", "price": "avg"}
POISON = 1_000_000_000

CUBE = Cube(
    name="rides",
    time_dimensions={"ts": "dt"},
    measures=[Measure(name=name, type="bigint", default_aggregate=kind) for name, kind in MEASURES.items()],
    dim_attributes=[
        DimAttribute(name="ts", type="timestamp"),
        *(DimAttribute(name=name, type=kind) for name, kind in ATTRIBUTES.items()),
        DimAttribute(name="customer_name", type="string", chain=[ChainField(chain="cust", field="name")]),
    ],
    expressions=[
        Expression(name="ratio", type="double", specs=[ExpressionSpec(expression="revenue / n")]),
        Expression(name="label", type="string", specs=[ExpressionSpec(expression="concat(region, '-', bike)")]),
        Expression(
            name="dated",
            type="bigint",
            specs=[
                ExpressionSpec(expression="revenue", end_time="2015-01-20T00:00:00"),
                ExpressionSpec(expression="revenue * 2", start_time="2015-01-20T00:00:00"),
            ],
        ),
        Expression(
            name="season",
            type="string",
            specs=[
                ExpressionSpec(expression="upper(bike)", end_time="2015-02-10T00:00:00"),
                ExpressionSpec(expression="bike", start_time="2015-02-10T00:00:00"),
            ],
        ),
        Expression(
            name="eu_revenue",
            type="bigint",
            specs=[ExpressionSpec(expression="sum(case when region = 'eu' then revenue end)")],
        ),
    ],
    join_chains=[
        JoinChain(name="cust", paths=[[Edge.parse("rides.customer = customer.id")]]),
        JoinChain(
            name="town", paths=[[Edge.parse("rides.customer = customer.id"), Edge.parse("customer.city = city.id")]]
        ),
    ],
)
DIMENSIONS = [
    Dimension(
        name="customer",
        dim_attributes=[
            DimAttribute(name=name, type=kind) for name, kind in (("id", "int"), ("name", "string"), ("city", "int"))
        ],
        expressions=[Expression(name="shout", type="string", specs=[ExpressionSpec(expression="upper(name)")])],
    ),
    Dimension(
        name="city", dim_attributes=[DimAttribute(name="id", type="int"), DimAttribute(name="name", type="string")]
    ),
]
TABLES = [
    DimTable(
        name=f"{one.name}s",
        dimension=one.name,
        columns=[Column(name=field.name, type=field.type) for field in one.dim_attributes],
        storage_tables=[StorageTable(storage="lake", description=TableDescription(location=f"s3://lake/{one.name}s"))],
    )
    for one in DIMENSIONS
]


@dataclass
class World:
    """A star, and the rows behind it.

    Attributes:
        cubes: the model and its partitions.
        db: tables ``base`` and those of the model.
        whole: whether a fact whose rows are not rolled up has all fields and all hours.
    """

    cubes: Cubes
    db: duckdb.DuckDBPyConnection
    whole: bool

    def close(self):
        self.db.close()
        self.cubes.store.close()

    def run(self, spark_sql):
        """The rows of a query in Spark's SQL, in any order."""
        text = sqlglot.transpile(spark_sql, read="spark", write="duckdb")[0]
        return sorted((tuple(map(_plain, row)) for row in self.db.execute(text).fetchall()), key=repr)


def _plain(value):
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day)
    return round(value, 6) if isinstance(value, float) else value


def world(random: Random) -> World:
    """A star."""
    store = connect("memory://")
    store.create_database("shop")
    cubes = Cubes(store, "shop", lambda: NOW)
    cubes.create_all([Storage(name="lake"), Storage(name="vault"), CUBE, *DIMENSIONS, *TABLES])
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    db.execute("CREATE SCHEMA shop")
    db.execute(
        "CREATE TABLE base (ts TIMESTAMP, region VARCHAR, bike VARCHAR, customer INT, revenue BIGINT, n BIGINT,"
        " low BIGINT, high BIGINT, price BIGINT)"
    )
    rows = [_row(random) for _ in range(random.choice([0, 20, 200]))]
    if rows:
        db.executemany("INSERT INTO base VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.execute(
        "CREATE TABLE shop.lake_customers AS SELECT * FROM"
        " (VALUES (0, 'nan', 1), (1, 'bob', 1), (2, 'nina', 2), (3, 'al', NULL)) t(id, name, city)"
    )
    db.execute("CREATE TABLE shop.lake_citys AS SELECT * FROM (VALUES (1,'Ulm'),(2,'Bonn')) t(id,name)")
    whole = False
    for number in range(random.randint(1, 5)):
        whole |= _fact(random, number, cubes, db)
    return World(cubes, db, whole)


def _row(random):
    def maybe(value):
        return None if random.random() < 0.15 else value

    return (
        BEGIN + dt.timedelta(hours=random.randrange(HOURS), minutes=random.choice([0, 0, 30])),
        maybe(random.choice(["eu", "us", "asia"])),
        random.choice(["a", "b"]),
        maybe(random.randrange(6)),
        *(maybe(random.randrange(-20, 100)) for _ in range(5)),
    )


def _fact(random, number, cubes, db):
    raw = number == 0 and random.random() < 0.7
    attributes = [name for name in ATTRIBUTES if raw or random.random() < 0.7]
    named = not raw and random.random() < 0.3
    has_ts = raw and random.random() < 0.8
    measures = [name for name in MEASURES if raw or (name != "price" and random.random() < 0.7)]
    columns = [Column(name=name, type=ATTRIBUTES[name]) for name in attributes]
    columns += [Column(name=name, type="bigint") for name in measures]
    columns += [Column(name="customer_name", type="string")] if named else []
    columns += [Column(name="ts", type="timestamp")] if has_ts else []
    if not columns:
        columns = [Column(name="bike", type="string")]
        attributes = ["bike"]
    tables, whole = [], False
    storages = ["lake", "vault"][: random.choice([1, 1, 2])]
    periods = {}
    for storage in storages:
        choices = [UpdatePeriod.HOURLY, UpdatePeriod.DAILY, UpdatePeriod.WEEKLY, UpdatePeriod.MONTHLY]
        periods[storage] = (
            [UpdatePeriod.HOURLY] if raw and random.random() < 0.7 else random.sample(choices, random.randint(1, 3))
        )
        tables.append(
            StorageTable(
                storage=storage,
                update_periods=[period.name for period in periods[storage]],
                partition_columns=[Column(name="dt", type="string")],
                time_partition_columns=["dt"],
                description=TableDescription(location=f"s3://{storage}/f{number}"),
            )
        )
    fact = Fact(
        name=f"f{number}",
        cube="rides",
        weight=random.choice([None, 0.1, 0.3, 1.0, 10.0]),
        columns=columns,
        properties={"cube.fact.is.aggregated": "false"} if raw else {},
        storage_tables=tables,
    )
    cubes.create(fact)
    names = [column.name for column in columns]
    for storage in storages:
        table = f"{storage}_f{number}"
        kinds = [f"{name} {_TYPES.get(name, 'BIGINT')}" for name in names]
        db.execute(f"CREATE TABLE shop.{table} ({', '.join([*kinds, 'dt VARCHAR'])})")
        for period in periods[storage]:
            indexes = list(range(period.floor_index(_moment(BEGIN)), period.ceil_index(_moment(END))))
            chance = random.choice([0, 0, 0.02, 0.3])
            holes = {index for index in indexes if random.random() < chance}
            there = [index for index in indexes if index not in holes]
            whole |= raw and has_ts and period is UpdatePeriod.HOURLY and not holes
            cubes.add_partitions(
                f"f{number}",
                storage,
                [PartitionDesc(period.name, {"dt": period.format_index(index)}) for index in there],
            )
            _fill(db, table, period, names, attributes, named, raw)
            if holes:
                texts = ", ".join(f"('{period.format_index(index)}')" for index in sorted(holes))
                db.execute(f"DELETE FROM shop.{table} WHERE dt IN ({texts.replace('(', '').replace(')', '')})")
                poison = ", ".join(_poison(name) for name in names)
                db.execute(f"INSERT INTO shop.{table} SELECT {poison}, dt FROM (VALUES {texts}) AS holes(dt)")
    return whole


_TYPES = {"region": "VARCHAR", "bike": "VARCHAR", "customer": "INT", "customer_name": "VARCHAR", "ts": "TIMESTAMP"}
_DUCK = {
    UpdatePeriod.HOURLY: "strftime(ts, '%Y-%m-%d-%H')",
    UpdatePeriod.DAILY: "strftime(ts, '%Y-%m-%d')",
    UpdatePeriod.WEEKLY: "strftime(ts, '%G-W%V')",
    UpdatePeriod.MONTHLY: "strftime(ts, '%Y-%m')",
}


def _moment(time):
    from hbstore.times.moments import moment

    return moment(time.replace(tzinfo=dt.UTC))


def _poison(name):
    if name in MEASURES:
        return str(POISON)
    return {"ts": "TIMESTAMP '2015-01-05'", "customer": "77"}.get(name, "'poison'")


def _fill(db, table, period, names, attributes, named, raw):
    text = _DUCK[period]
    source = "base LEFT JOIN shop.lake_customers c ON base.customer = c.id"
    if raw:
        selected = ", ".join({"customer_name": "c.name"}.get(name, f"base.{name}") for name in names)
        db.execute(f"INSERT INTO shop.{table} SELECT {selected}, {text} FROM {source}")
        return
    group = [*(f"base.{name}" for name in attributes), *(["c.name"] if named else [])]
    made = []
    for name in names:
        if name in MEASURES:
            made.append(f"{MEASURES[name]}(base.{name})")
        else:
            made.append({"customer_name": "c.name"}.get(name, f"base.{name}"))
    db.execute(
        f"INSERT INTO shop.{table} SELECT {', '.join([*made, text])} FROM {source} GROUP BY {', '.join([*group, text])}"
    )


# Queries: how the cube is asked, and how its rows are.

DATED = "case when ts < timestamp '2015-01-20' then revenue else revenue * 2 end"
MEASURE_ITEMS = [
    *((name, f"{kind}({name})") for name, kind in MEASURES.items()),
    ("sum(revenue)", "sum(revenue)"),
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
HAVINGS = [("revenue > 50", "sum(revenue) > 50"), ("max(high) > 10 and n > 1", "max(high) > 10 and count(n) > 1")]
FROM = "base LEFT JOIN shop.lake_customers c ON base.customer = c.id LEFT JOIN shop.lake_citys t ON c.city = t.id"


def query(random: Random) -> tuple[str, str]:
    """A query of the cube, and the same of its rows; columns may differ in their names."""
    attributes = random.sample(ATTRIBUTE_ITEMS, random.choice([0, 1, 1, 2]))
    measures = random.sample(MEASURE_ITEMS, random.choice([0, 1, 2, 3]) if attributes else random.choice([1, 2, 3]))
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
