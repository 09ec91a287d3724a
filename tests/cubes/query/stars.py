"""Random stars: rows of a cube, facts rolled up from them with holes, dimensions.

A row has the time `ts` of the partitions that it is in, and the time `paid` of a column, which may be NULL. A fact may
have these as dates, or not at all; and the column `ts` of rows that are not rolled up may be NULL.
"""

# ruff: noqa: DTZ001  times of rows have no time zone, as in the tables

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

import duckdb

from hbstore import connect
from hbstore.cubes import Cubes
from hbstore.cubes.concepts import Storage
from hbstore.cubes.logical_tables import Column, DimTable, StorageTable, TableDescription
from tests.cubes.query.spark_in_duckdb import define, in_duckdb
from tests.cubes.query.star_facts import add_fact
from tests.cubes.query.star_model import BEGIN, CUBE, DERIVED, DIMENSIONS, HOURS, MEASURES, PARTS, REGIONS
from tests.cubes.query.terms import said

NOW = dt.datetime(2015, 4, 1, tzinfo=dt.UTC)

CUBE_ROWS = (
    "CREATE VIEW cube_rows AS SELECT base.* REPLACE (CAST(paid AS {paid}) AS paid), c.name AS customer_name,"
    " t.name AS town_name FROM base LEFT JOIN shop.lake_customers c ON base.customer = c.id"
    " LEFT JOIN shop.lake_citys t ON c.city = t.id"
)
"""The rows of the cube with the names of customers and towns, for DuckDB."""


@dataclass(frozen=True)
class Kind:
    """What is special in a star.

    Attributes:
        dates: how many time columns of facts are dates, though those of the cube are timestamps.
        paid: the type of the time `paid` in the cube.
        known: whether the column `ts` of rows that are not rolled up is never NULL.
        unreadable: how many storages have files that hbstore cannot read.
    """

    dates: float = 0.0
    paid: str = "timestamp"
    known: bool = True
    unreadable: float = 0.0

    @staticmethod
    def of(random: Random) -> Kind:
        """A random kind; two fifths of all are plain."""
        if random.random() < 0.4:
            return Kind()
        return Kind(
            random.choice([0.0, 0.7]),
            random.choice(["timestamp", "timestamp", "date"]),
            random.random() < 0.7,
            random.choice([0.0, 0.6]),
        )


@dataclass
class World:
    """A star, and the rows behind it.

    Attributes:
        cubes: the model and its partitions.
        db: tables ``base`` and those of the model.
        root: where the folders of storages are.
        kind: what is special in it.
        whole: whether a fact whose rows are not rolled up has all fields and all hours.
        hours: of each hourly table with all fields whose rows are not rolled up, the hours that it has partitions of.
        unread: the same of tables that hbstore cannot read.
    """

    cubes: Cubes
    db: duckdb.DuckDBPyConnection
    root: str
    kind: Kind
    whole: bool = False
    hours: list[set[int]] = field(default_factory=list)
    unread: list[set[int]] = field(default_factory=list)

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


PLAIN = Kind()
"""All times are timestamps that are known, and all files can be read."""


def world(random: Random, url: str = "memory://", root: str = "s3:/", kind: Kind = PLAIN) -> World:
    """A star, whose model is in a store, and whose tables have folders that are not made."""
    store = connect(url)
    store.create_database("shop")
    cubes = Cubes(store, "shop", lambda: NOW)
    fields = [one.changed(type=kind.paid) if one.name == "paid" else one for one in CUBE.dim_attributes]
    cube = CUBE.changed(dim_attributes=fields)
    cubes.create_all([Storage(name="lake"), Storage(name="vault"), cube, DERIVED, *DIMENSIONS, *_dimtables(root)])
    db = duckdb.connect(config={"threads": 1})  # of which more cost more than they gain
    define(db)
    db.execute("CREATE SCHEMA shop")
    db.execute(
        "CREATE TABLE base (ts TIMESTAMP, known_ts TIMESTAMP, paid TIMESTAMP, region VARCHAR, bike VARCHAR,"
        " customer INT, revenue BIGINT, n BIGINT, low BIGINT, high BIGINT, price BIGINT)"
    )
    rows = [_row(random, kind) for _ in range(random.choice([0, 20, 200, 200]))]
    if rows:
        db.execute(f"INSERT INTO base VALUES {', '.join(f'({_literals(row)})' for row in rows)}")
    db.execute(
        "CREATE TABLE shop.lake_customers AS SELECT * FROM"
        " (VALUES (0, 'nan', 1), (1, 'o''neil', 1), (2, '\"nina\"', 2), (3, 'a\\b', NULL)) t(id, name, city)"
    )
    db.execute("CREATE TABLE shop.lake_citys AS SELECT * FROM (VALUES (1,'Ulm'),(2,'B''ham')) t(id,name)")
    db.execute(CUBE_ROWS.format(paid=kind.paid))
    made = World(cubes, db, root, kind)
    if random.random() < 0.3:  # no fact has all measures
        measures = random.sample(list(MEASURES), len(MEASURES))
        facts = random.randint(2, 3)
        for number in range(facts):
            some = measures[number::facts]
            add_fact(random, number, made, [*some, *(name for name, (_, of) in PARTS.items() if of in some)])
    else:
        for number in range(random.randint(1, 5)):
            add_fact(random, number, made)
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


def _row(random, kind):
    def maybe(value):
        return None if random.random() < 0.15 else value

    time = BEGIN + dt.timedelta(hours=random.randrange(HOURS), minutes=random.choice([0, 0, 30]))
    return (
        time,
        time if kind.known else maybe(time),
        maybe(time + dt.timedelta(hours=random.choice([0, random.randrange(-2, 72)]))),
        maybe(random.choice(REGIONS)),
        random.choice(["a", "b"]),
        maybe(random.randrange(6)),
        *(maybe(random.randrange(-20, 100)) for _ in range(5)),
    )


def _literals(row):
    return ", ".join("NULL" if one is None else said(str(one)) for one in row)
