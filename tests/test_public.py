"""The public interface: what its methods return and raise can be imported from hbstore, and each has an example."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from enum import Enum
from types import SimpleNamespace

import pytest

import hbstore
import hbstore.cubes
import hbstore.ddl
import hbstore.filters
import hbstore.publishing
import hbstore.repair
import hbstore.rows
import hbstore.spark
import hbstore.timelines
import hbstore.transfer
from hbstore import errors
from hbstore.store.hive.services import Hive
from hbstore.store.timelines.stored_timelines import StoredTimelines

PACKAGES = (
    hbstore,
    hbstore.timelines,
    hbstore.cubes,
    hbstore.filters,
    hbstore.rows,
    hbstore.publishing,
    hbstore.repair,
    hbstore.transfer,
    hbstore.ddl,
    hbstore.spark,
)
SERVICES = [
    *typing.get_type_hints(Hive).values(),
    StoredTimelines,
    type(hbstore.connect("memory://").column_statistics),
    type(hbstore.connect("memory://").documents),
    type(hbstore.connect("memory://").records),
    type(hbstore.connect("memory://").publications),
]
EVERYTHING = {getattr(package, name): None for package in PACKAGES for name in package.__all__}  # in their order

OF_OTHERS = {"pa": SimpleNamespace(Table=object), **dict.fromkeys(("pd", "pl"), SimpleNamespace(DataFrame=object))}
"""What modules import only for their annotations."""

INSIDE = {
    ("ScanPlan", "residual"),
    ("ScanPlan", "schema"),
    ("ScanPlan", "below"),
    ("MultiScanPlan", "schema"),
    ("TableRow", "definition"),
    ("TableRow", "log"),
    ("Explain", "estimator"),
    ("Holds", "condition"),
}
"""Fields that only the planner and the store read. Users read the texts of a scan, and `TableRow.table`."""


def classes():
    """Exported classes with methods of their own to call, and the services that hang on a store."""
    return [
        one
        for one in [*{*EVERYTHING, *SERVICES}]
        if inspect.isclass(one) and not issubclass(one, Exception | Enum) and one.__module__.startswith("hbstore.")
    ]


def public_methods(cls):
    for name, member in vars(cls).items():
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function


def own_classes(annotation):
    """The classes of this package in an annotation."""
    if inspect.isclass(annotation) and annotation.__module__.startswith("hbstore."):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from own_classes(inner)


def test_every_error_can_be_imported_from_the_package():
    raised = {one for one in vars(errors).values() if inspect.isclass(one) and issubclass(one, errors.HbstoreError)}
    assert raised <= {getattr(hbstore, name) for name in hbstore.__all__ if name != "NULL_PARTITION"}


OWNERS = [*(one for one in EVERYTHING if inspect.isclass(one) or inspect.isfunction(one)), *SERVICES]


def functions_of(owner):
    """A function itself; of a class its public methods, those of classes of this package that it extends, too."""
    if inspect.isfunction(owner):
        return [(owner.__name__, owner)]
    if issubclass(owner, Exception):
        return []
    lines = [one for one in owner.__mro__ if one.__module__.startswith("hbstore.")]
    return [named for one in lines for named in public_methods(one)]


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: f"{owner.__module__}.{owner.__qualname__}")
def test_what_is_returned_can_be_imported_from_a_package(owner):
    for name, function in functions_of(owner):
        scope = {**OF_OTHERS, **function.__globals__}
        returned = eval(function.__annotations__["return"], scope)  # noqa: S307  annotations are ours
        missing = {one for one in own_classes(returned) if one not in EVERYTHING}
        assert not missing, name


def test_what_fields_of_values_hold_can_be_imported_from_a_package():
    reachable, inside = {*EVERYTHING, *SERVICES}, set()
    for cls in filter(dataclasses.is_dataclass, set(classes()) - {*SERVICES}):
        for name, kind in typing.get_type_hints(cls).items():
            if not name.startswith("_") and not reachable.issuperset(own_classes(kind)):
                inside.add((cls.__name__, name))
    assert inside == INSIDE


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: f"{owner.__module__}.{owner.__qualname__}")
def test_everything_public_has_an_example(owner):
    assert [name for name, function in functions_of(owner) if ">>> " not in (inspect.getdoc(function) or "")] == []


@pytest.mark.parametrize("cls", [one for one in OWNERS if inspect.isclass(one)], ids=lambda cls: cls.__name__)
def test_errors_in_docstrings_are_errors_that_there_are(cls):
    for name, function in functions_of(cls):
        raises = re.search(r"Raises:\n(.*?)(\n\n|\Z)", inspect.getdoc(function) or "", re.DOTALL)
        for names in re.findall(r"^    ([A-Z]\w+(?:, [A-Z]\w+)*):", raises[1] if raises else "", re.MULTILINE):
            for error in names.split(", "):
                assert hasattr(errors, error) or error in ("ValueError", "TypeError"), (name, error)


def test_public_dataclasses_are_frozen():
    for cls in classes():
        if dataclasses.is_dataclass(cls):
            assert cls.__dataclass_params__.frozen, cls
