"""Statements on real Spark, through the engine: their rows, their errors, how they are cancelled."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain

import pyarrow as pa
import pytest
from pyarrow import parquet

from hbstore.query_service.messages import Cancel, Cancelled, Done, Failed, Planned, Progressed, Run, Started
from hbstore.query_service.query import QueryResult, Request

pytestmark = [pytest.mark.spark]
ENDLESS = "select sum((a.id + b.id) % 7) as it from range(0, 1000000000000) a, range(0, 1000) b"
JANUARY = "cube select fare from rides where time_range_in(start_time, '{}', '{}')"


def types(result):
    return [column.type for column in result.columns]


def names(result):
    return [column.name for column in result.columns]


def table(spark, id_):
    """The rows of a result, as its files have them in their order."""
    files = spark.files(id_)
    assert files
    assert (spark.results / id_ / "_SUCCESS").exists()
    return pa.concat_tables(map(parquet.read_table, files))


def rows(spark, text, **request):
    """The rows of a statement that succeeds, and what was said of it."""
    end, id_ = spark.ask(text, **request)
    assert isinstance(end, Done), end
    found = table(spark, id_)
    assert found.column_names == [f"c{number}" for number in range(len(end.result.columns))]
    assert found.num_rows == end.result.rows
    assert sum(file.stat().st_size for file in spark.files(id_)) == end.result.size
    return [tuple(row.values()) for row in found.to_pylist()], end.result


def done(spark, text, **request):
    """Run a statement that has no rows."""
    end, id_ = spark.ask(text, **request)
    assert end == Done(id_, QueryResult()), end
    assert not (spark.results / id_).exists()


def problem(spark, text, **request):
    end, id_ = spark.ask(text, **request)
    assert isinstance(end, Failed), end
    assert not [message for message in spark.of(id_) if isinstance(message, Done | Cancelled)]
    return end.problem


def test_rows_with_columns_of_one_name(spark):
    found, result = rows(spark, "select 1 as a, 'x' as a, 2.5 as `b,c`, null as `a b`")
    assert [tuple(map(str, row)) for row in found] == [("1", "x", "2.5", "None")]
    assert names(result) == ["a", "a", "b,c", "a b"]
    assert types(result) == ["int", "string", "decimal(2,1)", "void"]


def test_a_cube_query_and_its_plan(spark):
    end, id_ = spark.ask(JANUARY.format("2015-01-28", "2015-01-30"), database="shop")
    assert isinstance(end, Done), end
    assert table(spark, id_).to_pydict() == {"c0": [33]}
    assert names(end.result) == ["fare"]
    kinds = [type(message) for message in spark.of(id_) if not isinstance(message, Progressed)]
    assert kinds == [Started, Planned, Done]
    (planned,) = (message for message in spark.of(id_) if isinstance(message, Planned))
    assert planned.plan["partitions"] == {"lake_daily": ["lake_daily DAILY [2015-01-28, 2015-01-30)"]}


def test_a_cube_query_from_what_there_is(spark):
    text = JANUARY.format("2015-01-28", "2015-02-02")
    missing = problem(spark, text, database="shop")
    assert missing.error == "NoCandidate"
    _, id_ = spark.ask(text, database="shop", partial=True)
    assert table(spark, id_).to_pydict() == {"c0": [66]}
    (planned,) = (message for message in spark.of(id_) if isinstance(message, Planned))
    assert planned.plan["missing"] == [["2015-01-31T00:00:00+00:00", "2015-02-02T00:00:00+00:00"]]


def test_a_cube_query_relative_to_a_time_and_with_options(spark):
    now = datetime(2015, 1, 30, tzinfo=UTC)
    text = JANUARY.format("now.day-1day", "now.day")
    assert rows(spark, text, database="shop", now=now)[0] == [(22,)]
    refused = problem(spark, text, database="shop", now=now, options={"storages": "vault"})
    assert refused.error == "NoCandidate"


def test_partitions_are_added_by_hbstore_and_shown(spark):
    done(spark, "create table sales (amount int, ds string) using parquet partitioned by (ds)", database="shop")
    done(spark, "alter table sales add partition (ds = 'a') partition (ds = 'b')", database="shop")
    shown, result = rows(spark, "show partitions shop.sales where ds > 'a'")
    assert (shown, names(result)) == ([("ds=b",)], ["partition"])
    assert rows(spark, "show partitions sales", database="shop")[0] == [("ds=a",), ("ds=b",)]


def test_what_hbstore_could_not_do_is_noted(spark, place):
    (place.folder / "noted" / "odd").mkdir(parents=True)
    table = f"noted (amount int, ds string) using parquet partitioned by (ds) location 'file:{place.folder}/noted'"
    done(spark, f"create table {table}", database="shop")
    end, _ = spark.ask("msck repair table noted", database="shop")
    assert isinstance(end, Done), end
    (note,) = end.notes
    assert "odd is not a partition" in note


def test_a_statement_that_writes_is_run_once(spark):
    done(spark, "create table counted using parquet as select 1 as number", database="shop")
    done(spark, "insert into counted values (2), (3)", database="shop")
    found, _ = rows(spark, "select number from counted order by number", database="shop")
    assert found == [(1,), (2,), (3,)]
    assert rows(spark, "select count(*) from shop.counted")[0] == [(3,)]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("show databases", ["namespace"]),
        ("describe shop.lake_daily", ["col_name", "data_type", "comment"]),
        ("explain select 1", ["plan"]),
        ("set spark.sql.ansi.enabled", ["key", "value"]),
    ],
)
def test_commands_have_rows(spark, text, columns):
    found, result = rows(spark, text)
    assert found
    assert names(result) == columns


def test_what_a_statement_sets_is_not_set_for_others(spark):
    rows(spark, "set spark.sql.ansi.enabled = false")
    assert rows(spark, "set spark.sql.ansi.enabled")[0] == [("spark.sql.ansi.enabled", "true")]


def test_rows_keep_their_order_over_many_files(spark):
    end, id_ = spark.ask("select id from range(0, 20000, 1, 8) order by id % 7, id desc")
    assert isinstance(end, Done), end
    assert len(spark.files(id_)) > 1
    expected = [number for remainder in range(7) for number in range(19_999, -1, -1) if number % 7 == remainder]
    assert table(spark, id_)["c0"].to_pylist() == expected


@pytest.mark.parametrize("text", ["select id, 'x' as x from range(10) where id < 0", "select id, '' from range(0)"])
def test_no_rows_have_columns(spark, text):
    found, result = rows(spark, text)
    assert found == []
    assert types(result) == ["bigint", "string"]


# One for each type: its expression, Spark's name of it, and the value as the result has it.
TYPES = {
    "boolean": ("true", "boolean", True),
    "tinyint": ("cast(-1 as tinyint)", "tinyint", -1),
    "smallint": ("cast(300 as smallint)", "smallint", 300),
    "int": ("7", "int", 7),
    "bigint": ("9223372036854775807", "bigint", 2**63 - 1),
    "float": ("cast(0.5 as float)", "float", 0.5),
    "double": ("cast(0.1 as double)", "double", 0.1),
    "string": ("'ä😀'", "string", "ä😀"),
    "varchar": ("cast('x' as varchar(3))", "string", "x"),
    "binary": ("x'00ff'", "binary", b"\x00\xff"),
    "date": ("date'0001-01-01'", "date", datetime(1, 1, 1).date()),  # noqa: DTZ001
    "timestamp": ("timestamp'1582-10-04 01:02:03.456789'", "timestamp", datetime(1582, 10, 4, 1, 2, 3, 456789, UTC)),
    "timestamp_ntz": ("timestamp_ntz'2020-01-01 00:00:00'", "timestamp_ntz", datetime(2020, 1, 1)),  # noqa: DTZ001
    "array": ("array(1, null)", "array<int>", [1, None]),
    "struct": ("named_struct('a', 1, 'B c', 'x')", "struct<a:int,B c:string>", {"a": 1, "B c": "x"}),
    "map": ("map('a', 1)", "map<string,int>", [("a", 1)]),
    "void": ("null", "void", None),
    "years": ("interval '1-2' year to month", "interval year to month", "INTERVAL '1-2' YEAR TO MONTH"),
    "days": ("interval 3 day", "interval day", "INTERVAL '3' DAY"),
    "calendar": ("make_interval(1, 2, 3)", "interval", "1 years 2 months 21 days"),
    "variant": ("""parse_json('{"a": [1, "x"]}')""", "variant", '{"a":[1,"x"]}'),
    "empty struct": ("named_struct()", "struct<>", "{}"),
    "array of intervals": ("array(interval 3 day)", "array<interval day>", "[INTERVAL '3' DAY]"),
    "struct of void": ("named_struct('a', null)", "struct<a:void>", "{null}"),
    "map of variants": ("map('a', parse_json('1'))", "map<string,variant>", "{a -> 1}"),
    "array of arrays of void": ("array(array())", "array<array<void>>", "[[]]"),
}


def test_all_types(spark):
    text = "select " + ", ".join(expression for expression, _, _ in TYPES.values())
    (found,), result = rows(spark, text)
    assert dict(zip(TYPES, types(result), strict=True)) == {name: kind for name, (_, kind, _) in TYPES.items()}
    assert dict(zip(TYPES, found, strict=True)) == {name: value for name, (_, _, value) in TYPES.items()}


def test_a_text_that_does_not_parse(spark):
    found = problem(spark, "select 1,\n  2 frm x y")
    assert found.error == "QueryFailed"
    assert found.text.startswith("[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'")
    assert found.fields == {"class": "PARSE_SYNTAX_ERROR", "sqlstate": "42601", "line": "2", "column": "9"}
    assert found.highlight == "  2 frm x y\n        ^"


def test_a_cube_query_that_does_not_parse(spark):
    found = problem(spark, "cube select fare\n from rides where and", database="shop")
    assert found.error == "CubeSyntaxError"
    assert found.highlight.endswith("^")


def test_a_column_that_is_not_there_is_pointed_at(spark):
    found = problem(spark, "select '😀',\n  nosuch from range(3)")
    assert found.fields["class"] == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    assert (found.fields["line"], found.fields["column"]) == ("2", "3")
    assert "`nosuch`" in found.text
    assert "Project" not in found.text
    assert "SQLSTATE" not in found.text


def test_an_error_without_a_place(spark):
    found = problem(spark, "select sum(id + 9223372036854775000) from range(4)")
    assert found.fields == {"class": "ARITHMETIC_OVERFLOW", "sqlstate": "22003"}
    assert found.highlight == ""


@pytest.mark.parametrize("text", ["select '😀' || 1 / (id - 2) from range(5)", "select '😀', 1 / 0"])
def test_a_division_by_zero_in_a_job_and_before(spark, text):
    found = problem(spark, text)
    assert found.error == "QueryFailed"
    assert found.text.startswith("[DIVIDE_BY_ZERO] Division by zero.")
    assert found.fields["sqlstate"] == "22012"
    assert int(found.fields["column"]) == text.index("1 /") + 1
    assert "\n" not in found.text
    assert "at org." not in str(found)


def test_an_error_below_another_is_told(spark, place):
    (place.folder / "broken").mkdir()
    (place.folder / "broken" / "a.parquet").write_bytes(b"nothing")
    found = problem(spark, f"select * from parquet.`{place.folder}/broken`")
    assert found.fields["class"]
    assert "at org." not in str(found)
    assert "is not a Parquet file" in str(found)


def test_an_error_without_a_name_of_sparks(spark):
    found = problem(spark, "select java_method('java.lang.Integer', 'parseInt', 'x')")
    assert found.error == "QueryFailed"
    assert "at java." not in str(found)


def test_a_database_that_is_not_there(spark):
    found = problem(spark, "select 1", database="nosuch")
    assert found.error == "DatabaseNotFound"


def test_two_queries_run_at_once_and_share_spark(spark):
    """The short one ends although the other, which began before, has tasks for all cores for hours."""
    long = spark.start("select count(*) from range(0, 20000000000, 1, 100000) where id % 3 = 1")
    spark.until(lambda: [one for one in spark.of(long) if isinstance(one, Progressed) and one.progress.tasks])
    assert rows(spark, "select 1")[0] == [(1,)]
    spark.cancel(long)
    assert spark.end(long) == Cancelled(long)


def test_progress_goes_on_to_the_end(spark):
    end, id_ = spark.ask("select id % 10, count(*) from range(0, 1000000, 1, 20) group by 1")
    assert isinstance(end, Done)
    seen = [one.progress for one in spark.of(id_) if isinstance(one, Progressed)]
    assert seen
    assert all(one.tasks_done <= one.tasks and one.stages_done <= one.stages for one in seen)
    assert [one.tasks_done for one in seen] == sorted(one.tasks_done for one in seen)
    assert (seen[-1].tasks_done, seen[-1].rows) == (seen[-1].tasks, 1_000_000)
    assert len(set(map(repr, seen))) == len(seen)


@pytest.mark.parametrize("text", [ENDLESS, f"create table shop.never using parquet as {ENDLESS}"])
def test_a_query_is_cancelled(spark, text):
    id_ = spark.start(text)
    spark.until(lambda: [one for one in spark.of(id_) if isinstance(one, Progressed) and one.progress.tasks])
    spark.cancel(id_)
    assert spark.end(id_) == Cancelled(id_)
    spark.cancel(id_)
    assert rows(spark, "select 1")[0] == [(1,)]
    ends = [message for message in spark.of(id_) if isinstance(message, Done | Failed | Cancelled)]
    assert len(ends) == 1


def test_a_query_is_cancelled_before_its_first_job(spark):
    """At once after it was sent: it is being analyzed, or has not begun."""
    for _ in range(5):
        id_ = spark.start(ENDLESS)
        spark.cancel(id_)
        assert spark.end(id_) == Cancelled(id_)
    assert not list(chain.from_iterable(spark.files(id_) for id_ in (id_,)))


def test_a_query_is_cancelled_before_it_is_sent(spark):
    id_ = "e" * 32
    spark.engine.cancel(Cancel(id_))
    spark.engine.run(Run(id_, Request(text=ENDLESS), f"file:{spark.results / id_}"))
    assert spark.end(id_) == Cancelled(id_)


def test_a_folder_that_is_there_is_not_written_into(spark):
    id_ = "f" * 32
    (spark.results / id_).mkdir(parents=True)
    spark.engine.run(Run(id_, Request(text="select 1"), f"file:{spark.results / id_}"))
    end = spark.end(id_)
    assert isinstance(end, Failed)
    assert end.problem.fields["class"] == "PATH_ALREADY_EXISTS"
    assert not list((spark.results / id_).iterdir())
