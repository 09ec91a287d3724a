from __future__ import annotations

import json
import re
import sqlite3

import pytest

import hbstore
from hbstore.timelines import UpdatePeriod

CACHE = "cube.storagetable.partition.timeline.cache."
CLASSES = ("StoreAllPartitionTimeline", "EndsAndHolesPartitionTimeline", "RangesPartitionTimeline")


@pytest.fixture
def timelines(cubes):
    """The timelines of shop.s1_sales: `timelines()` reads them."""
    return lambda: cubes.store.timelines.of("shop.s1_sales")


@pytest.fixture
def exported(run, model, tmp_path):
    """A file with the timelines of shop.s1_sales."""
    assert model
    file = tmp_path / "s1_sales.properties"
    file.write_text(run("timeline", "export", "shop.s1_sales").stdout)
    return file


def damage_a_timeline(path):
    """Cut off the cells of all timelines; how many there were."""
    with sqlite3.connect(path) as file:
        count = file.execute("UPDATE catalog SET value = substr(value, 1, 20) WHERE cell LIKE 't:%'").rowcount
    file.close()
    return count


def lose_a_partition(path):
    """Delete the row of a partition behind the store's back."""
    with sqlite3.connect(path) as file:
        last = "SELECT max(key) FROM partitions WHERE instr(key, CAST('s1_sales' AS BLOB))"
        file.execute(f"DELETE FROM partitions WHERE key = ({last})")
    file.close()


def test_show(run, run_json, timelines):
    assert run("timeline", "show", "Shop.S1_sales").stdout == "".join(f"{one}\n" for one in timelines())
    assert run("timeline", "show", "shop.s1_sales", "--update-period", "daily").stdout == f"{timelines()[1]}\n"
    assert len(run_json("timeline", "show", "shop.s1_sales", "--column", "DT")) == 2
    assert "█" in run("timeline", "show", "shop.s1_sales", "--picture").stdout
    assert "does not keep this timeline" in run("timeline", "show", "shop.s1_sales", "--column", "pt", code=2).stderr
    assert (
        "the update period is unknown"
        in run("timeline", "show", "shop.s1_sales", "--update-period", "x", code=2).stderr
    )


@pytest.mark.parametrize("command", ["show", "rebuild", "check", "export"])
def test_a_table_that_keeps_no_timelines(run, shop, command):
    result = run("timeline", command, "shop.sales", code=2)
    assert result.stderr.startswith("Error: the table keeps no timelines: table=shop.sales\nHint: Name its time")
    assert "the table does not exist: table=shop.no" in run("timeline", command, "shop.no", code=2).stderr
    assert shop


@pytest.mark.parametrize("name", CLASSES)
def test_convert(run, run_json, timelines, name):
    before = [list(one.iterate()) for one in timelines()]
    of_hours = ("timeline", "convert", "shop.s1_sales", "--update-period", "hourly", "--column", "DT", "--class")
    assert run(*of_hours, name).stdout == f"timeline HOURLY.dt of shop.s1_sales: {name}\n"
    assert [type(one).__name__ for one in timelines()] == [name, "EndsAndHolesPartitionTimeline"]
    assert [list(one.iterate()) for one in timelines()] == before
    assert run_json(*of_hours, f"org.apache.lens.cube.metadata.timeline.{name}") == {
        "table": "shop.s1_sales",
        "update_period": "HOURLY",
        "column": "dt",
        "class": name,
    }


def test_mistakes_of_convert(run, timelines):
    before = list(map(str, timelines()))
    of_table = ("timeline", "convert", "shop.s1_sales", "--update-period")
    for arguments, message in (
        (["HOURLY", "--column", "dt", "--class", "Nonsense"], "the timeline class is unknown"),
        (["YEARLY", "--column", "dt", "--class", CLASSES[2]], "does not keep this timeline"),
        (["HOURLY", "--column", "pt", "--class", CLASSES[2]], "does not keep this timeline"),
        (["HOURLY", "--class", CLASSES[2]], "Missing option '--column'"),
    ):
        assert message in run(*of_table, *arguments, code=2).stderr
    assert list(map(str, timelines())) == before


def test_rebuild(run, run_json, timelines, path, cubes):
    before = list(map(str, timelines()))
    assert damage_a_timeline(path) == 2
    damaged = run("timeline", "show", "shop.s1_sales", code=3)
    assert damaged.stdout == ""
    assert damaged.stderr.startswith("Error: ")
    assert (
        run("timeline", "rebuild", "shop.s1_sales").stdout == "timelines of shop.s1_sales: built from 21 partitions\n"
    )
    assert list(map(str, timelines())) == before
    cubes.store.add_partitions("shop", "s1_sales", [hbstore.Partition([None])])
    assert run_json("timeline", "rebuild", "shop.s1_sales") == {
        "table": "shop.s1_sales",
        "partitions": 22,
        "left_out": 0,
        "left_out_names": [],
        "unknown_classes": [],
    }


def test_rebuild_names_what_it_left_out(run, path, cubes):
    cubes.store.add_partitions("shop", "s1_sales", [hbstore.Partition([f"2015-02-{day:02}"]) for day in range(2, 14)])
    table = cubes.store.get_table("shop", "s1_sales")
    both = {**table.parameters, "cube.storagetable.update.periods": "WEEKLY,MONTHLY"}
    cubes.store.alter_table(hbstore.Table("shop", "s1_sales", table.partition_columns, parameters=both))
    result = run("timeline", "rebuild", "shop.s1_sales")
    assert re.fullmatch(
        r"Note: 33 partitions without a time left out: dt=2015-01-29-06, .*, dt=2015-01-29-15 …\n", result.stderr
    )
    assert path


@pytest.mark.spark
def test_rebuild_by_a_spark_job(run, cubes, url, path, tmp_path, spawn_with_spark):
    """In a process of its own: it starts a Spark and stops it."""
    before = cubes.store.timelines.of("shop.s1_sales")
    damage_a_timeline(path)

    def rebuild(*arguments, **environment):
        command = ["--store", path.name, "timeline", "rebuild", *arguments, "--spark"]
        return spawn_with_spark(*command, cwd=tmp_path, **environment)

    done = rebuild("Shop.s1_sales", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["partitions"] == 21
    with hbstore.connect(url) as store:
        assert store.timelines.of("shop.s1_sales") == before
    assert run("check").stderr.endswith("all well\n")
    missing = rebuild("shop.no")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("Error: the table does not exist: table=shop.no\n")
    without_java = rebuild("shop.s1_sales", JAVA_HOME=str(tmp_path))
    assert (without_java.returncode, without_java.stdout) == (2, "")
    said = without_java.stderr
    assert f"Error: Spark needs Java, which is not installed: JAVA_HOME={tmp_path}\nHint: Install a JDK 17 (" in said
    assert said.endswith("; without --spark the timelines are built here\n")
    failing = rebuild("shop.s1_sales", PYSPARK_PYTHON=str(tmp_path / "python"))
    assert (failing.returncode, failing.stdout) == (3, "")
    assert "Error: the Spark job failed" in failing.stderr


def test_check(run, run_json, model, path):
    result = run("timeline", "check")
    assert (result.stdout, result.stderr) == ("", "timelines of 1 table checked, all well\n")
    lose_a_partition(path)
    line = "timeline DAILY.dt has 2015-02-01, but no partition has this time"
    result = run("timeline", "check", code=1)
    assert result.stdout == f"shop.s1_sales: {line}\n"
    assert result.stderr == "timelines of 1 table checked, 1 problem\n"
    assert run_json("timeline", "check", "shop.s1_sales", code=1) == {
        "problems": 1,
        "catalog": [],
        "tables": [{"table": "shop.s1_sales", "problems": [line]}],
    }
    result = run("check", code=1)
    totals, timeline = result.stdout.splitlines()
    assert "totals are wrong: partitions 21 instead of 20" in totals
    assert timeline == f"shop.s1_sales: {line}"
    shown = "checked 1 database, 3 tables, 68 partitions, timelines of 1 table and all other rows"
    assert result.stderr == f"{shown}: 2 problems\n"
    assert [one["timelines"] for one in run_json("check", code=1)["tables"]] == [[], [line], []]
    run("timeline", "rebuild", "shop.s1_sales")
    assert run("repair", "shop.s1_sales").stdout.endswith("totals corrected\n")
    assert run("check").stderr == f"{shown}: all well\n"
    damage_a_timeline(path)
    for command in (("timeline", "check", "shop.s1_sales"), ("check",)):
        assert "timeline" in run(*command, code=1).stdout
    assert run("check", "shop.sales").stderr == "checked 1 table and 48 partitions: all well\n"
    assert model


def test_check_of_a_table_that_declares_nonsense(run, model, path):
    with sqlite3.connect(path) as file:
        for key, value in file.execute("SELECT key, value FROM catalog WHERE cell = 'd:def'").fetchall():
            wrong = value.replace(b"HOURLY,DAILY", b"HOURLY,DAIRY")
            file.execute("UPDATE catalog SET value = ? WHERE key = ? AND cell = 'd:def'", (wrong, key))
    file.close()
    for command in (("check",), ("timeline", "check"), ("timeline", "check", "shop.s1_sales")):
        assert run(*command, code=1).stdout.startswith(
            "shop.s1_sales: the update period is unknown: name=DAIRY, update_periods="
        )
    assert model


def test_check_of_a_read_only_store(run, cubes, model):
    table = cubes.store.get_table("shop", "s1_sales")
    stale = {**table.parameters, f"{CACHE}present": "false"}
    cubes.store.alter_table(hbstore.Table("shop", "s1_sales", table.partition_columns, parameters=stale))
    said = run("check", store=f"{model}?mode=ro").stderr
    assert said == "checked 1 database, 3 tables, 69 partitions and all other rows: all well\n"
    assert "cannot be written" in run("timeline", "check", store=f"{model}?mode=ro", code=3).stderr


def test_export(run, run_json, timelines):
    assert timelines()[0].latest() == UpdatePeriod.HOURLY.parse("2015-01-29-23")
    lines = run("timeline", "export", "shop.s1_sales").stdout.splitlines()
    assert f"{CACHE}present=true" in lines
    assert f"{CACHE}HOURLY.dt.latest=2015-01-29-23" in lines
    assert run_json("timeline", "export", "shop.s1_sales") == dict(line.split("=", 1) for line in lines)


@pytest.mark.parametrize("format", ["properties", "json"])
@pytest.mark.parametrize("by_stdin", [False, True])
def test_import(run, run_json, timelines, tmp_path, format, by_stdin):
    run("timeline", "convert", "shop.s1_sales", "--update-period", "DAILY", "--column", "dt", "--class", CLASSES[2])
    text = run("timeline", "export", "shop.s1_sales", *(["--json"] if format == "json" else [])).stdout
    before = list(map(str, timelines()))
    run("timeline", "convert", "shop.s1_sales", "--update-period", "DAILY", "--column", "dt", "--class", CLASSES[0])
    file = tmp_path / f"some.{format}"
    file.write_text(text)
    arguments = ["-", "--format", format] if by_stdin else [str(file)]
    assert run_json("timeline", "import", "Shop.s1_sales", *arguments, input=text) == {
        "table": "shop.s1_sales",
        "timelines": {"HOURLY.dt": CLASSES[1], "DAILY.dt": CLASSES[2]},
        "passed_over": [],
    }
    assert list(map(str, timelines())) == before
    assert run("timeline", "import", "shop.s1_sales", *arguments, input=text).stdout == (
        f"timeline HOURLY.dt of shop.s1_sales: {CLASSES[1]}\ntimeline DAILY.dt of shop.s1_sales: {CLASSES[2]}\n"
    )


def test_import_passes_over_what_is_not_the_tables(run, exported):
    with exported.open("a") as file:
        file.write(f"transient_lastDdlTime=1\n{CACHE}YEARLY.pt.first=nonsense\n{CACHE}YEARLY.pt.latest=\n")
    result = run("timeline", "import", "shop.s1_sales", str(exported))
    assert result.stderr == "Note: the table does not keep the timelines YEARLY.pt; hbstore skipped them\n"


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ("HOURLY.dt.first=2015-01-29-06", "HOURLY.dt.first=2015-01-29", "HOURLY.dt.first", "not a time of"),
        ("HOURLY.dt.first=2015-01-29-06", "HOURLY.dt.first=", "HOURLY.dt.first", "it is empty, and"),
        ("DAILY.dt.holes.size=0", "DAILY.dt.holes.size=2", "DAILY.dt.holes0", "it is missing"),
        ("DAILY.dt.holes.size=0", "DAILY.dt.holes.size=x", "DAILY.dt.holes.size", "is not a number of chunks"),
        ("DAILY.dt.holes.size=0", "DAILY.dt.holes=2015-02-03", "DAILY.dt.holes", "not before the latest"),
        ("DAILY.dt.latest=2015-02-01", "DAILY.dt.latest=2014-02-01", "DAILY.dt.first", "is after the latest"),
    ],
)
def test_a_damaged_file_names_the_property(run, timelines, exported, old, new, key, reason):
    before = list(map(str, timelines()))
    text = exported.read_text()
    assert old in text
    exported.write_text(text.replace(old, new))
    result = run("timeline", "import", "shop.s1_sales", str(exported), code=2)
    assert f"Error: a timeline in the file is damaged: file={exported}, property={CACHE}{key}, reason=" in result.stderr
    assert reason in result.stderr
    assert list(map(str, timelines())) == before


def test_files_that_cannot_be_imported(run, timelines, exported, tmp_path):
    before = list(map(str, timelines()))
    text = exported.read_text()

    def error(name, content):
        file = tmp_path / name
        if content is not None:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        result = run("timeline", "import", "shop.s1_sales", str(file), code=2)
        assert str(file) in result.stderr
        assert result.stdout == ""
        return result.stderr

    assert "the format of the file is unknown" in error("some.txt", text)
    assert "the file cannot be read" in error("no.json", None)
    assert "the file is not UTF-8: " in error("some.properties", b"a=\xff")
    assert "the file is not JSON" in error("some.json", text)
    assert "the value of a property is not a text" in error("some.json", '{"a": 1}')
    assert "a property occurs twice" in error("some.properties", text + f"{CACHE}present=false\n")
    assert "the file lacks a timeline of the table" in error("some.properties", "a=b")
    some = "".join(line for line in text.splitlines(keepends=True) if "DAILY" not in line)
    assert "timeline=DAILY.dt\n" in error("some.properties", some)
    assert "the timeline class is unknown" in error("some.properties", text.replace("EndsAndHoles", "Nonsense"))
    assert "times in the properties differ" in error(
        "some.properties", text.replace("latest=2015-02-01", "latest=2015-01-31")
    )
    assert list(map(str, timelines())) == before


def test_damage_in_the_store_is_no_mistake_in_a_file(run, exported, path):
    damage_a_timeline(path)
    assert "in the file" not in run("timeline", "import", "shop.s1_sales", str(exported), code=3).stderr


def test_an_hour_that_is_missing_in_a_year_is_seen(run, cubes, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    year = UpdatePeriod.HOURLY.iterate(*map(UpdatePeriod.YEARLY.parse, ("2014", "2015")))
    names = [UpdatePeriod.HOURLY.format(time) for time in year]
    of_hours = ("timeline", "show", "shop.s1_sales", "--update-period", "HOURLY", "--picture")
    cubes.store.add_partitions("shop", "s1_sales", [hbstore.Partition([name]) for name in names])
    whole = run(*of_hours).stdout.splitlines()[1]
    cubes.store.drop_partitions("shop", "s1_sales", [("2014-06-01-05",)])
    one_less = run(*of_hours).stdout.splitlines()[1]
    assert whole.count("█") == one_less.count("█") + 1
