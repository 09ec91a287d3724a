"""Listings of the catalog over calls; test_catalog has what is in them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hbstore.warehouse.name_patterns import MAX_PATTERN

FUNCTIONS = ((("function", "string"),), pa.record_batch({"a": ["abs", "concat", "concat_ws"]}))


def listed(driver, name, **fields):
    operation = driver.call(name, sessionHandle=driver.handle, **fields).operationHandle
    assert operation.hasResultSet
    assert driver.status(operation).operationState == 2
    return dict(zip(driver.names(operation), driver.fetch(operation), strict=True))


def test_databases_and_tables(driver):
    assert "shop" in listed(driver, "GetSchemas", schemaName="%")["TABLE_SCHEM"]
    tables = listed(driver, "GetTables", schemaName="sho_", tableName="%")
    assert (tables["TABLE_SCHEM"], tables["TABLE_NAME"], tables["TABLE_TYPE"]) == (("shop",), ("sales",), ("TABLE",))
    assert listed(driver, "GetTables", schemaName="shop", tableTypes=["VIEW"])["TABLE_NAME"] == ()


def test_columns(driver):
    columns = listed(driver, "GetColumns", schemaName="shop", tableName="sales")
    assert columns["COLUMN_NAME"] == ("price", "ds")
    assert columns["REMARKS"][0] == "in cents"


@pytest.mark.parametrize(
    ("pattern", "names"), [("con%", ("concat", "concat_ws")), ("abs", ("abs",)), ("%", ("abs", "concat", "concat_ws"))]
)
def test_functions_come_from_spark(driver, spark, pattern, names):
    spark.answers["SHOW FUNCTIONS"] = FUNCTIONS
    assert listed(driver, "GetFunctions", functionName=pattern)["FUNCTION_NAME"] == names
    assert spark.runs[0].request.session.id == driver.handle.sessionId.guid.hex()


@pytest.mark.parametrize("name", ["GetTypeInfo", "GetCatalogs", "GetTableTypes", "GetPrimaryKeys", "GetCrossReference"])
def test_other_listings(driver, name):
    assert listed(driver, name)


def test_the_rows_of_a_listing_come_in_pages(driver):
    operation = driver.call("GetTypeInfo", sessionHandle=driver.handle).operationHandle
    whole, read = driver.fetch(operation)[0], ()
    while page := driver.fetch(operation, rows=3, orientation=0 if read else 4)[0]:
        read += page
    assert read == whole


def test_a_listing_needs_a_session(driver):
    driver.call("CloseSession", sessionHandle=driver.handle)
    for name in ("GetTables", "GetTypeInfo"):
        assert driver.ask(name, sessionHandle=driver.handle).status.sqlState == "08003"


def test_a_pattern_that_is_too_long_is_refused(driver):
    """16 MiB of it, with each name of a store compared with millions of alternatives, would take minutes."""
    longest = "x|" * (MAX_PATTERN // 2 - 2) + "shop"
    assert listed(driver, "GetSchemas", schemaName=longest)["TABLE_SCHEM"] == ("shop",)
    for name, fields in (
        ("GetSchemas", {"schemaName": longest + "x" * 5}),
        ("GetTables", {"schemaName": "shop", "tableName": "x|" * 1_000_000}),
        ("GetColumns", {"schemaName": "shop", "tableName": "sales", "columnName": "%" * 1_000_000}),
    ):
        status = driver.ask(name, sessionHandle=driver.handle, **fields).status
        assert "the pattern of names is too long" in status.errorMessage, name
        assert f"limit={MAX_PATTERN}" in status.errorMessage
