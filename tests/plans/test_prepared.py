"""Prepared filters: putting literals into a frame gives what parsing and binding the whole text gives."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import assume, event, example, given
from hypothesis import strategies as st

import hbstore
from hbstore import Column, Partition, Table
from hbstore.errors import FilterSyntaxError, FilterTypeError, HbstoreError
from hbstore.filters.frames import frame_of
from hbstore.filters.parser import parse_filter
from hbstore.keys import NULL_PARTITION
from hbstore.plans.bind import bind
from hbstore.plans.narrow import MAX_SCANS
from hbstore.plans.planner import plan_predicate
from hbstore.plans.prepared import prepare
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs
from hbstore.times.clock import Now
from hbstore.types import parse_type
from tests.plans.test_boxes import TEXTS, costs, planned, statistics
from tests.strategies import TYPE_TEXTS, valid_texts

ODD = (
    *("'a'", '"b"', "5", "6", "'05'", "2013-01-02", f"'{NULL_PARTITION}'", "''", "'1.5'", "2013-02-30", "20-1-1"),
    *("9223372036854775807", "9223372036854775808", "99999999999999999999", "'2013'", "'true'"),
)
"""Literals that fit some columns."""

COMPARISONS = ("{} = ?", "{} >= ?", "{}<?", "{} > ?", "{} <= ?", "? < {}", "? == {}", "{} between ? and ?")
OTHERS = ("{} <> ?", "{} not between ? and ?", "{} in (?, ?, ?)", "{} not in (?)")


def literals(kind):
    """Literals of a column, nearly all of which fit."""
    texts = TEXTS.get(kind.name, ("a",))
    some = st.sampled_from(texts) | valid_texts(kind).filter(lambda text: "'" not in text)
    return st.integers(0, 12).flatmap(lambda at: some.map(lambda text: f"'{text}'") if at else st.sampled_from(ODD))


@st.composite
def leaves(draw, schema, at, forms):
    """A condition on a column with a ? for each literal, in odd spellings, and strategies of the literals."""
    name = draw(st.sampled_from((schema.names[at], schema.names[at].upper(), f"`{schema.names[at]}`")))
    text = draw(st.sampled_from(forms)).format(name)
    return text, [literals(schema.types[at])] * text.count("?")


def filled(draw, parts):
    """A text with literals for each ?."""
    return [text.replace("?", "{}").format(*[draw(one) for one in given_]) for text, given_ in parts]


@st.composite
def schemas_of_all_types(draw):
    kinds = draw(st.lists(st.sampled_from(TYPE_TEXTS), min_size=1, max_size=3))
    return KeySchema(b"d\0t\0", tuple(f"Col{at}" for at in range(len(kinds))), tuple(map(parse_type, kinds)))


@st.composite
def cases(draw):
    """A table, a text to prepare, and another of its frame: ORs of ANDs, with many conditions on the same columns."""
    schema = draw(schemas_of_all_types())
    columns = st.integers(0, len(schema.names) - 1)
    any_leaf = columns.flatmap(lambda at: leaves(schema, at, COMPARISONS * 2 + OTHERS))
    branches = draw(st.lists(st.lists(any_leaf, min_size=1, max_size=3), min_size=1, max_size=3))
    form = draw(st.sampled_from(("{}", "({})")))
    return schema, *(" or ".join(form.format(" AND ".join(filled(draw, one))) for one in branches) for _ in range(2))


@st.composite
def box_cases(draw):
    """The same of equalities with the leading columns and some conditions on the next."""
    schema = draw(schemas_of_all_types())
    points = draw(st.integers(0, len(schema.names)))
    parts = [draw(leaves(schema, at, ("{} = ?",))) for at in range(points)]
    if points < len(schema.names):
        parts += draw(st.lists(leaves(schema, points, COMPARISONS), max_size=2))
    assume(parts)
    parts = draw(st.permutations(parts))
    return schema, *(" and ".join(filled(draw, parts)) for _ in range(2))


def general(text, schema):
    return bind(parse_filter(text), schema, Now())


_NOTHING = (Statistics(), Costs(1e-5, 3e-6, 1e-6, 2e-7))
"""What is known of a table that nothing is known of, and usual costs."""


def prepared_if_it_parses(text, schema):
    try:
        return prepare(text, parse_filter(text), schema)
    except FilterSyntaxError:
        return None


_DS_HOUR = KeySchema(b"d\0t\0", ("ds", "hour"), (parse_type("string"), parse_type("int")))


@given(cases(), st.data())
@example((_DS_HOUR, "ds > 'a' and ds < 'b'", "ds > 'b' and ds < 'a'"), None)
@example((_DS_HOUR, "ds > 'a' and ds < 'b' and hour = 5", "ds > 'b' and ds < 'a' and hour = 'x'"), None)
@example((_DS_HOUR, "ds = 'a' and hour = 5", f"ds = '{NULL_PARTITION}' and hour = '{NULL_PARTITION}'"), None)
@example((_DS_HOUR, "hour = 5 or hour = 6 and ds = 'a'", "hour = 6 or hour = 6 and ds = 'a'"), None)
@example((_DS_HOUR, "hour = 1 or hour < 1", "hour = 2 or hour < 1"), None)
def test_prepared_is_general(case, data):
    schema, first, second = case
    prepared = prepared_if_it_parses(first, schema)
    assume(prepared is not None)
    known, prices = _NOTHING if data is None else (data.draw(statistics(schema)), data.draw(costs))
    for text in (second, first):
        found = prepared.bind(frame_of(text)[1])
        try:
            expected = general(text, schema)
        except HbstoreError as error:
            event(type(error).__name__)
            assert found is None
        else:
            assert found == expected
        assert prepared.plan(frame_of(text)[1], known, prices) == (
            None if found is None else plan_predicate(found, schema, known, prices)
        )


_THREE = KeySchema(b"d\0t\0", ("ds", "hour", "day"), (*_DS_HOUR.types, parse_type("date")))


@given(box_cases(), st.data())
@example((_THREE, "ds = 'a' and hour <= 5", "ds = 'b' and hour <= 6"), None)
@example((_THREE, "ds = 'a' and hour between 2 and 3", "ds = 'b' and hour between 3 and 2"), None)
@example((_THREE, "ds = 'a' and 5 < hour", f"ds = '{NULL_PARTITION}' and 5 < hour"), None)
@example((_THREE, "ds = 'a' and hour = 5", f"ds = 'é\0' and hour = '{NULL_PARTITION}'"), None)
@example(
    (_THREE, "ds = 'a' and hour = 1 and day = '2013-01-01'", f"ds = 'b' and hour = 1 and day = '{NULL_PARTITION}'"),
    None,
)
@example((_THREE, "ds >= 'a'", f"ds >= '{NULL_PARTITION}'"), None)
@example((_THREE, "ds = 'a' and hour = 999999999999999999", "ds = 5 and hour = '-5'"), None)
def test_a_prepared_box_is_general(case, data):
    schema, first, second = case
    prepared = prepared_if_it_parses(first, schema)
    assume(prepared is not None)
    for text in (second, first):
        found = prepared.box and prepared.box.plan(frame_of(text)[1])
        event("not mine" if found is None else found.scans[0].kind.value)
        if found is not None:
            known, prices = _NOTHING if data is None else (data.draw(statistics(schema)), data.draw(costs))
            expected = planned(general(text, schema), schema, known, prices, MAX_SCANS)
            assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        *("ds like 'a%'", "not ds = 'a'", "ds is null", "ds = 'a' and hour is not null", "ds = 'a' and hour = -5"),
        *("(ds = 'a' or ds = 'b') and hour = 5", "struct(ds) in (struct('a'))", "hour = 5.0", ""),
        "time_range_in(ds, '2013-01-01', '2013-01-02')",
    ],
)
def test_all_others_go_the_general_way(text):
    assert prepare(text, parse_filter(text), _DS_HOUR) is None


@pytest.fixture
def store():
    store = hbstore.connect("memory://")
    store.create_database("shop")
    store.create_table(Table("shop", "sales", partition_columns=[Column("ds", "date"), Column("hour", "int")]))
    days = [(dt.date(2013, 1, 1) + dt.timedelta(days=day)).isoformat() for day in range(10)]
    store.add_partitions("shop", "sales", [Partition((day, str(hour))) for day in days for hour in range(5)])
    return store


def test_texts_of_one_frame_find_what_each_asks_for(store):
    for day in range(1, 11):
        text = f"ds = '2013-01-{day:02d}' and hour >= {day % 5}"
        found = store.get_partitions_by_filter("shop", "sales", text)
        assert [one.values for one in found] == [(f"2013-01-{day:02d}", str(hour)) for hour in range(day % 5, 5)]


def test_a_wrong_literal_in_a_known_frame_has_the_usual_error(store):
    good, wrong, nothing = "ds = 2013-01-01 and hour = 5", "ds = 'x' and hour = 5", "ds = 2013-13-01 and hour = 5"
    fresh = []
    for text, kind in ((wrong, FilterTypeError), (nothing, FilterSyntaxError)):
        with pytest.raises(kind) as caught:
            store.get_partitions_by_filter("shop", "sales", text)
        fresh.append(str(caught.value))
    for _ in range(2):
        store.get_partitions_by_filter("shop", "sales", good)
    for text, kind, before in ((wrong, FilterTypeError, fresh[0]), (nothing, FilterSyntaxError, fresh[1])):
        with pytest.raises(kind) as caught:
            store.get_partitions_by_filter("shop", "sales", text)
        assert str(caught.value) == before


def test_a_frame_is_prepared_anew_for_a_table_of_other_columns(store):
    text = "ds = '{}' and hour = {}"
    for hour in (1, 2):
        assert len(store.get_partitions_by_filter("shop", "sales", text.format("2013-01-01", hour))) == 1
    store.drop_table("shop", "sales")
    store.create_table(Table("shop", "sales", partition_columns=[Column("hour", "int"), Column("ds", "string")]))
    store.add_partitions("shop", "sales", [Partition(("3", "2013-01-01"))])
    assert len(store.get_partitions_by_filter("shop", "sales", text.format("2013-01-01", 3))) == 1
    assert store.get_partitions_by_filter("shop", "sales", text.format("2013-1-1", 3)) == []


def test_explain_shows_the_tree_of_a_prepared_filter(store):
    for hour in (1, 2):
        explained = store.explain("shop", "sales", f"ds = '2013-01-01' and hour = {hour}")
        assert f"hour = {hour}" in str(explained.tree)
        assert "get" in str(explained)
