"""Classes by name: whose are found, and that a name alone imports nothing."""

from __future__ import annotations

import sys

import pytest

from hbstore.errors import InvalidInput, UnknownTimelineClass
from hbstore.timelines import PartitionTimeline, RangesPartitionTimeline, classes, register, timeline_class
from hbstore.timelines.classes import class_name, known_classes, short_name
from tests.timelines.own_class import NAME, CountedRunsTimeline
from tests.timelines.strategies import CLASSES

ENTRY_POINTS = """[hbstore.timelines]
good = farmtimelines.rows:RowTimeline
moved = farmtimelines:RowTimeline
broken = farmtimelines.broken:Timeline
absent = farmtimelines.rows:NoSuchTimeline
stranger = farmtimelines.rows:Stranger
unfinished = farmtimelines.rows:Unfinished
"""
ROWS = """
from hbstore.timelines import PartitionTimeline, RangesPartitionTimeline

class RowTimeline(RangesPartitionTimeline):
    pass

class Stranger:
    pass

class Unfinished(PartitionTimeline):
    pass
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that is installed for the time of a test, and declares timeline classes."""
    folder = tmp_path / "farmtimelines"
    folder.mkdir()
    (folder / "__init__.py").write_text("from farmtimelines.rows import RowTimeline\n")
    (folder / "rows.py").write_text(ROWS)
    (folder / "broken.py").write_text("raise RuntimeError('no more seeds')\n")
    (folder / "private.py").write_text(ROWS)
    about = tmp_path / "farmtimelines-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: farmtimelines\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(classes, "_registered", {})
    classes._declared.cache_clear()
    yield "farmtimelines"
    classes._declared.cache_clear()
    for name in [name for name in sys.modules if name.startswith("farmtimelines")]:
        del sys.modules[name]


@pytest.mark.parametrize("cls", CLASSES)
def test_a_class_is_found_by_its_names(cls):
    assert timeline_class(class_name(cls)) is timeline_class(short_name(cls)) is cls


def test_a_registered_class_is_found_by_its_module_and_name_alone(monkeypatch):
    monkeypatch.setattr(classes, "_registered", {})
    for name in (NAME, "CountedRunsTimeline", "org.apache.lens.cube.metadata.timeline.CountedRunsTimeline"):
        with pytest.raises(UnknownTimelineClass):
            timeline_class(name)
    assert register(CountedRunsTimeline) is CountedRunsTimeline
    assert timeline_class(NAME) is CountedRunsTimeline
    assert known_classes()[-1] == NAME
    with pytest.raises(UnknownTimelineClass):
        timeline_class("CountedRunsTimeline")


def test_a_class_of_a_name_of_hbstores_is_another():
    class RangesPartitionTimeline(CountedRunsTimeline):
        pass

    assert "own_class" not in class_name(RangesPartitionTimeline)
    assert class_name(RangesPartitionTimeline).startswith("tests.timelines.test_classes.")


class Unfinished(PartitionTimeline):
    pass


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        (dict, "does not extend PartitionTimeline"),
        (CountedRunsTimeline.add, "does not extend"),
        (PartitionTimeline, "it lacks _add, _between"),
        (Unfinished, "it lacks _add, _between"),
    ],
)
def test_what_cannot_be_registered(thing, reason):
    with pytest.raises(InvalidInput, match=reason):
        register(thing)


def test_an_installed_package_declares_classes_and_is_imported_when_one_is_asked_for(package):
    assert "farmtimelines.rows.RowTimeline" in known_classes()
    assert package not in sys.modules
    cls = timeline_class("farmtimelines.rows.RowTimeline")
    assert issubclass(cls, RangesPartitionTimeline)
    assert class_name(cls) == "farmtimelines.rows.RowTimeline"
    assert timeline_class("farmtimelines.rows.RowTimeline") is cls


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("farmtimelines.RowTimeline", "has to name the module that defines it, farmtimelines.rows.RowTimeline"),
        ("farmtimelines.broken.Timeline", "RuntimeError: no more seeds"),
        ("farmtimelines.rows.NoSuchTimeline", "AttributeError"),
        ("farmtimelines.rows.Stranger", "does not extend PartitionTimeline"),
        ("farmtimelines.rows.Unfinished", "it lacks _add"),
    ],
)
def test_what_a_package_declares_wrongly_is_told_with_its_name(package, name, reason):
    with pytest.raises(UnknownTimelineClass, match=reason) as caught:
        timeline_class(name)
    assert caught.value.fields["package"] == package


@pytest.mark.parametrize("name", ["farmtimelines.private.RowTimeline", "farmtimelines.rows:RowTimeline", "this.x"])
def test_no_name_imports_a_module_that_no_package_declares(package, name):
    before = set(sys.modules)
    with pytest.raises(UnknownTimelineClass):
        timeline_class(name)
    assert set(sys.modules) == before
    assert package not in sys.modules
