"""get_partitions_by_expr with a filter's text, and with bytes that are neither that nor an expression of Hive's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thriftpy2.thrift import TApplicationException

from hbstore.errors import FilterSyntaxError
from hbstore.metastore.methods.filters import expression_text
from tests.metastore.asking import add, table_of, values
from tests.metastore.client import TYPES

VALUES = [(region, str(hour)) for region in ("eu", "java.util.ArrayList", "us_1", "usa1") for hour in (1, 2, 10)]
BLOBS = (
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
def test_other_bytes_are_answered_as_an_unknown_method(shop, expression):
    with pytest.raises(TApplicationException, match="cannot be read") as refused:
        ask(shop, expression)
    assert refused.value.type == TApplicationException.UNKNOWN_METHOD


@pytest.mark.parametrize(
    "expression", [b"hour =", b"hour = 1 garbage", b"nope = 1", b"hour = 'x'", "region = ü".encode()]
)
def test_text_that_is_no_filter_is_an_error(shop, expression):
    with pytest.raises(TYPES.MetaException):
        ask(shop, expression)


def test_a_missing_table(shop):
    for expression in (b"hour = 1", *BLOBS):
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
