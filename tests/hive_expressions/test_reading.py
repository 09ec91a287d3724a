"""Bytes to nodes: what is read of each construct, and what is refused by its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import ExpressionUnreadable
from hbstore.hive_expressions import nodes, objects, reading
from hbstore.hive_expressions.reading import read_expression
from tests.hive_expressions.writing import LIST, PLAN, Listed, Raw, Thing, Writer, call, column, constant, kind, written

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
"""Bytes as Hive wrote them, by release and construct; test_random_expressions.py compares them with Hive's."""

VALUES = [(release, name) for release, named in GOLDEN.items() for name in named]
EXPECTED = json.loads((Path(__file__).parent / "golden_texts.json").read_text())
"""What they are, by construct; where releases differ, by release."""


@pytest.mark.parametrize(("release", "name"), VALUES)
def test_what_hive_wrote(release, name):
    expected = EXPECTED[name]
    text = expected[release] if isinstance(expected, dict) else expected
    assert str(read_expression(bytes.fromhex(GOLDEN[release][name]))) == text


@pytest.mark.parametrize("kryo5", [False, True])
def test_nodes(kryo5):
    root = read_expression(
        written(call("and", call("=", column("ds"), constant("x")), call("is null", column("hr", "int"))), kryo5=kryo5)
    )
    assert str(root) == "and(ds = 'x', is null(hr))"
    equal, null = root.children
    assert [type(one).__name__ for one in equal.children] == ["ColumnNode", "ConstantNode"]
    assert [one.type for one in (*equal.children, *null.children, root)] == ["string", "string", "int", "boolean"]


@given(st.sampled_from(["=", "<", "<=>", "in"]), st.text(max_size=40), st.booleans())
def test_any_text(function, text, kryo5):
    root = read_expression(written(call(function, column("ds"), constant(text)), kryo5=kryo5))
    assert (root.function, root.children[1].value) == (function, text)


@given(st.integers(-(2**31), 2**31 - 1))
def test_any_int(number):
    root = read_expression(written(call(">", column("hr", "int"), constant(number))))
    assert root.children[1].value == number


def refused(data, words):
    with pytest.raises(ExpressionUnreadable, match=words) as caught:
        read_expression(data)
    assert caught.value.hint


def test_bytes_behind_it():
    refused(written(call("=", column("ds"), constant("x"))) + b"\0", "bytes follow")


@pytest.mark.parametrize("kryo5", [False, True])
def test_every_cut(kryo5):
    data = written(
        call("or", call("=", column("ds"), constant("x")), call("in", column("hr", "int"), constant(5))), kryo5=kryo5
    )
    for size in range(len(data)):
        with pytest.raises(ExpressionUnreadable):
            read_expression(data[:size])


@pytest.mark.parametrize("name", ["java.lang.Runtime", "java.util.HashMap", PLAN + "ExprNodeSubQueryDesc", "os.system"])
def test_classes_that_are_in_no_table(name):
    refused(written(call("=", column("ds"), Thing(name, ()))), "not part of expressions")


def test_what_is_no_condition():
    refused(written(call("=", column("ds"), kind("string"))), "where an expression should")
    refused(written(Thing(PLAN + "ExprNodeGenericFuncDesc", (kind("string"), *(Raw(b"\0"),) * 3))), "no list")


def test_an_object_in_itself():
    head = b"\x01\x01\x00java.util.ArrayLis\xf4\x01\x01\x01\x01"  # the root, and its list of one
    itself = b"org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDes\xe3\x02"  # which is object 0
    refused(head + itself, "contains itself")


def test_references_that_unfold():
    node = call("=", column("ds"), constant("x"))
    for _ in range(40):
        node = call("and", node, node)
    data = written(node)
    assert len(data) < 10_000
    refused(data, "too many nodes")


def test_shared_parts_are_read():
    node = call("=", column("ds"), constant("x"))
    assert str(read_expression(written(call("or", node, node)))) == "or(ds = 'x', ds = 'x')"


@pytest.mark.parametrize(
    ("deep", "words"), [(nodes.MAX_CALLS_DEEP + 1, "too deep"), (objects.MAX_NESTING, "too deep"), (5_000, "too deep")]
)
def test_depth(deep, words):
    data = written_deep(deep)
    refused(data, words)


def test_what_is_as_deep_as_it_may_be():
    read_expression(written_deep(nodes.MAX_CALLS_DEEP - 3))


def written_deep(deep):
    """NOT of NOT of …, so many times, written without recursion."""
    writer = Writer()
    front = []
    for level in range(deep):
        root = writer.named(PLAN + "ExprNodeGenericFuncDesc") if level else b""
        front.append(root + b"\1" + writer.named(LIST) + b"\1\1")
        writer.count += 2  # the call and the list
    inner = writer.value(column("bo", "boolean"))
    back = [writer.value(call("not").fields[1]) + b"\0" + writer.value(kind("boolean")) for _ in range(deep)]
    return b"".join((*front, inner, *back))


def test_size():
    refused(b"\1" * (reading.MAX_BYTES + 1), "too many bytes")


def test_lists_that_claim_more_than_there_is():
    refused(b"\x01\x01\x00java.util.ArrayLis\xf4\x01\xff\xff\xff\xff\x0f", "end too early")


def test_functions_that_were_used_before():
    used = Thing(
        "org.apache.hadoop.hive.ql.udf.generic.GenericUDFBetween", (Raw(b"\1\1"), Raw(b"\0"), Raw(b"\0"), Raw(b"\0"))
    )
    root = Thing(PLAN + "ExprNodeGenericFuncDesc", (Listed((column("ds"),)), used, Raw(b"\0"), kind("boolean")))
    refused(written(root), "used before")


def test_texts_of_an_earlier_hadoop():
    """They do not have their lengths in characters, which follow those in bytes."""
    later = bytes.fromhex(GOLDEN["4.0"]["used string between"])
    earlier = later.replace(b"\x03ab\x04\x04", b"\x03ab\x04").replace(b"\x02b\x02\x02", b"\x02b\x02")
    assert len(earlier) == len(later) - 2
    assert str(read_expression(earlier)) == str(read_expression(later)) == "between(False, x, 'ab', 'b')"


def test_what_is_no_inspector():
    used = bytes.fromhex(GOLDEN["4.0"]["used smallint between"])
    head, array, tail = used.partition(b"ObjectInspector\xbb\x01\x05")
    assert array
    refused(head + array + b"\x03\x01\x82q" + tail, "where an inspector should")


def test_what_is_no_kind_of_comparison():
    used = bytes.fromhex(GOLDEN["4.0"]["used ="])
    head, equal, tail = used.partition(b"GenericUDFOPEqua\xec\x01\x00\x01")  # without an inspector, and a kind
    assert equal
    refused(head + equal[:-1] + b"\x02" + tail, "where a kind should")


@given(st.binary(max_size=300))
def test_any_bytes(data):
    try:
        read_expression(data)
    except ExpressionUnreadable:
        return
