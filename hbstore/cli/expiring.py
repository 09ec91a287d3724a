"""Commands that drop partitions when they are old, and bring them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from hbstore.cli.arguments import JsonOption, StoreOption, TableArgument, examples
from hbstore.cli.opening import open_store
from hbstore.cli.partitions import expect_filter, print_partitions
from hbstore.cli.printing import print_answer, print_json, print_rows
from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import table_name
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # help needs no store
    from hbstore.files.warehouse import Warehouse
    from hbstore.model.objects import Table
    from hbstore.retention.expiry import ExpiryRun
    from hbstore.retention.old_partitions import OldPartitions
    from hbstore.store.partition_store import PartitionStore

commands = typer.Typer()
runs_commands = typer.Typer(no_args_is_help=True)

WarehouseOption = Annotated[
    str | None,
    typer.Option("--warehouse", metavar="DIR", help="The warehouse of hbstore serve."),
]
TrashOption = Annotated[
    str | None, typer.Option("--trash", metavar="DIR", help="The trash of hbstore serve; by default .Trash in there.")
]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="As `hbstore expired list` prints it.", show_default=False)
]


@commands.command(
    epilog=examples(
        "hbstore expire shop.sales --older-than 90d --dry-run",
        "hbstore expire shop.sales --older-than 90d --warehouse /data/warehouse",
        "hbstore expire shop.sales --filter \"ds < '2013-01-01'\" --warehouse /data/warehouse",
    )
)
def expire(
    ctx: typer.Context,
    table: TableArgument,
    *,
    older_than: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="Hours, days or weeks since their time ended: 36h, 90d, 12w; by default the table's.",
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The partition column whose times count; by default the table's.")
    ] = None,
    filter_: Annotated[
        str | None, typer.Option("--filter", metavar="FILTER", help="In place of an age: those that a filter selects.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print which they are, and drop nothing.")] = False,
    warehouse: WarehouseOption = None,
    trash: TrashOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Drop old partitions, so that they can be brought back.

    Their files move into the trash, those of external tables stay where they are.

    A table says by its parameter hbstore.retention, such as 90d, how long it keeps its partitions, and by
    hbstore.retention.column which column holds their times. Servers drop what is older once an hour. What was dropped
    is listed by `hbstore expired list` and brought back by `hbstore expired undo`, for 7 days; then the files are
    deleted.
    """
    from hbstore.model.structs import partitions_from_payloads
    from hbstore.retention.expiry import KEPT, undo_command
    from hbstore.retention.expiry import expire as expire_partitions
    from hbstore.retention.kept_files import parted

    if filter_ is not None and (older_than is not None or column is not None):
        hint = "Give --older-than or --filter, not both"
        raise InvalidInput("partitions are selected by an age or by a filter", hint=hint)
    expect_filter(filter_)
    now = datetime.now(UTC)
    with open_store(ctx, store) as opened:
        definition = opened.get_table(*table_name(table))
        old = _selected(opened, definition, filter_, older_than, column, now)
        if old.timeless:
            counted = plural(old.timeless, "partition")
            typer.echo(f"kept, as no time can be told: {counted} of those that were looked at", err=True)
        if dry_run:
            listed = partitions_from_payloads(old.payloads)
            print_partitions(list(listed), definition.partition_column_names, as_json=as_json)
            return
        done: list[ExpiryRun] = []
        undoing: dict[str, str] = {}
        kept: dict[str, str] = {}
        if old.payloads:
            where = _warehouse(opened, warehouse, trash)
            movable, kept = parted(opened, where, definition, old.payloads)
            done = list(expire_partitions(opened, where, definition, movable, now))
            undoing = {run.id: undo_command(opened, run.id, where.root) for run in done}
    until = (now + KEPT).date().isoformat()
    _print_expired(definition, len(old.payloads), done, kept, until=until, undoing=undoing, as_json=as_json)


@runs_commands.callback()
def _runs() -> None:
    """Look at partitions that were dropped because they were old, and bring them back."""


@runs_commands.command("list", epilog=examples("hbstore expired list", "hbstore expired list --json"))
def list_runs(ctx: typer.Context, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List what can be brought back, the earliest first."""
    from hbstore.retention.expiry import runs

    with open_store(ctx, store) as opened:
        listed = [
            {"run": run.id, "table": run.table, "at": run.at, "partitions": run.partitions, "files": run.files}
            for run in runs(opened)
        ]
    if as_json:
        print_json(listed)
    else:
        print_rows(("run", "table", "at", "partitions", "files"), (tuple(map(str, run.values())) for run in listed))


@runs_commands.command(
    "undo", epilog=examples("hbstore expired undo 2026-11-29T10-00-00-5f0c6f0f2a13 --warehouse /data/warehouse")
)
def undo_run(
    ctx: typer.Context,
    run: RunArgument,
    *,
    warehouse: WarehouseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring back the partitions of a run, with their files.

    Those that are there by now stay as they are, and keep the run in the list.

    First give the table a longer hbstore.retention, or servers drop them again. Column statistics of partitions do not
    come back.
    """
    from hbstore.retention.expiry import undo

    with open_store(ctx, store) as opened:
        undone = undo(opened, _warehouse(opened, warehouse, None), run)
    lines = [f"{plural(len(undone.restored), 'partition')} brought back"]
    lines += [f"{name}: {reason}" for name, reason in undone.left.items()]
    print_answer({"restored": undone.restored, "left": undone.left}, lines, as_json=as_json)
    if undone.left:
        raise typer.Exit(1)


@runs_commands.command("delete", epilog=examples("hbstore expired delete --older-than 24h --warehouse /data/warehouse"))
def delete_old_runs(
    ctx: typer.Context,
    *,
    older_than: Annotated[str, typer.Option(metavar="AGE", help="How long ago they were dropped.")] = "7d",
    warehouse: WarehouseOption = None,
    trash: TrashOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete the files of old runs from the trash for good. Servers do so with runs of 7 days."""
    from hbstore.model.retention import parse_age
    from hbstore.retention.expiry import delete_runs, runs

    with open_store(ctx, store) as opened:
        until = datetime.now(UTC) - parse_age(older_than)
        deleted = delete_runs(opened, _warehouse(opened, warehouse, trash), until)
        left = [run for run in runs(opened) if datetime.fromisoformat(run.at) <= until]
    lines = [f"{plural(len(deleted), 'run')} deleted"]
    lines += [f"not deleted, its files are in {run.trash}: {run.id}" for run in left]
    print_answer({"deleted": [run.id for run in deleted], "left": [run.id for run in left]}, lines, as_json=as_json)


def _print_expired(
    table: Table,
    selected: int,
    done: Sequence[ExpiryRun],
    kept: Mapping[str, str],
    *,
    until: str,
    undoing: Mapping[str, str],
    as_json: bool,
) -> None:
    """Print what was dropped of so many selected partitions, by which command each run is undone, and what was kept."""
    dropped = sum(run.partitions for run in done)
    lines = [f"{plural(dropped, 'partition')} dropped"]
    for run in done:
        undone = f"until {until}: {undoing[run.id]}"
        lines.append("their files are deleted for good (auto.purge)" if run.files == "deleted" else undone)
    lines += [f"kept {name}: {reason}" for name, reason in kept.items()]
    changing = selected - dropped - len(kept)
    if changing:
        lines.append(f"{plural(changing, 'partition')} kept, as others are changing them")
    runs = [run.id for run in done]
    print_answer({"table": str(table), "dropped": dropped, "runs": runs, "kept": kept}, lines, as_json=as_json)


def _selected(
    store: PartitionStore, table: Table, filter_: str | None, older_than: str | None, column: str | None, now: datetime
) -> OldPartitions:
    """The partitions of a table that a filter selects, or that are too old.

    Raises:
        InvalidInput: neither the command nor the table says how old they may be.
    """
    from hbstore.model.retention import Retention, checked_column, parse_age, retention_column, retention_of
    from hbstore.retention.old_partitions import OldPartitions, old_partitions

    if filter_ is not None:
        return store.read_payloads(
            table.database, table.name, filter_, lambda *read: OldPartitions(list(chain.from_iterable(read[2])), 0)
        )
    own = None if older_than is not None else retention_of(table)
    if older_than is None and own is None:
        raise InvalidInput(
            "nothing says how old partitions may be",
            table=table,
            hint="Give --older-than 90d or --filter, or set the table's parameter hbstore.retention",
        )
    age = parse_age(older_than or "") if own is None else own.age
    counts = checked_column(table, column) or retention_column(table)
    return old_partitions(store, table, Retention(age, counts), now)


def _warehouse(store: PartitionStore, root: str | None, trash: str | None) -> Warehouse:
    """The warehouse that a command names.

    Raises:
        InvalidInput: it names none.
    """
    from hbstore.files.warehouse import Warehouse
    from hbstore.warehouse.remembered import remembered_warehouse

    if root is None:  # not that of the servers unseen: this may be a copy of their store, whose files are not its own
        remembered = remembered_warehouse(store.records)
        used = "" if remembered is None else f" (servers of this store use {remembered.root})"
        raise InvalidInput("the command names no warehouse", hint=f"Give --warehouse DIR, as to hbstore serve{used}")
    return Warehouse(root, trash=trash, also_under=())  # one that is mistyped moves nothing
