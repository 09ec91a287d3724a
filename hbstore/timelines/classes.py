"""Timeline classes by name: the three of hbstore, and those that others bring.

A name stands in a table's parameters, which every client of the metastore endpoint may set. So a name never decides
which module is imported. It finds a class that this process has registered, or one that an installed package declares
as an entry point of the group ``hbstore.timelines``; only these modules are imported, when their class is asked for.

>>> timeline_class("RangesPartitionTimeline").__name__
'RangesPartitionTimeline'
>>> is_known("os.path.Timeline")
False
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import NoneType
from typing import Final, TypeVar

from hbstore.errors import InvalidInput, UnknownTimelineClass, did_you_mean
from hbstore.texts.arguments import expect
from hbstore.timelines.ends_and_holes import EndsAndHolesPartitionTimeline
from hbstore.timelines.ranges import RangesPartitionTimeline
from hbstore.timelines.store_all import StoreAllPartitionTimeline
from hbstore.timelines.timeline import PartitionTimeline

GROUP: Final = "hbstore.timelines"
"""The entry points that declare timeline classes."""

DEFAULT_CLASS: Final = EndsAndHolesPartitionTimeline
_PACKAGE: Final = "org.apache.lens.cube.metadata.timeline."
_CLASSES: Final[dict[str, type[PartitionTimeline]]] = {
    cls.__name__: cls for cls in (StoreAllPartitionTimeline, EndsAndHolesPartitionTimeline, RangesPartitionTimeline)
}
_registered: Final[dict[str, type[PartitionTimeline]]] = {}
_Timeline = TypeVar("_Timeline", bound=type[PartitionTimeline])


def register(cls: _Timeline) -> _Timeline:
    """Make a class known in this process, by its module and name; a decorator for classes.

    Raises:
        InvalidInput: it is no class of timelines, or does not do all that one does.

    >>> register(dict)
    Traceback (most recent call last):
        ...
    hbstore.errors.InvalidInput: the class is not a timeline class: name=dict, reason=it does not extend \
PartitionTimeline. Extend hbstore.timelines.PartitionTimeline, as docs/timelines.md shows
    """
    reason = _fault(cls)
    if reason is not None:
        raise InvalidInput(
            "the class is not a timeline class", name=getattr(cls, "__name__", cls), reason=reason, hint=_EXTEND
        )
    _registered[class_name(cls)] = cls
    return cls


def timeline_class(name: str | None) -> type[PartitionTimeline]:
    """The class of a name, hbstore's with Lens's Java package or without; the default for None and for an empty name.

    Raises:
        UnknownTimelineClass: there is none, or an installed package declares it and it cannot be used.

    >>> timeline_class("org.apache.lens.cube.metadata.timeline.StoreAllPartitionTimeline").__name__
    'StoreAllPartitionTimeline'
    >>> timeline_class(None).__name__
    'EndsAndHolesPartitionTimeline'
    """
    expect("class_name", name, str, NoneType, hint=f"Give the name of a class, such as {DEFAULT_CLASS.__name__!r}")
    if not name:
        return DEFAULT_CLASS
    cls = _CLASSES.get(name.removeprefix(_PACKAGE)) or _registered.get(name)
    if cls is not None:
        return cls
    declared = _declared().get(name)
    if declared is None:
        classes = known_classes()
        hint = did_you_mean(name, classes, _REGISTER)
        raise UnknownTimelineClass("the timeline class is unknown", name=name, classes=", ".join(classes), hint=hint)
    cls = _registered[name] = _loaded(name, declared)
    return cls


def is_known(name: str | None) -> bool:
    """Whether there is a class of a name that can be used."""
    try:
        timeline_class(name)
    except UnknownTimelineClass:
        return False
    return True


def class_name(cls: type[PartitionTimeline]) -> str:
    """The name of a class in a table's parameters: hbstore's as Lens reads them, others by module and name."""
    if _CLASSES.get(cls.__name__) is cls:
        return f"{_PACKAGE}{cls.__name__}"
    return f"{cls.__module__}.{cls.__qualname__}"


def short_name(cls: type[PartitionTimeline]) -> str:
    """The shortest name that `timeline_class` finds a class by."""
    return class_name(cls).removeprefix(_PACKAGE)


def known_classes() -> list[str]:
    """The names of all classes: hbstore's, then the others in order."""
    return [*_CLASSES, *sorted(_registered.keys() | _declared().keys())]


@cache
def _declared() -> dict[str, EntryPoint]:
    """The classes that installed packages declare, by module and name; none is imported for that."""
    return {f"{entry.module}.{entry.attr}": entry for entry in entry_points(group=GROUP)}


def _loaded(name: str, declared: EntryPoint) -> type[PartitionTimeline]:
    try:
        cls: type[PartitionTimeline] = declared.load()
    except Exception as error:  # whatever the code of a package raises
        raise _unusable(name, declared, f"{type(error).__name__}: {error}") from error
    reason = _fault(cls)
    if reason is None and class_name(cls) != name:
        reason = f"the entry point has to name the module that defines it, {class_name(cls)}"
    if reason is not None:
        raise _unusable(name, declared, reason)
    return cls


def _fault(cls: object) -> str | None:
    if not (isinstance(cls, type) and issubclass(cls, PartitionTimeline)):
        return "it does not extend PartitionTimeline"
    if inspect.isabstract(cls):
        return f"it lacks {', '.join(sorted(cls.__abstractmethods__))}"
    return None


def _unusable(name: str, declared: EntryPoint, reason: str) -> UnknownTimelineClass:
    package = None if declared.dist is None else declared.dist.name
    return UnknownTimelineClass(
        "the timeline class of an installed package cannot be used",
        name=name,
        package=package,
        reason=reason,
        hint="Repair the package, or use another class",
    )


_EXTEND: Final = "Extend hbstore.timelines.PartitionTimeline, as docs/timelines.md shows"
_REGISTER: Final = (
    f"Use one of these, or register your own: an entry point of the group {GROUP}, or hbstore.timelines.register"
)
