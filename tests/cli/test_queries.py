"""hbstore query: what a cube query reads, without Spark, and its rows by Spark."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyarrow import parquet

import hbstore
from hbstore.cli import sql
from hbstore.cubes import Cubes, PartitionDesc
from hbstore.ddl import Result
from hbstore.ddl.statements import CubeQuery
from tests.cli.reference import PAGE
from tests.cubes.rides import rides
from tests.spark.settings import SMALL

QUERY = "cube select bike, fare from rides where time_range_in(start_time, '2015-01-01', '{}') order by bike"
TWO_DAYS = QUERY.format("2015-01-03")
BY_DAY = TWO_DAYS.replace("bike, fare", "bike, date_trunc('day', start_time) as day, fare") + ", day"


@pytest.fixture(autouse=True)
def _rides(url, tmp_path):
    add_rides(url, tmp_path)


def add_rides(url, tmp_path):
    """Fares of two days in January 2015."""
    with hbstore.connect(url) as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        cubes.create_all(rides(tmp_path / "daily"))
        for day in ("2015-01-01", "2015-01-02"):
            folder = tmp_path / "daily" / f"dt={day}"
            folder.mkdir(parents=True)
            parquet.write_table(pa.table({"fare": [3, 4, 5], "bike": ["a", "b, c", None]}), folder / "a.parquet")
        cubes.add_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": f"2015-01-0{day}"}) for day in (1, 2)])


def test_what_is_read_is_told_without_spark(run, run_json):
    told = run("query", "run", TWO_DAYS, "--database", "shop", "--explain").stdout
    assert told.startswith("lake_daily: 2 partitions\n  DAILY [2015-01-01, 2015-01-03)\n")
    document = run_json("query", "run", TWO_DAYS, "--database", "shop", "--explain")
    assert document["partitions"] == {"lake_daily": ["lake_daily DAILY [2015-01-01, 2015-01-03)"]}
    assert document["candidates"][0]["taken"] is True
    sql = run("query", "run", "--database", "shop", "--sql", input=TWO_DAYS).stdout
    assert sql.strip() == document["sql"]
    assert "`dt` IN ('2015-01-01', '2015-01-02')" in " ".join(sql.split()).replace("( '", "('").replace("' )", "')")


def test_missing_days_end_the_command_with_their_names(run):
    longer = QUERY.format("2015-01-04")
    failed = run("query", "run", longer, "--database", "shop", "--sql", code=1)
    assert "ranges=[2015-01-03, 2015-01-04)" in failed.stderr
    written = run("query", "run", longer, "--database", "shop", "--sql", "--partial")
    assert written.stderr == "Note: nothing is there for [2015-01-03T00:00:00+00:00, 2015-01-04T00:00:00+00:00)\n"
    told = run("query", "run", longer, "--database", "shop", "--explain", "--partial").stdout
    assert "note" not in told
    assert run("query", "run", TWO_DAYS, "--database", "shop", "--sql").stderr == ""
    days = TWO_DAYS.replace("bike", "to_date(start_time)")
    note = "the SQL tells times, so Spark has to run it in UTC: SET TIME ZONE 'UTC'"
    assert run("query", "run", days, "--database", "shop", "--sql").stderr == f"Note: {note}\n"
    assert f"\nnote: {note}\n" in run("query", "run", days, "--database", "shop", "--explain").stdout
    assert "missing: [2015-01-03T00:00:00+00:00, 2015-01-04T00:00:00+00:00)" in told


def test_options_of_a_file_of_the_command_and_of_the_query(run, tmp_path):
    longer = QUERY.format("2015-01-04")
    path = tmp_path / "some.toml"
    path.write_text("partial = true\nnow = '2015-01-02'\n")
    explain = ("query", "run", "--database", "shop", "--explain", "--options", str(path))
    assert "missing: [2015-01-03T00:00:00+00:00" in run(*explain, longer).stdout
    assert "partitions are missing" in run(*explain, longer, "--option", "partial=false", code=1).stderr
    assert "missing:" in run(*explain, f"{longer} options (partial = true)", "--option", "partial=false").stdout
    today = "cube select fare from rides where time_range_in(start_time, 'now.day', 'now.day+1day')"
    assert "DAILY [2015-01-02, 2015-01-03)" in run(*explain, today).stdout
    assert "DAILY [2015-01-01, 2015-01-02)" in run(*explain, today, "--now", "2015-01-01").stdout
    path.write_text("patrial = true\n")
    assert "Did you mean partial?" in run(*explain, longer, code=2).stderr


@pytest.mark.parametrize(
    "wrong",
    [
        ["--sql", "--csv"],
        ["--json", "--csv"],
        ["--sql", "--option", "partial"],
        ["--sql", "--option", "join_type=cross"],
        ["--sql", "--now", "soon"],
    ],
)
def test_wrong_options(run, wrong):
    assert "Hint: " in run("query", "run", TWO_DAYS, "--database", "shop", *wrong, code=2).stderr


def test_a_mistake_in_the_query_is_shown_with_its_place(run):
    text = TWO_DAYS.replace("bike,", "bicycle,")
    failed = run("query", "run", text, "--database", "shop", "--sql", code=2)
    line, caret = failed.stderr.splitlines()[1:3]
    assert line[caret.index("^") :].startswith("bicycle, fare from rides")


@pytest.mark.spark
def test_rows_by_spark(spawn_with_spark):
    two = f"use shop; {TWO_DAYS}; SHOW PARTITIONS lake_daily; {TWO_DAYS.replace('order by bike', 'limit 0')}"
    done = spawn_with_spark("sql", two, "--json")
    assert done.returncode == 0, done.stderr
    _, answer, partitions, nothing = json.loads(done.stdout)
    assert answer["columns"] == ["bike", "fare"]
    assert answer["rows"] == [[None, 10], ["a", 6], ["b, c", 8]]
    assert partitions["rows"] == [["dt=2015-01-01"], ["dt=2015-01-02"]]
    assert nothing["rows"] == []
    longer = QUERY.format("2015-01-04")
    done = spawn_with_spark("query", "run", longer, "--database", "shop", "--partial")
    assert done.stdout == "NULL\t10\na\t6\nb, c\t8\n"
    assert "Note: nothing is there for [2015-01-03T00:00:00+00:00, 2015-01-04T00:00:00+00:00)" in done.stderr


@pytest.mark.spark
def test_the_query_of_the_page_runs(run, spawn_with_spark, tmp_path):
    text = PAGE.read_text(encoding="utf-8").replace("/data/", f"{tmp_path}/")
    for name, content in zip(
        ("model.yaml", "days.yaml"), re.findall(r"```yaml\n(.*?)```", text, re.DOTALL), strict=True
    ):
        (tmp_path / name).write_text(content)
    run("model", "create", str(tmp_path / "model.yaml"), "--database", "shop")
    run("fact", "partitions", "add", "--database", "shop", "--file", str(tmp_path / "days.yaml"))
    subprocess.run(re.search(r"```sh\n(mkdir .*?)```", text, re.DOTALL)[1], shell=True, check=True)  # noqa: S602
    command, answer = re.search(
        r'^\$ hbstore (query run --database shop "cube .*")\n(.*\n)', text, re.MULTILINE
    ).groups()
    done = spawn_with_spark(*shlex.split(command))
    assert (done.returncode, done.stdout) == (0, answer), done.stderr


@pytest.mark.spark
def test_times_of_rows_as_csv_are_in_utc_whatever_the_configuration_says(spawn_with_spark):
    berlin = shlex.join(
        word
        for setting in {**SMALL, "spark.ui.enabled": "false", "spark.sql.session.timeZone": "Europe/Berlin"}.items()
        for word in ("--conf", "=".join(setting))
    )
    done = spawn_with_spark(
        *("query", "run", BY_DAY, "--database", "shop", "--csv"),
        PYSPARK_SUBMIT_ARGS=f"--master local[2] {berlin} pyspark-shell",
        TZ="Europe/Berlin",
    )
    days = [f"2015-01-0{day} 00:00:00" for day in (1, 2)]
    rows = [[bike, day, fare] for bike, fare in (("", "5"), ("a", "3"), ("b, c", "4")) for day in days]
    assert list(csv.reader(io.StringIO(done.stdout))) == [["bike", "day", "fare"], *rows], done.stderr


def test_which_facts_can_answer(run, run_json, tmp_path):
    words = ["query", "candidates", "shop.rides", "fare", "bike", "--time-dimension", "start_time"]
    days = ["--from", "2015-01-01", "--to"]
    assert run(*words, *days, "2015-01-03").stdout == "lake_daily: can answer (weight 0)\n"
    longer = run(*words, *days, "2015-01-05").stdout
    assert longer == "lake_daily: MISSING_PARTITIONS: nothing for [2015-01-03, 2015-01-05)\n"
    (document,) = run_json(*words, *days, "2015-01-05")
    assert document["able"] is False
    assert document["missing"] == [["2015-01-03T00:00:00+00:00", "2015-01-05T00:00:00+00:00"]]
    lacking = run("query", "candidates", "rides", "start_time", *words[5:], *days, "2015-01-03", "--database", "shop")
    assert lacking.stdout == "lake_daily: COLUMN_NOT_FOUND: it has no start_time\n"
    barred = run(*words, *days, "2015-01-03", "--option", "storages=vault").stdout
    assert barred == "lake_daily: UNSUPPORTED_STORAGE: the option storages allows vault alone\n"
    relative = ["--from", "now.day-1day", "--to", "now.day"]
    assert "can answer" in run(*words, *relative, "--now", "2015-01-02").stdout
    path = tmp_path / "some.properties"
    path.write_text("now = 2015-01-03\nmax_interval = HOURLY\n")
    assert "NO_CANDIDATE_UPDATE_PERIODS" in run(*words, *relative, "--options", str(path)).stdout
    assert "can answer" in run(*words, *relative, "--options", str(path), "--option", "max_interval=DAILY").stdout
    failed = run(*words[:2], "shop.rides", "nope", *words[5:], *days, "2015-01-03", code=2)
    assert "no such field" in failed.stderr


def test_a_query_among_statements_fails_before_spark_is_started(run):
    text = f"use shop;\n{TWO_DAYS.replace('bike,', 'bicycle,')}; show tables"
    failed = run("sql", text, code=2)
    assert failed.stdout == "database shop\n"
    message, line, caret, *_, note = failed.stderr.splitlines()
    assert "line=2, column=13" in message
    assert line[caret.index("^") :].startswith("bicycle, fare from rides")
    assert note == "Note: statement 2 of 3: hbstore ran the statements before it"
    failed = run("sql", f"use shop; {TWO_DAYS.replace('from rides', 'frm rides')}", code=2)
    assert failed.stdout == ""
    missing = run("sql", "--database", "shop", QUERY.format("2015-01-04"), code=1)
    assert "ranges=[2015-01-03, 2015-01-04)" in missing.stderr


def test_a_bar_shows_how_far_spark_is_with_a_query_among_statements(url, monkeypatch):
    seen = []

    @contextmanager
    def noted(name, *about):
        seen.append((name, *about))
        yield "the session"
        seen.append(f"end of {name}")

    class Frame:
        columns = ("bike", "fare")

        def toLocalIterator(self):  # noqa: N802
            seen.append("rows")
            return iter([("a", 1)])

    monkeypatch.setattr(sql, "spark_session", lambda name, *, in_utc: noted("session", name, in_utc))
    monkeypatch.setattr(sql, "spark_jobs", lambda: noted("jobs"))
    monkeypatch.setattr(sql, "stages", lambda session, text: noted("bar", session, text))
    monkeypatch.setitem(sys.modules, "hbstore.spark.cube", SimpleNamespace(answer=lambda *_: Frame()))
    with hbstore.connect(url) as store, ExitStack() as stack:
        result = sql.Answers(store, stack)(CubeQuery(TWO_DAYS), "shop")
        assert result.rows == (("a", 1),)
        inside = [("jobs",), ("bar", "the session", "Asking Spark"), "rows", "end of bar", "end of jobs"]
        assert seen == [("session", "hbstore sql", True), *inside]
        assert result.notes == ()
        partial = CubeQuery(f"{QUERY.format('2015-01-04')} options (partial = true)")
        (note,) = sql.Answers(store, stack)(partial, "shop").notes
        assert note == "nothing is there for [2015-01-03T00:00:00+00:00, 2015-01-04T00:00:00+00:00)"


def test_the_answer_is_printed_as_that_of_other_statements(run, run_json, monkeypatch):
    class Told(sql.Answers):
        def __call__(self, query, database):
            return Result(query, ("bike", "fare"), ((None, 10), ("a", 6.5)), notes=(f"asked in {database}",))

    monkeypatch.setattr(sql, "Answers", Told)
    text = f"use shop; {TWO_DAYS}; show tables"
    done = run("sql", text)
    assert done.stdout == "database shop\nNULL\t10\na\t6.5\nshop\tlake_daily\n"
    assert done.stderr == "Note: asked in shop\n"
    _, answer, tables = run_json("sql", text)
    assert answer == {
        "statement": TWO_DAYS,
        "columns": ["bike", "fare"],
        "rows": [[None, 10], ["a", 6.5]],
        "changed": None,
        "notes": ["asked in shop"],
    }
    assert tables["rows"] == [["shop", "lake_daily"]]


def test_a_token_is_taken_from_the_environment_and_not_from_the_command_line(run, monkeypatch):
    there = ("query", "list", "--server", "http://127.0.0.1:1")
    refused = run(*there, "--token", "planted-token", code=2).stderr
    assert "every user of the machine can read the command line" in refused
    assert "Set HBSTORE_TOKEN" in refused
    assert "planted-token" not in refused
    monkeypatch.setenv("HBSTORE_TOKEN", "planted-token")
    assert "the server does not answer" in run(*there, code=3).stderr
    shown = run("--show-config", *there).stdout
    assert "planted-token" not in shown
    assert "--token=(hidden)  # environment" in shown
