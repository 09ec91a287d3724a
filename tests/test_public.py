"""The public interface: what its methods return and raise can be imported from hbstore, and each has an example."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from enum import Enum

import pytest

import hbstore
import hbstore.cubes
import hbstore.timelines
from hbstore import errors
from hbstore.store.hive import Hive
from hbstore.store.stored_timelines import StoredTimelines

PACKAGES = (hbstore, hbstore.timelines, hbstore.cubes)
EXPORTED = {getattr(package, name) for package in PACKAGES for name in package.__all__ if name != "NULL_PARTITION"}
SERVICES = [
    *typing.get_type_hints(Hive).values(),
    StoredTimelines,
    type(hbstore.connect("memory://").column_statistics),
]
VALUES_BELOW = {"Collected"}
"""What only `StoredTimelines.rebuild` returns, which says more than people ask for."""


def classes():
    """Exported classes with methods of their own to call, and the services that hang on a store."""
    return [
        one
        for one in [*{*EXPORTED, *SERVICES}]
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
    assert raised <= EXPORTED


@pytest.mark.parametrize("cls", [hbstore.PartitionStore, hbstore.TableHandle, hbstore.Partitions, hbstore.cubes.Cubes])
def test_what_methods_return_can_be_imported_from_the_package(cls):
    for name, function in public_methods(cls):
        returned = eval(function.__annotations__["return"], function.__globals__)  # noqa: S307  annotations are ours
        missing = {one.__name__ for one in own_classes(returned)} - {getattr(one, "__name__", "") for one in EXPORTED}
        assert missing <= VALUES_BELOW, name


WITH_EXAMPLES = [
    hbstore.PartitionStore,
    hbstore.TableHandle,
    hbstore.Partitions,
    hbstore.TableTimelines,
    hbstore.ColumnReference,
    hbstore.timelines.PartitionTimeline,
    hbstore.timelines.UpdatePeriod,
    hbstore.cubes.Cubes,
    *SERVICES,
]


@pytest.mark.parametrize("cls", WITH_EXAMPLES, ids=lambda cls: cls.__name__)
def test_every_public_method_has_an_example(cls):
    without = [name for name, function in public_methods(cls) if ">>> " not in (inspect.getdoc(function) or "")]
    assert without == []


@pytest.mark.parametrize("cls", WITH_EXAMPLES, ids=lambda cls: cls.__name__)
def test_errors_in_docstrings_are_errors_that_there_are(cls):
    for name, function in public_methods(cls):
        raises = re.search(r"Raises:\n(.*?)(\n\n|\Z)", inspect.getdoc(function) or "", re.DOTALL)
        for names in re.findall(r"^    ([A-Z]\w+(?:, [A-Z]\w+)*):", raises[1] if raises else "", re.MULTILINE):
            for error in names.split(", "):
                assert hasattr(errors, error) or error in ("ValueError", "TypeError"), (name, error)


def test_public_dataclasses_are_frozen():
    for cls in classes():
        if dataclasses.is_dataclass(cls):
            assert cls.__dataclass_params__.frozen, cls
