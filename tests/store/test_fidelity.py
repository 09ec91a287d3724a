"""What is stored comes back field by field, on every backend."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hbstore import Column, Partition, StorageDescriptor, Table, connect
from hbstore.keys.row_key import text_cell
from hbstore.model.objects import Grant, Order, Privileges, SerDe, Skew
from tests.strategies import full_partitions, tables

FULL = StorageDescriptor(
    columns=[Column("x", "int", "a comment"), Column("y", "array<struct<a:int>>")],
    input_format="in",
    output_format="out",
    compressed=True,
    num_buckets=8,
    serde=SerDe("name", "library", {"field.delim": "\x01", "": ""}),
    bucket_columns=["x"],
    sort_columns=[Order("x", 1), Order("y", 0)],
    parameters={"a": "ü", "b": "\0"},
    skew=Skew(["x"], [["1"], ["2"]], {("1",): "s3://one", ("2",): "s3://two"}),
    stored_as_sub_directories=True,
)
GRANTS = Privileges(
    users={"ann": [Grant("ALL", 5, "root", 1, grant_option=True)]}, groups={"g": []}, roles={"r": [Grant("SELECT")]}
)


def test_a_partition_with_every_field(sales):
    full = Partition(
        ("2013-01-01", "5"),
        location="s3://odd place/é",
        parameters={"numRows": "5", "totalSize": "9", "x": "\0"},
        create_time=2**31 - 1,
        last_access_time=-1,
        storage=FULL,
        privileges=GRANTS,
    )
    sales.add_partitions("shop", "sales", [full])
    assert sales.get_partition("shop", "sales", full.values) == full
    assert sales.get_partitions("shop", "sales", [full.values]) == [full]
    assert sales.get_partitions_by_filter("shop", "sales", "hour = 5") == [full]
    sales.rename_partition("shop", "sales", full.values, ("2013-01-01", "6"))
    moved = sales.get_partition("shop", "sales", ("2013-01-01", "6"))
    for name in ("location", "parameters", "create_time", "last_access_time", "storage", "privileges"):
        assert getattr(moved, name) == getattr(full, name), name


@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@given(st.data(), tables(min_columns=1), st.sampled_from(["memory://", "memory://?atomic=false"]))
def test_any_partition_of_any_table(data, table, url):
    partitions = data.draw(
        st.lists(
            full_partitions(table),
            max_size=4,
            unique_by=lambda one: tuple(map(text_cell, table.key_types, one.values)),
        )
    )
    with connect(url) as store:
        store.create_database(table.database)
        store.create_table(table)
        assert store.add_partitions(table.database, table.name, partitions, invalid_values="keep") == len(partitions)
        for sent_partition in partitions:
            found = store.get_partition(table.database, table.name, sent_partition.values)
            _check(sent_partition, found, table)
        store.alter_partitions(table.database, table.name, partitions)
        for sent_partition in partitions:
            found = store.get_partition(table.database, table.name, sent_partition.values)
            assert found.create_time == sent_partition.create_time, "altering keeps what it is told"


def _check(sent_partition, found, table):
    for name in ("values", "parameters", "last_access_time"):
        assert getattr(found, name) == getattr(sent_partition, name), name
    if sent_partition.create_time:
        assert found.create_time == sent_partition.create_time
    if sent_partition.location is not None:
        assert found.location == sent_partition.location
    elif table.location is not None:
        assert found.location.startswith(f"{table.location}/p0=")
    if sent_partition.storage is not None:
        assert found.storage == sent_partition.storage
    assert (found.privileges or Privileges()) == (sent_partition.privileges or Privileges())


@pytest.mark.parametrize("storage", [StorageDescriptor(), FULL, replace(FULL, skew=None)])
def test_a_tables_storage(store, storage):
    store.create_database("d")
    table = Table("d", "t", storage=storage, privileges=GRANTS, create_time=5)
    store.create_table(table)
    assert store.get_table("d", "t") == table
    assert store.get_table("d", "t").columns == storage.columns
