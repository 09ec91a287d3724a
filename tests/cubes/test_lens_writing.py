"""Lens's XML that is written is read as the same, or refused; nothing is lost between."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.cubes import Cube, DimAttribute, Fact, Hierarchy, Storage, parse_documents, read_documents, write_documents
from hbstore.errors import InvalidModel
from tests.cubes.conftest import RIDES, sample
from tests.cubes.strategies import documents
from tests.cubes.test_lens_xml import DOCUMENTS, SAMPLES


@given(documents)
def test_any_document_is_read_as_it_was_or_refused(document):
    with suppress(InvalidModel):
        text = write_documents([document], "xml")
        found = None
        with suppress(InvalidModel):
            found = parse_documents(text, "xml")
        assert found == [document]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=20))
def test_texts_that_xml_can_hold_are_written(text):
    storage = Storage(name="s", description=text, properties={text: text + "\n\t\r\"'<>&"})
    assert parse_documents(write_documents([storage], "xml"), "xml") == [storage]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_lens_has_written_is_written_again(name):
    found = read_documents(SAMPLES / name)
    assert parse_documents(write_documents(found, "xml"), "xml") == found


def test_a_whole_model_is_one_text():
    text = write_documents(RIDES, "xml")
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<x_model xmlns=')
    assert parse_documents(text, "xml") == RIDES
    assert parse_documents(write_documents([], "xml"), "xml") == []


def test_what_lens_has_no_place_for_is_kept():
    fact = sample("rides_daily")
    described = fact.storage_tables[0].description.model_copy(update={"format": "parquet"})
    tables = [fact.storage_tables[0].changed(description=described), *fact.storage_tables[1:]]
    changed = fact.changed(description="by day", storage_tables=tables, start_time="now - 3days", end_time="2016")
    text = write_documents([changed], "xml")
    assert 'format="parquet"' in text
    assert '<property name="cube.fact.relative.start.time" value="now - 3days"/>' in text
    found = parse_documents(text, "xml")
    assert found == [changed]
    assert isinstance(found[0], Fact)


def test_hierarchies_within_hierarchies():
    attributes = [DimAttribute(name=name, type="int") for name in "abc"]
    inner, outer = Hierarchy(name="inner", attributes=["a", "b"]), Hierarchy(name="outer", attributes=["inner", "c"])
    cube = Cube(name="x", dim_attributes=attributes, hierarchies=[outer, inner])
    assert parse_documents(write_documents([cube], "xml"), "xml") == [cube]


@pytest.mark.parametrize(
    "document",
    [
        Storage(name="s", description="\x00"),
        Cube(name="x", properties={"cube.x.timed.dimensions.list": "dt"}),
        Cube(name="x", dim_attributes=[DimAttribute(name="a", type="int", values=[" a"])]),
    ],
)
def test_what_would_be_read_as_something_else_is_refused(document):
    with pytest.raises(InvalidModel, match="cannot hold the description") as caught:
        write_documents([document], "xml")
    assert "YAML" in caught.value.hint
