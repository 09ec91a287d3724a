"""Commands that keep a store: backup, restore, upgrade."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hbstore.cli.arguments import JsonOption, StoreOption, examples
from hbstore.cli.opening import store_url
from hbstore.cli.printing import print_answer
from hbstore.errors import InvalidInput
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # imported when a command runs
    from hbstore.rows.sqlite.backup import Copied
    from hbstore.rows.sqlite.file import SqliteFile

commands = typer.Typer()


@commands.command(
    epilog=examples(
        "hbstore backup backups",
        "hbstore backup backups/before-the-upgrade.db",
    )
)
def backup(
    ctx: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="FILE|FOLDER", help="The backup, or the folder that gets it.")],
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy a store in a file while it is in use.

    The copy is the store at one moment. In a folder, it is named after the store and the time in UTC. The command
    verifies what it wrote before the file gets its name. Copying the store's file by other means loses what is in the
    -wal file beside it.
    """
    from hbstore.rows.sqlite.backup import back_up

    _tell(back_up(_file(ctx, store), target), as_json=as_json)


@commands.command(
    epilog=examples(
        "hbstore restore backups/before-the-upgrade.db --store new.db",
        "hbstore restore backups/before-the-upgrade.db --replace",
    )
)
def restore(
    ctx: typer.Context,
    backup: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the store that is there; what it holds is lost.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a store in a file from a backup.

    The command verifies the backup first. It replaces a store in one transaction, while no process has the store open.
    """
    from hbstore.rows.sqlite.backup import restore as restored

    _tell(restored(backup, _file(ctx, store), replace=replace), as_json=as_json)


@commands.command(epilog=examples("hbstore upgrade", "hbstore upgrade --json"))
def upgrade(ctx: typer.Context, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Give an older store the format of this version.

    Whatever opens the store does so; this command does nothing else, and says what it did. Where it is broken off, run
    it again: it goes on. Back up the store before, as earlier versions do not read it afterwards.
    """
    from hbstore.rows import connect
    from hbstore.store.older_stores import bring_up
    from hbstore.store.tables import Tables
    from hbstore.transactions.transactions import Transactions

    with closing(connect(store_url(ctx, store), create=False)) as rows:
        done = bring_up(Tables(Transactions(rows)))
    line = f"format {done.after} already, which this version reads and writes"
    if done.after != done.before:
        line = f"format {done.before} before, {done.after} now: {plural(done.moved, 'partition')} moved to new keys"
    print_answer({"before": done.before, "after": done.after, "moved": done.moved}, [line], as_json=as_json)


def _file(ctx: typer.Context, store: str | None) -> SqliteFile:
    from hbstore.rows.sqlite.file import parse_sqlite_url
    from hbstore.rows.urls import parse_url

    url = parse_url(store_url(ctx, store))
    if url.scheme != "sqlite":
        raise InvalidInput(
            "only a store in a file is backed up and restored by hbstore",
            store=url.text,
            hint="For a store in HBase, use snapshots of its tables: docs/operating.md",
        )
    return parse_sqlite_url(url)


def _tell(copied: Copied, *, as_json: bool) -> None:
    print_answer(
        {"path": str(copied.path), "bytes": copied.size}, [f"{copied.path}: {copied.size:,} bytes"], as_json=as_json
    )
