"""Partitions that come and go by the metastore's calls and by commands keep their table's timelines true."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from hbstore.cli import app
from hbstore.timelines.declaration import PARTITION_UPDATE_PERIOD, TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.timelines.factory import CACHE, PRESENT
from tests.metastore.writing import STORED, TYPES, column, opened, partition_of, table_of
from tests.store import timelines as tl

DECLARED = {TIME_PARTITION_COLUMNS: "dt,pt", UPDATE_PERIODS: "HOURLY,DAILY"}
REFUSED = (TYPES.MetaException, TYPES.InvalidObjectException, TYPES.InvalidOperationException)
SALES, OTHER = ("shop", "sales"), ("shop", "returns")


@pytest.fixture
def shop(shop):
    for _, name in (SALES, OTHER):
        shop.create_table(declaring(name, DECLARED))
        shop.store.timelines.read(f"shop.{name}")
    shop.add_partitions([day(1), day(2), day(3, region="us"), day(2, region="us")])
    return shop


def declaring(name, parameters):
    keys = [column("dt"), column("region"), column("pt")]
    return table_of(name, partitionKeys=keys, parameters=dict(parameters))


def values_of(number, region="eu", pt=None):
    return [f"2015-01-{number:02}", region, f"2015-01-{pt or number:02}"]


def day(number, region="eu", pt=None, table="sales", **parameters):
    return partition_of(*values_of(number, region, pt), table=table, parameters=parameters)


def days(shop, name="sales", timeline="DAILY"):
    """The days of a table's first time column, when all of its timelines are what its partitions are."""
    tl.assert_true(shop.store, ("shop", name))
    return sorted(text[8:] for text in tl.kept(shop.store, ("shop", name))[timeline, "dt"])


def test_adding(shop):
    shop.add_partition(day(5))
    shop.append_partition("shop", "sales", values_of(6))
    shop.append_partition_by_name("shop", "sales", "dt=2015-01-07/region=eu/pt=2015-01-08")
    request = TYPES.AddPartitionsRequest(dbName="shop", tblName="sales", parts=[day(1), day(9)], ifNotExists=True)
    shop.add_partitions_req(request)
    assert days(shop) == ["01", "02", "03", "05", "06", "07", "09"]
    with pytest.raises(TYPES.AlreadyExistsException):
        shop.add_partitions([day(10), day(9)])
    assert days(shop)[-1] == "09"


def test_dropping(shop):
    shop.drop_partition("shop", "sales", values_of(2), True)
    assert days(shop) == ["01", "02", "03"], "another region still has it"
    shop.drop_partition_by_name("shop", "sales", "dt=2015-01-02/region=us/pt=2015-01-02", True)
    assert days(shop) == ["01", "03"]
    names = TYPES.RequestPartsSpec(names=["dt=2015-01-01/region=eu/pt=2015-01-01"])
    shop.drop_partitions_req(TYPES.DropPartitionsRequest("shop", "sales", names, True, True, False, None, True))
    assert days(shop) == ["03"]


def test_altering_and_renaming(shop):
    shop.alter_partition("shop", "sales", day(1, comment="new"))
    shop.rename_partition("shop", "sales", values_of(1), day(8, pt=9))
    assert days(shop) == ["02", "03", "08"]
    hour = partition_of("2015-01-08-05", "eu", "2015-01-08-06", parameters={PARTITION_UPDATE_PERIOD: "HOURLY"})
    shop.rename_partition("shop", "sales", values_of(8, pt=9), hour)
    assert days(shop) == ["02", "03"]
    assert days(shop, timeline="HOURLY") == ["08-05"]


def test_exchanging(shop):
    shop.exchange_partitions({"region": "us"}, *SALES, *OTHER)
    assert days(shop) == ["01", "02"]
    assert days(shop, "returns") == ["02", "03"]
    shop.exchange_partition({"dt": "2015-01-03"}, *OTHER, *SALES)
    assert days(shop) == ["01", "02", "03"]
    assert days(shop, "returns") == ["02"]


def test_truncating_takes_files_and_no_times(shop):
    shop.truncate_table("shop", "sales", None)
    shop.truncate_table("shop", "sales", ["dt=2015-01-01/region=eu/pt=2015-01-01"])
    assert days(shop) == ["01", "02", "03"]


def test_tables_that_go_are_made_anew_or_get_another_name(shop):
    known = shop.table()
    assert known.parameters[PRESENT] == "true"
    known.tableName = "sold"
    shop.alter_table("shop", "sales", known)
    assert days(shop, "sold") == ["01", "02", "03"]
    shop.drop_table("shop", "sold", True)
    shop.create_table(declaring("sold", known.parameters))
    assert days(shop, "sold") == []
    shop.add_partition(day(4, table="sold"))
    assert days(shop, "sold") == ["04"]


def test_another_declaration_by_a_client(shop):
    known = shop.table()
    known.parameters[UPDATE_PERIODS] = "DAILY"
    shop.alter_table("shop", "sales", known)
    shop.add_partition(day(11))
    assert days(shop)[-1] == "11"
    known = shop.table()
    del known.parameters[UPDATE_PERIODS]
    shop.alter_table("shop", "sales", known)
    shop.drop_partition("shop", "sales", values_of(11), True)
    known.parameters[UPDATE_PERIODS] = "DAILY"
    shop.alter_table("shop", "sales", known)
    assert days(shop) == ["01", "02", "03"]


@pytest.mark.parametrize("bad", ["2015-13-01", "2015-01", "", "someday"])
def test_bad_times_come_back_as_the_declared_exception(shop, bad):
    wrong = partition_of(bad, "eu", bad) if bad else day(7, **{PARTITION_UPDATE_PERIOD: "WEEKLY"})
    for refused in (
        lambda: shop.add_partition(wrong),
        lambda: shop.add_partitions([day(12), wrong]),
        lambda: shop.rename_partition("shop", "sales", values_of(1), wrong),
    ):
        with pytest.raises(REFUSED) as caught:
            refused()
        assert "update period" in caught.value.message
    assert days(shop) == ["01", "02", "03"]
    if bad:
        with pytest.raises(REFUSED):
            shop.append_partition("shop", "sales", [bad, "eu", bad])
        assert not [path for path in shop.tree() if f"dt={bad}/region=eu/pt=" in path], (
            "no folder is left of what was refused"
        )
    assert days(shop) == ["01", "02", "03"]


@pytest.mark.parametrize(
    "damaged",
    [
        {UPDATE_PERIODS: "DAILY,daily"},
        {UPDATE_PERIODS: "SOMETIMES"},
        {TIME_PARTITION_COLUMNS: "dt,there_is_none"},
        {f"{CACHE}DAILY.dt.storage.class": "com.example.LinkedTimeline"},
    ],
)
def test_a_damaged_declaration_is_refused(shop, damaged):
    with pytest.raises(REFUSED):
        shop.create_table(declaring("third", {**DECLARED, **damaged}))
    known = shop.table()
    changed = shop.table()
    changed.parameters.update(damaged)
    with pytest.raises(REFUSED):
        shop.alter_table("shop", "sales", changed)
    changed.tableName = "sold"
    with pytest.raises(REFUSED):
        shop.alter_table("shop", "sales", changed)
    assert shop.get_all_tables("shop") == ["returns", "sales"]
    assert shop.table() == known
    assert days(shop) == ["01", "02", "03"]


def test_the_commands(tmp_path):
    """`hbstore add-partition`, `load`, `rename-partition` and `drop-partition`."""
    with opened(SimpleNamespace(param="sqlite"), tmp_path) as shop:
        shop.create_table(declaring("sales", DECLARED))
        url = shop.store.rows.url
        assert days(shop) == []

        def run(*words, code=0):
            result = CliRunner().invoke(app, ["--store", url, *words])
            assert result.exit_code == code, result.output
            return result

        run("add-partition", "shop.sales", "dt=2015-01-01/region=eu/pt=2015-01-01")
        assert days(shop) == ["01"]
        file = tmp_path / "load.jsonl"
        lines = [{"name": f"dt=2015-01-0{number}/region=eu/pt=2015-01-05"} for number in (2, 3)]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        run("load", "shop.sales", str(file))
        assert days(shop) == ["01", "02", "03"]
        run(
            "rename-partition",
            "shop.sales",
            "dt=2015-01-01/region=eu/pt=2015-01-01",
            "dt=2015-01-09/region=eu/pt=2015-01-01",
        )
        assert days(shop) == ["02", "03", "09"]
        run("drop-partition", "shop.sales", "dt=2015-01-02/region=eu/pt=2015-01-05")
        assert days(shop) == ["03", "09"]
        said = run("add-partition", "shop.sales", "dt=someday/region=eu/pt=2015-01-01", code=2)
        assert "update period" in said.output
        assert days(shop) == ["03", "09"]


def test_databases_of_other_tables_are_left_alone(shop):
    shop.create_database(STORED.Database(name="attic"))
    plain = table_of("plain", dbName="attic")
    shop.create_table(plain)
    shop.drop_database("attic", True, True)
    assert days(shop) == ["01", "02", "03"]
