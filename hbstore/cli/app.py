"""The command ``hbstore``: its global options, its commands, and how errors end it."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from hbstore.cli import (
    analyzing,
    catalog,
    console,
    expiring,
    explain,
    fact_partitions,
    facts,
    keeping,
    load,
    locks,
    models,
    partitions,
    publications,
    queries,
    query_server,
    serve,
    spark_conf,
    sql,
    timelines,
    transferring,
    upkeep,
)
from hbstore.cli.arguments import examples
from hbstore.cli.configuration import options_of, read_configuration, show_instead
from hbstore.cli.failures import BUG, abandon_stdout, exit_code, report
from hbstore.cli.opening import Settings
from hbstore.errors import HbstoreError
from hbstore.extras import extra_of, missing_extra


class Commands(TyperGroup):
    """The commands, with errors told to people instead of Python's tracebacks."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an error ends it with a message and an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # so that a full disk or a closed pipe is noticed here
        except (HbstoreError, KeyboardInterrupt, OSError) as error:
            _give_up(error, ctx.obj)
        except ModuleNotFoundError as error:
            extra = extra_of(error.name or "")
            if extra is None:
                raise
            _give_up(missing_extra(extra, f"hbstore {ctx.invoked_subcommand}", [str(error.name)]), ctx.obj)
        return result


app = typer.Typer(
    name="hbstore",
    cls=Commands,
    rich_markup_mode=None,  # help is plain text, the same on a terminal, in a pipe and in docs/cli.md
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "hbstore init --database shop",
        'hbstore create-table shop.sales --partition "ds date" --partition "hour int"',
        "hbstore add-partition shop.sales ds=2013-01-01/hour=5",
        "hbstore partitions shop.sales --filter \"ds >= '2013-01-01' and hour in (5, 6)\"",
    )
    + "\n\nExit codes: 0 success; 1 a check found problems, `fact cover`, `fact wait`, `query run` or `sql` found time "
    "without partitions, or not all could be imported or exported as it is; "
    "2 a mistake in the command or its input; 3 the store or the server does not answer, or the store does not exist, "
    "cannot be written, is full or damaged; 4 a bug in hbstore; 130 interrupted; 141 the reader of a pipe has ended.",
)
for _module in (
    *(catalog, partitions, expiring, load, transferring, explain, sql, serve, console, spark_conf, analyzing, upkeep),
    keeping,
):
    app.add_typer(_module.commands)
app.add_typer(models.commands, name="model", help="Describe data: storages, cubes, dimensions, facts.")
app.add_typer(
    facts.commands,
    name="fact",
    help="Look at a fact's times, and register its partitions.",
    context_settings={"token_normalize_func": lambda name: name.replace("_", "-")},  # --fact_name, as in Lens
)
facts.commands.add_typer(fact_partitions.commands, name="partitions", help="Register, drop and list partitions.")
queries.commands.add_typer(query_server.commands)
app.add_typer(queries.commands, name="query", help="Ask cubes, here or at a server.")
app.add_typer(publications.commands, name="publications", help="Look at writes of files that are not finished.")
app.add_typer(locks.commands, name="locks", help="See and release the locks of Hive's clients.")
app.add_typer(expiring.runs_commands, name="expired", help="List, bring back and delete expired partitions.")
app.add_typer(timelines.commands, name="timeline", help="Show, check and convert the timelines of tables.")


def _print_version(asked: bool) -> None:  # noqa: FBT001  typer calls it
    if asked:
        upkeep.version()
        raise typer.Exit


@app.callback()
def _global_options(
    ctx: typer.Context,
    *,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            envvar=["HBSTORE_URL", "HBSTORE_STORE"],
            metavar="URL",
            help="The store: sqlite:///abs/path.db, a plain path, or hbase://host:port/prefix."
            " By default it is ~/.config/hbstore/hbstore.db;"
            " on macOS, hbstore.db in ~/Library/Application Support/hbstore.",
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            envvar="HBSTORE_CONFIG",
            metavar="FILE",
            help="Options in a file of TOML: [serve] http-port = 8080 is that option of that command.",
        ),
    ] = None,
    show_config: Annotated[
        bool,
        typer.Option("--show-config", help="Print the options of the command, and where each comes from; do nothing."),
    ] = False,
    with_traceback: Annotated[
        bool, typer.Option("--traceback", envvar="HBSTORE_DEBUG", help="Show where in hbstore an error comes from.")
    ] = False,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Store the partitions of big tables in ordered rows, and find those that a filter selects."""
    root = ctx.command
    configuration = read_configuration(config, os.environ, root)
    ctx.default_map = configuration.default_map(options_of(root))
    if show_config:
        show_instead(ctx, configuration)
    ctx.obj = Settings(store or configuration.values.get(("store",)), with_traceback)


def main() -> None:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no reason to stop
    try:
        app(prog_name="hbstore")
    except Exception:  # noqa: BLE001  what is expected has been told already, so this is a bug
        traceback.print_exc()
        sys.stderr.write("This is a bug in hbstore: please report it with the lines above.\n")
        sys.exit(BUG)


def _give_up(error: BaseException, settings: Settings | None) -> NoReturn:
    """End the command with the exit code of an error."""
    try:
        sys.stdout.flush()
    except OSError:
        abandon_stdout()
    if not isinstance(error, BrokenPipeError):  # the reader that closed the pipe knows
        with contextlib.suppress(BrokenPipeError):
            report(error, with_traceback=settings is not None and settings.with_traceback)
    raise typer.Exit(exit_code(error)) from error
