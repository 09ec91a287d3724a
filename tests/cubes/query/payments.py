"""The cube of payments behind bridges: users have several interests, each with a sport and a coach; shops have tags."""

from __future__ import annotations

from contextlib import contextmanager

from hbstore.cubes import parse_documents
from hbstore.cubes.logical_tables import Column, DimTable, Fact, StorageTable
from tests.cubes.small_cube import opened, partitions, table

MODEL = """
kind: storage
name: lake
---
kind: cube
name: payments
time_dimensions: {paid_at: dt}
measures: [{name: revenue, type: bigint, default_aggregate: sum}]
dim_attributes:
  - {name: paid_at, type: timestamp}
  - {name: user_id, type: int}
  - {name: shop_id, type: int}
  - {name: sport_name, type: string, chain: [{chain: sport, field: name}]}
expressions:
  - name: dated
    type: string
    specs:
      - {expression: sport.name, end_time: 2015-01-01T12:00}
      - {expression: upper(sport.name), start_time: 2015-01-01T12:00}
join_chains:
  - name: sport
    paths: [["payments.user_id = interests.user_id (many)", "interests.sport_id = sports.id"]]
  - name: coach
    paths: [["payments.user_id = interests.user_id (many)", "interests.coach_id = coaches.id"]]
  - {name: tag, paths: [["payments.shop_id = tags.shop_id (many)"]]}
  - {name: payer, paths: [["payments.user_id = users.id"]]}
  - name: hobby
    paths: [["payments.user_id = users.id", "users.id = interests.user_id (many)", "interests.sport_id = sports.id"]]
---
kind: dimension
name: users
dim_attributes: [{name: id, type: int}, {name: name, type: string}]
join_chains:
  - {name: sport, paths: [["users.id = interests.user_id (many)", "interests.sport_id = sports.id"]]}
---
kind: dimension
name: interests
dim_attributes: [{name: user_id, type: int}, {name: sport_id, type: int}, {name: coach_id, type: int}]
---
kind: dimension
name: sports
dim_attributes: [{name: id, type: int}, {name: name, type: string}]
expressions: [{name: loud, type: string, specs: [{expression: "concat(name, '!')"}]}]
---
kind: dimension
name: coaches
dim_attributes: [{name: id, type: int}, {name: name, type: string}]
---
kind: dimension
name: tags
dim_attributes: [{name: shop_id, type: int}, {name: tag, type: string}]
"""
TABLES = {
    "users": "id INT, name STRING",
    "interests": "user_id INT, sport_id INT, coach_id INT",
    "sports": "id INT, name STRING",
    "coaches": "id INT, name STRING",
    "tags": "shop_id INT, tag STRING",
}
RANGE = "time_range_in(paid_at, '2015-01-01', '2015-01-02')"
FLAT = {"flatten_bridges": "true"}


def columns_of(text):
    """The columns of a list as CREATE TABLE has it."""
    return [Column(name=one.split()[0], type=one.split()[1].lower()) for one in text.split(", ")]


@contextmanager
def payments():
    """The cube with a day of hours, and a table of each dimension."""
    on = StorageTable(storage="lake")
    dimensions = [
        DimTable(name=name, dimension=name, columns=columns_of(text), storage_tables=[on])
        for name, text in TABLES.items()
    ]
    columns = columns_of("user_id INT, shop_id INT, revenue BIGINT")
    fact = Fact(name="payments", cube="payments", columns=columns, storage_tables=[table("lake", "HOURLY")])
    with opened(*parse_documents(MODEL, "yaml"), fact, *dimensions) as cubes:
        cubes.add_partitions("payments", "lake", partitions("HOURLY", [f"2015-01-01-{at:02}" for at in range(24)]))
        yield cubes
