"""Commands for publications: writes of files and partitions that are not finished."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from hbstore.cli.arguments import JsonOption, OneTableArgument, StoreOption, TableArgument, examples
from hbstore.cli.opening import open_store
from hbstore.cli.printing import print_answer, print_json, print_rows
from hbstore.texts.wording import plural

commands = typer.Typer(no_args_is_help=True)


@commands.callback()
def _publications() -> None:
    """Look at writes of files that are not finished."""


@commands.command("list", epilog=examples("hbstore publications list", "hbstore publications list shop.sales --json"))
def list_publications(
    ctx: typer.Context,
    table: OneTableArgument = None,
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the publications that are not finished.

    A publication is leased (its job works), decided (its partitions are there, and its files are being shown), renaming
    (a folder moves), deleting (partitions, the table or a database were dropped, and their files are being deleted), or
    overdue (its job died, and the next job that writes these partitions clears it away). One that stays decided cannot
    be finished: the log of the servers says why, and so does `hbstore publications finish`.
    """
    from hbstore.publishing.open_publications import open_publications

    with open_store(ctx, store) as opened:
        open_ones = list(map(asdict, open_publications(opened, table)))
    if as_json:
        print_json(open_ones)
    else:
        headers = ("table", "publication", "state", "partitions", "seconds overdue")
        print_rows(headers, (tuple(map(str, one.values())) for one in open_ones))


@commands.command(epilog=examples("hbstore publications finish shop.sales"))
def finish(ctx: typer.Context, table: TableArgument, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Finish the publications of a table.

    What is decided is shown, and what dead jobs left is cleared away. Servers and jobs do so by themselves, and try
    again ever more rarely where that fails. This command tries at once, with your rights, and fails with the reason.
    """
    from hbstore.publishing.open_publications import finish_publications

    with open_store(ctx, store) as opened:
        done = finish_publications(opened, table)
    print_answer({"finished": done}, [f"{plural(done, 'publication')} finished or cleared away"], as_json=as_json)


@commands.command(epilog=examples("hbstore publications abandon shop.sales 5f0c6f0f2a134fd58c33b0ac22b2d8f9"))
def abandon(
    ctx: typer.Context,
    table: TableArgument,
    publication: Annotated[str, typer.Argument(metavar="ID", help="As `hbstore publications list` prints it.")],
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a publication up that cannot be finished.

    If it is not decided, its files are removed, and its job fails. If it is decided, its partitions stay as they are,
    and the command prints the files that are not shown: no reader sees their rows until you move them yourself.
    """
    from hbstore.publishing.open_publications import abandon_publication

    with open_store(ctx, store) as opened:
        left = abandon_publication(opened, table, publication)
    lines = [f"given up; {plural(len(left), 'file or folder')} left where it is" if left else "given up", *left]
    print_answer({"left": left}, lines, as_json=as_json)
