"""Which locks conflict, by Hive's rules.

A shared read goes with shared reads and writes, a shared write with shared reads, an exclusive write of Hive 4 with
shared reads, an exclusive lock with nothing. Locks meet where they name the same database, table and partition, as far
as both name them. A shared read of a database, which is what naming one takes, does not meet exclusive locks of its
tables and partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from hbstore.model.service_objects import LockComponent, LockLevel, LockType

_Level: TypeAlias = Mapping[str | None, Any]


class ComponentsByName:
    """The components of a lock, so that those which meet another component need not be searched for.

    >>> sales = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "shop", "sales")
    >>> returns = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "shop", "returns")
    >>> read = LockComponent(LockType.SHARED_READ, LockLevel.PARTITION, "shop", "sales", "ds=2013-01-01")
    >>> ComponentsByName([sales]).conflict_with(read), ComponentsByName([returns]).conflict_with(read)
    (True, False)
    """

    def __init__(self, components: Iterable[LockComponent]) -> None:
        self._databases: dict[str | None, dict[str | None, dict[str | None, list[LockComponent]]]] = {}
        for component in components:
            tables = self._databases.setdefault(component.database, {})
            tables.setdefault(component.table, {}).setdefault(component.partition, []).append(component)

    def conflict_with(self, other: LockComponent) -> bool:
        """Whether a component of another lock conflicts with one of these. O(those that meet it)."""
        tables = self._databases.get(other.database, {})
        partitions = (
            component
            for by_partition in _meeting(tables, other.table)
            for components in _meeting(by_partition, other.partition)
            for component in components
        )
        return any(_conflict(component, other) for component in partitions)


def _meeting(level: _Level, name: str | None) -> Iterator[Any]:
    """What is below one name of a level: all where no name is said, else what has the name or none."""
    if name is None:
        yield from level.values()
        return
    for key in (name, None):
        if key in level:
            yield level[key]


def _conflict(left: LockComponent, right: LockComponent) -> bool:
    """Whether two components that meet conflict."""
    if LockType.EXCLUSIVE in (left.type, right.type):
        exclusive, other = (left, right) if left.type == LockType.EXCLUSIVE else (right, left)
        names_database = other.type == LockType.SHARED_READ and other.level == LockLevel.DB
        return not (names_database and exclusive.level != LockLevel.DB)
    return LockType.SHARED_READ not in (left.type, right.type)
