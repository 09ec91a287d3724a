"""get_partitions_by_expr: filters are answered exactly, Hive's own expressions by every partition and a mark."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import FilterSyntaxError
from hbstore.metastore.filters import expression_text
from tests.metastore.asking import add, table_of, values
from tests.metastore.client import TYPES

VALUES = [(region, str(hour)) for region in ("eu", "java.util.ArrayList", "us_1", "usa1") for hour in (1, 2, 10)]
# What Hive 2.3.10 makes of `hour = 5`.
KRYO = bytes.fromhex(
    "010f010201006f72672e6170616368652e6861646f6f702e686976652e716c2e706c616e2e457870724e6f6465446573e301016f72672e617061"
    "6368652e6861646f6f702e686976652e716c2e706c616e2e457870724e6f6465436f6c756d6e446573e30101686f75f201000173616c65f30102"
    "6f72672e6170616368652e6861646f6f702e686976652e7365726465322e74797065696e666f2e5072696d697469766554797065496e66ef0101"
    "696ef401036f72672e6170616368652e6861646f6f702e686976652e716c2e706c616e2e457870724e6f6465436f6e7374616e74446573e30101"
    "0207020a01046f72672e6170616368652e6861646f6f702e686976652e716c2e7564662e67656e657269632e47656e657269635544464f504571"
    "7561ec01000001823d0145515541cc01056f72672e6170616368652e6861646f6f702e696f2e426f6f6c65616e5772697461626ce50100000102"
    "0101626f6f6c6561ee"
)
BLOBS = (
    KRYO,
    b"\xff\xfe",
    b"\x01\x02\x03",
    b"java.util.ArrayList of org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc",
    b"hour = 1 \x00",
)


@pytest.fixture
def shop(asking):
    add(asking, table_of("sales", region="string", hour="int"), VALUES)
    return asking


def ask(shop, expression, most=-1, **others):
    request = TYPES.PartitionsByExprRequest(dbName="shop", tblName="sales", expr=expression, maxParts=most, **others)
    result = shop.get_partitions_by_expr(request)
    return values(result.partitions), result.hasUnknownPartitions


@pytest.mark.parametrize(
    ("expression", "hours"),
    [
        (b"hour = 2", {"2"}),
        (b"hour in (1, 2) and not hour = 1", {"2"}),
        (b"hour = 77", set()),
        (b"", {"1", "2", "10"}),
        (None, {"1", "2", "10"}),
    ],
)
def test_a_filter_is_answered_exactly(shop, expression, hours):
    assert ask(shop, expression) == ([one for one in VALUES if one[1] in hours], False)


def test_its_dialect_is_sql(shop):
    assert ask(shop, b"region like 'us\\_%'")[0] == [one for one in VALUES if one[0] == "us_1"]
    assert ask(shop, b"region like 'us.*'")[0] == []


def test_a_filter_may_name_what_an_expression_is_known_by(shop):
    assert ask(shop, b"region = 'java.util.ArrayList'") == ([one for one in VALUES if "." in one[0]], False)


def test_limits(shop):
    assert ask(shop, b"hour = 2", 1) == ([("eu", "2")], False)
    assert ask(shop, b"hour = 2", 0) == ([], False)
    assert ask(shop, b"hour = 2", None) == ask(shop, b"hour = 2", defaultPartitionName="__NONE__")


@pytest.mark.parametrize("expression", BLOBS)
def test_an_expression_of_hive_gives_every_partition_marked_as_unknown(shop, expression):
    assert ask(shop, expression) == (VALUES, True)
    assert ask(shop, expression, 2) == (VALUES, True)  # a limit could cut off what the client selects


@pytest.mark.parametrize(
    "expression", [b"hour =", b"hour = 1 garbage", b"nope = 1", b"hour = 'x'", "region = ü".encode()]
)
def test_text_that_is_no_filter_is_an_error(shop, expression):
    with pytest.raises(TYPES.MetaException):
        ask(shop, expression)


def test_a_missing_table(shop):
    for expression in (b"hour = 1", KRYO):
        with pytest.raises(TYPES.NoSuchObjectException):
            shop.get_partitions_by_expr(TYPES.PartitionsByExprRequest(dbName="shop", tblName="no", expr=expression))


@given(st.binary(max_size=40))
def test_any_bytes_are_a_filter_an_expression_or_an_error(data):
    try:
        found = expression_text(data)
    except FilterSyntaxError:
        data.decode()
    else:
        assert found is None or found.encode() == data
