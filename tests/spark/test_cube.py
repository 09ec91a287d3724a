"""Cube queries on Spark: the report of the metastore guide, and answers that equal those of the cube's own rows."""

from __future__ import annotations

import datetime as dt
import re

import pyarrow as pa
import pytest
from sqlglot import exp

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from hbstore.cubes.descriptions import value_text
from hbstore.cubes.query.partition_conditions import partition_condition
from hbstore.errors import InvalidInput, NoCandidate, PartitionNotFound, UnknownField, UnsupportedQuery
from hbstore.keys.types import parse_type
from hbstore.spark import cube, sql, write_table
from hbstore.spark.cube import answer
from hbstore.timelines import UpdatePeriod
from tests.spark.written_rows import write_rows

MODEL = """
kind: storage
name: lake
---
kind: cube
name: payments
time_dimensions: {{paid_at: dt}}
measures: [{{name: revenue, type: bigint, default_aggregate: sum}}]
dim_attributes: [{{name: paid_at, type: timestamp}}, {{name: user_id, type: int}}]
join_chains:
  - name: sport
    paths: [["payments.user_id = user_interests.user_id (many)", "user_interests.sport_id = sports.id"]]
  - {{name: payer, paths: [["payments.user_id = users.id"]]}}
---
kind: dimension
name: users
dim_attributes: [{{name: id, type: int}}, {{name: name, type: string}}, {{name: gender, type: string}}]
join_chains:
  - name: sport
    paths: [["users.id = user_interests.user_id (many)", "user_interests.sport_id = sports.id"]]
---
kind: dimension
name: user_interests
dim_attributes: [{{name: user_id, type: int}}, {{name: sport_id, type: int}}]
---
kind: dimension
name: sports
dim_attributes: [{{name: id, type: int}}, {{name: description, type: string}}]
---
kind: fact
name: payments_daily
cube: payments
columns: [{{name: user_id, type: int}}, {{name: revenue, type: bigint}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY, HOURLY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/payments", format: parquet}}
---
kind: dimtable
name: users_table
dimension: users
columns: [{{name: id, type: int}}, {{name: name, type: string}}, {{name: gender, type: string}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/users", format: parquet}}
---
kind: dimtable
name: interests_table
dimension: user_interests
columns: [{{name: user_id, type: int}}, {{name: sport_id, type: int}}]
storage_tables: [{{storage: lake, description: {{location: "file:{root}/interests", format: parquet}}}}]
---
kind: dimtable
name: sports_table
dimension: sports
columns: [{{name: id, type: int}}, {{name: description, type: string}}]
storage_tables: [{{storage: lake, description: {{location: "file:{root}/sports", format: parquet}}}}]
"""
RANGE = "time_range_in(paid_at, '2015-01-01', '2015-01-03')"
GRADES = """
kind: dimension
name: grades
dim_attributes: [{{name: id, type: int}}, {{name: grade, type: string}}]
---
kind: dimtable
name: grades_table
dimension: grades
columns: [{{name: id, type: int}}, {{name: grade, type: string}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: date}}, {{name: region, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{0}/grades", format: parquet}}
"""


@pytest.fixture
def store(url, tmp_path):
    """The users, sports and payments of the guide; a day by itself, and one by its hours."""
    with connect(url) as store:
        store.create_database("shop")
        Cubes(store, "shop").create_all(parse_documents(MODEL.format(root=tmp_path), "yaml"))
        payments, users = tmp_path / "payments", tmp_path / "users/dt=2015-01-01"
        for at in range(24):
            (payments / f"dt=2015-01-02-{at:02}").mkdir(parents=True)
        write_rows(payments / "dt=2015-01-01", [(1, 60)], user_id="int32", revenue="int64")
        write_rows(payments / "dt=2015-01-02-07", [(1, 40), (2, 50)], user_id="int32", revenue="int64")
        people = [(1, "A", "M"), (2, "B", "M"), (3, "C", "F")]
        write_rows(users, people, id="int32", name="string", gender="string")
        interests = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)]
        write_rows(tmp_path / "interests", interests, user_id="int32", sport_id="int32")
        sports = [(1, "Football"), (2, "Cricket"), (3, "Basketball")]
        write_rows(tmp_path / "sports", sports, id="int32", description="string")
        cubes = Cubes(store, "shop")
        times = [("DAILY", "2015-01-01"), *(("HOURLY", f"2015-01-02-{at:02}") for at in range(24))]
        cubes.add_partitions("payments_daily", "lake", [PartitionDesc(period, {"dt": time}) for period, time in times])
        cubes.add_partitions(
            "users_table", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-01"}, location=f"file:{users}")]
        )
        yield store


def rows(frame):
    return sorted(tuple(row) for row in frame.collect())


def test_the_report_of_sports(spark, store):
    text = f"cube select sport.description as `User's sport`, revenue from payments where {RANGE}"
    found = cube(spark, store, text, database="shop")
    assert found.columns == ["User's sport", "revenue"]
    assert rows(found) == [("Basketball", 50), ("Cricket", 150), ("Football", 150)]
    (warning,) = Cubes(store, "shop").rewrite(text).warnings
    assert "once for each match" in warning


def test_conditions_on_groups_and_aliases_within_expressions(spark, store):
    """User 1 pays 60 and 40, user 2 pays 50."""
    for select, after, expected in (
        ("payer.name", "having payer.name = 'A'", [("A",)]),
        ("distinct payer.name as name", "having name like 'B%' order by name", [("B",)]),
        ("user_id, revenue - 60 as d", "having 50 - d > 20", [(2, -10)]),
        ("user_id, revenue > 80 or revenue < 20 as e", "having not e", [(2, False)]),
        ("user_id, revenue - 60 as d", "having sum(revenue) > 0 order by 10 - d desc limit 1", [(2, -10)]),
        ("user_id, sum(revenue) as revenue", "having sum(revenue) > 60", [(1, 100)]),
    ):
        text = f"cube select {select} from payments where {RANGE} {after}"
        assert rows(cube(spark, store, text, database="shop")) == expected, text


def test_the_report_of_sets_of_sports(spark, store):
    flat = {"lens.cube.query.enable.flattening.bridge.tables": "true"}
    text = f"cube select sport.description as `User Interest`, revenue from payments where {RANGE}"

    def report(condition=""):
        return rows(cube(spark, store, text + condition, database="shop", options=flat))

    both, all_three = ["Cricket", "Football"], ["Basketball", "Cricket", "Football"]
    assert report() == [(all_three, 50), (both, 100)]
    assert report(" and sport.description = 'Basketball'") == [(all_three, 50)]
    assert report(" and sport.description != 'Basketball'") == [(both, 100)]
    assert report(" and not sport.description like 'B%' and sport.description in ('Football', 'Golf')") == [(both, 100)]
    assert report(" and sport.description is null") == []
    people = "select name, sport.description from users order by name"
    found = cube(spark, store, people, database="shop", options=flat).collect()
    assert [tuple(row) for row in found] == [("A", both), ("B", all_three), ("C", None)]
    # A user whose rows have no value has an empty set, and one without rows none.
    numbers = "select name, case when sport.description like 'B%' then 1 end as it from users order by name"
    found = cube(spark, store, numbers, database="shop", options=flat).collect()
    assert [tuple(row) for row in found] == [("A", []), ("B", [1]), ("C", None)]


def test_sets_that_expressions_are_computed_over(spark, store):
    early = {"flatten_bridges": "true", "flatten_early": "true"}

    def report(item, condition="", order="revenue"):
        text = f"cube select {item}, revenue from payments where {RANGE}{condition} order by {order} desc"
        return [tuple(row) for row in cube(spark, store, text, database="shop", options=early).collect()]

    assert report("left(sport.description, 1)") == [(["C", "F"], 100), (["B", "C", "F"], 50)]
    assert report("size(sport.description)") == [(2, 100), (3, 50)]
    assert report("size(sport.description)", order="size(sport.description)") == [(3, 50), (2, 100)]
    assert report("concat(payer.name, sport.description)") == [
        (["ACricket", "AFootball"], 100),
        (["BBasketball", "BCricket", "BFootball"], 50),
    ]
    both = ["Cricket", "Football"]
    for condition in ("not upper(sport.description) like 'B%'", "sport.description < 'D' and payer.name < 'B'"):
        assert report("sport.description", f" and {condition}") == [(both, 100)]
    assert report("distinct sport.description", " and sport.description is null") == []
    people = "select name, upper(sport.description), sport.description = 'Golf' from users order by name"
    found = cube(spark, store, people, database="shop", options=early).collect()
    assert [tuple(row) for row in found] == [
        ("A", ["CRICKET", "FOOTBALL"], [False, False]),
        ("B", ["BASKETBALL", "CRICKET", "FOOTBALL"], [False, False, False]),
        ("C", None, None),
    ]


def test_rows_come_from_days_and_hours_and_from_the_latest_dimension(spark, store):
    text = f"select payer.name, payer.gender, sum(revenue) total from payments where {RANGE} order by total desc"
    frame = cube(spark, store, text, database="shop")
    assert [tuple(row) for row in frame.collect()] == [("A", "M", 100), ("B", "M", 50)]
    read = {name.rsplit("/", 2)[1] for name in frame.inputFiles()}
    assert {"dt=2015-01-01", "dt=2015-01-02-07"} <= read
    hours = "select revenue from payments where time_range_in(paid_at, '2015-01-02-07', '2015-01-02-08')"
    frame = cube(spark, store, hours, database="shop")
    assert rows(frame) == [(90,)]
    assert {name.rsplit("/", 2)[1] for name in frame.inputFiles()} == {"dt=2015-01-02-07"}


def test_it_is_a_statement_of_hbstores_sql(spark, store, caplog):
    sql(spark, "USE shop", store=store)
    try:
        text = f"-- by payer\ncube select payer.name, revenue from payments where {RANGE} order by revenue desc;"
        assert [tuple(row) for row in sql(spark, text, store=store).collect()] == [("A", 100), ("B", 50)]
        with caplog.at_level("WARNING", "hbstore"):
            sql(spark, f"CUBE SELECT sport.description, revenue FROM payments WHERE {RANGE}", store=store)
        assert "once for each match" in caplog.text
        with pytest.raises(UnknownField):
            sql(spark, f"cube select nope from payments where {RANGE}", store=store)
    finally:
        sql(spark, "USE default", store=store)
    script = f"use shop; show tables; cube select payer.name, revenue from payments where {RANGE} and user_id = 2; "
    try:
        assert [tuple(row) for row in sql(spark, script, store=store).collect()] == [("B", 50)]
        shown = sql(
            spark, f"cube select revenue from payments where {RANGE}; show partitions lake_users_table", store=store
        )
        assert [row.partition for row in shown.collect()] == ["dt=2015-01-01", "dt=latest"]
        with pytest.raises(UnknownField) as caught:
            sql(spark, f"show tables;\ncube select nope from payments where {RANGE}", store=store)
        assert (caught.value.fields["line"], caught.value.fields["column"]) == (2, 13)
        assert caught.value.__notes__ == ["statement 2 of 2: hbstore ran the statements before it"]
    finally:
        sql(spark, "USE default", store=store)


def test_options_of_the_session(spark, store, tmp_path):
    text = f"cube select payer.name, revenue from payments where {RANGE}"
    answer = [("A", 100), ("B", 50)]
    path = tmp_path / "some.json"
    path.write_text('{"max_interval": "DAILY"}')
    for name in ("spark.hbstore.cube.max_interval", "lens.cube.query.max.interval"):
        sql(spark, f"SET {name} = HOURLY", store=store)
        try:
            for options in (None, {"join_type": "inner"}, path):
                with pytest.raises(NoCandidate, match="partitions are missing"):
                    cube(spark, store, text, database="shop", options=options)
            assert rows(cube(spark, store, text, database="shop", options={"max_interval": "DAILY"})) == answer
            assert rows(cube(spark, store, f"{text} options (max_interval = DAILY)", database="shop")) == answer
            sql(spark, "USE shop", store=store)
            with pytest.raises(NoCandidate, match="partitions are missing"):
                sql(spark, text, store=store)
        finally:
            spark.conf.unset(name)
            sql(spark, "USE default", store=store)
    spark.conf.set("spark.hbstore.cube.max_intervall", "HOURLY")
    try:
        with pytest.raises(InvalidInput, match="Did you mean max_interval"):
            cube(spark, store, text, database="shop")
    finally:
        spark.conf.unset("spark.hbstore.cube.max_intervall")


def test_rows_of_a_table_without_partitions_and_the_newest_dump_by_its_date(spark, store, tmp_path):
    cubes = Cubes(store, "shop")
    live = """
kind: fact
name: live
cube: payments
columns: [{{name: user_id, type: int}}, {{name: revenue, type: bigint}}, {{name: paid_at, type: timestamp}}]
storage_tables:
  - storage: lake
    update_periods: [CONTINUOUS]
    description: {{location: "{0}/live", format: parquet}}
---
kind: dimension
name: grades
dim_attributes: [{{name: id, type: int}}, {{name: grade, type: string}}]
---
kind: dimtable
name: grades_table
dimension: grades
columns: [{{name: id, type: int}}, {{name: grade, type: string}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: date}}]
    time_partition_columns: [dt]
    description: {{location: "{0}/grades", format: parquet}}
"""
    cubes.create_all(parse_documents(live.format(f"file:{tmp_path}"), "yaml"))
    day = dt.datetime(2015, 1, 3, tzinfo=dt.UTC)
    times = [day - dt.timedelta(hours=12), day + dt.timedelta(microseconds=1), day + dt.timedelta(hours=9)]
    paid = [(1, 1000 * 10**at, time) for at, time in enumerate(times)]
    write_rows(tmp_path / "live", paid, user_id="int32", revenue="int64", paid_at=pa.timestamp("us", "UTC"))
    text = "select payer.name, revenue from payments where time_range_in(paid_at, '2015-01-02', 'now')"
    assert rows(cube(spark, store, text, database="shop", now=times[2])) == [("A", 10_040), ("B", 50)]
    for day, grade in (("2015-01-01", "old"), ("2015-01-02", "new")):
        folder = tmp_path / f"grades/dt={day}"
        write_rows(folder, [(1, grade)], id="int32", grade="string")
        cubes.add_partitions("grades_table", "lake", [PartitionDesc("DAILY", {"dt": day}, location=f"file:{folder}")])
    assert rows(cube(spark, store, "select id, grade from grades", database="shop")) == [(1, "new")]


def test_dimensions_alone(spark, store):
    text = "select name, gender from users where id > 1 order by name"
    assert rows(cube(spark, store, text, database="shop")) == [("B", "M"), ("C", "F")]
    assert rows(cube(spark, store, "select gender, count(*) from users", database="shop")) == [("F", 1), ("M", 2)]


def test_joins_are_left_or_as_they_are_asked_for(spark, store):
    text = f"select payer.name, sport.description from payments where {RANGE} and sport.description = 'Basketball'"
    for join_type in ("inner", "LEFTOUTER"):
        found = cube(spark, store, text, database="shop", options={"lens.cube.query.join.type": join_type})
        assert rows(found) == [("B", "Basketball")]
    explicit = f"select u.name, p.revenue from payments p right join users u on p.user_id = u.id where {RANGE}"
    assert ("C", None) in set(rows(cube(spark, store, explicit, database="shop")))


def test_a_partition_that_is_dropped_before_it_is_read_is_named(spark, store):
    found = Cubes(store, "shop").rewrite(f"select revenue from payments where {RANGE}")
    Cubes(store, "shop").drop_partitions("payments_daily", "lake", [PartitionDesc("HOURLY", {"dt": "2015-01-02-07"})])
    with pytest.raises(PartitionNotFound, match="dt=2015-01-02-07"):
        answer(spark, store, "shop", found)


def test_a_dimension_whose_latest_partition_is_dropped_before_it_is_read(spark, store):
    cubes = Cubes(store, "shop")
    rewritten = cubes.rewrite(f"select payer.name, revenue from payments where {RANGE}")
    assert rows(answer(spark, store, "shop", rewritten)) == [("A", 100), ("B", 50)]
    (users,) = store.get_partitions_by_filter("shop", "lake_users_table", "dt = 'latest'")
    cubes.drop_partitions("users_table", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-01"})])
    with pytest.raises(PartitionNotFound, match="a latest partition") as caught:
        answer(spark, store, "shop", rewritten)
    assert caught.value.hint.endswith("ask again")
    cubes.add_partitions("users_table", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-02"}, location=users.location)])
    assert rows(answer(spark, store, "shop", rewritten)) == [("A", 100), ("B", 50)]


def test_a_dump_by_its_date_that_is_dropped_before_it_is_read(spark, store, tmp_path):
    cubes = Cubes(store, "shop")
    cubes.create_all(parse_documents(GRADES.format(tmp_path), "yaml"))
    for region in ("eu", "us"):
        folder = tmp_path / f"grades/{region}"
        write_rows(folder, [(1, region)], id="int32", grade="string")
        dump = PartitionDesc("DAILY", {"dt": "2015-01-01"}, {"region": region}, location=f"file:{folder}")
        cubes.add_partitions("grades_table", "lake", [dump])
    rewritten = cubes.rewrite("select id, grade from grades")
    assert rows(answer(spark, store, "shop", rewritten)) == [(1, "eu"), (1, "us")]
    cubes.drop_partitions("grades_table", "lake", [dump])
    with pytest.raises(PartitionNotFound, match="region = 'us'"):
        answer(spark, store, "shop", rewritten)
    assert rows(cube(spark, store, "select id, grade from grades", database="shop")) == [(1, "eu")]


def test_missing_partitions_are_told(spark, store, caplog):
    text = "select revenue from payments where time_range_in(paid_at, '2014-12-31', '2015-01-02')"
    with pytest.raises(NoCandidate) as caught:
        cube(spark, store, text, database="shop")
    day = dt.datetime(2014, 12, 31, tzinfo=dt.UTC), dt.datetime(2015, 1, 1, tzinfo=dt.UTC)
    assert caught.value.missing == (day,)
    note = "nothing is there for [2014-12-31T00:00:00+00:00, 2015-01-01T00:00:00+00:00)"
    assert rows(cube(spark, store, text, database="shop", partial=True)) == [(60,)]
    assert caplog.messages == [note]
    sql(spark, "use shop", store=store)
    try:
        assert rows(sql(spark, f"cube {text} options (partial = true)", store=store)) == [(60,)]
    finally:
        sql(spark, "use default", store=store)
    assert caplog.messages == [note, note]


@pytest.mark.parametrize("wrong", [{"text": 5}, {"database": None}, {"options": {"nope": "1"}}, {"now": "today"}])
def test_wrong_arguments_are_named(spark, store, wrong):
    arguments = {"text": f"select revenue from payments where {RANGE}", "database": "shop", **wrong}
    text = arguments.pop("text")
    with pytest.raises(InvalidInput):
        cube(spark, store, text, **arguments)


@pytest.mark.parametrize(
    ("kind", "period", "others"),
    [
        ("timestamp", "HOURLY", ["2015-01-05 03:30:00", "2014-12-31 23:00:00", "2015-01-04 18:00:00"]),
        ("timestamp", "WEEKLY", ["2015-01-06 00:00:00", "2015-01-05 01:00:00"]),
        ("date", "WEEKLY", ["2015-01-06", "2015-02-01"]),
        ("date", "MONTHLY", ["2015-02-02"]),
    ],
)
def test_a_range_of_times_holds_for_just_the_parts_of_its_update_period(spark, kind, period, others):
    """Other values stand for partitions of other update periods in the same column."""
    period, column_type = UpdatePeriod[period], parse_type(kind)
    start = period.ceil_index(UpdatePeriod.DAILY.moment(UpdatePeriod.DAILY.parse_index("2015-01-01")))
    chosen = [value_text(column_type, period, at) for at in range(start, start + 90) if at != start + 40]
    hole = value_text(column_type, period, start + 40)
    condition = partition_condition(
        exp.column("dt"), column_type, [(period, start, start + 40), (period, start + 41, start + 90)]
    )
    texts = ", ".join(f"('{text}')" for text in [*chosen, hole, *others])
    frame = spark.sql(f"SELECT * FROM VALUES {texts} AS t(text)")
    found = frame.selectExpr("text", f"cast(text as {kind}) as dt").where(condition.sql("spark"))
    assert sorted(row.text for row in found.collect()) == chosen


def test_times_are_told_in_utc_alone(spark, store):
    """In Europe/Berlin the hour of 02:00 was none on this day, so 02:00 and 03:00 would be one hour."""
    frame = spark.sql(
        "SELECT * FROM VALUES (1, 10L, '2015-03-29-02'), (1, 1L, '2015-03-29-03') AS t(user_id, revenue, dt)"
    )
    write_table(frame, store, "shop.lake_payments_daily")
    night = "time_range_in(paid_at, '2015-03-29-02', '2015-03-29-04')"
    hours = f"cube select hour(paid_at), revenue from payments where {night}"
    sums = f"cube select revenue from payments where {night}"
    try:
        for zone in ("UTC", "Etc/UTC", "GMT", "+00:00", "Z"):
            spark.conf.set("spark.sql.session.timeZone", zone)
            assert rows(cube(spark, store, hours, database="shop")) == [(2, 10), (3, 1)]
        for zone in ("Europe/Berlin", "Europe/London", "+01:00", "America/New_York"):
            spark.conf.set("spark.sql.session.timeZone", zone)
            with pytest.raises(UnsupportedQuery, match=f"is not: time_zone={re.escape(zone)}") as caught:
                cube(spark, store, hours, database="shop")
            assert "SET TIME ZONE 'UTC'" in caught.value.hint
            assert rows(cube(spark, store, sums, database="shop")) == [(11,)]  # which tells no times
        sql(spark, "USE shop", store=store)
        with pytest.raises(UnsupportedQuery, match="America/New_York"):
            sql(spark, hours, store=store)
        spark.sql("SET TIME ZONE 'UTC'")
        assert rows(sql(spark, hours, store=store)) == [(2, 10), (3, 1)]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
