"""What ``hbstore repair --mode`` does and prints: partitions and folders are made to agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal

from hbstore.cli.printing import print_json, print_lines
from hbstore.cli.progress import bars
from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import table_name
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # `hbstore --help` needs no store
    from collections.abc import Callable

    from hbstore.repair import Repair, Staging
    from hbstore.store.partition_store import PartitionStore

_STEPS: Final = {"list": "folders", "drop": "dropping", "add": "adding"}
_HOUR: Final = 3600


class RepairMode(StrEnum):
    """What is done to partitions."""

    ADD = "add"
    DROP = "drop"
    SYNC = "sync"


@dataclass(frozen=True, slots=True)
class FolderRepair:
    """What was asked for.

    Attributes:
        mode: what is done.
        spec: only partitions with these values.
        dry_run: nothing is changed.
        force: also where the table's own folder is missing or empty.
    """

    mode: Literal["add", "drop", "sync"]
    spec: Mapping[str, str] | None
    dry_run: bool
    force: bool


def repair_folders(
    store: PartitionStore, tables: Sequence[str] | None, request: FolderRepair, *, as_json: bool
) -> None:
    """Repair some tables one after the other, and print what was done to each.

    Raises:
        InvalidInput: the command names no table; what hbstore.repair.sync_partitions raises.
    """
    from hbstore.repair import sync_partitions

    if not tables:
        raise InvalidInput("the command names no table", hint="Name the tables to repair: DB.TABLE")
    names = [".".join(table_name(text)) for text in tables]
    documents = []
    for name in names:
        with _steps(name) as progress:
            done = sync_partitions(
                store,
                name,
                request.mode,
                spec=request.spec,
                dry_run=request.dry_run,
                force=request.force,
                progress=progress,
            )
        if as_json:
            documents.append(_document(request, done))
        else:
            print_lines(_lines(request, done))
    if as_json:
        print_json({"tables": documents})


@contextmanager
def _steps(table: str) -> Iterator[Callable[[str, int, int | None], None]]:
    """A progress bar for each step, one after the other."""
    with bars() as show:
        yield lambda step, done, total: show(f"{table}: {_STEPS[step]}", done, total)


def _lines(request: FolderRepair, done: Repair) -> Iterator[str]:
    """What was done to one table; in a dry run with every partition by its name."""
    if request.dry_run:
        yield from (f"would add {name}" for name in done.names(done.add))
        yield from (f"would drop {name}" for name in done.names(done.drop))
    yield from (f"foreign {folder}: {why}" for folder, why in done.foreign)
    yield from (f"left alone {name}: a job is writing it" for name in done.busy)
    for staging in done.staging:
        yield f"staging {staging.location}: {_fate(request, staging)}, {_age(staging)}"
    adding, dropping = plural(len(done.add), "partition"), plural(len(done.drop), "partition")
    if request.dry_run:
        changes = f"{adding} to add, {dropping} to drop"
    else:
        changes = f"{plural(done.added, 'partition')} added, {plural(done.dropped, 'partition')} dropped"
    yield f"{done.table}: {changes}, {plural(len(done.foreign), 'foreign folder')}"


def _document(request: FolderRepair, done: Repair) -> dict[str, Any]:
    return {
        "table": str(done.table),
        "mode": request.mode,
        "dry_run": request.dry_run,
        "add": done.names(done.add),
        "drop": done.names(done.drop),
        "added": done.added,
        "dropped": done.dropped,
        "foreign": [{"folder": folder, "why": why} for folder, why in done.foreign],
        "busy": list(done.busy),
        "staging": [
            {"location": staging.location, "age": staging.age, "removed": staging.is_stale and not request.dry_run}
            for staging in done.staging
        ],
    }


def _fate(request: FolderRepair, staging: Staging) -> str:
    if not staging.is_stale:
        return "kept, because its job may be alive"
    return "would be removed" if request.dry_run else "removed"


def _age(staging: Staging) -> str:
    return "age unknown" if staging.age is None else f"unchanged for {plural(int(staging.age // _HOUR), 'hour')}"
