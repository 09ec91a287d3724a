"""Random stars: rows of a cube, facts rolled up from them with holes, dimensions.

Tables of facts hold rows in the partitions that they lack as well, which must not be read: their measures are far too
large. So are those of times for which a fact, or a column, does not hold.
"""

# ruff: noqa: DTZ001  times of rows have no time zone, as in the tables

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import duckdb

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc
from hbstore.cubes.concepts import Cube, DerivedCube, Dimension, Storage
from hbstore.cubes.fields import ChainField, DimAttribute, Edge, Expression, ExpressionSpec, JoinChain, Measure
from hbstore.cubes.logical_tables import Column, DimTable, Fact, StorageTable, TableDescription
from hbstore.timelines import UpdatePeriod
from tests.cubes.query.spark_in_duckdb import define, in_duckdb
from tests.cubes.query.terms import said

BEGIN, END = dt.datetime(2015, 1, 1), dt.datetime(2015, 3, 11)
HOURS = int((END - BEGIN).total_seconds() // 3600)
NOW = dt.datetime(2015, 4, 1, tzinfo=dt.UTC)
ATTRIBUTES = {"region": "string", "bike": "string", "customer": "int"}
REGIONS = ["eu", "o'brien", '"x"']
MEASURES = {"revenue": "sum", "n": "count", "low": "min", "high": "max", "price": "avg"}
PARTS = {"price_sum": ("sum", "price"), "price_n": ("count", "price"), "revenue_n": ("count", "revenue")}
"""Measures of rolled-up facts that hold parts of others."""
POISON = 1_000_000_000

CUBE = Cube(
    name="rides",
    time_dimensions={"ts": "dt"},
    measures=[
        Measure(name=name, type="bigint", default_aggregate=kind)
        for name, kind in [*MEASURES.items(), *((name, kind) for name, (kind, _) in PARTS.items())]
    ],
    properties={f"cube.measure.{of}.{kind}": name for name, (kind, of) in PARTS.items()},
    dim_attributes=[
        DimAttribute(name="ts", type="timestamp"),
        *(DimAttribute(name=name, type=kind) for name, kind in ATTRIBUTES.items()),
        DimAttribute(name="customer_name", type="string", chain=[ChainField(chain="cust", field="name")]),
    ],
    expressions=[
        Expression(name="ratio", type="double", specs=[ExpressionSpec(expression="revenue / n")]),
        Expression(name="label", type="string", specs=[ExpressionSpec(expression="concat(region, '-', bike)")]),
        Expression(
            name="quoted",
            type="string",
            specs=[
                ExpressionSpec(expression="""case when region = 'o''brien' then "a""b" else 'it\\'s' end"""),
            ],
        ),
        Expression(
            name="day_name",
            type="string",
            specs=[
                ExpressionSpec(expression="array('Mon', 'Tue', 'Wed', 'it''s Thu', 'Fri', 'Sat', 'Sun')[weekday(ts)]")
            ],
        ),
        Expression(name="either", type="boolean", specs=[ExpressionSpec(expression="region = 'eu' or bike = 'a'")]),
        Expression(name="diff", type="bigint", specs=[ExpressionSpec(expression="revenue - high")]),
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
DERIVED = DerivedCube(
    name="part",
    parent="rides",
    measures=[*MEASURES, *(one.name for one in CUBE.expressions)],
    dim_attributes=[*ATTRIBUTES, "customer_name"],
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

CUBE_ROWS = (
    "CREATE VIEW cube_rows AS SELECT base.*, c.name AS customer_name, t.name AS town_name FROM base"
    " LEFT JOIN shop.lake_customers c ON base.customer = c.id LEFT JOIN shop.lake_citys t ON c.city = t.id"
)
"""The rows of the cube with the names of customers and towns, for DuckDB."""


@dataclass
class World:
    """A star, and the rows behind it.

    Attributes:
        cubes: the model and its partitions.
        db: tables ``base`` and those of the model.
        whole: whether a fact whose rows are not rolled up has all fields and all hours.
        hours: of each hourly table with all fields whose rows are not rolled up, the hours that it has partitions of.
        root: where the folders of storages are.
    """

    cubes: Cubes
    db: duckdb.DuckDBPyConnection
    whole: bool
    hours: list[set[int]]
    root: str

    def close(self):
        self.db.close()
        self.cubes.store.close()

    def run(self, spark_sql):
        """The rows of a query in Spark's SQL."""
        return self.rows(in_duckdb(spark_sql))

    def rows(self, sql):
        """The rows of a query in DuckDB's SQL."""
        return plain(self.db.execute(sql).fetchall())


def plain(rows):
    """Rows in which times and numbers of DuckDB, Spark and Python compare as equal."""
    return [tuple(map(_plain, row)) for row in rows]


def ordered(rows):
    """The same in one order."""
    return sorted(plain(rows), key=repr)


def _plain(value):
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day)
    return float(f"{value:.9g}") + 0.0 if isinstance(value, (float, Decimal)) else value


def world(random: Random, url: str = "memory://", root: str = "s3:/") -> World:
    """A star, whose model is in a store, and whose tables have folders that are not made."""
    store = connect(url)
    store.create_database("shop")
    cubes = Cubes(store, "shop", lambda: NOW)
    cubes.create_all([Storage(name="lake"), Storage(name="vault"), CUBE, DERIVED, *DIMENSIONS, *_dimtables(root)])
    db = duckdb.connect(config={"threads": 1})  # of which more cost more than they gain
    define(db)
    db.execute("CREATE SCHEMA shop")
    db.execute(
        "CREATE TABLE base (ts TIMESTAMP, region VARCHAR, bike VARCHAR, customer INT, revenue BIGINT, n BIGINT,"
        " low BIGINT, high BIGINT, price BIGINT)"
    )
    rows = [_row(random) for _ in range(random.choice([0, 20, 200]))]
    if rows:
        db.execute(f"INSERT INTO base VALUES {', '.join(f'({_literals(row)})' for row in rows)}")
    db.execute(
        "CREATE TABLE shop.lake_customers AS SELECT * FROM"
        " (VALUES (0, 'nan', 1), (1, 'o''neil', 1), (2, '\"nina\"', 2), (3, 'a\\b', NULL)) t(id, name, city)"
    )
    db.execute("CREATE TABLE shop.lake_citys AS SELECT * FROM (VALUES (1,'Ulm'),(2,'B''ham')) t(id,name)")
    db.execute(CUBE_ROWS)
    made = World(cubes, db, False, [], root)
    if random.random() < 0.3:  # no fact has all measures
        measures = random.sample(list(MEASURES), len(MEASURES))
        facts = random.randint(2, 3)
        for number in range(facts):
            some = measures[number::facts]
            _fact(random, number, made, [*some, *(name for name, (_, of) in PARTS.items() if of in some)])
    else:
        for number in range(random.randint(1, 5)):
            _fact(random, number, made)
    return made


def _dimtables(root):
    return [
        DimTable(
            name=f"{one.name}s",
            dimension=one.name,
            columns=[Column(name=field.name, type=field.type) for field in one.dim_attributes],
            storage_tables=[
                StorageTable(
                    storage="lake",
                    description=TableDescription(location=f"{root}/lake/{one.name}s", format="parquet"),
                )
            ],
        )
        for one in DIMENSIONS
    ]


def _row(random):
    def maybe(value):
        return None if random.random() < 0.15 else value

    return (
        BEGIN + dt.timedelta(hours=random.randrange(HOURS), minutes=random.choice([0, 0, 30])),
        maybe(random.choice(REGIONS)),
        random.choice(["a", "b"]),
        maybe(random.randrange(6)),
        *(maybe(random.randrange(-20, 100)) for _ in range(5)),
    )


def _literals(row):
    return ", ".join("NULL" if one is None else said(str(one)) for one in row)


def _fact(random, number, made, disjoint=()):
    cubes, db = made.cubes, made.db
    raw = not disjoint and number == 0 and random.random() < 0.7
    attributes = [name for name in ATTRIBUTES if raw or random.random() < (0.95 if disjoint else 0.85)]
    named = not raw and random.random() < 0.3
    has_ts = raw and random.random() < 0.8
    rolled_up = [name for name in (*MEASURES, *PARTS) if name != "price" and random.random() < 0.8]
    measures = list(MEASURES if raw else disjoint or rolled_up)
    by_region = not raw and "region" in attributes and random.random() < 0.2
    columns, dated = _columns(random, raw, attributes, measures, by_region)
    columns += [Column(name="customer_name", type="string")] if named else []
    columns += [Column(name="ts", type="timestamp")] if has_ts else []
    if not columns:
        columns, attributes = [Column(name="bike", type="string")], [*attributes, "bike"]
    tables = []
    valid = _dates(random) if not raw and not disjoint and random.random() < 0.2 else {}
    daily = not raw and random.random() < 0.2  # dates in a column of that type
    storages = ["lake", "vault"][: random.choice([1, 1, 2])]
    periods = {}
    for storage in storages:
        fixed = [UpdatePeriod.DAILY] if daily else [UpdatePeriod.HOURLY] if raw and random.random() < 0.7 else None
        periods[storage] = fixed or _periods(random, with_days=bool(disjoint))
        tables.append(
            StorageTable(
                storage=storage,
                update_periods=[period.name for period in periods[storage]],
                partition_columns=[
                    Column(name="dt", type="date" if daily else "string"),
                    *([Column(name="region", type="string")] if by_region else []),
                ],
                time_partition_columns=["dt"],
                description=TableDescription(location=f"{made.root}/{storage}/f{number}", format="parquet"),
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
    names = [*(column.name for column in columns), *(["region"] if by_region else [])]
    for storage in storages:
        table = f"{storage}_f{number}"
        kinds = [f"{name} {_TYPES.get(name, 'BIGINT')}" for name in names]
        db.execute(f"CREATE TABLE shop.{table} ({', '.join([*kinds, 'dt DATE' if daily else 'dt VARCHAR'])})")
        for period in periods[storage]:
            indexes = list(range(period.floor_index(_moment(BEGIN)), period.ceil_index(_moment(END))))
            chance = random.choice([0, 0, 0.02, 0.1] if disjoint else [0, 0, 0.02, 0.3])
            holes = {index for index in indexes if random.random() < chance}
            wrong = holes | {index for index in indexes if not _within(period, index, valid)}
            there = [index for index in indexes if index not in holes]
            if raw and has_ts and period is UpdatePeriod.HOURLY:
                made.whole |= not holes
                made.hours.append(set(there))
            others = [{"region": region} for region in (*REGIONS, None)] if by_region else [{}]
            times = [{"dt": period.format_index(index)} for index in there]
            # Bytes decide between facts of one weight, unless one of the able facts does not say them, as the fourth.
            says = {} if number == 3 else {"totalSize": str(10 + (7 * number + 3 * len(storage)) % 11)}
            partitions = [PartitionDesc(period.name, one, other, parameters=says) for one in times for other in others]
            cubes.add_partitions(f"f{number}", storage, partitions)
            _fill(db, table, period, names, attributes, named, raw)
            for name, dates in dated.items():
                outside = [index for index in there if not _within(period, index, dates)]
                db.execute(f"UPDATE shop.{table} SET {name} = {_poison(name)} WHERE {_is_of(period, outside)}")
            db.execute(f"DELETE FROM shop.{table} WHERE {_is_of(period, wrong)}")
            if wrong:
                poison = ", ".join(_poison(name) for name in names)
                rows = ", ".join(f"({poison}, '{period.format_index(index)}')" for index in sorted(wrong))
                db.execute(f"INSERT INTO shop.{table} VALUES {rows}")
    if valid:  # only now, as partitions of other times cannot be registered
        cubes.alter(fact.changed(**valid))


def _periods(random, *, with_days):
    """Some update periods; with days, as hardly a query would be answered by several facts without."""
    found = random.sample(list(_DUCK), random.randint(1, 3))
    return list(dict.fromkeys([*found, UpdatePeriod.DAILY])) if with_days else found


def _columns(random, raw, attributes, measures, by_region):
    """Columns of attributes and measures, and the days in which some of them are right."""
    named = [name for name in (*attributes, *measures) if not (by_region and name == "region")]
    dated = {name: _dates(random) for name in named if not raw and random.random() < 0.1}
    return [Column(name=name, type=ATTRIBUTES.get(name, "bigint"), **dated.get(name, {})) for name in named], dated


def _is_of(period, indexes):
    """The condition that a row is in one of some partitions."""
    texts = ", ".join(f"'{period.format_index(index)}'" for index in sorted(indexes))
    return f"dt IN ({texts})" if texts else "false"


def _dates(random):
    """A first day, or a last one, or both."""
    days = sorted(random.sample(range(1, 60), 2))
    texts = [f"{BEGIN + dt.timedelta(days=day):%Y-%m-%d}" for day in days]
    found = {"start_time": texts[0], "end_time": texts[1]}
    return random.choice([found, {"start_time": texts[0]}, {"end_time": texts[1]}])


def _within(period, index, dates):
    """Whether a part of a period lies within such days."""
    first, last = (
        _moment(dt.datetime.fromisoformat(dates[name])) if name in dates else None
        for name in ("start_time", "end_time")
    )
    return (first is None or first <= period.moment(index)) and (last is None or period.moment(index + 1) <= last)


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
    if name in MEASURES or name in PARTS:
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
        elif name in PARTS:
            made.append("{}(base.{})".format(*PARTS[name]))
        else:
            made.append({"customer_name": "c.name"}.get(name, f"base.{name}"))
    db.execute(
        f"INSERT INTO shop.{table} SELECT {', '.join([*made, text])} FROM {source} GROUP BY {', '.join([*group, text])}"
    )
