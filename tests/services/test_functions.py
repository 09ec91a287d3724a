"""Functions: created, read, altered, listed, dropped, and every error."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thriftpy2.utils import serialize

from hbstore import AlreadyExists, DatabaseNotFound, InvalidInput, InvalidName
from hbstore.errors import CorruptRow, FunctionNotFound
from hbstore.metastore.protocol import THRIFT
from hbstore.model.service_objects import Function
from hbstore.model.service_structs import decode_function, encode_function
from tests.strategies import int32s, names, unicode_text

TAX = Function(
    "shop",
    "tax",
    "org.shop.Tax",
    owner="ann",
    owner_type=1,
    resources=[(1, "s3://shop/tax.jar"), (3, "s3://shop/rates.zip")],
)
functions = st.builds(
    Function,
    names,
    names,
    st.none() | unicode_text,
    owner=st.none() | unicode_text,
    owner_type=st.none() | st.integers(1, 3),
    create_time=int32s,
    function_type=int32s,
    resources=st.lists(st.tuples(st.integers(1, 3), unicode_text), max_size=3),
)


@given(functions)
def test_every_field_of_any_function_is_kept_in_its_bytes(function):
    assert decode_function(encode_function(function)) == function


def test_the_bytes_are_the_metastore_s_function():
    written = serialize(
        THRIFT.Function(
            functionName="tax",
            dbName="shop",
            className="org.shop.Tax",
            ownerName="ann",
            ownerType=1,
            createTime=0,
            functionType=1,
            resourceUris=[THRIFT.ResourceUri(1, "s3://shop/tax.jar"), THRIFT.ResourceUri(3, "s3://shop/rates.zip")],
        )
    )
    assert encode_function(TAX) == written
    assert decode_function(written) == TAX


@pytest.mark.parametrize("payload", [b"", b"\0", b"\x0b\0\x01\0\0\0\x05tax", encode_function(TAX) + b"\0"])
def test_bytes_that_are_no_function_are_refused(payload):
    with pytest.raises(CorruptRow) as caught:
        decode_function(payload)
    assert caught.value.fields["kind"] == "function"


def test_what_cannot_be_stored_is_refused(services):
    for odd in (replace(TAX, class_name="\ud800"), replace(TAX, function_type=1 << 40), replace(TAX, owner=5)):
        with pytest.raises(InvalidInput):
            services.functions.create(odd)
    with pytest.raises(InvalidName):
        Function("shop", "a b")
    assert services.functions.names("shop") == []


def test_a_function_is_kept_whole_and_created_now(services):
    before = int(time.time())
    services.functions.create(replace(TAX, create_time=5))
    found = services.functions.get("SHOP", "Tax")
    assert before <= found.create_time <= time.time()
    assert found == replace(TAX, create_time=found.create_time)
    assert found.resources[1].uri == "s3://shop/rates.zip"


def test_names_differ_by_more_than_case(services):
    services.functions.create(TAX)
    with pytest.raises(AlreadyExists) as caught:
        services.functions.create(Function("SHOP", "TAX", "org.other.Tax"))
    assert str(caught.value.fields["function"]) == "shop.tax"
    assert services.functions.get("shop", "tax").class_name == "org.shop.Tax"


def test_functions_are_listed_in_order(services):
    services.store.create_database("shop2")
    services.store.create_database("a")
    for database, name in [("shop", "b"), ("shop", "a_1"), ("shop2", "c"), ("shop", "a"), ("a", "z")]:
        services.functions.create(Function(database, name, "org.C"))
    services.functions.drop("shop", "a_1")
    assert services.functions.names("Shop") == ["a", "b"]
    assert [str(one) for one in services.functions.list("shop")] == ["shop.a", "shop.b"]
    assert [str(one) for one in services.functions.all()] == ["a.z", "shop.a", "shop.b", "shop2.c"]
    assert services.functions.names("none") == []


@pytest.mark.parametrize(
    ("database", "name"), [("shop", "none"), ("none", "tax"), ("shop", "="), ("shop", ""), ("", "")]
)
def test_what_is_not_there_is_named(services, database, name):
    for call in (services.functions.get, services.functions.drop):
        with pytest.raises(FunctionNotFound) as caught:
            call(database, name)
        assert caught.value.fields == {"function": f"{database}.{name}"}
    with pytest.raises(FunctionNotFound):
        services.functions.alter(database, name, TAX)


def test_a_function_needs_its_database(services):
    with pytest.raises(DatabaseNotFound):
        services.functions.create(Function("none", "tax", "org.C"))
    services.functions.create(TAX)
    with pytest.raises(DatabaseNotFound):
        services.functions.alter("shop", "tax", Function("none", "tax", "org.C"))
    assert services.functions.get("shop", "tax").class_name == "org.shop.Tax"


def test_altering_keeps_when_it_was_created(services):
    services.functions.create(TAX)
    created = services.functions.get("shop", "tax").create_time
    services.functions.alter("shop", "TAX", Function("shop", "tax", "org.New", create_time=7))
    assert services.functions.get("shop", "tax") == Function("shop", "tax", "org.New", create_time=created)


def test_altering_may_rename(services):
    services.store.create_database("other")
    services.functions.create(TAX)
    services.functions.create(Function("shop", "taken", "org.C"))
    with pytest.raises(AlreadyExists):
        services.functions.alter("shop", "tax", Function("shop", "taken", "org.D"))
    services.functions.alter("shop", "tax", Function("other", "levy", "org.D"))
    assert [str(one) for one in services.functions.all()] == ["other.levy", "shop.taken"]
    services.functions.create(TAX)
    assert services.functions.get("shop", "tax").class_name == "org.shop.Tax"


def test_the_functions_of_a_dropped_database_go(services):
    services.functions.create(TAX)
    services.store.drop_database("shop")
    services.store.create_database("shop")
    assert services.functions.names("shop") == []


def test_a_function_is_dropped_once(services):
    services.functions.create(TAX)
    services.functions.drop("shop", "tax")
    with pytest.raises(FunctionNotFound):
        services.functions.drop("shop", "tax")
