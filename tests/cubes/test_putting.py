"""Putting documents: created or altered as need be, in an order that works; and what a check alone says."""

from __future__ import annotations

import pytest

from hbstore import AlreadyExists, Table
from hbstore.cubes import Cube, Dimension, Fact, Storage
from hbstore.cubes.putting import steps_of
from hbstore.errors import ConcurrentChange, InvalidInput, InvalidModel, ModelInUse, ModelNotFound
from tests.cubes.conftest import RIDES, sample, without_storage


def done(steps):
    return {str(step.document): str(step.action) for step in steps}


def everything(cubes):
    """All that putting could have changed."""
    kinds = ("storage", "cube", "derived_cube", "dimension", "fact", "dimtable")
    return [cubes.list(kind) for kind in kinds], cubes.store.tables("shop")


def test_what_is_not_there_is_created_and_the_rest_altered_or_kept(empty):
    empty.create(sample("lake"))
    changed = sample("archive").changed(endpoint="s3://new")
    empty.create(sample("archive"))
    put = [changed, *(one for one in RIDES if one.name != "archive")]
    steps = done(empty.put(reversed(put)))
    assert (steps.pop("storage lake"), steps.pop("storage archive")) == ("keep", "alter")
    assert set(steps.values()) == {"create"}
    assert empty.get("storage", "archive") == changed
    assert set(done(empty.put(put)).values()) == {"keep"}
    assert empty.store.table_names("shop")


def test_a_check_says_what_would_be_done_and_changes_nothing(cubes):
    before = everything(cubes)
    altered = sample("rides_daily").changed(weight=7.0)
    new = Storage(name="attic")
    assert done(cubes.put([altered, new], check=True)) == {"storage attic": "create", "fact rides_daily": "alter"}
    assert everything(cubes) == before
    cubes.put([altered, new])
    assert cubes.get("fact", "rides_daily") == altered
    assert everything(cubes) != before


def test_one_that_is_wrong_keeps_all_others_out(cubes):
    before = everything(cubes)
    bad = sample("rides_daily").changed(name="other", cube="nothing")
    for check in (True, False):
        with pytest.raises(InvalidModel):
            cubes.put([Storage(name="attic"), bad], check=check)
        with pytest.raises(InvalidModel, match="occurs twice"):
            cubes.put([Storage(name="attic"), Storage(name="attic")], check=check)
        with pytest.raises(AlreadyExists):  # a dimension of a cube's name
            cubes.put([Dimension(name="rides", dim_attributes=[{"name": "id", "type": "int"}])], check=check)
    assert everything(cubes) == before


def test_two_that_are_new_may_not_have_one_name(empty):
    clash = [Cube(name="city"), Dimension(name="city", dim_attributes=[{"name": "id", "type": "int"}])]
    with pytest.raises(AlreadyExists):
        empty.put(clash, check=True)


def test_a_table_of_the_name_is_in_the_way(cubes):
    cubes.store.create_table(Table("shop", "lake_extra", ()))
    fact = without_storage(sample("rides_daily"), "archive").changed(name="extra")
    with pytest.raises(AlreadyExists):
        cubes.put([fact], check=True)


def test_what_others_still_use_is_taken_away_after_them(cubes):
    """A measure goes from the cube and from the facts that have it: the facts come first."""
    cube, measure = sample("rides"), "minutes"
    facts = [
        one.changed(columns=[column for column in one.columns if column.name != measure])
        for one in RIDES
        if isinstance(one, Fact) and measure in {column.name for column in one.columns}
    ]
    fewer = cube.changed(
        measures=[one for one in cube.measures if one.name != measure],
        expressions=[one for one in cube.expressions if measure not in str(one.specs)],
    )
    users = [one for one in RIDES if one.kind == "derived_cube"]
    shrunk = [one.changed(measures=[name for name in one.measures if name in fewer.field_names()]) for one in users]
    assert facts
    with pytest.raises(ModelInUse):
        cubes.put([fewer], check=True)
    assert set(done(cubes.put([fewer, *facts, *shrunk], check=True)).values()) <= {"alter", "keep"}
    cubes.put([fewer, *facts, *shrunk])
    assert cubes.cube("rides") == fewer


def test_only_creating_and_only_altering(cubes):
    old, new = Storage(name="lake", endpoint="s3://x"), Storage(name="attic")
    with pytest.raises(AlreadyExists):
        cubes.put([old, new], only="create")
    assert done(cubes.put([old, new], only="create", if_not_exists=True)) == {
        "storage lake": "keep",
        "storage attic": "create",
    }
    assert cubes.get("storage", "lake") == sample("lake")
    with pytest.raises(ModelNotFound):
        cubes.put([Storage(name="nowhere")], only="alter")
    with pytest.raises(InvalidInput):
        cubes.put([new], only="keep")


def test_what_was_put_before_another_came_between_is_said(cubes, monkeypatch):
    other = Storage(name="lake", endpoint="s3://theirs")
    steps = steps_of(cubes._model, [Storage(name="attic"), Storage(name="lake", endpoint="s3://mine")])
    assert [step.action for step in steps] == ["create", "alter"]
    cubes.alter(other)
    monkeypatch.setattr("hbstore.cubes.putting.steps_of", lambda *_, **__: steps)
    with pytest.raises(ConcurrentChange) as caught:
        cubes.put([])
    assert caught.value.fields["done"] == "storage attic"
    assert cubes.get("storage", "lake") == other


def test_a_change_names_what_it_replaces(cubes):
    read = cubes.get("storage", "lake")
    cubes.alter(read.changed(endpoint="s3://1"), replaces=read)
    for change in (
        lambda: cubes.alter(read.changed(endpoint="s3://2"), replaces=read),
        lambda: cubes.drop("storage", "lake", cascade=True, replaces=read),
    ):
        with pytest.raises(ConcurrentChange):
            change()
    assert cubes.get("storage", "lake").endpoint == "s3://1"
    fact = cubes.fact("rides_daily")
    cubes.drop("fact", "rides_daily", replaces=fact)
    assert "lake_rides_daily" not in cubes.store.table_names("shop")
