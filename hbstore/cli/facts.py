"""Commands for facts: their timelines, which of their partitions hold a range of time, and waiting for that."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hbstore.cli.arguments import (
    DatabaseOption,
    FromOption,
    JsonOption,
    StoreOption,
    TokenOption,
    ToOption,
    examples,
    model_name,
)
from hbstore.cli.failures import PROBLEMS
from hbstore.cli.opening import open_store
from hbstore.cli.printing import on_terminal, print_answer, print_json, print_lines, print_table
from hbstore.cli.timeline_printing import PeriodOption, PictureOption, print_timelines
from hbstore.errors import InvalidInput
from hbstore.texts.wording import plural
from hbstore.times.time_range import time_text

if TYPE_CHECKING:  # imported when there is a cover: help needs none
    from hbstore.client.remote_cubes import RemoteCubes
    from hbstore.cubes import Cover, CoverRun, Uncoverable

commands = typer.Typer(no_args_is_help=True)
_NAMED: Final = 10
"""Ranges that an error names."""

FactArgument = Annotated[str, typer.Argument(metavar="FACT", help="The fact: FACT or DB.FACT.", show_default=False)]
TimeDimensionOption = Annotated[
    str | None,
    typer.Option("--time-dimension", metavar="NAME", help="The cube's time dimension, or its partition column."),
]


@commands.command(
    epilog=examples(
        "hbstore fact timelines shop.sales",
        "hbstore fact timelines --fact-name sales --database shop --storage-name s1 --update-period HOURLY --picture",
    )
)
def timelines(
    ctx: typer.Context,
    fact: Annotated[str | None, typer.Argument(metavar="[FACT]", help="The fact: FACT or DB.FACT.")] = None,
    *,
    fact_name: Annotated[
        str | None, typer.Option("--fact-name", metavar="FACT", help="The same, as in Apache Lens.")
    ] = None,
    storage_name: Annotated[
        str | None, typer.Option("--storage-name", metavar="STORAGE", help="Only on this storage.")
    ] = None,
    update_period: PeriodOption = None,
    time_dimension: TimeDimensionOption = None,
    database: DatabaseOption = None,
    picture: PictureOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which times a fact has partitions for.

    With --json each timeline has its first and latest time, the number of times, and all holes; these are half open.
    Options may be written with underscores, as in Apache Lens: --fact_name.
    """
    from hbstore.cubes import Cubes

    if fact is None and fact_name is None:
        raise InvalidInput(
            "the name of the fact is missing", hint="Write the name of the fact, or --fact-name and the name"
        )
    if fact is not None and fact_name is not None:
        raise InvalidInput("the command names the fact twice", fact=fact, fact_name=fact_name, hint="Name it once")
    in_database, name = model_name(fact or fact_name or "", database)
    with open_store(ctx, store) as opened:
        found = Cubes(opened, in_database).timelines(
            name, storage=storage_name, update_period=update_period, time_dimension=time_dimension
        )
    print_timelines(found, picture=picture, as_json=as_json)


@commands.command(
    epilog=examples(
        "hbstore fact cover sales --database shop --from 2015-01-29-06 --to 2015-02-01",
        "hbstore fact cover shop.sales --from now.day-3days --to now.day --partial",
    )
)
def cover(
    ctx: typer.Context,
    fact: FactArgument,
    *,
    start: FromOption,
    end: ToOption,
    time_dimension: TimeDimensionOption = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Print the existing partitions and the missing ranges.")
    ] = False,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the partitions that hold a range of time.

    The command finds the smallest number of partitions, and prints them as runs of partitions that follow one another.
    If a part of the range has no partitions, the exit code is 1 and the error names that part; with --partial the
    command prints the missing ranges below the runs.
    """
    from hbstore.cubes import Cubes
    from hbstore.times.time_range import parse_time_range

    in_database, name = model_name(fact, database)
    range_ = parse_time_range(start, end, datetime.now(UTC))
    with open_store(ctx, store) as opened:
        covered = Cubes(opened, in_database).cover(name, *range_, time_dimension=time_dimension, partial=True)
    uncovered = bool(covered.missing) and not partial
    if as_json:
        print_json({"fact": f"{in_database}.{name}".lower(), **_pair(range_), **_cover_json(covered)})
        if uncovered:
            raise typer.Exit(PROBLEMS)
    elif uncovered:
        raise _uncoverable(covered.missing, "--partial shows the existing partitions and all missing ranges")
    else:
        _print_cover(covered)


@commands.command(
    epilog=examples(
        "hbstore fact wait shop.sales 2015-01-29-06 2015-02-01",
        "hbstore fact wait shop.sales 2015-01-30 2015-02-01 --timeout 3600 --json",
    )
)
def wait(
    ctx: typer.Context,
    fact: FactArgument,
    start: Annotated[
        str, typer.Argument(metavar="FROM", help="Where the range of time begins: 2015-01-29-06.", show_default=False)
    ],
    end: Annotated[
        str, typer.Argument(metavar="TO", help="Where it ends; the end is not part of it.", show_default=False)
    ],
    *,
    time_dimension: TimeDimensionOption = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", min=0, metavar="S", help="Seconds to wait; by default as long as it takes."),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            envvar="HBSTORE_SERVER",
            metavar="URL",
            help="The server that is asked instead of the store: http://host:port.",
        ),
    ] = None,
    token: TokenOption = None,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Wait until partitions hold the whole of a range of time.

    The command ends as soon as nothing of the range is missing, even if another process registers the partitions. If
    something is missing when the time is over, the exit code is 1 and the error names the missing ranges.
    """
    from hbstore.cubes import Cubes, Uncoverable
    from hbstore.times.time_range import parse_time_range

    in_database, name = model_name(fact, database)
    range_ = parse_time_range(start, end, datetime.now(UTC))
    said = {"fact": f"{in_database}.{name}".lower(), **_pair(range_)}
    with ExitStack() as stack:
        cubes: Cubes | RemoteCubes
        if server is None:
            cubes = Cubes(stack.enter_context(open_store(ctx, store)), in_database)
        else:
            import hbstore.client

            cubes = stack.enter_context(hbstore.client.connect(server, token=token)).cubes(in_database)
        try:
            covered = cubes.wait(name, *range_, time_dimension=time_dimension, seconds=timeout)
        except Uncoverable as error:
            if as_json:
                print_json({**said, "complete": False, "missing": list(map(_pair, error.missing))})
                raise typer.Exit(PROBLEMS) from None
            raise _uncoverable(error.missing, "Wait again, or register the partitions") from None
    line = f"{said['fact']}: {plural(len(covered.partitions), 'partition')}, nothing missing"
    print_answer({**said, "complete": True, "missing": []}, [line], as_json=as_json)


def _uncoverable(missing: Sequence[tuple[datetime, datetime]], hint: str) -> Uncoverable:
    """The error that names the first missing ranges as `--from` and `--to` have them."""
    from hbstore.cubes import Uncoverable

    error = Uncoverable(missing)
    more = f" and {len(missing) - _NAMED:,} more" if missing[_NAMED:] else ""
    error.fields["missing"] = " ∪ ".join(map(_range, missing[:_NAMED])) + more
    error.hint = hint
    return error


def _print_cover(covered: Cover) -> None:
    runs = _runs(covered)
    if on_terminal():
        documents = [run.to_dict() for run in runs]
        rows = [(*map(str, [*one.values()][:-1]), f"{one['partitions']:,}") for one in documents]
        print_table(("storage table", "period", "from", "to", "partitions"), rows)
    else:
        print_lines(map(str, runs))
    print_lines(f"missing {_range(one)}" for one in covered.missing)
    sys.stdout.flush()  # so that what follows on stderr comes after it
    what = f"{plural(len(covered.missing), 'range')} missing" if covered.missing else "nothing missing"
    typer.echo(f"{plural(len(covered.partitions), 'partition')} in {plural(len(runs), 'run')}, {what}", err=True)


def _runs(found: Cover) -> Sequence[CoverRun]:
    from hbstore.cubes import CoverPartitions

    assert isinstance(found.partitions, CoverPartitions)  # cover makes no others
    return found.partitions.runs


def _cover_json(covered: Cover) -> dict[str, Any]:
    return {
        "partitions": len(covered.partitions),
        "runs": [run.to_dict() for run in _runs(covered)],
        "missing": list(map(_pair, covered.missing)),
    }


def _pair(range_: Sequence[datetime]) -> dict[str, str]:
    return {"from": time_text(range_[0]), "to": time_text(range_[1])}


def _range(range_: Sequence[datetime]) -> str:
    return f"[{time_text(range_[0])}, {time_text(range_[1])})"
