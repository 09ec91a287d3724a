"""Reading partitions through the endpoint: what comes back is what the store has, byte for byte."""

from __future__ import annotations

import pytest

from hbstore import Partition
from hbstore.errors import FilterError
from hbstore.metastore.methods import partition_reads
from hbstore.warehouse.partial_values import partial_values
from tests.metastore.asking import add, opened, table_of, values
from tests.metastore.client import STORED, TYPES

NULL = "__HIVE_DEFAULT_PARTITION__"
DAYS = ("2013-01-01", "2013-01-02", "2013-01-10", "2013-02-01", None)
HOURS = ("1", "05", "10", "9", None)
REGIONS = ("eu", "a/b=c", "O'Neil", " ", "ü 100%", None)
SALES = table_of("sales", ds="date", hour="int", region="string")
FILTERS = (
    None,
    "",
    "  ",
    'ds = "2013-01-02"',
    "hour > 2 and hour <= 9",
    '(region) in ("eu", "O\'Neil")',
    '(region) not in ("eu")',
    "5 = hour",
    'hour = "5"',
    "ds = 2013-01-02",
    "ds between '2013-01-02' and '2013-01-31'",
    '((ds = "2013-01-01" and hour = 1) or (ds = "2013-01-10" and hour >= 9))',
    'region like "a.*"',
    'region like ".*%"',
    'ds like "2013-01.*"',
    f'region = "{NULL}"',
    "ds != '2013-01-01' and not hour = 9",
    "region is null or hour is not null",
    "hour = 77",
    "TIME_RANGE_IN(ds, '2013-01-02', '2013-02')",
    'not time_range_in(ds, "2013-01-02", "now.day+1day") and region like "a.*"',
)
BAD_FILTERS = (
    "hour = 'x'",
    "region = 5",
    "amount = 1",
    "nope = 1",
    "hour =",
    "hour = 1 garbage",
    "hour = 10.5 and",
    "hour = 1 || hour = 2",
    "time_range_in(ds, '2013', 'soon')",
    "time_range_in(ds, '2013', '2012')",
    "time_range_in(ds, '2013-01-02', '2013')",
    "time_range_in(nope, '2013', '2014')",
)


def all_values():
    return [(day, hour, region) for day in DAYS for hour in HOURS for region in REGIONS]


@pytest.fixture
def shop(asking):
    add(asking, SALES, all_values())
    return asking


@pytest.fixture
def memory(request, tmp_path):
    request.param = "memory"
    with opened(request, tmp_path) as asking:
        add(asking, SALES, all_values())
        yield asking


def stored(shop, filter, most=-1):
    return shop.store.get_partitions_by_filter("shop", "sales", filter, most, "hive2")


def test_a_list_is_the_stored_bytes(shop):
    reply = shop.raw("get_partitions", "shop", "sales", -1)
    found = stored(shop, None)
    assert len(found) == len(all_values())
    head = reply.index(b"\x0f\x00\x00\x0c") + 8
    assert reply[head - 4 : head] == len(found).to_bytes(4, "big")
    assert reply[head:-1] == b"".join(one.payload for one in found)


EXPRESSION = TYPES.PartitionsByExprRequest("shop", "sales", b"hour = 5")
LISTINGS = {
    "get_partitions": ("shop", "sales", -1),
    "get_partitions_with_auth": ("shop", "sales", -1, "ann", []),
    "get_partitions_ps": ("shop", "sales", ["", "05"], -1),
    "get_partitions_ps_with_auth": ("shop", "sales", ["", "", ""], -1, "ann", []),
    "get_partitions_by_names": (
        "shop",
        "sales",
        ["ds=2013-01-01/hour=05/region=eu", "ds=2013-01-02/hour=05/region=eu"],
    ),
    "get_partitions_by_filter": ("shop", "sales", "hour > 5 or region = 'eu'", -1),
    "get_partitions_by_expr": (EXPRESSION,),
    "get_partitions_pspec": ("shop", "sales", -1),
    "get_part_specs_by_filter": ("shop", "sales", "ds > '2013-01-01'", -1),
    "get_partition": ("shop", "sales", ["2013-01-01", "05", "eu"]),
}


@pytest.mark.parametrize("method", LISTINGS)
def test_nothing_is_made_of_what_is_listed(memory, method):
    """Not even of bytes of which nothing could be made."""
    rows = memory.store.rows
    before = memory.raw(method, *LISTINGS[method])
    expected = before
    whole = memory.store.table_row("shop", "sales").unpacked(rows)
    for at, row in enumerate(list(whole.whole_rows(b"", b"\xff" * 40))):
        strange = b"\xfe\xff%06d" % at + b"\xfd" * (len(row.payload) - 8)
        expected = expected.replace(row.payload, strange)
        rows.write([row._replace(payload=strange)], [], 0)
    assert memory.raw(method, *LISTINGS[method]) == expected != before


def test_what_was_stored_is_decoded_field_for_field(shop):
    found = shop.get_partition("shop", "sales", ["2013-01-02", "05", "O'Neil"])
    before = next(one for one in stored(shop, None) if one.values == ("2013-01-02", "05", "O'Neil"))
    assert (found.dbName, found.tableName, tuple(found.values)) == ("shop", "sales", before.values)
    assert found.sd.location == before.location == "/sales/ds=2013-01-02/hour=05/region=O%27Neil"
    assert (found.createTime, found.parameters) == (before.create_time, dict(before.parameters))
    assert before.create_time == 1 + all_values().index(before.values)
    assert found.sd.cols == [STORED.FieldSchema("amount", "double")]


@pytest.mark.parametrize("filter", FILTERS)
def test_a_filter_selects_what_the_store_selects(shop, filter):
    expected = [one.values for one in stored(shop, filter)]
    found = shop.get_partitions_by_filter("shop", "sales", filter, -1)
    assert values(found) == expected
    assert shop.get_num_partitions_by_filter("shop", "sales", filter) == len(expected)
    assert values(shop.get_partitions_by_filter("shop", "sales", filter, 3)) == expected[:3]


def test_limits(shop):
    everything = [one.values for one in stored(shop, None)]
    for most, expected in ((-1, everything), (-7, everything), (0, []), (4, everything[:4]), (30_000, everything)):
        assert values(shop.get_partitions("shop", "sales", most)) == expected
        assert values(shop.get_partitions_with_auth("shop", "sales", most, "me", [])) == expected
        assert values(shop.get_partitions_by_filter("shop", "sales", None, most)) == expected
        assert values(shop.get_partitions_ps("shop", "sales", [""], most)) == expected
    assert values(shop.get_partitions("shop", "sales")) == everything  # not sent at all


@pytest.mark.parametrize("filter", BAD_FILTERS)
@pytest.mark.parametrize(
    "method", ["get_partitions_by_filter", "get_num_partitions_by_filter", "get_part_specs_by_filter"]
)
def test_an_unsupported_filter_is_an_error_with_its_text(memory, method, filter):
    with pytest.raises(FilterError) as expected:
        memory.store.count_partitions("shop", "sales", filter, "hive2")
    with pytest.raises(TYPES.MetaException) as found:
        getattr(memory, method)("shop", "sales", filter)
    assert found.value.message == str(expected.value)
    assert memory.records[-1].error == "MetaException"
    assert memory.notes["filter"] == filter


def test_like_is_read_as_clients_of_hive_2_write_it(shop):
    assert values(shop.get_partitions_by_filter("shop", "sales", 'region like ".*100%"')) == values(
        stored(shop, 'region = "ü 100%"')
    )
    assert values(shop.get_partitions_by_filter("shop", "sales", 'region like "%"')) == []


@pytest.mark.parametrize("method", ["get_partition", "get_partition_with_auth"])
def test_one_partition_by_values(shop, method):
    ask = getattr(shop, method)
    assert ask("shop", "sales", ["2013-01-02", "05", "eu"]).values == ["2013-01-02", "05", "eu"]
    assert ask("shop", "sales", [NULL, NULL, NULL]).values == [NULL, NULL, NULL]
    assert ask("shop", "sales", ["2013-01-01", "1", ""]).values == ["2013-01-01", "1", NULL]
    with pytest.raises(TYPES.NoSuchObjectException, match=r"partition values=\[2013-01-02, 6, eu\]"):
        ask("shop", "sales", ["2013-01-02", "6", "eu"])
    with pytest.raises(TYPES.NoSuchObjectException):
        ask("shop", "sales", ["no date", "6", "eu"])
    with pytest.raises(TYPES.NoSuchObjectException):
        ask("shop", "sales", ["2013-01-02", "5", "eu"])
    for wrong in (["2013-01-02", "5"], ["2013-01-02", "5", "eu", "x"], []):
        with pytest.raises(TYPES.MetaException, match="one value for each partition column"):
            ask("shop", "sales", wrong)


def test_one_partition_by_name(shop):
    def named(name):
        return shop.get_partition_by_name("shop", "sales", name).values

    assert named("ds=2013-01-02/hour=05/region=eu") == ["2013-01-02", "05", "eu"]
    assert named("REGION=a%2Fb%3Dc/DS=2013-01-02/hour=05") == ["2013-01-02", "05", "a/b=c"]
    assert named(f"ds={NULL}/hour={NULL}/region={NULL}") == [NULL, NULL, NULL]
    for wrong in (
        "ds=2013-01-02/hour=6/region=eu",
        "ds=2013-01-02/hour=5/region=eu",
        "ds=2013-01-02/hour=5",
        "ds=2013-01-02/hour=5/region=",
        "ds=2013-01-02/hour=5/region=eu/more=1",
        "ds=2013-01-02/hour=5/ds=2013-01-02",
        "2013-01-02/5/eu",
    ):
        with pytest.raises(TYPES.NoSuchObjectException):
            named(wrong)
    with pytest.raises(TYPES.MetaException, match="invalid"):
        named("")


def test_partitions_by_names(shop):
    def named(*names):
        return values(shop.get_partitions_by_names("shop", "sales", list(names)))

    names = shop.store.partition_names("shop", "sales")
    assert named(*reversed(names)) == [one.values for one in stored(shop, None)]
    assert named() == []
    assert named("ds=2013-01-10/hour=9/region=eu", "ds=2013-01-02/hour=05/region=eu") == [
        ("2013-01-02", "05", "eu"),
        ("2013-01-10", "9", "eu"),
    ]
    twice = "ds=2013-01-02/hour=05/region=O%27Neil"
    assert named(twice, twice, "ds=2013-01-02/hour=6/region=eu", "hour=05/region=O%27Neil/ds=2013-01-02") == [
        ("2013-01-02", "05", "O'Neil")
    ]
    for wrong in ("ds=2013-01-02", "foo", "", "ds=2013-01-02/hour=5/nope=eu", "ds=2013-01-02/hour=5/region=eu/x=1"):
        assert named(twice, wrong) == [("2013-01-02", "05", "O'Neil")]  # no partition has such a name


def test_pages_of_names_are_one_list(shop, monkeypatch):
    monkeypatch.setattr(partition_reads, "_PAGE", 7)
    names = shop.store.partition_names("shop", "sales")
    asked = [*reversed(names), *names[:20], "ds=1970-01-01/hour=1/region=a"]
    found = shop.get_partitions_by_names("shop", "sales", asked)
    assert values(found) == [one.values for one in stored(shop, None)]
    assert shop.notes["partitions"] == shop.notes["rows_read"] == len(names)
    assert shop.notes["scans"] == [f"get {len(names) + 1} by values"]


def test_ten_thousand_names_are_a_few_multi_gets(tmp_path, request):
    request.param = "sqlite"
    with opened(request, tmp_path) as asking:
        add(asking, table_of("many", n="int"), [(str(number),) for number in range(0, 20_000, 2)])
        names = [f"n={number}" for number in range(10_000)]
        before = asking.store.rows.round_trips()
        found = asking.get_partitions_by_names("shop", "many", names)
        assert values(found) == [(str(number),) for number in range(0, 10_000, 2)]
        assert asking.store.rows.round_trips() - before < 60  # 256 keys in each statement
        assert asking.notes["scans"] == ["get 10,000 by values"]


def test_partial_values(shop):
    def partial(*given, most=-1):
        found = values(shop.get_partitions_ps("shop", "sales", list(given), most))
        assert values(shop.get_partitions_ps_with_auth("shop", "sales", list(given), most, "me", [])) == found
        return found

    everything = [one.values for one in stored(shop, None)]
    assert partial() == partial("") == partial("", "", "") == everything
    assert partial("2013-01-02") == [one for one in everything if one[0] == "2013-01-02"]
    assert partial("", "05") == [one for one in everything if one[1] == "05"]
    assert partial("", NULL, "eu") == [one for one in everything if one[1:] == (NULL, "eu")]
    assert partial("2013-01-02", "05", "a/b=c") == [("2013-01-02", "05", "a/b=c")]
    assert partial("", "05", most=2) == [one for one in everything if one[1] == "05"][:2]
    assert partial("", "5", most=0) == []
    assert (
        partial("no date")
        == partial("", "5")
        == partial("2013-1-2")
        == partial("", "7")
        == partial("", "", "a%2Fb%3Dc")
        == partial("", "", ".")
        == []
    )
    for wrong in (["2013-01-02", "5", "eu", ""], ["", "", "", ""]):
        with pytest.raises(TYPES.MetaException, match="more values than partition columns"):
            shop.get_partitions_ps("shop", "sales", wrong, -1)


def test_partial_values_find_texts_that_fit_no_type(shop):
    add(shop, table_of("kept", hour="int", region="string"), [], invalid_values="keep")
    given = [Partition((hour, region)) for hour in ("noon", "late", "5") for region in ("eu", "us", "cn")]
    shop.store.add_partitions("shop", "kept", given, invalid_values="keep")

    def partial(*given, most=-1):
        return values(shop.get_partitions_ps("shop", "kept", list(given), most))

    assert partial("noon") == [("noon", "cn"), ("noon", "eu"), ("noon", "us")]
    assert partial("noon", most=2) == [("noon", "cn"), ("noon", "eu")]
    assert partial("noon", most=0) == []
    assert partial("late", "us") == [("late", "us")]
    assert partial("midnight") == []
    assert shop.get_partition_names_ps("shop", "kept", ["noon", "us"], -1) == ["hour=noon/region=us"]


MISSING = (
    ("get_partition", ["a"]),
    ("get_partition_with_auth", ["a"]),
    ("get_partition_by_name", "ds=a"),
    ("get_partitions", -1),
    ("get_partitions_with_auth", -1),
    ("get_partitions_ps", ["a"]),
    ("get_partitions_ps_with_auth", ["a"]),
    ("get_partitions_by_names", ["ds=a"]),
    ("get_partitions_by_names", []),
    ("get_partitions_by_filter", "ds = 'a'"),
    ("get_num_partitions_by_filter", "ds = 'a'"),
    ("get_partitions_pspec", -1),
    ("get_part_specs_by_filter", "ds = 'a'"),
    ("get_partition_names_ps", ["a"]),
)


@pytest.mark.parametrize(("method", "argument"), MISSING)
def test_what_is_not_there_is_a_no_such_object(memory, method, argument):
    for database, table in (("shop", "nope"), ("nope", "sales"), ("shop", None), ("shop", "no-name"), (None, "sales")):
        with pytest.raises(TYPES.NoSuchObjectException):
            getattr(memory, method)(database, table, argument)


def test_tables_without_partition_columns_have_no_partitions(memory):
    memory.store.create_table(table_of("plain"))
    assert memory.get_partitions("shop", "plain", -1) == []
    assert memory.get_partitions_ps("shop", "plain", [], -1) == []
    assert memory.get_partitions_by_filter("shop", "plain", "", -1) == []
    assert memory.get_num_partitions_by_filter("shop", "plain", None) == 0
    with pytest.raises(TYPES.MetaException):
        memory.get_partitions_ps("shop", "plain", ["a"], -1)
    with pytest.raises(TYPES.MetaException):
        memory.get_partitions_by_filter("shop", "plain", "ds = 'a'", -1)


def test_databases_are_named_with_their_catalog_by_later_clients(memory):
    for database in ("@hive#shop", "SHOP"):
        assert len(memory.get_partitions(database, "Sales", 5)) == 5
        assert memory.get_partition(database, "sales", ["2013-01-02", "05", "eu"]).dbName == "shop"
        assert len(memory.get_partitions_by_names(database, "sales", ["ds=2013-01-02/hour=05/region=eu"])) == 1
        assert memory.get_num_partitions_by_filter(database, "sales", "hour = 1") == len(DAYS) * len(REGIONS)
        assert len(memory.get_partition_names_ps(database, "sales", ["", "1"], -1)) == len(DAYS) * len(REGIONS)


def test_the_log_hears_of_filter_and_scans(memory):
    memory.get_partitions_by_filter("@hive#shop", "sales", "ds = '2013-01-02' and hour = 5", -1)
    assert memory.notes == {
        "table": "shop.sales",
        "filter": "ds = '2013-01-02' and hour = 5",
        "scans": ["scan ds = '2013-01-02' × hour = 5"],
        "rows_read": len(REGIONS),
        "partitions": len(REGIONS),
    }
    memory.get_partitions_ps("shop", "sales", ["2013-01-02", "05"], -1)
    assert memory.notes["filter"] == "ds = '2013-01-02' and hour = '05'"
    memory.get_num_partitions_by_filter("shop", "sales", "ds = '2013-01-02'")
    assert memory.notes["scans"] == ["scan ds = '2013-01-02'"]
    assert memory.notes["partitions"] == memory.notes["rows_read"] == len(HOURS) * len(REGIONS)
    memory.get_partition("shop", "sales", ["2013-01-02", "05", "eu"])
    assert (memory.notes["table"], memory.notes["partitions"]) == ("shop.sales", 1)


def test_rows_that_a_residual_drops_are_estimated(memory):
    memory.get_partitions_by_filter("shop", "sales", "hour = 1 or region = 'eu'", -1)
    assert memory.notes["rows_read"] == pytest.approx(len(all_values()), rel=0.1)  # a table's statistics are a sketch
    assert memory.notes["partitions"] == len(DAYS) * (len(HOURS) + len(REGIONS) - 1)


def test_of_many_scans_the_log_shows_some(memory):
    add(memory, table_of("many", n="int"), [(str(number),) for number in range(3_000)])
    wanted = ", ".join(str(number) for number in range(0, 3_000, 100))
    memory.get_partitions_by_filter("shop", "many", f"(n) in ({wanted})", -1)
    assert memory.notes["scans"] == [*(f"get n = {number}" for number in range(0, 2_000, 100)), "… 10 more"]
    assert memory.notes["rows_read"] == memory.notes["partitions"] == 30


def test_partial_values_of_nothing_are_no_filter():
    assert partial_values(SALES, None) is None
    assert partial_values(SALES, ["", ""]) is None
