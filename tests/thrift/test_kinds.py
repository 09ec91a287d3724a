"""Kinds of what an IDL declares; `tests/metastore/test_protocol.py` compares those of a large one with thriftpy2."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.thrift.kinds import StructKinds, Texts, load_idl
from hbstore.thrift.methods import methods_of
from hbstore.thrift.wire import STRING, ListOf, Struct

IDL = """
struct Stored { 1: string name }
struct Context { 1: map<string, string> settings }
struct Pair { 1: list<Stored> items, 2: optional Context context, 3: i64 number }
exception Refused { 1: string why }
service Some {
    Pair exchange(1: Pair pair, 2: Context context) throws (1: Refused refused),
    oneway void forget(1: i32 number)
}
"""


@pytest.fixture(scope="module")
def idl(tmp_path_factory):
    file = tmp_path_factory.mktemp("idl") / "some.thrift"
    file.write_text(IDL)
    return load_idl(file, "tests_some_thrift")


def test_the_methods_of_a_service(idl):
    methods = methods_of(idl.Some, StructKinds({}), optional={idl.Context})
    assert list(methods) == ["exchange", "forget"]
    exchange = methods["exchange"]
    assert exchange.needed == ("pair",)
    assert exchange.declares(idl.Refused)
    assert b"because" in exchange.failure(idl.Refused("because"))
    assert exchange.failure(ValueError()) is None
    assert methods["forget"].oneway
    assert methods["forget"].result(None) == b"\0"


def test_structs_of_ones_own(idl):
    stored = Struct(SimpleNamespace, {1: ("called", STRING)})
    kinds = StructKinds({"Stored": stored}, lambda entries: sorted(entries.items()))
    pair = kinds.struct(idl.Pair)
    made = idl.Pair(items=[SimpleNamespace(called="a")], context=idl.Context(settings={"k": "v", "a": "b"}), number=3)
    read, end = pair.read(pair.write(made), 0)
    assert end == len(pair.write(made))
    assert (read.items[0].called, read.number) == ("a", 3)
    assert read.context.settings == [("a", "b"), ("k", "v")]


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=4) | st.sampled_from([127, 128, 300]).map("a".__mul__)))
def test_lists_of_texts_are_written_as_any_list_is(texts):
    assert Texts().write(texts) == ListOf(STRING).write(texts)
    assert Texts().read(Texts().write(texts), 0) == (tuple(texts), len(Texts().write(texts)))
