"""Transactional tables: taken, refused and written as a Hive Metastore 2.3.10 does."""

from __future__ import annotations

import pytest

from hbstore import Column, StorageDescriptor, Table
from tests.metastore.writing import TYPES, column, storage, table_of

ORC = "org.apache.hadoop.hive.ql.io.orc."
KIND = "The table must be bucketed and stored using an ACID compliant format (such as ORC)"
ONLY_TRUE = "'transactional' property of TBLPROPERTIES may only have value 'true'"
STAYS = "TBLPROPERTIES with 'transactional'='true' cannot be unset"
LATER = "TBLPROPERTIES with 'transactional_properties' cannot be altered after the table is created"
UNKNOWN = "Invalid transactional properties specified for the table with the error unknown value {} for "
UNKNOWN += "transactional_properties"
TRUE = {"transactional": "true"}
DEFAULT = {"transactional_properties": "default"}


def orc(**fields):
    """A storage that may be transactional."""
    return storage(
        **{
            "cols": [column("a", "int")],
            "inputFormat": ORC + "OrcInputFormat",
            "outputFormat": ORC + "OrcOutputFormat",
            "bucketCols": ["a"],
            "numBuckets": 2,
            **fields,
        }
    )


def said(shop):
    return {key: value for key, value in shop.table().parameters.items() if key.lower().startswith("transactional")}


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"transactional": "true"}, TRUE),
        ({"TRANSACTIONAL": "True"}, TRUE),
        ({"Transactional": "true", "transactional": "TRUE"}, TRUE),
        ({"transactional": "FALSE"}, {}),
        ({"TRANSACTIONAL": "false"}, {}),
        (TRUE | {"TRANSACTIONAL_PROPERTIES": "Default"}, TRUE | DEFAULT),
        ({"transactional_properties": "x"}, {"transactional_properties": "x"}),
    ],
)
def test_the_parameter_is_written_one_way(shop, given, stored):
    shop.create_table(table_of(partitionKeys=[], sd=orc(), parameters=given))
    assert said(shop) == stored


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"parameters": {"transactional": "maybe"}}, ONLY_TRUE),
        ({"parameters": {"transactional": ""}}, ONLY_TRUE),
        ({"sd": orc(bucketCols=[])}, KIND),
        ({"sd": orc(inputFormat="org.apache.hadoop.mapred.TextInputFormat")}, KIND),
        ({"sd": orc(outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat")}, KIND),
        ({"tableType": "EXTERNAL_TABLE"}, "shop.sales cannot be declared transactional because it's an external table"),
        ({"parameters": TRUE | {"transactional_properties": "x"}}, UNKNOWN.format("x")),
    ],
)
def test_what_cannot_be_created(shop, fields, text):
    with pytest.raises(TYPES.MetaException) as caught:
        shop.create_table(table_of(**{"partitionKeys": [], "sd": orc(), "parameters": TRUE, **fields}))
    assert caught.value.message == text
    assert shop.get_all_tables("shop") == []
    assert shop.tree("shop.db") == []


@pytest.mark.parametrize(
    ("before", "after", "result"),
    [
        (TRUE, {"transactional": "false"}, STAYS),
        (TRUE, {}, STAYS),
        (TRUE, {"transactional": "maybe"}, STAYS),
        (TRUE, {"TRANSACTIONAL": "true"}, TRUE),
        ({}, {"TRANSACTIONAL": "true"}, TRUE),
        ({}, {"transactional": "false"}, STAYS),
        ({"transactional": "false"}, {}, {}),
        ({}, DEFAULT, DEFAULT),
        ({}, {"transactional_properties": "x"}, UNKNOWN.format("x")),
        ({}, TRUE | DEFAULT, TRUE | DEFAULT),
        (TRUE, TRUE | DEFAULT, LATER),
        (TRUE | DEFAULT, TRUE, TRUE),
        (TRUE | DEFAULT, TRUE | DEFAULT, TRUE | DEFAULT),
        (TRUE | DEFAULT, TRUE | {"transactional_properties": "insert_only"}, LATER),
    ],
)
def test_altering(shop, before, after, result):
    shop.create_table(table_of(partitionKeys=[], sd=orc(), parameters=before))
    stored = said(shop)
    changed = table_of(partitionKeys=[], sd=orc(), parameters=after)
    if isinstance(result, dict):
        shop.alter_table("shop", "sales", changed)
        assert said(shop) == result
        return
    with pytest.raises(TYPES.MetaException) as caught:
        shop.alter_table("shop", "sales", changed)
    assert caught.value.message == result
    assert said(shop) == stored


@pytest.mark.parametrize("before", [TRUE, {}])
def test_a_transactional_table_stays_one_that_can_be(shop, before):
    shop.create_table(table_of(partitionKeys=[], sd=orc(), parameters=before))
    with pytest.raises(TYPES.MetaException) as caught:
        shop.alter_table("shop", "sales", table_of(partitionKeys=[], sd=orc(bucketCols=[]), parameters=TRUE))
    assert caught.value.message == KIND


def test_a_transactional_table_of_another_kind_can_be_altered(shop):
    """Such as one of Hive 3, which was imported."""
    parameters = TRUE | {"transactional_properties": "insert_only"}
    storing = StorageDescriptor(columns=[Column("a", "int")])
    shop.store.create_table(Table("shop", "sales", storage=storing, parameters=parameters))
    table = shop.table()
    table.owner = "bob"
    shop.alter_table("shop", "sales", table)
    assert (shop.table().owner, said(shop)) == ("bob", parameters)
    table.parameters = {}
    with pytest.raises(TYPES.MetaException, match="cannot be unset"):
        shop.alter_table("shop", "sales", table)
