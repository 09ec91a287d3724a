"""Functions through the endpoint: whatever a client stored comes back, and errors are the declared ones."""

from __future__ import annotations

import pytest

from tests.metastore.client import TYPES


def function(name, **fields):
    given = {
        "functionName": name,
        "dbName": "shop",
        "className": "org.shop.Tax",
        "ownerName": "ann",
        "ownerType": 1,
        "functionType": 1,
        "resourceUris": [TYPES.ResourceUri(1, "s3://shop/tax.jar"), TYPES.ResourceUri(3, "s3://shop/rates.zip")],
    }
    return TYPES.Function(**{**given, **fields})


def test_a_function_comes_back_field_for_field(asking):
    asking.create_function(function("Tax"))
    found = asking.get_function("SHOP", "TAX")
    assert found.createTime > 1_700_000_000
    assert vars(found) == vars(function("tax", createTime=found.createTime, resourceUris=found.resourceUris))
    assert [(one.resourceType, one.uri) for one in found.resourceUris] == [
        (1, "s3://shop/tax.jar"),
        (3, "s3://shop/rates.zip"),
    ]


def test_functions_are_listed_by_pattern(asking):
    for name in ("tax", "tariff", "price"):
        asking.create_function(function(name))
    assert asking.get_functions("shop", "*") == ["price", "tariff", "tax"]
    assert asking.get_functions("shop", "ta*|nothing") == ["tariff", "tax"]
    assert asking.get_functions("@hive#shop", None) == ["price", "tariff", "tax"]
    assert [one.functionName for one in asking.get_all_functions().functions] == ["price", "tariff", "tax"]


def test_a_function_is_altered_moved_and_dropped(asking):
    asking.create_function(function("tax"))
    asking.alter_function("shop", "tax", function("vat", className="org.shop.Vat"))
    assert asking.get_function("shop", "vat").className == "org.shop.Vat"
    asking.drop_function("shop", "vat")
    assert asking.get_functions("shop", "*") == []


def test_errors_are_those_that_clients_act_on(asking):
    asking.create_function(function("tax"))
    with pytest.raises(TYPES.AlreadyExistsException):
        asking.create_function(function("TAX"))
    with pytest.raises(TYPES.NoSuchObjectException):
        asking.create_function(function("tax", dbName="nowhere"))
    with pytest.raises(TYPES.InvalidObjectException):
        asking.create_function(function("no name"))
    for name in ("vat", "="):  # Flink asks for operators too
        with pytest.raises(TYPES.NoSuchObjectException):
            asking.get_function("shop", name)
    with pytest.raises(TYPES.NoSuchObjectException):
        asking.drop_function("shop", "vat")


def test_functions_go_with_their_database(asking):
    asking.create_function(function("tax"))
    asking.store.drop_database("shop")
    asking.store.create_database("shop")
    assert asking.get_functions("shop", "*") == []
