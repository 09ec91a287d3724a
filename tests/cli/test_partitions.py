from __future__ import annotations

import json

import pytest

import hbstore
from hbstore.cli import printing

FIRST = "ds=2013-01-01/hour=0"


def test_partitions_are_one_name_on_each_line(run, open_shop):
    assert run("partitions", "shop.sales").stdout.splitlines() == open_shop.partition_names("shop", "sales")


@pytest.mark.usefixtures("shop")
def test_partitions_of_a_filter(run):
    text = "ds > '2013-01-01' and hour in (5, 6)"
    assert run("partitions", "Shop.Sales", "--filter", text).stdout == "ds=2013-01-02/hour=5\nds=2013-01-02/hour=6\n"


@pytest.mark.usefixtures("shop")
def test_no_partitions_are_no_mistake(run, run_json):
    assert run("partitions", "shop.sales", "--filter", "hour = 99").stdout == ""
    assert run_json("partitions", "shop.sales", "--filter", "hour = 99") == []
    assert run("count", "shop.sales", "--filter", "hour = 99").stdout == "0\n"


@pytest.mark.parametrize("limit", [0, 1, 30, 100])
@pytest.mark.usefixtures("shop")
def test_limit(run, run_json, limit):
    assert len(run("partitions", "shop.sales", "--limit", str(limit)).stdout.splitlines()) == min(limit, 48)
    assert len(run_json("partitions", "shop.sales", "--limit", str(limit))) == min(limit, 48)


@pytest.mark.usefixtures("shop")
def test_limit_is_not_negative(run):
    run("partitions", "shop.sales", "--limit", "-1", code=2)


@pytest.mark.parametrize("command", ["partitions", "count", "explain"])
def test_dialects_of_like(run, open_shop, command):
    open_shop.add_partitions("shop", "returns", [hbstore.Partition((name,)) for name in ("eu", "eu%", "us")])
    option = () if command == "explain" else ("--filter",)
    for dialect, pattern in (("sql", "eu%"), ("hive2", "eu.*")):
        text = f"region like '{pattern}'"
        found = run(command, "shop.returns", *option, text, "--like-dialect", dialect).stdout
        expected = {"partitions": "region=eu\nregion=eu%25\n", "count": "2\n"}
        assert found == expected.get(command, found)
    run(command, "shop.returns", *option, "region like 'a'", "--like-dialect", "other", code=2)


def test_partitions_as_json(run, open_shop):
    open_shop.add_partitions(
        "shop",
        "sales",
        [hbstore.Partition((None, "05"), location="s3://ö/\x1b[2J", parameters={"numRows": "3"}, create_time=7)],
    )
    text = run("partitions", "shop.sales", "--filter", "ds is null", "--json").stdout
    assert json.loads(text) == [
        {
            "name": "ds=__HIVE_DEFAULT_PARTITION__/hour=05",
            "values": ["__HIVE_DEFAULT_PARTITION__", "05"],
            "location": "s3://ö/\x1b[2J",
            "parameters": {"numRows": "3"},
            "create_time": 7,
            "last_access_time": 0,
        }
    ]
    assert "\x1b" not in text
    assert "ö" in text


@pytest.mark.parametrize("number", [0, 1, 999, 1000, 1001, 2500])
def test_a_json_array_of_any_length(capsys, number):
    printing.print_json_array(iter(range(number)))
    text = capsys.readouterr().out
    assert json.loads(text) == list(range(number))
    assert len(text.splitlines()) == number + 2


@pytest.mark.usefixtures("shop")
def test_count(run, run_json):
    assert run("count", "shop.sales").stdout == "48\n"
    assert run("count", "shop.sales", "--filter", "hour < 3").stdout == "6\n"
    assert run_json("count", "Shop.sales", "--filter", "hour < 3") == {
        "table": "shop.sales",
        "filter": "hour < 3",
        "count": 6,
    }


def test_add_partition(run, run_json, open_shop):
    spec = "HOUR=30/ds=2013-01-01"
    options = ("--location", "s3://old/30", "--parameter", "numRows=1", "--parameter", "x=y")
    assert run("add-partition", "shop.sales", spec, *options).stdout == "partition ds=2013-01-01/hour=30: added\n"
    made = open_shop.get_partition("shop", "sales", ("2013-01-01", "30"))
    assert (made.location, made.parameters) == ("s3://old/30", {"numRows": "1", "x": "y"})
    assert "the partition already exists" in run("add-partition", "shop.sales", spec, code=2).stderr
    again = run("add-partition", "shop.sales", spec, "--if-not-exists")
    assert again.stdout == "partition ds=2013-01-01/hour=30: already exists\n"
    assert run_json("add-partition", "shop.sales", "ds=2013-01-01/hour=31") == {
        "table": "shop.sales",
        "partition": "ds=2013-01-01/hour=31",
        "added": True,
    }
    assert open_shop.get_partition("shop", "sales", ("2013-01-01", "31")).location == (
        "s3://shop/sales/ds=2013-01-01/hour=31"
    )


def test_add_a_partition_with_an_invalid_value(run, open_shop):
    result = run("add-partition", "shop.sales", "ds=someday/hour=5", code=2)
    assert "does not fit its column's type: column=ds, type=date, value='someday'" in result.stderr
    assert "--keep-invalid" in result.stderr
    run("add-partition", "shop.sales", "ds=someday/hour=5", "--keep-invalid")
    assert open_shop.partition_names("shop", "sales")[-1] == "ds=someday/hour=5"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ds=2013-01-01", "the partition spec leaves out columns: spec={'ds': '2013-01-01'}, missing=hour"),
        ("2013-01-01/5", "the text is not a partition name"),
        ("", "the text is not a partition name"),
        ("ds=2013-01-01/hour=5/region=eu", "not a partition column: column=region"),
        ("ds=2013-01-01/DS=2013-01-01/hour=5", "a partition spec names a column twice"),
    ],
)
@pytest.mark.usefixtures("shop")
def test_mistakes_in_specs(run, spec, message):
    for command in (("add-partition",), ("drop-partition",), ("rename-partition", FIRST)):
        assert message in run(command[0], "shop.sales", *command[1:], spec, code=2).stderr


def test_drop_partition(run, run_json, open_shop):
    assert run("drop-partition", "shop.sales", FIRST).stdout == "1 partition dropped\n"
    assert (
        "the partition does not exist"
        in run("drop-partition", "shop.sales", "ds=2013-01-02/hour=0", FIRST, code=2).stderr
    )
    assert open_shop.count_partitions("shop", "sales") == 47
    both = ("drop-partition", "shop.sales", "ds=2013-01-02/hour=0", FIRST, "--if-exists")
    assert run_json(*both) == {"table": "shop.sales", "dropped": 1}
    assert run(*both).stdout == "0 partitions dropped\n"


def test_drop_what_a_filter_selects(run, run_json, open_shop):
    selected = ("drop-partition", "shop.sales", "--filter", "ds = '2013-01-02' and hour >= 22")
    assert run(*selected, "--dry-run").stdout == "ds=2013-01-02/hour=22\nds=2013-01-02/hour=23\n"
    assert run("drop-partition", "shop.sales", FIRST, "--dry-run").stdout == f"{FIRST}\n"
    assert open_shop.count_partitions("shop", "sales") == 48
    assert run_json(*selected) == {"table": "shop.sales", "dropped": 2}
    assert run(*selected).stdout == "0 partitions dropped\n"
    assert open_shop.count_partitions("shop", "sales") == 46
    assert "is not a partition column" in run(*selected[:3], "day = 1", code=2).stderr


@pytest.mark.parametrize("words", [(), (FIRST, "--filter", "hour = 5")])
@pytest.mark.usefixtures("shop")
def test_specs_or_a_filter_say_what_is_dropped(run, words):
    said = run("drop-partition", "shop.sales", *words, code=2).stderr
    assert "Give SPEC... or --filter, not both" in said


def test_rename_partition(run, run_json, open_shop):
    result = run("rename-partition", "shop.sales", FIRST, "ds=2013-01-03/hour=0")
    assert result.stdout == f"partition {FIRST}: renamed to ds=2013-01-03/hour=0\n"
    assert open_shop.get_partition("shop", "sales", ("2013-01-03", "0")).location == f"s3://shop/sales/{FIRST}"
    assert "the partition does not exist" in run("rename-partition", "shop.sales", FIRST, FIRST, code=2).stderr
    taken = run("rename-partition", "shop.sales", "ds=2013-01-03/hour=0", "ds=2013-01-01/hour=1", code=2)
    assert "the partition already exists" in taken.stderr
    invalid = run("rename-partition", "shop.sales", "ds=2013-01-03/hour=0", "ds=someday/hour=1", code=2).stderr
    assert "does not fit its column's type" in invalid
    assert "--keep-invalid" not in invalid, "the command has no such option"
    assert run_json("rename-partition", "shop.sales", "ds=2013-01-03/hour=0", FIRST) == {
        "table": "shop.sales",
        "partition": "ds=2013-01-03/hour=0",
        "renamed": FIRST,
    }


def test_explain(run, run_json, open_shop):
    text = "ds = '2013-01-01' and hour in (5, 6)"
    assert run("explain", "shop.sales", text).stdout == f"{open_shop.explain('shop', 'sales', text)}\n"
    assert run_json("explain", "shop.sales", text) == open_shop.explain("shop", "sales", text).to_dict()
    assert "every partition" in run("explain", "shop.sales").stdout


@pytest.mark.usefixtures("shop")
def test_explain_analyze(run, run_json):
    assert "48 rows read" in run("explain", "shop.sales", "--analyze").stdout
    found = run_json("explain", "shop.sales", "hour = 5", "--analyze")
    assert found["rows_returned"] == 2
    assert {"rows_read", "rows_returned", "round_trips", "seconds"} <= found["scans"][0].keys()
