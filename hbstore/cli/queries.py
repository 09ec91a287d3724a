"""Commands for cube queries: their rows by Spark, and what they would read without it."""

from __future__ import annotations

import sys
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from hbstore.cli.arguments import (
    DatabaseOption,
    FromOption,
    JsonOption,
    NowOption,
    OptionOption,
    ServerOption,
    StoreOption,
    TokenOption,
    ToOption,
    examples,
    model_name,
    named_values,
    time_of,
)
from hbstore.cli.opening import open_store
from hbstore.cli.printing import print_answer, print_json, print_note, print_query_rows
from hbstore.cli.progress import stages
from hbstore.cli.spark_session import spark_session
from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import DEFAULT_DATABASE

if TYPE_CHECKING:  # imported when there is a query: help needs none
    from hbstore.cubes.query.options import QueryOptions
    from hbstore.cubes.query.rewriting import Rewritten
    from hbstore.store.partition_store import PartitionStore

commands = typer.Typer(no_args_is_help=True)

OptionsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--options",
        metavar="FILE",
        help="A file of options: .properties, .toml, .json, .yaml, or Lens's .xml. --option counts more.",
    ),
]


@commands.callback()
def _query() -> None:
    """Ask cubes."""


@commands.command(
    epilog=examples(
        "hbstore query run --database shop --explain"
        " \"cube select price from sales_cube where time_range_in(order_time, '2015-01-30', '2015-02-02')\"",
        "hbstore query run --database shop --sql --partial --now 2015-02-04"
        " \"cube select price from sales_cube where time_range_in(order_time, 'now.day-5days', 'now.day')\"",
    )
)
def run(
    ctx: typer.Context,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT]",
            help="The query; by default the one on stdin. Write -- before a query that begins with a dash.",
        ),
    ] = None,
    *,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Print what the query would read and why, and do not run it. Needs no Spark."),
    ] = False,
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the Spark SQL of the query, and do not run it. Needs no Spark.")
    ] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="Answer from the partitions that exist, and say which times are missing.")
    ] = False,
    now: NowOption = None,
    option: OptionOption = None,
    options: OptionsOption = None,
    server: ServerOption = None,
    token: TokenOption = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV, with a line of names.")] = False,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a cube query, and print its rows.

    With --server, a server runs the query, which may then be any statement that it takes. Without it, Spark runs here.
    Spark reads the partitions that answer the query best: of the facts with the least weight, as few as there are.
    If partitions are missing, the exit code is 1 and the error names the times; with --partial the rows are those of
    the partitions that exist.
    """
    from hbstore.cubes import Cubes

    if (explain, sql, as_csv).count(True) > 1 or (as_json and (sql or as_csv)):
        raise InvalidInput(
            "the options exclude each other", options="--explain, --sql, --csv, --json", hint="Use one of them"
        )
    if server is not None and not (explain or sql):
        if options is not None:
            raise InvalidInput("the server cannot read the file", options=options, hint="Give each as --option")
        from hbstore.cli.query_server import asked, query_of, run_there

        asking = query_of(text, partial=partial, now=now, option=option, database=database)
        with asked(server, token) as connection:
            run_there(connection, asking, as_csv=as_csv, as_json=as_json)
        return
    query = sys.stdin.read() if text is None else text
    in_database = database or DEFAULT_DATABASE
    with open_store(ctx, store) as opened:
        rewritten = Cubes(opened, in_database).rewrite(
            query, now=time_of(now), partial=partial, options=_options(option, options)
        )
        if explain:
            print_json(rewritten.to_dict()) if as_json else sys.stdout.write(f"{rewritten.explain()}\n")
        elif sql:
            from hbstore.cubes.query.rewriting import NEEDS_UTC

            _note(rewritten)
            if rewritten.needs_utc:
                print_note(NEEDS_UTC)
            sys.stdout.write(f"{rewritten.sql}\n")
        else:
            _print_answer(opened, in_database, rewritten, as_csv=as_csv, as_json=as_json)


@commands.command(
    epilog=examples(
        "hbstore query candidates sales_cube price --database shop"
        " --time-dimension order_time --from 2015-01-30 --to 2015-02-02",
    )
)
def candidates(
    ctx: typer.Context,
    cube: Annotated[str, typer.Argument(metavar="CUBE", help="The cube: CUBE or DB.CUBE.", show_default=False)],
    fields: Annotated[
        list[str],
        typer.Argument(metavar="FIELD", help="Its fields, and those of join chains: city.name.", show_default=False),
    ],
    *,
    time_dimension: Annotated[
        str,
        typer.Option("--time-dimension", metavar="NAME", help="The time dimension of the range.", show_default=False),
    ],
    start: FromOption,
    end: ToOption,
    now: NowOption = None,
    option: OptionOption = None,
    options: OptionsOption = None,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which facts can answer some fields in a range of time.

    The command lists the storage tables of the cube's facts, the lightest first. Each one could answer alone, or has a
    cause why not; if it lacks partitions, the command names the times.
    """
    from hbstore.cubes import Cubes

    in_database, name = model_name(cube, database)
    with open_store(ctx, store) as opened:
        tables = Cubes(opened, in_database).candidates(
            name, fields, (time_dimension, start, end), now=time_of(now), options=_options(option, options)
        )
    rows = [(one.table, f"{one.weight:g}", one.cause or "can answer", one.detail) for one in tables]
    print_answer(
        [one.to_dict() for one in tables],
        map(str, tables),
        as_json=as_json,
        table=(("storage table", "weight", "cause", "detail"), rows),
    )


def _options(option: list[str] | None, file: str | None) -> QueryOptions:
    """The options of a file, and over them those of the command."""
    from hbstore.cubes.query.options import QueryOptions

    return QueryOptions.of(file).changed(named_values("option", option))


def _print_answer(store: PartitionStore, database: str, rewritten: Rewritten, *, as_csv: bool, as_json: bool) -> None:
    """Run a query that was rewritten by Spark, and print its rows."""
    _note(rewritten)
    with spark_session("hbstore query", in_utc=True) as session:
        from hbstore.spark.cube import answer

        with stages(session, "Asking Spark"):  # until the first row, as rows may go to the same terminal
            frame = answer(session, store, database, rewritten)
            rows = frame.toLocalIterator()
            first = list(islice(rows, 1))
        print_query_rows(frame.columns, chain(first, rows), as_csv=as_csv, as_json=as_json)


def _note(rewritten: Rewritten) -> None:
    """What the user should know beside the rows, on stderr."""
    from hbstore.cubes.query.rewriting import notes_of

    for note in notes_of(rewritten):
        print_note(note)
