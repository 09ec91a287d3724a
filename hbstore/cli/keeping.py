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
from hbstore.rows.urls import StoreUrl, parse_url
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # imported when a command runs
    from hbstore.rows.sqlite.backup import Copied

commands = typer.Typer()


@commands.command(
    epilog=examples(
        "hbstore backup backups",
        "hbstore backup backups/before-the-upgrade.db",
    )
)
def backup(
    ctx: typer.Context,
    target: Annotated[
        Path, typer.Argument(metavar="FILE|FOLDER", help="The backup (NAME.db), or the folder that gets it.")
    ],
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy a store into a file while it is in use.

    The copy is the store at one moment, and a store of its own. In a folder, it is named after the store and the time
    in UTC. The command verifies what it wrote before the file gets its name. Copying a store's file by other means
    loses what is in the -wal file beside it.
    """
    url = _kept(ctx, store)
    if url.scheme == "sqlite":
        from hbstore.rows.sqlite.backup import back_up
        from hbstore.rows.sqlite.file import parse_sqlite_url

        copied = back_up(parse_sqlite_url(url), target)
    else:
        from hbstore.rows import connect
        from hbstore.store.copying import back_up as back_up_rows
        from hbstore.store.older_stores import bring_up
        from hbstore.store.tables import Tables
        from hbstore.transactions.transactions import Transactions

        with closing(connect(url.text, create=False)) as rows:
            source = Transactions(rows)
            bring_up(Tables(source))
            copied = back_up_rows(source, url.place.rpartition("/")[2], target)
    _tell(copied, as_json=as_json)


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
    """Make a store from a backup.

    The command verifies the backup first. It replaces a store in a file in one transaction, while no process has the
    store open. In HBase it fills a prefix that has no store yet; where it is broken off, that prefix stays refused.
    """
    url = _kept(ctx, store)
    if url.scheme == "sqlite":
        from hbstore.rows.sqlite.backup import restore as restored
        from hbstore.rows.sqlite.file import parse_sqlite_url

        _tell(restored(backup, parse_sqlite_url(url), replace=replace), as_json=as_json)
        return
    from hbstore.rows import connect
    from hbstore.rows.sqlite.backup import check_backup
    from hbstore.store.copying import restore as restored_rows

    check_backup(backup)
    with closing(connect(url.text)) as rows:
        restored_rows(backup, rows)
    print_answer({"store": url.text}, [f"{url.text}: restored"], as_json=as_json)


@commands.command(epilog=examples("hbstore upgrade", "hbstore upgrade --json"))
def upgrade(ctx: typer.Context, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Give an older store this version's format and small rows.

    Whatever opens the store gives it the format; packing makes rows of an earlier version as small as new ones are.
    Readers and writers go on meanwhile; only at the end writers wait while a SQLite file gives the room that this frees
    to the disk, for which it takes as much again. Where it is broken off, run it again: it goes on. Back up the store
    before, as earlier versions do not read it afterwards.
    """
    from hbstore.rows import connect
    from hbstore.store.older_stores import bring_up
    from hbstore.store.packing import pack_store
    from hbstore.store.tables import Tables
    from hbstore.transactions.transactions import Transactions

    with closing(connect(store_url(ctx, store), create=False)) as rows:
        tables = Tables(Transactions(rows))
        done, packed = bring_up(tables), pack_store(tables)
        if packed:
            tables.transactions.rows.give_back()
    line = f"format {done.after} already, which this version reads and writes"
    if done.after != done.before:
        line = f"format {done.before} before, {done.after} now: {plural(done.moved, 'partition')} moved to new keys"
    answer = {"before": done.before, "after": done.after, "moved": done.moved, "packed": packed}
    print_answer(answer, [line, f"{plural(packed, 'partition')} packed"], as_json=as_json)


def _kept(ctx: typer.Context, store: str | None) -> StoreUrl:
    """The store of the command, which outlives it."""
    url = parse_url(store_url(ctx, store))
    if url.scheme == "memory":
        raise InvalidInput(
            "a store in memory is empty, and gone with the command", store=url.text, hint="Name a file, or HBase"
        )
    return url


def _tell(copied: Copied, *, as_json: bool) -> None:
    print_answer(
        {"path": str(copied.path), "bytes": copied.size}, [f"{copied.path}: {copied.size:,} bytes"], as_json=as_json
    )
