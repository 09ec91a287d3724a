"""Folders for what the catalog is about to name: made before it does, and there afterwards whatever others do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from hbstore.errors import CommitStateUnknown, FileOperationFailed, HbstoreError, OutsideWarehouse
from hbstore.files.local_files import LocalFiles
from hbstore.files.locations import LOCAL, Location, parse_location
from hbstore.files.warehouse import Warehouse

_LOCAL: Final = LocalFiles()


@contextmanager
def making_folders(
    warehouse: Warehouse, locations: Sequence[str], named: Callable[[], Iterable[str | None]]
) -> Iterator[list[bool]]:
    """Folders for what the block stores.

    If it fails, those that were made and are empty are removed, and made again where the catalog names them: another
    call may have taken them for its own. One that succeeds makes sure of those that it had not made itself. So of the
    two the one that looks last makes the folder. They stay where the outcome is not known (CommitStateUnknown), and on
    file systems that cannot see that a folder is empty and remove it in one step.

    Args:
        warehouse: makes them.
        locations: where they are.
        named: those locations that the catalog names; it is asked after a failure.

    Returns:
        For each location whether its folder was made.

    Raises:
        FileOperationFailed, OutsideWarehouse: as of `Warehouse.make_folder`.
    """
    targets = list(map(parse_location, locations))
    new_folders: list[tuple[Location, list[str]]] = []
    try:
        are_new = warehouse.make_all(targets, new_folders)
        yield are_new
    except CommitStateUnknown:
        raise
    except BaseException:
        if _remove_empty(new_folders):
            warehouse.make_all(_named(named, targets), [])
        raise
    there = [target for target, is_new in zip(targets, are_new, strict=True) if not is_new]
    with suppress(FileOperationFailed, OutsideWarehouse):  # what the block stored is there, and no error may deny it
        warehouse.make_all([target for target in there if target.scheme == LOCAL], [])


def _named(named: Callable[[], Iterable[str | None]], targets: Sequence[Location]) -> list[Location]:
    """Those of some folders that the catalog names; all, where it cannot be asked."""
    try:
        return [parse_location(location) for location in named() if location is not None]
    except HbstoreError:
        return list(targets)


def _remove_empty(new_folders: Sequence[tuple[Location, list[str]]]) -> bool:
    """Remove local folders that are empty; whether there were any. One that stays harms nobody."""
    removed = False
    for target, folders in reversed(new_folders):
        if target.scheme == LOCAL:
            for folder in reversed(folders):
                removed |= _LOCAL.delete_empty(folder)
    return removed
