from __future__ import annotations

import json
import threading

import pytest

from hbstore import connect
from hbstore.cubes import PartitionDesc
from hbstore.files.warehouse import Warehouse
from hbstore.query_service.access import Access
from hbstore.warehouse.service import Service
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.cli.conftest import MODEL
from tests.query_service.test_service import serving

HOURLY = (
    "EndsAndHolesPartitionTimeline(super=PartitionTimeline(storageTableName=s1_sales, updatePeriod=HOURLY, partCol=dt, "
    "all=null), first=2015-01-29-06, holes=[], latest=2015-01-29-23)\n"
)
DAILY = (
    "EndsAndHolesPartitionTimeline(super=PartitionTimeline(storageTableName=s1_sales, updatePeriod=DAILY, partCol=dt, "
    "all=null), first=2015-01-30, holes=[], latest=2015-02-01)\n"
)
XML = """<?xml version="1.0" encoding="UTF-8"?>
<x_partition_list xmlns="uri:lens:cube:0.1">
  <x_partition fact_or_dimension_table_name="sales" update_period="DAILY">
    <time_partition_spec><part_spec_element key="dt" value="2015-02-02T00:00:00"/></time_partition_spec>
  </x_partition>
  <x_partition fact_or_dimension_table_name="Sales" update_period="DAILY">
    <time_partition_spec><part_spec_element key="dt" value="2015-02-03T00:00:00"/></time_partition_spec>
  </x_partition>
</x_partition_list>
"""


def days(*texts):
    return [PartitionDesc("DAILY", {"dt": text}) for text in texts]


AGGREGATED = """
kind: storage
name: mydb
---
kind: storage
name: local
---
kind: cube
name: sales_cube
measures: [{name: price, type: double}]
dim_attributes:
  - {name: order_time, type: timestamp}
  - {name: delivery_time, type: timestamp}
  - {name: processing_time, type: timestamp}
time_dimensions: {order_time: ot, delivery_time: dt, processing_time: pt}
---
kind: fact
name: sales_aggr_fact2
cube: sales_cube
columns: [{name: price, type: double}]
storage_tables:
  - storage: mydb
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}, {name: ot, type: string}, {name: pt, type: string}]
    time_partition_columns: [dt, ot, pt]
  - storage: local
    update_periods: [DAILY, HOURLY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""


@pytest.mark.usefixtures("shop")
def test_timelines_of_several_storages_periods_and_columns(run, tmp_path):
    """The worked example in Lens's guide to its metastore."""
    (tmp_path / "model.yaml").write_text(AGGREGATED)
    run("model", "create", str(tmp_path / "model.yaml"), "--database", "shop")
    for storage, period, *times in (
        ("mydb", "DAILY", "dt=2015-04-12", "ot=2015-04-12", "pt=2015-04-13"),
        ("local", "HOURLY", "dt=2015-04-13-04"),
        ("local", "HOURLY", "dt=2015-04-13-05"),
        ("local", "DAILY", "dt=2015-04-11"),
        ("local", "DAILY", "dt=2015-04-12"),
    ):
        given = [word for time in times for word in ("--time", time)]
        of_fact = ("shop.sales_aggr_fact2", "--storage-name", storage, "--update-period", period)
        run("fact", "partitions", "add", *of_fact, *given)

    def line(storage, period, column, first, latest):
        return (
            "EndsAndHolesPartitionTimeline(super=PartitionTimeline("
            f"storageTableName={storage}_sales_aggr_fact2, updatePeriod={period}, partCol={column}, all=null), "
            f"first={first}, holes=[], latest={latest})\n"
        )

    of_mydb = "".join(
        line("mydb", "DAILY", column, day, day)
        for column, day in (("dt", "2015-04-12"), ("ot", "2015-04-12"), ("pt", "2015-04-13"))
    )
    hours = line("local", "HOURLY", "dt", "2015-04-13-04", "2015-04-13-05")
    days_ = line("local", "DAILY", "dt", "2015-04-11", "2015-04-12")
    words = ["fact", "timelines", "--database", "shop", "--fact_name", "sales_aggr_fact2"]
    assert run(*words).stdout == of_mydb + hours + days_
    words += ["--storage_name", "local"]
    assert run(*words).stdout == hours + days_
    words += ["--update_period", "HOURLY"]
    assert run(*words).stdout == hours
    words += ["--time_dimension", "delivery_time"]
    assert run(*words).stdout == hours


@pytest.mark.usefixtures("model")
def test_timelines_are_lenss_lines(run):
    assert run("fact", "timelines", "--fact-name", "sales", "--database", "shop").stdout == HOURLY + DAILY
    assert run("fact", "timelines", "Shop.Sales").stdout == HOURLY + DAILY
    assert run("fact", "timelines", "--fact-name", "Shop.Sales", "--plain").stdout == HOURLY + DAILY
    assert run("fact", "timelines", "--fact_name", "sales", env={"HBSTORE_DATABASE": "shop"}).stdout == HOURLY + DAILY
    of_sales = ("fact", "timelines", "--fact-name", "shop.sales")
    assert run(*of_sales, "--storage_name", "S1", "--update_period", "daily").stdout == DAILY
    assert run(*of_sales, "--time-dimension", "order_time", "--update-period", "HOURLY").stdout == HOURLY
    assert run(*of_sales, "--update-period", "YEARLY").stdout == ""


def test_timelines_as_json(run_json, cubes):
    cubes.drop_partitions("sales", "s1", days("2015-01-31"))
    assert run_json("fact", "timelines", "--fact-name", "shop.sales", "--update-period", "DAILY") == [
        {
            "storage_table": "s1_sales",
            "update_period": "DAILY",
            "partition_column": "dt",
            "class": "EndsAndHolesPartitionTimeline",
            "first": "2015-01-30",
            "latest": "2015-02-01",
            "times": 2,
            "holes": [{"from": "2015-01-31", "to": "2015-02-01"}],
        }
    ]
    cubes.drop_partitions("sales", "s1", days("2015-01-30", "2015-02-01"))
    empty = run_json("fact", "timelines", "--fact-name", "shop.sales", "--update-period", "DAILY")[0]
    assert (empty["first"], empty["latest"], empty["times"], empty["holes"]) == (None, None, 0, [])


def test_timelines_as_a_picture(run, cubes, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    cubes.drop_partitions("sales", "s1", days("2015-01-31"))
    shown = run("fact", "timelines", "--fact-name", "shop.sales", "--picture").stdout
    assert shown == (
        "s1_sales  HOURLY  dt  █████████                                      18 there, no holes\n"
        "s1_sales  DAILY   dt           ████████████××××××××××××████████████  2 there, 1 missing in 1 hole\n"
        "                      |2015-01-29-06                  2015-02-02-00|\n"
        "\n"
        "█ all there  ▁ to ▇ some missing  × none there  (blank: not begun yet, or over)\n"
        "a cell is 2 hours\n"
    )


@pytest.mark.usefixtures("model")
def test_a_picture_where_stdout_takes_ascii_only(spawn):
    environment = {"PYTHONIOENCODING": "ascii", "COLUMNS": "100"}
    result = spawn("fact", "timelines", "--fact-name", "shop.sales", "--picture", env=environment)
    assert b"s1_sales  HOURLY  dt  ######" in result.stdout
    assert b"\\u" not in result.stdout


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fact-name", "no"], "the fact does not exist: name=shop.no"),
        (["--fact-name", "sales", "--storage-name", "s2"], "the fact is not on that storage"),
        (["--fact-name", "sales", "--update-period", "sometimes"], "the update period is unknown"),
        (["--fact-name", "sales", "--time-dimension", "no"], "no storage table is partitioned by the time dimension"),
        ([], "the name of the fact is missing"),
        (["sales", "--fact-name", "sales"], "the command names the fact twice: fact=sales, fact_name=sales"),
    ],
)
def test_mistakes_about_timelines(run, options, message):
    result = run("fact", "timelines", "--database", "shop", *options, code=2)
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.usefixtures("model")
def test_cover(run, run_json):
    of_range = ("fact", "cover", "shop.sales", "--from", "2015-01-29-06", "--to", "2015-02-01")
    result = run(*of_range)
    assert result.stdout == (
        "s1_sales HOURLY [2015-01-29-06, 2015-01-30-00)\ns1_sales DAILY [2015-01-30, 2015-02-01)\n"
    )
    assert result.stderr == "20 partitions in 2 runs, nothing missing\n"
    assert run_json(*of_range, "--time-dimension", "order_time") == {
        "fact": "shop.sales",
        "from": "2015-01-29-06",
        "to": "2015-02-01",
        "partitions": 20,
        "runs": [
            {
                "storage_table": "s1_sales",
                "update_period": "HOURLY",
                "from": "2015-01-29-06",
                "to": "2015-01-30-00",
                "partitions": 18,
            },
            {
                "storage_table": "s1_sales",
                "update_period": "DAILY",
                "from": "2015-01-30",
                "to": "2015-02-01",
                "partitions": 2,
            },
        ],
        "missing": [],
    }


def test_what_nothing_covers(run, run_json, cubes):
    cubes.drop_partitions("sales", "s1", days("2015-01-31"))
    of_range = ("fact", "cover", "shop.sales", "--from", "2015-01-29-05:30", "--to", "2015-02-01")
    result = run(*of_range, code=1)
    assert result.stdout == ""
    missing = "[2015-01-29-05:30, 2015-01-29-06) ∪ [2015-01-31, 2015-02-01)"
    assert result.stderr == (
        f"Error: no partitions cover the time range: missing={missing}\n"
        "Hint: --partial shows the existing partitions and all missing ranges\n"
    )
    assert run_json(*of_range, code=1)["missing"] == [
        {"from": "2015-01-29-05:30", "to": "2015-01-29-06"},
        {"from": "2015-01-31", "to": "2015-02-01"},
    ]
    partial = run(*of_range, "--partial")
    assert partial.stdout.splitlines()[1:] == [
        "s1_sales DAILY [2015-01-30, 2015-01-31)",
        "missing [2015-01-29-05:30, 2015-01-29-06)",
        "missing [2015-01-31, 2015-02-01)",
    ]
    assert partial.stderr == "19 partitions in 2 runs, 2 ranges missing\n"
    assert run_json(*of_range, "--partial")["partitions"] == 19


def test_an_error_does_not_name_hundreds_of_ranges(run, run_json, cubes):
    cubes.add_partitions("sales", "s1", days(*(f"2014-01-{day:02}" for day in range(1, 31, 2))))
    of_range = ("fact", "cover", "shop.sales", "--from", "2014-01", "--to", "2014-02")
    assert run(*of_range, code=1).stderr.splitlines()[0].endswith("[2014-01-20, 2014-01-21) and 5 more")
    assert len(run_json(*of_range, code=1)["missing"]) == 15
    assert run("fact", "cover", "shop.sales", "--from", "9999", "--to", "now", code=2).stdout == ""


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["no", "--from", "2015", "--to", "2016"], "the fact does not exist: name=shop.no"),
        (["sales", "--from", "2015", "--to", "2014"], "the time range ends before it begins"),
        (["sales", "--from", "2015-1", "--to", "2016"], "    2015-1\n         ^"),
        (["sales", "--from", "2015", "--to", "2016", "--time-dimension", "no"], "choices=order_time, dt"),
        (["sales", "--from", "2015"], "Missing option '--to'"),
    ],
)
def test_mistakes_about_covers(run, options, message):
    assert message in run("fact", "cover", "--database", "shop", *options, code=2).stderr


@pytest.mark.usefixtures("model")
def test_add_list_and_drop_a_partition(run, run_json):
    of_sales = ("shop.sales", "--update-period", "DAILY", "--time", "dt=2015-02-02")
    with_place = ("--location", "s3://old/2", "--parameter", "numRows=3")
    assert run("fact", "partitions", "add", *of_sales, *with_place).stdout == "1 partition added to shop.s1_sales\n"
    assert "--if-not-exists" in run("fact", "partitions", "add", *of_sales, code=2).stderr
    passed_over = run("fact", "partitions", "add", *of_sales, "--if-not-exists").stdout
    assert passed_over == "0 partitions added to shop.s1_sales\n"
    listing = ("fact", "partitions", "list", "shop.sales", "--filter", "dt > '2015-02-01'")
    assert run(*listing).stdout == "dt=2015-02-02\n"
    found = run_json(*listing)[0]
    assert (found["name"], found["location"]) == ("dt=2015-02-02", "s3://old/2")
    assert found["parameters"]["numRows"] == "3"
    assert len(run_json("fact", "partitions", "list", "sales", "--database", "shop", "--storage-name", "s1")) == 22
    run("fact", "cover", "shop.sales", "--from", "2015-02-02", "--to", "2015-02-03")
    assert run_json("fact", "partitions", "drop", *of_sales) == {"table": "shop.s1_sales", "dropped": 1}
    assert "the partition does not exist" in run("fact", "partitions", "drop", *of_sales, code=2).stderr
    run("fact", "cover", "shop.sales", "--from", "2015-02-02", "--to", "2015-02-03", code=1)
    assert run_json("fact", "partitions", "add", *of_sales) == {"table": "shop.s1_sales", "added": 1}


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("ending", ["yaml", "json", "xml"])
def test_partitions_of_a_file(run, tmp_path, ending):
    data = [
        {"table": "sales", "update_period": "DAILY", "time": {"dt": f"2015-02-0{day}"}, "parameters": {"a": "b"}}
        for day in (2, 3)
    ]
    file = tmp_path / f"partitions.{ending}"
    file.write_text(XML if ending == "xml" else json.dumps(data))
    for word, line in (("add", "2 partitions added to"), ("drop", "2 partitions dropped from")):
        arguments = ("fact", "partitions", word, "Sales", "--database", "Shop", "--file", str(file))
        assert run(*arguments).stdout == f"{line} shop.s1_sales\n"
        assert run(*arguments, code=2).stdout == ""


@pytest.mark.usefixtures("model")
def test_a_file_may_be_of_several_facts(run, run_json, tmp_path):
    other = MODEL.split("---")[2].replace("name: sales\n", "name: others\n")
    (tmp_path / "other.yaml").write_text(other)
    run("model", "create", str(tmp_path / "other.yaml"), "--database", "shop")
    file = tmp_path / "partitions.yaml"
    line = "- {table: %s, update_period: DAILY, time: {dt: %s}}\n"
    file.write_text(line % ("sales", "2015-02-07") + line % ("others", "2015-02-07") + line % ("sales", "2015-02-08"))
    arguments = ("--database", "shop", "--file", str(file))
    lines = run("fact", "partitions", "add", *arguments).stdout.splitlines()
    assert lines == ["2 partitions added to shop.s1_sales", "1 partition added to shop.s1_others"]
    again = run("fact", "partitions", "add", *arguments, "--if-not-exists", "--json").stdout
    assert json.loads(again) == [{"table": "shop.s1_sales", "added": 0}, {"table": "shop.s1_others", "added": 0}]
    assert [one["dropped"] for one in run_json("fact", "partitions", "drop", *arguments)] == [2, 1]
    file.write_text(line % ("sales", "2015-02-07") + line % ("othres", "2015-02-07"))
    error = run("fact", "partitions", "add", *arguments, code=2).stderr
    assert "Did you mean others?" in error
    assert "changed before: shop.s1_sales" in error
    told = run("fact", "partitions", "add", "--update-period", "DAILY", "--time", "dt=2015-02-07", code=2).stderr
    assert "the fact is missing" in told


def test_a_file_is_added_wholly_or_not_at_all(run, tmp_path, cubes):
    file = tmp_path / "partitions.yaml"
    line = "- {table: sales, update_period: DAILY, time: {dt: %s}}\n"
    before = cubes.partitions("sales", "s1")
    for bad, message in (
        (line % "2015-02-01", "already exists"),
        (line % "2015-02-32", "2015-02-32"),
        (line.replace("sales", "others") % "2015-02-05", "document=2, table=others, expected=sales"),
        (line.replace("DAILY", "YEARLY") % "'2015'", "YEARLY"),
    ):
        file.write_text(line % "2015-02-04" + bad)
        assert message in run("fact", "partitions", "add", "shop.sales", "--file", str(file), code=2).stderr
        assert cubes.partitions("sales", "s1") == before


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["no", "--update-period", "DAILY", "--time", "dt=2015-02-02"],
            "the fact or dimension table does not exist: name=shop.no",
        ),
        (["sales"], "the partition is missing"),
        (["sales", "--file", "x.yaml", "--time", "dt=2015-02-02"], "--file excludes options that describe a partition"),
        (["sales", "--file", "no.yaml"], "the file cannot be read"),
        (["sales", "--update-period", "DAILY", "--time", "2015"], "a time needs a name and a value: time='2015'"),
        (
            ["sales", "--update-period", "DAILY", "--time", "dt=1", "--time", "dt=2"],
            "the command names a time twice: time=dt",
        ),
        (["sales", "--spec", "=eu"], "a spec needs a name and a value"),
        (["sales", "--update-period", "DAILY", "--time", "dt=2015-02-02", "--spec", "region=eu"], "region"),
        (["sales", "--update-period", "sometimes", "--time", "dt=2015-02-02"], "the update period is unknown"),
        (["sales", "--storage-name", "s2", "--update-period", "DAILY", "--time", "dt=2015-02-02"], "s2"),
    ],
)
def test_mistakes_about_partitions(run, options, message):
    for word in ("add", "drop"):
        assert message in run("fact", "partitions", word, "--database", "shop", *options, code=2).stderr


def test_the_storage_is_named_where_there_are_several(run, cubes, tmp_path):
    def table(storage):
        return (
            f"{{storage: {storage}, update_periods: [DAILY], partition_columns: [{{name: dt, type: string}}], "
            "time_partition_columns: [dt]}"
        )

    head = "---\nkind: fact\nname: more\ncube: sales_cube\ncolumns: [{name: price, type: double}]\n"
    (tmp_path / "more.yaml").write_text(
        f"kind: storage\nname: s2\n{head}storage_tables: [{table('s1')}, {table('s2')}]\n"
        f"{head.replace('more', 'nowhere')}"
    )
    run("model", "create", str(tmp_path / "more.yaml"), "--database", "shop")
    of_more = ("fact", "partitions", "add", "shop.more", "--update-period", "DAILY", "--time", "dt=2015-01-01")
    result = run(*of_more, code=2)
    assert result.stderr == (
        "Error: the fact or dimension table is on several storages: name=more, storages=s1, s2\n"
        "Hint: Add --storage-name\n"
    )
    assert run(*of_more, "--storage-name", "S2").stdout == "1 partition added to shop.s2_more\n"
    assert (
        "the fact or dimension table is on no storage"
        in run("fact", "partitions", "list", "shop.nowhere", code=2).stderr
    )
    cover = ("--from", "2015", "--to", "2016")
    assert "the fact has no storage table" in run("fact", "cover", "shop.nowhere", *cover, code=2).stderr
    assert cubes.names("fact") == ["more", "nowhere", "sales"]


@pytest.mark.usefixtures("model")
def test_a_wait_ends_when_nothing_is_missing(run, run_json, cubes):
    of_range = ("fact", "wait", "shop.sales", "2015-01-29-06", "2015-02-01")
    assert run(*of_range).stdout == "shop.sales: 20 partitions, nothing missing\n"
    assert run_json(*of_range, "--time-dimension", "order_time", "--timeout", "5") == {
        "fact": "shop.sales",
        "from": "2015-01-29-06",
        "to": "2015-02-01",
        "complete": True,
        "missing": [],
    }
    timer = threading.Timer(0.5, cubes.add_partitions, ("sales", "s1", days("2015-02-02")))
    timer.start()
    waited = run("fact", "wait", "sales", "2015-02-01", "2015-02-03", "--database", "shop", "--timeout", "60")
    assert waited.stdout == "shop.sales: 2 partitions, nothing missing\n"
    timer.join()


@pytest.mark.usefixtures("model")
def test_a_wait_whose_time_is_over_names_what_is_missing(run, run_json):
    of_range = ("fact", "wait", "shop.sales", "2015-02-01", "2015-02-04", "--timeout", "0.1")
    result = run(*of_range, code=1)
    assert result.stdout == ""
    assert result.stderr == (
        "Error: no partitions cover the time range: missing=[2015-02-02, 2015-02-04)\n"
        "Hint: Wait again, or register the partitions\n"
    )
    found = run_json(*of_range, code=1)
    assert (found["complete"], found["missing"]) == (False, [{"from": "2015-02-02", "to": "2015-02-04"}])


@pytest.mark.usefixtures("model")
def test_a_wait_at_a_server(run, url, tmp_path):
    with connect(url) as store, serving(store, tmp_path) as (service, _):
        catalog = Service(store, Warehouse(str(tmp_path / "warehouse")))
        app = application(service, Access.of("127.0.0.1", None), catalog=catalog)
        with http_served(app, "127.0.0.1", 0) as port:
            at = ("--server", f"http://127.0.0.1:{port}")
            waited = run("fact", "wait", "shop.sales", "2015-01-30", "2015-02-01", *at, store="sqlite:///none")
            assert waited.stdout == "shop.sales: 2 partitions, nothing missing\n"
            over = run("fact", "wait", "shop.sales", "2015-02-01", "2015-02-04", "--timeout", "0.1", *at, code=1)
            assert "missing=[2015-02-02, 2015-02-04)" in over.stderr
            assert "the fact does not exist" in run("fact", "wait", "shop.no", "2015", "2016", *at, code=2).stderr


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["shop.no", "2015", "2016"], 2, "the fact does not exist: name=shop.no"),
        (["shop.sales", "2016", "2015"], 2, "the time range ends before it begins"),
        (["shop.sales", "2015-1", "2016"], 2, "    2015-1\n         ^"),
        (["shop.sales", "2015", "2016", "--time-dimension", "no"], 2, "choices=order_time, dt"),
        (["shop.sales", "2015"], 2, "Missing argument 'TO'"),
        (["shop.sales", "2015", "2016", "--timeout", "-1"], 2, "Invalid value for '--timeout'"),
        (["shop.sales", "2015", "2016", "--server", "http://127.0.0.1:9"], 3, "the server does not answer"),
    ],
)
def test_mistakes_about_waits(run, words, code, message):
    assert message in run("fact", "wait", *words, code=code).stderr
