"""Databases, tables and partitions as values."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, replace
from functools import partial

import pytest
from hypothesis import given

from hbstore.errors import InvalidInput, InvalidName, InvalidPartitionValue, InvalidType
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import parse_type
from hbstore.model.objects import (
    Column,
    Database,
    FrozenDict,
    Grant,
    Partition,
    Privileges,
    SerDe,
    Skew,
    StorageDescriptor,
    Table,
)
from tests.strategies import databases, full_tables

DS, HOUR = Column("ds", "date"), Column("hour", "int")


def test_a_table_and_a_partition_are_made_as_documented():
    table = Table("shop", "sales", partition_columns=[DS, HOUR])
    partition = Partition(values=("2013-01-01", "5"), location="s3://b/x", parameters={"numRows": "7"})
    assert table.partition_columns == (DS, HOUR)
    assert table.partition_column_names == ("ds", "hour")
    assert table.key_types == (parse_type("date"), parse_type("int"))
    assert (partition.values, partition.location) == (("2013-01-01", "5"), "s3://b/x")
    assert partition.parameters == {"numRows": "7"}
    assert partition.payload is None


def test_names_become_lower_case():
    assert str(Table("Shop", "SALES")) == "shop.sales"
    assert str(Database("Shop")) == "shop"


@pytest.mark.parametrize("name", ["", "a b", "a.b", "a\0b", "a/b", "x" * 257, "größe", None, 5])
def test_names_that_hive_refuses_are_refused(name):
    with pytest.raises(InvalidName):
        Database(name)
    with pytest.raises(InvalidName):
        Table(name, "t")
    with pytest.raises(InvalidName):
        Table("d", name)


@pytest.mark.parametrize("text", ["array<int>", "binary", "decimal(39,0)", "varchar", "", "integers"])
def test_partition_column_types_are_checked(text):
    with pytest.raises(InvalidType) as caught:
        Table("d", "t", partition_columns=[Column("ds", "date"), Column("p", text)])
    assert (caught.value.fields["column"], caught.value.fields["type"]) == ("p", text)


def test_data_columns_are_of_any_type():
    table = Table("d", "t", columns=[Column("c", "map<string,array<struct<a:int>>>"), Column("u", "uniontype<int>")])
    assert table.columns[0].type == "map<string,array<struct<a:int>>>"


@pytest.mark.parametrize(("data", "keys"), [(["a", "A"], []), ([], ["a", "a"]), ([""], []), ([], [" "]), ([None], [])])
def test_column_names_are_there_and_differ(data, keys):
    with pytest.raises(InvalidName):
        Table(
            "d",
            "t",
            partition_columns=[Column(name, "int") for name in keys],
            columns=[Column(name, "int") for name in data],
        )


def test_columns_given_with_the_storage_become_the_tables():
    columns = (Column("c", "int"),)
    table = Table("d", "t", storage=StorageDescriptor(columns=columns, input_format="x"))
    assert table.columns == columns
    assert table.storage == StorageDescriptor(input_format="x")
    assert replace(table, columns=()).columns == ()
    assert replace(table, storage=StorageDescriptor(columns=columns)) == replace(table, storage=StorageDescriptor())


def test_columns_that_contradict_the_storage_are_refused():
    with pytest.raises(InvalidInput, match="differ"):
        Table("d", "t", columns=[DS], storage=StorageDescriptor(columns=[HOUR]))


@pytest.mark.parametrize("values", [[None, "5"], (None, "5"), iter([None, "5"])])
def test_none_is_the_null_partition(values):
    assert Partition(values).values == (NULL_PARTITION, "5")


@pytest.mark.parametrize(("value", "named"), [(5.0, "float"), (b"5", "bytes")])
def test_a_value_without_a_text_is_named(value, named):
    with pytest.raises(InvalidPartitionValue, match=f"type={named}"):
        Partition(values=("2013-01-01", value))


@pytest.mark.parametrize("values", ["2013", b"2013", 5, None])
def test_values_that_are_no_sequence_are_refused(values):
    with pytest.raises(InvalidPartitionValue, match="not a sequence"):
        Partition(values=values)


def test_a_lone_surrogate_is_refused_in_printable_words():
    with pytest.raises(InvalidPartitionValue, match="UTF-8") as caught:
        Partition(values=("\ud800",))
    str(caught.value).encode()


def test_values_cannot_be_changed():
    table = Table("d", "t", parameters={"a": "1"})
    with pytest.raises(FrozenInstanceError):
        table.name = "x"
    with pytest.raises(FrozenInstanceError):
        Partition(["1"]).location = "x"
    for change in (
        lambda: table.parameters.update(b="2"),
        lambda: table.parameters.pop("a"),
        table.parameters.clear,
        lambda: table.parameters.__setitem__("a", "2"),
        lambda: table.parameters.__delitem__("a"),
        lambda: table.parameters.setdefault("b", "2"),
        table.parameters.popitem,
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    assert table.parameters == {"a": "1"}


def test_a_mapping_given_is_copied():
    given_parameters = {"a": "1"}
    partition = Partition(["x"], parameters=given_parameters)
    given_parameters["a"] = "2"
    assert partition.parameters == {"a": "1"}
    assert dict(partition.parameters) | {"b": "2"} == {"a": "1", "b": "2"}
    assert json.dumps(partition.parameters) == '{"a": "1"}'


def test_sequences_become_tuples_at_every_depth():
    skew = Skew(columns=["a"], values=[["x"], ["y"]], locations={("x",): "s3://x"})
    assert skew.values == (("x",), ("y",))
    rights = Privileges(users={"ann": [Grant("SELECT")]})
    assert rights.users["ann"] == (Grant("SELECT"),)
    assert isinstance(rights.groups, FrozenDict)
    assert SerDe(parameters={"a": "1"}) == SerDe(parameters=FrozenDict(a="1"))


@given(full_tables())
def test_tables_can_be_copied_pickled_hashed_and_printed(table):
    for twin in (copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table)), replace(table)):  # noqa: S301
        assert twin == table
        assert hash(twin) == hash(table)
        assert repr(twin) == repr(table)
        assert twin.key_types == table.key_types


@given(databases)
def test_databases_can_be_copied_and_pickled(database):
    for twin in (copy.deepcopy(database), pickle.loads(pickle.dumps(database)), replace(database)):  # noqa: S301
        assert twin == database


def test_partitions_can_be_copied_pickled_hashed_and_replaced():
    partition = Partition(["1"], location="s3://x", parameters={"a": "1"})
    for twin in (copy.copy(partition), copy.deepcopy(partition), pickle.loads(pickle.dumps(partition))):  # noqa: S301
        assert twin == partition
        assert hash(twin) == hash(partition)
    moved = replace(partition, location="s3://y")
    assert (moved.values, moved.location, moved.parameters) == (("1",), "s3://y", {"a": "1"})
    assert moved != partition


@pytest.mark.parametrize("wrong", [None, 5, "ds", b"ds", [5], [("ds", "date")], {"ds": "date"}])
@pytest.mark.parametrize("argument", ["columns", "partition_columns"])
def test_columns_that_are_none_are_named(argument, wrong):
    with pytest.raises(InvalidInput, match=r"argument=(partition_)?columns, type=") as caught:
        Table("shop", "sales", **{argument: wrong})
    assert caught.value.hint


@pytest.mark.parametrize("wrong", [None, 5, "a=b", [5], ["ab"]])
@pytest.mark.parametrize("make", [partial(Table, "d", "t"), partial(Database, "d"), partial(Partition, ("a",))])
def test_parameters_that_are_no_mapping_are_named(make, wrong):
    with pytest.raises(InvalidInput, match=f"argument=parameters, type={type(wrong).__name__}"):
        make(parameters=wrong)


def test_a_storage_that_is_none_is_named():
    with pytest.raises(InvalidInput, match="argument=storage, type=dict"):
        Table("shop", "sales", storage={"num_buckets": 3})
