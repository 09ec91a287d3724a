"""The command that shows what a filter becomes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hbstore.cli.arguments import Dialect, DialectOption, JsonOption, StoreOption, TableArgument, examples
from hbstore.cli.opening import open_store
from hbstore.cli.printing import print_json, visible
from hbstore.keys.partition_names import table_name

commands = typer.Typer()


@commands.command(
    epilog=examples(
        "hbstore explain shop.sales \"ds >= '2013-01-01' and hour in (5, 6)\"",
        'hbstore explain shop.sales "hour = 5" --analyze',
    )
)
def explain(
    ctx: typer.Context,
    table: TableArgument,
    filter: Annotated[
        str | None, typer.Argument(metavar="[FILTER]", help="The filter; without one, every partition.")
    ] = None,
    *,
    analyze: Annotated[
        bool, typer.Option("--analyze", help="Run the scans, and show the rows, round trips and time of each.")
    ] = False,
    like_dialect: DialectOption = Dialect.SQL,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the scans that a filter becomes.

    For each scan it shows the range in values and in bytes, and the residual filter: the conditions that the scan must
    still check on each row.
    """
    with open_store(ctx, store) as opened:
        explained = opened.explain(*table_name(table), filter, analyze, like_dialect.value)
    if as_json:
        print_json(explained.to_dict())
    else:
        sys.stdout.writelines(f"{visible(line)}\n" for line in str(explained).split("\n"))
