"""Arguments of wrong types at every public door: a named error with a hint, never one from the inside of hbstore."""

from __future__ import annotations

import inspect
from types import NoneType

import pytest

from hbstore import Constraint, Database, HbstoreError, InvalidInput, Partition, Table, TextError, col, connect
from hbstore.model.service_objects import ColumnStatistic, Function, LockComponent, Membership, ObjectGrant, Role
from tests.calls import MADE, OBJECTS, filled_store
from tests.test_public import public_methods

METHODS = [(owner, method) for owner, (_, calls) in OBJECTS.items() for method in calls]
RIGHT = {"bool": (bool,), "int": (int,), "str": (str,), "str | None": (str, NoneType)}
"""Annotations that say all, and what is of them."""


def wrong_values():
    """Values that somebody may mix up with right ones, made anew as some can be read once."""
    return [
        *(None, 5, 1.5, b"x", "", "no", "\ud800", True),
        *([], [5], [None], ("x",), (5, 6), {}, {"a": 1}, {1: "b"}, {"ds": 5}, set()),
        *(object(), print, (one for one in (5, None)), col("ds"), col("hour") == 5),
    ]


def is_right(value, annotation):
    return isinstance(value, RIGHT[annotation]) and (value is not True or annotation == "bool")


def outcome(call, method, arguments):
    """The error of a call, which has to be one of hbstore's that says what to do; None where there is none."""
    caught = None
    try:
        found = call(*arguments.values()) if method == "__getitem__" else call(**arguments)
        if inspect.isgenerator(found):
            list(found)
    except HbstoreError as error:
        caught = error
    if caught is None:
        assert repr(found)
        return None
    assert str(caught)
    assert caught.hint or isinstance(caught, TextError), repr(caught)
    return caught


def test_every_public_method_with_arguments_is_tried():
    for make, calls in OBJECTS.values():
        for name, function in public_methods(type(make())):
            takes = list(inspect.signature(function).parameters)[1:]
            assert not takes or name in calls or name in ("get", "suggest"), name
            assert name not in calls or set(takes) == set(calls[name]), name


@pytest.mark.parametrize(("owner", "method"), METHODS)
def test_the_calls_that_are_made_wrong_are_right(owner, method):
    make, calls = OBJECTS[owner]
    outcome(getattr(make(), method), method, calls[method])


@pytest.mark.parametrize(("owner", "method"), METHODS)
def test_an_argument_of_a_wrong_type_is_a_named_error(owner, method):
    make, calls = OBJECTS[owner]
    for argument in calls[method]:
        made = make()
        call = getattr(made, method)
        annotation = inspect.signature(call).parameters[argument].annotation
        for value in wrong_values():
            error = outcome(call, method, {**calls[method], argument: value})
            if annotation in RIGHT and not is_right(value, annotation):
                assert error is not None, (argument, value)


@pytest.mark.parametrize(("owner", "method"), METHODS)
def test_a_flag_takes_true_and_false_alone(owner, method):
    make, calls = OBJECTS[owner]
    call = getattr(make(), method)
    flags = [name for name, one in inspect.signature(call).parameters.items() if one.annotation == "bool"]
    for flag in flags:
        for value in (None, "no", 0, 1, []):
            with pytest.raises(InvalidInput, match=rf"argument={flag}, type=.* Give True or False"):
                call(**{**calls[method], flag: value})


@pytest.mark.parametrize("create", ["no", None, 1])
def test_connect_takes_flags_alike(create):
    with pytest.raises(InvalidInput, match="argument=create"):
        connect("memory://", create=create)


@pytest.mark.parametrize("patience", ["5", None, True, -1, float("nan")])
def test_connect_takes_seconds_of_patience(patience):
    with pytest.raises(InvalidInput, match=r"patience.* Give a number of seconds, 0 or more"):
        connect("memory://", patience=patience)


STORED = {
    Table: lambda store, one: store.create_table(one),
    Database: lambda store, one: store.create_database(one),
    Partition: lambda store, one: store.add_partitions("shop", "sales", [one]),
    Function: lambda store, one: store.hive.functions.create(one),
    ColumnStatistic: lambda store, one: store.column_statistics.write_table("shop", "sales", [one]),
    LockComponent: lambda store, one: store.hive.locks.lock([one]),
    Role: lambda store, one: store.hive.roles.create(one),
    Membership: lambda store, one: store.hive.roles.grant(one),
    ObjectGrant: lambda store, one: store.hive.grants.grant([one]),
    Constraint: lambda store, one: store.hive.constraints.add("shop", "sales", [one]),
}
"""How values are stored that are stored alone; what they say is encoded then."""


@pytest.mark.parametrize("kind", MADE, ids=lambda kind: kind.__name__)
def test_a_field_of_a_wrong_type_is_a_named_error(kind):
    for field in MADE[kind]:
        for value in wrong_values():

            def make(value=value, field=field):
                made = kind(**{**MADE[kind], field: value})
                assert repr(made)
                STORED.get(kind, lambda *_: None)(filled_store(), made)
                return made

            outcome(make, kind.__name__, {})


@pytest.mark.parametrize("field", ["principal_type", "principal", "grant_option", "grantor_type"])
@pytest.mark.parametrize("value", [1.5, b"x", [1]])
def test_a_membership_that_could_not_be_read_again_is_not_stored(field, value):
    """One wrong membership would keep everybody from reading any role."""
    store = filled_store()
    with pytest.raises(InvalidInput):
        store.hive.roles.grant(Membership(**{**MADE[Membership], field: value}))
    assert store.hive.roles.names() == ["admin", "public", "sales"]
    with pytest.raises(InvalidInput):
        store.hive.grants.grant([ObjectGrant(**{**MADE[ObjectGrant], "principal_type": value})])
    assert store.hive.grants.list() == []
