"""The command that shows the console of a store in a browser."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Final

import typer

from hbstore.cli.arguments import StoreOption, examples
from hbstore.cli.opening import open_store, store_url
from hbstore.errors import AddressUnavailable, hinting
from hbstore.extras import check_extra

commands = typer.Typer()
_LOOPBACK: Final = "127.0.0.1"
"""Where `hbstore serve` listens unless a file or the environment says otherwise."""


@commands.command(epilog=examples("hbstore console", "hbstore console catalog.db --port 8081"))
def console(
    ctx: typer.Context,
    path: Annotated[
        str | None, typer.Argument(metavar="[STORE]", help="The store, in place of --store.", show_default=False)
    ] = None,
    *,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="P", help="The console's port; 0 takes any free port.")
    ] = 8080,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether a browser is opened on it.")] = True,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse whatever changes the catalog.")] = False,
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the line of the server as JSON.")] = False,
) -> None:
    """Show the console of a store in a browser.

    It is `hbstore serve --http-port 8080 --without-metastore`, until Ctrl-C, but that it makes no store: other options
    of serve are in a file or in the environment. It needs neither Java nor Spark, but for queries.
    """
    from hbstore.servers.listening import held_port

    root = ctx.find_root()
    host = (root.default_map or {}).get("serve", {}).get("host", _LOOPBACK)

    check_extra("web", "hbstore console")
    with (
        open_store(ctx, path or store),
        hinting(AddressUnavailable, "Choose another with --port; port 0 takes any free port"),
        held_port(host, port),
    ):
        pass  # serve would make a store that is mistyped, and its hint names options that this command lacks
    words = ["--config", root.params["config"]] if root.params["config"] else []
    words += ["--store", path or store_url(ctx, store), "serve", "--without-metastore", "--http-port", str(port)]
    words += ["--open-browser"] * browser + ["--read-only"] * read_only + ["--json"] * as_json
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "hbstore", *words])  # noqa: S606  the command is our own
