"""An empty partition value is the null partition, as Hive names it: in identity, names, folders, and at every door."""

from __future__ import annotations

import pytest

from hbstore import NULL_PARTITION, AlreadyExists, Column, InvalidPartitionValue, Table, col, connect
from hbstore.filters.builder import spec_filter
from hbstore.keys.partition_names import parse_partition_name
from tests.backends import BACKENDS, backend_url

NULL_AT_9 = (NULL_PARTITION, "9")
SPELLINGS = [("", "9"), (None, "9"), NULL_AT_9, {"Region": "", "hour": "9"}]


@pytest.fixture(params=BACKENDS)
def logs(request, tmp_path):
    with connect(backend_url(request, tmp_path)) as store:
        for database in store.database_names():  # one HBase serves all tests
            store.drop_database(database, cascade=True)
        store.create_database("shop")
        columns = [Column("region", "string"), Column("hour", "int")]
        store.create_table(Table("shop", "logs", partition_columns=columns, location="s3://shop/logs"))
        yield store


@pytest.mark.parametrize("values", SPELLINGS, ids=repr)
def test_an_empty_value_is_the_null_partition(logs, values):
    table = logs.table("shop.logs")
    table.add([values])
    assert table.names() == [f"region={NULL_PARTITION}/hour=9"]
    (stored,) = table.partitions()
    assert stored.values == NULL_AT_9
    assert stored.location == f"s3://shop/logs/region={NULL_PARTITION}/hour=9"
    for same in SPELLINGS:
        assert logs.get_partition("shop", "logs", same) == stored
        with pytest.raises(AlreadyExists):
            table.add([same])
    logs.rename_partition("shop", "logs", values, ("eu", ""))
    assert table.names() == [f"region=eu/hour={NULL_PARTITION}"]
    table.drop([{"region": "eu", "hour": ""}])
    assert table.names() == []


def test_filters_take_it_for_null(logs):
    table = logs.table("shop.logs")
    table.add([("", "9"), ("eu", ""), ("eu", "9")])
    spec = {"region": ""}
    for text in ("region is null", f"region = '{NULL_PARTITION}'", col("region").is_null(), spec_filter(spec)):
        assert [one.values for one in table.partitions(text)] == [NULL_AT_9]
    assert logs.partition_names("shop", "logs", spec=spec) == [f"region={NULL_PARTITION}/hour=9"]
    for text in ("region != ''", "region < ' '", "region >= ''", "region in ('', 'x')", "not region = ''"):
        assert NULL_AT_9 not in [one.values for one in table.partitions(text)], text
    assert [table.count(text) for text in ("region = ''", "region != ''", "hour is null")] == [0, 2, 1]


def test_names_without_a_value_are_refused():
    for name, missing in (("region=/hour=9", "region"), ("region=eu/hour=", "hour")):
        with pytest.raises(InvalidPartitionValue, match="incomplete partition name") as caught:
            parse_partition_name(name)
        assert caught.value.fields["missing"] == missing
        assert f"{missing}={NULL_PARTITION}" in caught.value.hint
