"""FROM: brackets, and joins of all kinds, answered by DuckDB from a few rows beside the same joins in plain SQL."""

from __future__ import annotations

import duckdb
import pytest

from hbstore.cubes import parse_documents
from hbstore.errors import UnknownField, UnsupportedQuery
from tests.cubes.query.spark_in_duckdb import in_duckdb
from tests.cubes.query.stars import ordered
from tests.cubes.small_cube import CUBE, fact, opened, partitions

DIMENSIONS = """
kind: dimension
name: station
dim_attributes: [{name: id, type: int}, {name: name, type: string}, {name: city_id, type: int}]
---
kind: dimension
name: city
dim_attributes: [{name: id, type: int}, {name: title, type: string}]
---
kind: dimtable
name: stations
dimension: station
columns: [{name: id, type: int}, {name: name, type: string}, {name: city_id, type: int}]
storage_tables: [{storage: lake}]
---
kind: dimtable
name: cities
dimension: city
columns: [{name: id, type: int}, {name: title, type: string}]
storage_tables: [{storage: lake}]
"""
DAY = "time_range_in(start_time, '2015-01-10', '2015-01-11')"
RIDES = "(SELECT * FROM shop.lake_daily WHERE dt = '2015-01-10') r"


@pytest.fixture(scope="module")
def world():
    """Rides from stations 1, 2, 9 and none; stations 1, 2 and 3, of which two are in one city; a city without any."""
    documents = (*CUBE[:3], *parse_documents(DIMENSIONS, "yaml"), fact("daily", "fare station_id"))
    with opened(*documents) as cubes, duckdb.connect() as db:
        cubes.add_partitions("daily", "lake", partitions("DAILY", [f"2015-01-{day}" for day in (10, 11, 13)]))
        db.execute("CREATE SCHEMA shop")
        db.execute("CREATE TABLE shop.lake_daily (fare BIGINT, station_id INT, dt VARCHAR)")
        for day, fares in (("2015-01-10", (1, 2, 4, 8, 16)), ("2015-01-11", (100, 200, 400, 800, 1600))):
            stations = (1, 1, 2, 9, None)
            db.executemany(
                "INSERT INTO shop.lake_daily VALUES (?, ?, ?)",
                [(fare, at, day) for fare, at in zip(fares, stations, strict=True)],
            )
        db.execute(
            "CREATE TABLE shop.lake_stations AS "
            "FROM (VALUES (1, 'a', 7), (2, 'b', 7), (3, 'c', NULL)) s(id, name, city_id)"
        )
        db.execute("CREATE TABLE shop.lake_cities AS FROM (VALUES (7, 'X'), (8, 'Y')) c(id, title)")
        yield cubes, db


def rows(world, text):
    cubes, db = world
    return ordered(db.execute(in_duckdb(cubes.rewrite(text).sql)).fetchall())


@pytest.mark.parametrize(
    "join", ["JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL OUTER JOIN"]
)
def test_joins_bring_the_rows_that_they_bring_in_sql(world, join):
    ours = f"cube select s.name, fare from rides {join} station s on rides.station_id = s.id where {DAY}"
    source = f"{RIDES} {join} shop.lake_stations s ON r.station_id = s.id"
    assert rows(world, ours) == ordered(
        world[1].execute(f"SELECT s.name, sum(fare) FROM {source} GROUP BY 1").fetchall()
    )


@pytest.mark.parametrize("join", ["RIGHT JOIN", "FULL JOIN"])
@pytest.mark.parametrize(
    "condition",
    [
        "{day} or time_range_in(start_time, '2015-01-13', '2015-01-14')",
        "time_range_in(start_time, '2015-01-10', '2015-01-14') and not {between}",
    ],
)
def test_dimensions_without_rows_stay_whatever_ranges_there_are(world, join, condition):
    between = "time_range_in(start_time, '2015-01-11', '2015-01-13')"
    condition = condition.format(day=DAY, between=between)
    ours = f"cube select s.name, fare from rides {join} station s on rides.station_id = s.id where {condition}"
    source = f"(SELECT * FROM shop.lake_daily WHERE dt IN ('2015-01-10', '2015-01-13')) r {join} shop.lake_stations s"
    theirs = f"SELECT s.name, sum(fare) FROM {source} ON r.station_id = s.id GROUP BY 1"
    assert rows(world, ours) == ordered(world[1].execute(theirs).fetchall())


@pytest.mark.parametrize(
    ("join", "fares"),
    [("LEFT SEMI JOIN", 3), ("SEMI JOIN", 3), ("LEFT ANTI JOIN", 28), ("ANTI JOIN", 28)],
)
def test_semi_and_anti_joins_choose_rows(world, join, fares):
    condition = "rides.station_id = s.id and s.name < 'b'"
    assert rows(world, f"cube select fare from rides {join} station s on {condition} where {DAY}") == [(fares,)]


@pytest.mark.parametrize("join", ["LEFT SEMI JOIN", "LEFT ANTI JOIN"])
@pytest.mark.parametrize("later", ["select s.name, fare", "select fare"])
def test_fields_of_a_semi_or_anti_join_are_named_in_its_condition_alone(world, join, later):
    where = "" if "name" in later else " and s.name = 'a'"
    text = f"cube {later} from rides {join} station s on rides.station_id = s.id where {DAY}{where}"
    with pytest.raises(UnknownField, match=r"s\.name") as caught:
        world[0].rewrite(text)
    assert caught.value.highlight.endswith("^")


@pytest.mark.parametrize(
    ("brackets", "plain"),
    [
        ("(rides)", "rides"),
        ("((rides))", "rides"),
        ("(rides) r", "rides r"),
        (
            "rides join (station) on rides.station_id = station.id",
            "rides join station on rides.station_id = station.id",
        ),
        (
            "((rides r left join station s on r.station_id = s.id) left join (city) c on c.id = s.city_id)",
            "rides r left join station s on r.station_id = s.id left join city c on c.id = s.city_id",
        ),
        (
            "(rides r join station s on r.station_id = s.id) right join city c on c.id = s.city_id",
            "rides r join station s on r.station_id = s.id right join city c on c.id = s.city_id",
        ),
    ],
)
def test_brackets_around_the_first_tables_change_nothing(world, brackets, plain):
    field = "c.title, " if "city" in plain else ""
    bracketed, without = (f"cube select {field}fare from {text} where {DAY}" for text in (brackets, plain))
    assert world[0].rewrite(bracketed).sql == world[0].rewrite(without).sql
    assert rows(world, bracketed)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "rides left join (station s join city c on s.city_id = c.id) on rides.station_id = s.id",
            "brackets around a join",
        ),
        ("(rides r join station s on r.station_id = s.id) x", "brackets in FROM have a name"),
        ("(rides r) x", "brackets in FROM have a name"),
        ("(select * from rides) x", "subquery"),
        ("rides inner join station s", "no condition"),
        ("rides join station s on true", "no condition"),
        ("rides join station s", "no condition"),
        ("rides cross join station s", "another form"),
        ("rides natural join station s", "another form"),
        ("rides join station s using (id)", "another form"),
        ("rides right semi join station s on rides.station_id = s.id", "another form"),
    ],
)
def test_what_from_cannot_hold_is_refused(world, source, text):
    with pytest.raises(UnsupportedQuery, match=text) as caught:
        world[0].rewrite(f"cube select fare from {source} where {DAY}")
    assert caught.value.hint
    assert caught.value.highlight.endswith("^")


def test_a_condition_names_no_table_that_is_joined_later(world):
    joins = "join station s on rides.station_id = c.id join city c on c.id = s.city_id"
    with pytest.raises(UnknownField, match=r"c\.id"):
        world[0].rewrite(f"cube select fare from rides {joins} where {DAY}")


@pytest.mark.parametrize(
    "text",
    [
        "select rides.fare from Shop.rides where {}",
        "select `rides`.`fare` from `shop`.`rides` where {}",
        "select shop.rides.fare from shop.rides where time_range_in(shop.rides.start_time, '2015-01-10', '2015-01-11')",
        "select r.fare from shop.rides as r join shop.station s on shop.s.id = r.station_id where {}",
    ],
)
def test_the_database_of_the_query_before_names(world, text):
    plain = text.replace("`", "").replace("Shop.", "").replace("shop.", "")
    assert world[0].rewrite(text.format(DAY)).sql == world[0].rewrite(plain.format(DAY)).sql


def test_another_database_is_refused(world):
    with pytest.raises(UnsupportedQuery, match="a cube of another database") as caught:
        world[0].rewrite(f"select fare from far.rides where {DAY}")
    assert caught.value.fields["database"] == "shop"
    with pytest.raises(UnknownField, match="no such field"):
        world[0].rewrite(f"select far.rides.fare from rides where {DAY}")
    far = "select fare from rides where time_range_in(far.rides.start_time, '2015-01-10', '2015-01-11')"
    with pytest.raises(UnknownField, match="not a time dimension of the cube"):
        world[0].rewrite(far)
