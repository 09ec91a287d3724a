"""Documents in files: whatever is written is read as the same, and what is wrong is named with its place."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from hbstore import connect
from hbstore.cubes import KINDS, Cubes, Measure, Storage, parse_documents, read_documents, write_documents
from hbstore.cubes.stored_model import document_of, text_of
from hbstore.cubes.texts import Loader
from hbstore.errors import CorruptRow, InvalidModel
from tests.cubes.strategies import documents
from tests.services.documents import put as put_document

SAMPLES = Path(__file__).parent / "samples"
FACT = """
kind: fact
name: sales
cube: shop
columns:
  - {name: price, type: double}
storage_tables:
  - storage: s1
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""


@example(
    [Storage(name="s1", description="a\x85b\u2028c\ufeff", properties={" a": "b ", "c\n\td": "null", "1": "- x: &y"})],
    "yaml",
)
@given(st.lists(documents, max_size=3), st.sampled_from(["yaml", "json"]))
def test_whatever_is_written_is_read_as_the_same(written, format):
    text = write_documents(written, format)
    again = parse_documents(text, format)
    assert again == written
    assert [type(one) for one in again] == [type(one) for one in written]
    assert write_documents(again, format) == text


@given(documents)
def test_documents_are_values(document):
    again = document.changed()
    assert (again, hash(again)) == (document, hash(document))
    assert json.loads(json.dumps(document.to_dict())) == document.to_dict()


@given(documents)
def test_documents_are_stored_whole(document):
    assert document_of(document.kind, text_of(document)) == document


def test_a_document_that_is_written_otherwise_is_replaced_all_the_same():
    """Such as one with what became a default later."""
    with connect("memory://") as store:
        store.create_database("shop")
        put_document(store, "shop", "storage", "s1", '{"endpoint": null, "name": "s1"}')
        Cubes(store, "shop").alter(Storage(name="s1", endpoint="here"))
        assert Cubes(store, "shop").get("storage", "s1").endpoint == "here"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"nam": "x"}', "null", '{"name": 5}'])
def test_what_is_no_document_is_corrupt(text):
    with pytest.raises(CorruptRow):
        document_of("storage", text)


def test_the_samples_hold_every_kind():
    found = read_documents(SAMPLES / "rides.yaml")
    assert {one.kind for one in found} == set(KINDS)
    assert [one.name for one in read_documents(SAMPLES / "tides.json")] == ["harbour", "tides", "tides_fine"]
    rides = next(one for one in found if one.name == "rides")
    assert rides.field_names()[-2:] == ("station_name", "fare_per_minute")
    assert rides.join_chains[0].destination == "station"
    assert rides.join_chains[1].paths[0][0].to_many
    assert rides.measures[1].type == "decimal(10,2)"
    assert rides.partition_column("Start_Time") == "dt"
    assert rides.partition_column("minutes") is None


def test_one_json_object_is_one_document():
    (one,) = parse_documents('{"kind": "storage", "name": "S1"}', "json")
    assert one == Storage(name="s1")
    assert json.loads(write_documents([one], "json")) == {"kind": "storage", "name": "s1"}
    assert parse_documents("", "yaml") == parse_documents("[]", "json") == []


PRICE = "{name: price, type: double}"
DT = "{name: dt, type: string}"
TABLE = "storage_tables.0"
TIMED = "time_partition_columns: [dt]"
WRONG = [
    ("name: sales", "name: a b", "name", "letters, digits"),
    ("name: sales", "nome: sales", "name", "this key"),
    ("cube: shop", "cube: shop\ncolour: red", "colour", "a known key"),
    ("cube: shop", "cube: shop\nWeights: 5", "Weights", "a known key, such as weight"),
    (PRICE, "{name: price, type: double, coment: x}", "columns.0.coment", "such as comment"),
    ("cube: shop", "cube: 5", "cube", "a text"),
    ("cube: shop", "cube: shop\nweight: heavy", "weight", "a number"),
    ("cube: shop", "cube: shop\nweight: .inf", "weight", "a finite number"),
    ("cube: shop", "cube: shop\nstart_time: now.dai", "start_time", "second, minute"),
    ("cube: shop", "cube: shop\nproperties: {a: 1}", "properties.a", "a text"),
    (PRICE, "{name: price}", "columns.0.type", "this key"),
    (PRICE, "{name: 'p x', type: double}", "columns.0.name", "letters"),
    (PRICE, "{name: price, type: ' '}", "columns.0.type", "bigint"),
    (PRICE, "price", "columns.0", "a mapping"),
    (f"columns:\n  - {PRICE}", "columns: {}", "columns", "a list"),
    (f"columns:\n  - {PRICE}", "columns: []", "columns", "at least one"),
    (PRICE, "{name: A, type: int}\n  - {name: a, type: int}", "the whole document", "each column named a"),
    ("storage: s1", "storage: ''", f"{TABLE}.storage", "letters"),
    ("[DAILY]", "[DAYLY]", f"{TABLE}.update_periods.0", "DAILY"),
    ("[DAILY]", "[DAILY, daily]", f"{TABLE}.update_periods", "each update period named DAILY"),
    ("[DAILY]", "[]", "the whole document", "update_periods of the fact's table on s1"),
    ("[DAILY]", "5", f"{TABLE}.update_periods", "a list"),
    (TIMED, "time_partition_columns: [pt]", TABLE, "a partition column pt"),
    (TIMED, "time_partition_columns: [dt, DT]", TABLE, "each time partition column"),
    (TIMED, "time_partition_columns: []", TABLE, "time_partition_columns"),
    (DT, "{name: dt, type: int}", TABLE, "string, date or timestamp"),
    (DT, "{name: dt, type: 'map<int,int>'}", TABLE, "the type cannot be the type of a partition column"),
]


@pytest.mark.parametrize(("old", "new", "at", "expected"), WRONG)
def test_what_is_wrong_is_named_with_its_place(old, new, at, expected):
    assert old in FACT
    with pytest.raises(InvalidModel) as caught:
        parse_documents("kind: storage\nname: s1\n---" + FACT.replace(old, new), "yaml", file="shop.yaml")
    fields = caught.value.fields
    assert (fields["file"], fields["document"], fields["kind"], fields["at"]) == ("shop.yaml", 2, "fact", at)
    assert expected in fields["expected"]
    assert "pydantic" not in str(caught.value)


def test_names_of_storage_tables_have_at_most_256_characters():
    with pytest.raises(InvalidModel) as caught:
        parse_documents(FACT.replace("sales", "f" * 128).replace("s1", "s" * 128), "yaml")
    assert "at most 256" in caught.value.fields["expected"]


def test_further_mistakes_stand_in_the_hint():
    with pytest.raises(InvalidModel) as caught:
        parse_documents("{kind: storage, a: 1, b: 2}", "yaml")
    assert caught.value.hint == "Also a: expected a known key; b: expected a known key"
    with pytest.raises(InvalidModel) as caught:
        parse_documents("{kind: storage, a: 1, b: 2, c: 3, d: 4, e: 5, f: 6}", "yaml")
    assert caught.value.hint.endswith("; and 2 more mistakes")


def test_what_python_makes_is_checked_alike():
    with pytest.raises(InvalidModel) as caught:
        Measure(name="x", type="int", max=math.nan)
    assert caught.value.fields["at"] == "max"
    with pytest.raises(InvalidModel):
        Storage(name="s1").changed(name="s 1")
    with pytest.raises(Exception, match="frozen"):
        Storage(name="s1").name = "s2"
    assert Storage(name="s1").changed(endpoint="x") == Storage(name="s1", endpoint="x")


@pytest.mark.parametrize(
    ("text", "format", "line"),
    [
        ("a: [1", "yaml", 1),
        ("kind: storage\nname: s1\nname: s2", "yaml", 3),
        ("kind: storage\nname: &a s1\nendpoint: *a", "yaml", 3),
        ("<<: {a: 1}", "yaml", 1),
        ("? [a]\n: 1", "yaml", 1),
        ("kind: !!python/object:os.system x", "yaml", 1),
        ('{"kind": "storage",\n "name"}', "json", 2),
        ("<x_storage>\n<a></x_storage>", "xml", 2),
        ("", "xml", 1),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]>\n<x_storage name='&b;'/>", "xml", 1),
        ("<x_storage name='&b;'/>", "xml", 1),
        ("<a>" * 60, "xml", 1),
    ],
)
def test_what_does_not_parse_is_named_with_its_line(text, format, line):
    with pytest.raises(InvalidModel) as caught:
        parse_documents(text, format, file="x")
    assert (caught.value.fields["file"], caught.value.fields["line"]) == ("x", line)


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("[" * 100_000, "yaml"),
        ("- " * 100_000, "yaml"),  # which kills a process that composes nodes in C
        ("[" * 100_000, "json"),
        ('{"kind": "storage", "kind": "cube"}', "json"),
        ("\x01", "yaml"),
        ("5", "json"),
        ("- 1", "yaml"),
        ("kind: [storage]", "yaml"),
        ("name: s1", "yaml"),
        ("{kind: storage, name: s1, 5: 6}", "yaml"),
        ("kind: storage\nname: s1", "toml"),
        ('{"kind": "storage", "name": "s1", "endpoint": "\\ud800"}', "json"),
        ("<x_storage name='\ud800'/>", "xml"),
        ("x" * (16 * 1024 * 1024 + 1), "json"),
    ],
)
def test_what_is_no_document_is_refused(text, format):
    with pytest.raises(InvalidModel):
        parse_documents(text, format)


def test_files_are_read_by_their_endings(tmp_path):
    for name in ("a.yaml", "a.YML"):
        (tmp_path / name).write_text("﻿kind: storage\nname: s1\n", encoding="utf-8")
        assert read_documents(tmp_path / name) == [Storage(name="s1")]
    (tmp_path / "a.txt").write_text("kind: storage")
    (tmp_path / "bytes.json").write_bytes(b"\xff")
    for name in ("a.txt", "none.yaml", "bytes.json"):
        with pytest.raises(InvalidModel) as caught:
            read_documents(tmp_path / name)
        assert caught.value.fields["file"] == str(tmp_path / name)


@given(st.text(max_size=60), st.sampled_from(["yaml", "json", "xml"]))
def test_any_text_is_read_or_refused(text, format):
    try:
        found = parse_documents(text, format)
    except InvalidModel:
        return
    assert isinstance(found, list)


def test_yaml_is_read_by_its_parser_in_c():
    """The one in Python takes ten times as long, a minute of a server for what a request may hold."""
    assert issubclass(Loader, yaml.CSafeLoader)
