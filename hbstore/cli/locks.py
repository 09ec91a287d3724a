"""Commands for the locks of Hive's clients: who holds what, and releasing what is stuck."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from hbstore.cli.arguments import JsonOption, OneTableArgument, StoreOption, examples
from hbstore.cli.opening import open_store
from hbstore.cli.printing import print_answer, print_json, print_rows
from hbstore.errors import TxnOpen, hinting
from hbstore.keys.partition_names import table_name

if TYPE_CHECKING:  # help needs no store
    from hbstore.model.service_objects import Lock

commands = typer.Typer(no_args_is_help=True)


@commands.callback()
def _locks() -> None:
    """See and release the locks of Hive's clients."""


@commands.command("list", epilog=examples("hbstore locks list", "hbstore locks list shop.sales --json"))
def list_locks(
    ctx: typer.Context,
    table: OneTableArgument = None,
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the locks that clients hold or wait for, a line for each.

    A lock that was not heard of for 300 seconds has expired, and is not listed.
    """
    with open_store(ctx, store) as opened:
        locks = opened.hive.locks.show(*(() if table is None else table_name(table)))
        heard = {transaction.id: transaction.heartbeat for transaction in opened.hive.transactions.list().open}
    now = time.time()
    documents = [_document(lock, max(lock.heartbeat, heard.get(lock.transaction, 0)), now) for lock in locks]
    if as_json:
        print_json(documents)
        return
    headers = ("lock", "state", "on", "user", "host", "transaction", "waits for", "seconds held", "seconds unheard")
    print_rows(headers, (tuple(map(_shown, document.values())) for document in documents))


@commands.command(epilog=examples("hbstore locks release 1"))
def release(
    ctx: typer.Context,
    lock: Annotated[int, typer.Argument(metavar="ID", help="As `hbstore locks list` prints it.")],
    *,
    abort: Annotated[
        bool, typer.Option("--abort", help="Abort the transaction that holds the lock, with all its locks.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Release a lock that another user's client holds.

    So make sure that its client has ended. A client that lives learns at its next heartbeat that the lock is gone;
    until then it works on as if it held it.
    """
    hint = "--abort aborts that transaction, with all its locks"
    with open_store(ctx, store) as opened, hinting(TxnOpen, hint):
        holders = {one.id: one.transaction for one in opened.hive.locks.show()}
        if abort and holders.get(lock):
            opened.hive.transactions.abort(holders[lock])
        else:
            opened.hive.locks.release(lock)
    print_answer({"released": lock}, [f"lock {lock}: released"], as_json=as_json)


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return "" if value is None else str(value)


def _document(lock: Lock, heard: int, now: float) -> dict[str, object]:
    return {
        "lock": lock.id,
        "state": lock.state.name.lower(),
        "locked": [
            f"{component.type.name.lower()} {'.'.join(filter(None, (component.database, component.table)))}"
            f"{f' {component.partition}' if component.partition else ''}"
            for component in lock.components
        ],
        "user": lock.user,
        "host": lock.host,
        "transaction": lock.transaction or None,
        "waits_for": lock.blocked_by,
        "seconds_held": None if lock.acquired is None else max(0, round(now - lock.acquired / 1_000)),
        "seconds_unheard": max(0, round(now - heard / 1_000)),
    }
