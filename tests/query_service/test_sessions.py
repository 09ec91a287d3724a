"""Sessions that outlive their statements, on real Spark: what is left in them, whose it is, and how they end."""

from __future__ import annotations

import secrets

import pytest
from pyarrow import parquet

from hbstore.query_service.messages import Cancelled, CloseSession, Done, Failed
from hbstore.query_service.query import QuerySession

pytestmark = [pytest.mark.spark]
JANUARY = "cube select fare from rides where time_range_in(start_time, '2015-01-28', '2015-01-30')"


class Driver:
    """A session and its statements."""

    def __init__(self, spark, **fields):
        self.spark = spark
        self.session = QuerySession(id=secrets.token_hex(16), fresh=True, **fields)

    def end(self, text, **fields):
        end, id_ = self.spark.ask(text, session=self.session, **fields)
        self.session = self.session.model_copy(update={"fresh": False})
        return end, id_

    def rows(self, text, **fields):
        end, id_ = self.end(text, **fields)
        assert isinstance(end, Done), end
        if not end.result.columns:
            return []
        return [tuple(row.values()) for file in self.spark.files(id_) for row in parquet.read_table(file).to_pylist()]

    def problem(self, text):
        end, _ = self.end(text)
        assert isinstance(end, Failed), end
        return end.problem


def test_what_statements_leave_is_there_for_the_next_one_and_for_no_other_session(spark):
    one, other = Driver(spark), Driver(spark)
    one.rows("set spark.sql.ansi.enabled = false")
    one.rows("create temporary view seven as select 7 as n")
    one.rows("use shop")
    assert one.rows("select n, cast('x' as int), current_database() from seven") == [(7, None, "shop")]
    assert other.rows("select current_database()") == [("default",)]
    assert other.rows("set spark.sql.ansi.enabled") == [("spark.sql.ansi.enabled", "true")]
    assert other.problem("select * from seven").fields["class"] == "TABLE_OR_VIEW_NOT_FOUND"
    assert isinstance(spark.ask("select * from seven")[0], Failed)


def test_a_session_begins_with_its_database_and_its_settings(spark):
    one = Driver(spark, database="shop", settings={"spark.sql.session.timeZone": "Asia/Tokyo", "my.own": "x"})
    assert one.rows("select current_database(), current_timezone(), '${my.own}'") == [("shop", "Asia/Tokyo", "x")]
    end, _ = one.end("select timestamp'2013-01-01 00:00:00'")
    assert end.result.time_zone == "Asia/Tokyo"
    one.rows("set time zone 'UTC'")
    assert one.end("select 1")[0].result.time_zone == "UTC"


def test_a_statement_has_settings_of_its_own(spark):
    one = Driver(spark)
    one.rows("create temporary view eight as select 8 as n")
    one.rows("use shop")
    settings = {"spark.sql.ansi.enabled": "false", "word": "x"}
    asked = "select n, cast('x' as int), current_database(), '${word}' from eight"
    assert one.rows(asked, settings=settings) == [(8, None, "shop", "x")]
    one.rows("set spark.sql.ansi.enabled = false", settings=settings)
    assert one.rows("set spark.sql.ansi.enabled") == [("spark.sql.ansi.enabled", "true")]


def test_a_cube_query_is_of_the_current_database(spark):
    one = Driver(spark)
    assert one.problem(JANUARY).error == "UnknownField"
    one.rows("use shop")
    assert one.rows(JANUARY) == [(33,)]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("select fare from rides", "rides is a cube: ask it by CUBE SELECT … FROM rides WHERE time_range_in(…)"),
        ("select * from shop.daily d", "daily is a fact: ask it by CUBE SELECT of its cube"),
        ("select * from nosuch", None),
        ("select * from nowhere.rides", None),
    ],
)
def test_who_reads_a_cube_as_a_table_learns_how_to_ask_it(spark, text, hint):
    one = Driver(spark)
    one.rows("use shop")
    problem = one.problem(text)
    assert (problem.fields["class"], problem.hint) == ("TABLE_OR_VIEW_NOT_FOUND", hint)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"settings": {"spark.sql.warehouse.dir": "/x"}}, "CANNOT_MODIFY_STATIC_CONFIG"),
        ({"settings": {"spark.sql.shuffle.partitions": "many"}}, "INVALID_CONF_VALUE"),
        ({"database": "nosuch"}, "DatabaseNotFound"),
    ],
)
def test_a_session_that_cannot_begin_says_why_to_each_statement(spark, fields, error):
    one = Driver(spark, **fields)
    for _ in range(2):
        problem = one.problem("select 1")
        assert error in (problem.error, str(problem.fields.get("class")).partition(".")[0])


def test_a_session_that_this_spark_has_not_is_lost(spark):
    one = Driver(spark)
    one.session = one.session.model_copy(update={"fresh": False})
    problem = one.problem("select 1")
    assert (problem.error, problem.fields) == ("SessionLost", {"session": one.session.id})


def test_a_session_that_is_closed_is_forgotten_with_what_was_cached_of_its_views(spark):
    one = Driver(spark)
    one.rows("cache table numbers as select id from range(10)")
    assert one.rows("select count(*) from numbers") == [(10,)]
    spark.engine.close_session(CloseSession(one.session.id))
    spark.engine.close_session(CloseSession("5f" * 16))
    while isinstance(end := one.end("select count(*) from numbers")[0], Done):
        pass
    assert end.problem.error == "SessionLost"
    other = Driver(spark)
    while "InMemory" in other.rows("explain select id from range(10)")[0][0]:
        pass


def test_writing_results_changes_no_settings_of_the_session(spark):
    one = Driver(spark)
    before = sorted(one.rows("set"))
    one.rows("select timestamp'2013-01-01 00:00:00' from range(3000)")
    assert sorted(one.rows("set")) == before
    one.rows("set spark.sql.parquet.outputTimestampType = INT96")
    one.rows("set spark.sql.parquet.writeLegacyFormat = true")
    end, id_ = one.end("select timestamp'2013-01-01 00:00:00', cast(1 as decimal(5, 2)) from range(3000)")
    assert isinstance(end, Done)
    for file in spark.files(id_):
        kinds = parquet.ParquetFile(file).schema
        assert [kinds.column(at).physical_type for at in range(2)] == ["INT64", "INT32"]
    assert one.rows("set spark.sql.parquet.outputTimestampType")[0][1] == "INT96"


def test_statements_of_a_new_session_that_come_at_once_share_it(spark):
    session = QuerySession(id=secrets.token_hex(16), fresh=True)
    ids = [spark.start(f"create temporary view v{number} as select {number}", session=session) for number in range(4)]
    assert all(isinstance(spark.end(id_), Done) for id_ in ids)
    end, _ = spark.ask("select * from v0, v1, v2, v3", session=session)
    assert isinstance(end, Done), end


def test_a_cancelled_statement_leaves_its_session(spark):
    one = Driver(spark)
    one.rows("create temporary view seven as select 7 as n")
    id_ = spark.start("select count(*) from range(0, 20000000000, 1, 100000) where id % 3 = 1", session=one.session)
    spark.until(lambda: spark.of(id_))
    spark.cancel(id_)
    assert spark.end(id_) == Cancelled(id_)
    assert one.rows("select * from seven") == [(7,)]
