"""Columns of tables whose Avro schema stands in their parameters, or in a file that they name."""

from __future__ import annotations

import json
import os

import pytest

from tests.metastore.avro_schemas import RECORDS, WRONG, record
from tests.metastore.client import TYPES
from tests.metastore.writing import STORED, column, storage, table_of

ON_BACKENDS = ("memory",)
SERDE = "org.apache.hadoop.hive.serde2.avro.AvroSerDe"
ID = record(("id", "long"))


def create(shop, library=SERDE, serde=(), **parameters):
    parameters = {name.replace("_", "."): text for name, text in parameters.items()}
    info = STORED.SerDeInfo(serializationLib=library, parameters=dict(serde))
    shop.create_table(table_of(sd=storage(serdeInfo=info), partitionKeys=[column("ds")], parameters=parameters))


def fields(shop):
    return [(one.name, one.type) for one in shop.get_fields("shop", "sales")]


@pytest.mark.parametrize("name", RECORDS)
def test_columns_of_a_schema_in_the_parameters(shop, name):
    schema, expected = RECORDS[name]
    create(shop, avro_schema_literal=json.dumps(schema))
    answer = shop.get_fields("shop", "sales")
    assert [(one.name, one.type, one.comment) for one in answer] == expected
    assert shop.get_fields_with_environment_context("shop", "sales", None) == answer
    assert shop.get_schema("shop", "sales") == [*answer, column("ds")]
    assert shop.get_fields_req(TYPES.GetFieldsRequest(dbName="shop", tblName="sales")).fields == answer
    assert shop.get_schema_req(TYPES.GetSchemaRequest(dbName="shop", tblName="sales")).fields == [*answer, column("ds")]
    assert [one.name for one in shop.table().sd.cols] == ["amount"]


def test_a_schema_may_be_in_a_file_of_the_warehouse(shop):
    shop.write("schemas/sales.avsc", json.dumps(ID))
    create(shop, avro_schema_literal="none", avro_schema_url=f"file://{shop.root}/schemas/sales.avsc")
    assert fields(shop) == [("id", "bigint")]


def test_parameters_of_the_table_count_before_those_of_its_serde(shop):
    create(shop, serde={"avro.schema.literal": json.dumps(record(("other", "int")))})
    assert fields(shop) == [("other", "int")]
    shop.drop_table("shop", "sales", False)
    create(shop, serde={"avro.schema.literal": "?"}, avro_schema_literal=json.dumps(ID))
    assert fields(shop) == [("id", "bigint")]


def test_other_tables_answer_their_stored_columns(shop):
    create(shop)
    assert fields(shop) == [("amount", "double")]
    shop.drop_table("shop", "sales", False)
    create(shop, library="lazy", avro_schema_literal=json.dumps(ID))
    assert fields(shop) == [("amount", "double")]


def test_files_beyond_the_roots_are_not_read(shop, tmp_path):
    secret = tmp_path / "secret.avsc"
    secret.write_text(json.dumps(ID))
    shop.write("here")
    (shop.root / "link.avsc").symlink_to(secret)
    for place in (secret, shop.root / "link.avsc", shop.root / ".." / "secret.avsc", "http://127.0.0.1:1/x", "x.avsc"):
        create(shop, avro_schema_url=str(place))
        for method in (shop.get_fields, shop.get_schema):
            with pytest.raises(TYPES.MetaException) as caught:
                method("shop", "sales")
            assert "secret.avsc'" not in caught.value.message
        shop.drop_table("shop", "sales", False)


def test_a_file_is_read_below_another_root(tmp_path, shop):
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "a.avsc").write_text(json.dumps(ID))
    create(shop, avro_schema_url=f"file:{tmp_path}/schemas/a.avsc")
    with pytest.raises(TYPES.MetaException, match="--also-under"):
        shop.get_fields("shop", "sales")
    wider = type(shop)(shop.store, shop.root, also_under=[tmp_path / "schemas"])
    assert fields(wider) == [("id", "bigint")]


@pytest.mark.parametrize("name", WRONG)
def test_schemas_of_which_no_columns_can_be_made(shop, name):
    schema, reason = WRONG[name]
    create(shop, avro_schema_literal=schema if isinstance(schema, str) else json.dumps(schema))
    with pytest.raises(TYPES.MetaException, match=reason) as caught:
        shop.get_fields("shop", "sales")
    assert "avro.schema.literal" in caught.value.message
    assert len(caught.value.message) < 500


def test_a_file_that_is_not_there_or_none_at_all(shop):
    (shop.root / "folder.avsc").mkdir()
    os.mkfifo(shop.root / "pipe.avsc")
    for name in ("no.avsc", "folder.avsc", "pipe.avsc"):
        create(shop, avro_schema_url=shop.location(name))
        with pytest.raises(TYPES.MetaException, match="cannot be read"):
            shop.get_fields("shop", "sales")
        shop.drop_table("shop", "sales", False)
    create(shop, avro_schema_url="none")
    with pytest.raises(TYPES.MetaException, match="neither"):
        shop.get_fields("shop", "sales")
