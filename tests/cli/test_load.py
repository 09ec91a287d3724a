from __future__ import annotations

import json

import pytest

import hbstore

DAYS = [f"20{year:02}-{month:02}-{day:02}" for year in range(15) for month in range(1, 13) for day in range(1, 29)]
TEN_THOUSAND = [(day, str(hour)) for day in DAYS for hour in (5, 6)][:10_000]


@pytest.fixture
def write(tmp_path):
    """Writes a file of lines and returns its path."""

    def lines(name, *texts):
        file = tmp_path / name
        file.write_bytes("\n".join(texts).encode() + b"\n")
        return str(file)

    return lines


def added(store, table="sales"):
    """What was added to the 48 partitions of the shop: values, location, parameters."""
    return [
        (one.values, one.location, dict(one.parameters))
        for one in store.get_partitions_by_filter("shop", table, "ds > '2013-01-02'")
    ]


def test_csv(run, open_shop, write):
    file = write(
        "some.csv",
        "\ufeffHour, DS ,location,parameters.numRows,parameters.note",
        "5,2013-01-03,,100,",
        "",
        '06,2013-01-03,"s3://a,b",,"x\r\ny"',
    )
    assert run("load", "shop.sales", file).stdout == "2 partitions added to shop.sales\n"
    assert added(open_shop) == [
        (("2013-01-03", "5"), "s3://shop/sales/ds=2013-01-03/hour=5", {"numRows": "100"}),
        (("2013-01-03", "06"), "s3://a,b", {"note": "x\r\ny"}),
    ]


def test_json_lines(run_json, open_shop, write):
    file = write(
        "some.jsonl",
        '{"values": ["2013-01-03", 1], "location": "s3://x", "parameters": {"a": "b", "n": 5, "yes": true}}',
        "   ",
        '{"spec": {"HOUR": 2, "ds": "2013-01-03"}, "create_time": 7, "last_access_time": 8}',
        '{"name": "hour=3/ds=2013-01-03"}',
        '{"name": "ds=2013-01-03/hour=4", "values": ["2013-01-03", "4"], "location": null, "parameters": null}',
    )
    assert run_json("load", "Shop.Sales", file) == {"table": "shop.sales", "file": file, "read": 4, "added": 4}
    root = "s3://shop/sales/ds=2013-01-03"
    assert added(open_shop) == [
        (("2013-01-03", "1"), "s3://x", {"a": "b", "n": "5", "yes": "true"}),
        (("2013-01-03", "2"), f"{root}/hour=2", {}),
        (("2013-01-03", "3"), f"{root}/hour=3", {}),
        (("2013-01-03", "4"), f"{root}/hour=4", {}),
    ]
    second = open_shop.get_partition("shop", "sales", ("2013-01-03", "2"))
    assert (second.create_time, second.last_access_time) == (7, 8)


def test_numbers_and_nulls_stay_what_they_are(run, open_shop, write):
    open_shop.create_table(hbstore.Table("shop", "prices", partition_columns=[hbstore.Column("p", "string")]))
    file = write("some.ndjson", '{"values": [1.10]}', '{"values": [null]}', '{"spec": {"p": 1e2}}')
    run("load", "shop.prices", file)
    assert set(open_shop.partition_names("shop", "prices")) == {"p=1.10", "p=__HIVE_DEFAULT_PARTITION__", "p=1e2"}


def test_an_empty_value_is_the_null_partition(run, open_shop, write):
    run("load", "shop.sales", write("empty.csv", "ds,hour", "2013-01-03,"))
    assert open_shop.partition_names("shop", "sales")[-1] == "ds=2013-01-03/hour=__HIVE_DEFAULT_PARTITION__"
    again = write("again.ndjson", '{"values": ["2013-01-03", ""]}', '{"values": ["2013-01-03", null]}')
    assert run("load", "shop.sales", again, "--if-not-exists").stdout.startswith("0 partitions added")


def test_a_partition_column_may_have_any_name(run, open_shop, write):
    open_shop.create_table(hbstore.Table("shop", "odd", partition_columns=[hbstore.Column("location", "string")]))
    run("load", "shop.odd", write("some.csv", "location", "here"))
    assert open_shop.partition_names("shop", "odd") == ["location=here"]


def test_what_partitions_prints_can_be_loaded_again(run, run_json, open_shop, write):
    open_shop.add_partitions("shop", "sales", [hbstore.Partition((None, "5"), parameters={"a": "b"})])
    listed = run_json("partitions", "shop.sales")
    file = write("copy.jsonl", *map(json.dumps, listed))
    table = open_shop.get_table("shop", "sales")
    open_shop.create_table(
        hbstore.Table("shop", "copy", partition_columns=table.partition_columns, location="s3://elsewhere")
    )
    run("load", "shop.copy", file)
    assert run_json("partitions", "shop.copy") == listed


def test_stdin(run, open_shop):
    assert run("load", "shop.sales", "-", "--format", "csv", input="ds,hour\n2013-01-03,5\n").stdout
    run("load", "shop.sales", "-", "--format", "jsonl", input='{"values": ["2013-01-03", "6"]}')
    assert len(added(open_shop)) == 2


@pytest.mark.usefixtures("shop")
def test_the_format_must_be_known(run, write):
    assert "the format of the file is unknown: file=stdin" in run("load", "shop.sales", "-", code=2).stderr
    file = write("some.txt", "ds,hour", "2013-01-03,5")
    result = run("load", "shop.sales", file, code=2)
    assert "the format of the file is unknown" in result.stderr
    assert "--format csv" in result.stderr
    run("load", "shop.sales", file, "--format", "csv")
    run("load", "shop.sales", file, "--format", "xml", code=2)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("text", ["", "\n\n", "ds,hour\n"])
def test_empty_files(run, text):
    assert run("load", "shop.sales", "-", "--format", "csv", input=text).stdout == "0 partitions added to shop.sales\n"
    assert run("load", "shop.sales", "-", "--format", "jsonl", input=text.replace("ds,hour", "")).stdout


def test_ten_thousand_lines(run_json, open_shop, write):
    file = write("many.csv", "ds,hour", *map(",".join, TEN_THOUSAND))
    size = len(TEN_THOUSAND)
    open_shop.create_table(
        hbstore.Table("shop", "many", partition_columns=open_shop.get_table("shop", "sales").partition_columns)
    )
    assert run_json("load", "shop.many", file)["added"] == size
    assert open_shop.count_partitions("shop", "many") == size
    assert run_json("load", "shop.many", file, "--if-not-exists") | {"file": ""} == {
        "table": "shop.many",
        "file": "",
        "read": size,
        "added": 0,
    }


@pytest.mark.parametrize("batch", [1, 2, 3, 1000])
def test_nothing_of_the_failing_batch_is_written(run, open_shop, write, batch):
    file = write("bad.csv", "ds,hour", *(f"2013-01-03,{hour}" for hour in range(5)), "2013-01-03,noon", "2013-01-03,7")
    result = run("load", "shop.sales", file, "--batch", str(batch), code=2)
    assert result.stdout == ""
    assert (
        f"hbstore cannot load a line of the file: file={file}, line=7, reason=a partition value does not fit"
        in result.stderr
    )
    kept = 5 // batch * batch
    assert len(added(open_shop)) == kept
    note = f"{kept} partitions had been added before; to go on, repeat the command with --if-not-exists"
    assert (note if kept else "nothing was added") in result.stderr


def test_an_interrupted_load_goes_on(run, open_shop, write):
    bad = write("some.csv", "ds,hour", "2013-01-03,1", "2013-01-03,2", "2013-01-03,noon")
    run("load", "shop.sales", bad, "--batch", "2", code=2)
    good = write("some.csv", "ds,hour", "2013-01-03,1", "2013-01-03,2", "2013-01-03,3")
    again = run("load", "shop.sales", good, "--batch", "2", code=2)
    assert f"partition=ds=2013-01-03/hour=1, file={good}, line=2" in again.stderr
    assert run("load", "shop.sales", good, "--if-not-exists").stdout == (
        "1 partition added to shop.sales, 2 already existed\n"
    )
    assert len(added(open_shop)) == 3


def test_a_partition_that_stands_twice(run, open_shop, write):
    file = write("twice.csv", "ds,hour", "2013-01-03,5", "2013-01-03,6", "2013-01-03,5")
    result = run("load", "shop.sales", file, code=2)
    assert "occurs twice in the batch" in result.stderr
    assert "line=4" in result.stderr
    assert added(open_shop) == []
    assert run("load", "shop.sales", file, "--if-not-exists").stdout.startswith("2 partitions added")


def test_keep_invalid(run, open_shop, write):
    run("load", "shop.sales", write("odd.csv", "ds,hour", "someday,noon"), "--keep-invalid")
    assert open_shop.partition_names("shop", "sales")[-1] == "ds=someday/hour=noon"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["ds"], "line=1, reason=the header lacks hour"),
        (
            ["ds,hour,locaton"],
            "line=1, reason=there is no column 'locaton'\nHint: Did you mean location? The columns are",
        ),
        (["ds,hour,parameters."], "line=1, reason=there is no column 'parameters.'"),
        (["ds,hour,DS"], "line=1, reason=the column 'ds' occurs twice"),
        (["", "ds,hour,location,location"], "line=2, reason=the column 'location' occurs twice"),
        (["ds,hour", "2013-01-03"], "line=2, reason=the line has 1 fields, but the header has 2"),
        (["ds,hour", "2013-01-03,5,"], "line=2, reason=the line has 3 fields, but the header has 2"),
        (["ds,hour", "2013-01-03,x"], "line=2, reason=a partition value does not fit its column's type"),
        (["ds,hour", '2013-01-03,"5'], "line=2, reason=unexpected end of data"),
        (["ds,hour", '2013-01-03,"5"x'], "line=2, reason=',' expected after"),
    ],
)
def test_bad_csv(run, open_shop, write, lines, reason):
    file = write("bad.csv", *lines)
    result = run("load", "shop.sales", file, code=2)
    assert f"hbstore cannot load a line of the file: file={file}, {reason}" in result.stderr
    assert added(open_shop) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("{} {}", "not JSON"),
        ('{"values": [NaN]}', "not JSON: NaN is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("5", "not an object"),
        ("[]", "not an object"),
        ("{}", "the object does not name its partition"),
        ('{"values": "2013-01-03"}', "'values' is not a list"),
        ('{"spec": []}', "'spec' is not an object"),
        ('{"name": ["ds=1"]}', "'name' is not a text"),
        ('{"values": ["2013-01-03"]}', "a partition needs one value for each partition column"),
        ('{"values": ["2013-01-03", "5", "6"]}', "a partition needs one value for each partition column"),
        ('{"values": ["2013-01-03", ["5"]]}', "'values' holds [\"5\"], which is not a text"),
        ('{"values": ["2013-01-03", "noon"]}', "does not fit its column's type: column=hour"),
        ('{"spec": {"ds": "2013-01-03"}}', "leaves out columns"),
        ('{"spec": {"ds": "2013-01-03", "hour": "5", "x": "y"}}', "not a partition column: column=x"),
        ('{"name": "ds=2013-01-03"}', "leaves out columns"),
        ('{"name": "2013-01-03/5"}', "the text is not a partition name"),
        ('{"name": "ds=2013-01-03/hour=5", "values": ["2013-01-03", "6"]}', "name different partitions"),
        ('{"name": "ds=2013-01-03/hour=5", "locaton": "x"}', "there is no key 'locaton'"),
        ('{"name": "ds=2013-01-03/hour=5", "location": true}', "the location is not a text"),
        ('{"name": "ds=2013-01-03/hour=5", "location": ["x"]}', "the location is not a text"),
        ('{"name": "ds=2013-01-03/hour=5", "parameters": ["x"]}', "the parameters are not an object"),
        ('{"name": "ds=2013-01-03/hour=5", "parameters": {"x": null}}', "'x' holds null, which is not a text"),
        ('{"name": "ds=2013-01-03/hour=5", "create_time": -1}', "'create_time' is not a number of seconds"),
        ('{"name": "ds=2013-01-03/hour=5", "create_time": 99999999999}', "a field cannot be stored"),
        ('{"name": "ds=2013-01-03/hour=5", "create_time": %s}' % ("1" * 5_000), "is not a number of seconds"),
        ('{"name": "ds=2013-01-03/hour=5", "location": "\\ud800"}', "a field cannot be stored"),
        ('{"values": ["\\ud800", "5"]}', "cannot be written as UTF-8"),
    ],
)
def test_bad_json_lines(run, open_shop, write, text, reason):
    file = write("bad.jsonl", '{"values": ["2013-01-03", "4"]}', text)
    result = run("load", "shop.sales", file, code=2)
    assert result.stderr.startswith(f"Error: hbstore cannot load a line of the file: file={file}, line=2, reason=")
    assert result.stderr.count("hbstore cannot load a line of the file") == 1
    assert reason in result.stderr
    assert added(open_shop) == []


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(("form", "first"), [("csv", b"ds,hour\n"), ("jsonl", b'{"values": ["2013-01-03", "4"]}\n')])
def test_bytes_that_are_no_text(run, form, first):
    result = run("load", "shop.sales", "-", "--format", form, input=first + b"2013-\xff\n", code=2)
    assert "file=<stdin>, line=2, reason=byte 6 of the line is not UTF-8" in result.stderr


@pytest.mark.usefixtures("shop")
def test_files_that_cannot_be_read(run, tmp_path):
    missing = run("load", "shop.sales", str(tmp_path / "no.csv"), code=2)
    assert f"the file cannot be read: file={tmp_path}/no.csv, reason=No such file or directory" in missing.stderr
    (tmp_path / "folder.csv").mkdir()
    assert "the file cannot be read" in run("load", "shop.sales", str(tmp_path / "folder.csv"), code=2).stderr


@pytest.mark.usefixtures("shop")
def test_tables_that_cannot_be_loaded(run, write):
    file = write("some.csv", "ds,hour", "2013-01-03,5")
    assert "the table does not exist" in run("load", "shop.nothing", file, code=2).stderr
    run("create-table", "shop.whole", "--column", "a int")
    assert "the table has no partition columns" in run("load", "shop.whole", file, code=2).stderr
    run("load", "shop.sales", file, "--batch", "0", code=2)
