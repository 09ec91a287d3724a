"""Commands for the timelines of tables: show, convert, rebuild, check, export, import."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from hbstore.cli.arguments import JsonOption, StoreOption, TableArgument, TablesArgument, examples
from hbstore.cli.failures import PROBLEMS
from hbstore.cli.opening import open_store, store_url
from hbstore.cli.printing import print_answer, print_json, print_lines, print_note
from hbstore.cli.spark_session import spark_session
from hbstore.cli.timeline_printing import PeriodOption, PictureOption, print_timelines
from hbstore.cli.upkeep import named_tables, timeline_problems
from hbstore.errors import (
    CorruptTimeline,
    InvalidInput,
    TimelineMismatch,
    TimelineNotFound,
    UnknownTimelineClass,
)
from hbstore.keys.partition_names import table_name
from hbstore.texts.properties_file import (
    PropertiesFormat,
    read_json_properties,
    read_properties,
    write_properties,
)
from hbstore.texts.wording import plural

commands = typer.Typer(no_args_is_help=True)
_SUFFIXES: Final = {".properties": PropertiesFormat.PROPERTIES, ".json": PropertiesFormat.JSON}


@commands.command(
    epilog=examples("hbstore timeline show shop.s1_sales", "hbstore timeline show shop.s1_sales --update-period DAILY")
)
def show(
    ctx: typer.Context,
    table: TableArgument,
    *,
    update_period: PeriodOption = None,
    column: Annotated[
        str | None, typer.Option("--column", metavar="COLUMN", help="Only of this time partition column.")
    ] = None,
    picture: PictureOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which times a table has partitions for.

    With --json each timeline has its first and latest time, the number of times, and all holes; these are half open.
    """
    from hbstore.times.update_period import UpdatePeriod

    period = None if update_period is None else UpdatePeriod.named(update_period)
    with open_store(ctx, store) as opened:
        timelines = opened.timelines.of(table, period, column)
    print_timelines(timelines, picture=picture, as_json=as_json)


@commands.command(
    epilog=examples(
        "hbstore timeline convert shop.s1_sales --update-period HOURLY --column dt --class RangesPartitionTimeline"
    )
)
def convert(
    ctx: typer.Context,
    table: TableArgument,
    *,
    update_period: Annotated[
        str, typer.Option("--update-period", metavar="PERIOD", help="The timeline's update period.", show_default=False)
    ],
    column: Annotated[
        str,
        typer.Option("--column", metavar="COLUMN", help="The timeline's time partition column.", show_default=False),
    ],
    class_name: Annotated[
        str,
        typer.Option(
            "--class",
            metavar="CLASS",
            help="StoreAllPartitionTimeline, EndsAndHolesPartitionTimeline, RangesPartitionTimeline, or the module and"
            " name of a class that an installed package declares.",
            show_default=False,
        ),
    ],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Convert a timeline to another class, in place.

    The command does not read the partitions, unless the timeline's present class is missing: then it builds the table's
    timelines again.
    """
    from hbstore.timelines.classes import short_name, timeline_class
    from hbstore.times.update_period import UpdatePeriod

    database, name = table_name(table)
    period = UpdatePeriod.named(update_period)
    with open_store(ctx, store) as opened:
        timeline = opened.timelines.convert(table, period, column, class_name)
    document = {
        "table": f"{database}.{name}".lower(),
        "update_period": period.name,
        "column": timeline.partition(".")[2],
        "class": short_name(timeline_class(class_name)),
    }
    line = f"timeline {period.name}.{document['column']} of {document['table']}: {document['class']}"
    print_answer(document, [line], as_json=as_json)


@commands.command(
    epilog=examples("hbstore timeline rebuild shop.s1_sales", "hbstore timeline rebuild shop.s1_sales --json")
)
def rebuild(
    ctx: typer.Context,
    table: TableArgument,
    *,
    by_spark: Annotated[
        bool, typer.Option("--spark", help="Read the partitions in parallel by a Spark job, for tables of millions.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build the timelines of a table again from its partitions.

    If the table names an unknown class, the default class replaces it.

    --spark uses the Spark that pyspark finds, with the settings in its spark-defaults.conf; the default master is
    local[*]. hbstore must be installed on the machines that run the tasks.
    """
    database, name = table_name(table)
    full_name = f"{database}.{name}".lower()
    with open_store(ctx, store) as opened:
        opened.get_table(database, name)  # before Spark is started
        if by_spark:
            otherwise = "without --spark the timelines are built here"
            with spark_session(f"hbstore timelines of {full_name}", otherwise=otherwise) as spark:
                from hbstore.spark import rebuild_timelines

                collected = rebuild_timelines(spark, store_url(ctx, store), full_name)
        else:
            collected = opened.timelines.rebuild(table)
    if as_json:
        print_json(
            {
                "table": full_name,
                "partitions": collected.partitions,
                "left_out": collected.left_out_count,
                "left_out_names": list(collected.left_out),
                "unknown_classes": list(collected.unknown_classes),
            }
        )
        return
    print_lines([f"timelines of {full_name}: built from {plural(collected.partitions, 'partition')}"])
    for name in collected.unknown_classes:
        print_note(f"the timeline class {name} is unknown; EndsAndHolesPartitionTimeline replaced it")
    if collected.left_out_count:
        shown = ", ".join(collected.left_out) + " …" * (collected.left_out_count > len(collected.left_out))
        print_note(f"{plural(collected.left_out_count, 'partition')} without a time left out: {shown}")


@commands.command(epilog=examples("hbstore timeline check", "hbstore timeline check shop.s1_sales --json"))
def check(
    ctx: typer.Context, tables: TablesArgument = None, *, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Compare the timelines of some tables, or of all, with partitions.

    The command prints each difference on a line, and the exit code is 1 if there are any. `hbstore check` also checks
    the rows of partitions.
    """
    report: dict[str, list[str]] = {}
    with open_store(ctx, store) as opened:
        named = named_tables(opened, tables)
        for database, name in named.tables:
            try:
                report[f"{database}.{name}"] = timeline_problems(opened, database, name)
            except TimelineNotFound:
                if tables:
                    raise
    damaged = list(map(str, named.problems))
    problems = len(damaged) + sum(map(len, report.values()))
    document = {
        "problems": problems,
        "catalog": damaged,
        "tables": [{"table": table, "problems": texts} for table, texts in report.items()],
    }
    lines = (*damaged, *(f"{table}: {text}" for table, texts in report.items() for text in texts))
    print_answer(document, lines, as_json=as_json)
    if not as_json:
        what = plural(problems, "problem") if problems else "all well"
        typer.echo(f"timelines of {plural(len(report), 'table')} checked, {what}", err=True)
    if problems:
        raise typer.Exit(PROBLEMS)


@commands.command(
    epilog=examples(
        "hbstore timeline export shop.s1_sales > s1_sales.properties", "hbstore timeline export shop.s1_sales --json"
    )
)
def export(ctx: typer.Context, table: TableArgument, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Print timelines as table properties of Apache Lens.

    The output is a .properties file of Java; with --json it is a JSON object.
    """
    with open_store(ctx, store) as opened:
        properties = opened.timelines.export(table)
    if as_json:
        print_json(properties)
    else:
        sys.stdout.write(write_properties(properties))


@commands.command(
    "import",
    epilog=examples(
        "hbstore timeline import shop.s1_sales s1_sales.properties",
        "hbstore timeline import shop.s1_sales - --format properties",
    ),
)
def import_(
    ctx: typer.Context,
    table: TableArgument,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A file of table properties: .properties or .json; - is stdin.", show_default=False
        ),
    ],
    *,
    format: Annotated[
        PropertiesFormat | None,
        typer.Option("--format", help="The format of the file; by default the end of its name tells it."),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take over timelines from table properties of Apache Lens.

    The times in the properties must be those of the table's partitions. The table's timelines get the classes in the
    properties. The command skips other properties. If a timeline is damaged or missing, it changes nothing.
    """
    from hbstore.timelines.classes import short_name

    database, name = table_name(table)
    properties = _read(file, format)
    with open_store(ctx, store) as opened:
        # What is damaged in the store is found by this, and is no mistake in the file.
        kept = {f"{period.name}.{column}" for period, column in opened.timelines.read(table)}
        others = _check_names(properties, kept, file)
        try:
            opened.timelines.take_over(table, properties)
        except CorruptTimeline as error:
            raise _damaged(file, error) from error
        except (TimelineMismatch, UnknownTimelineClass) as error:
            error.fields |= {"file": file}
            raise
        timelines = opened.timelines.of(table)
    if others:
        print_note(f"the table does not keep the timelines {', '.join(others)}; hbstore skipped them")
    full_name = f"{database}.{name}".lower()
    classes = {
        f"{timeline.update_period.name}.{timeline.partition_column}": short_name(type(timeline))
        for timeline in timelines
    }
    document = {"table": full_name, "timelines": classes, "passed_over": others}
    lines = (f"timeline {timeline} of {full_name}: {cls}" for timeline, cls in classes.items())
    print_answer(document, lines, as_json=as_json)


def _read(file: str, format: PropertiesFormat | None) -> dict[str, str]:
    """The properties in a file.

    Raises:
        InvalidInput: it cannot be read.
    """
    name = "<stdin>" if file == "-" else file
    form = format or _SUFFIXES.get(Path(file).suffix.lower())
    if form is None:
        raise InvalidInput(
            "the format of the file is unknown", file=name, hint="Add --format properties or --format json"
        )
    try:
        text = (sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()).decode()
    except OSError as error:
        hint = "Check the path and its permissions"
        raise InvalidInput("the file cannot be read", file=name, reason=error.strerror, hint=hint) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("the file is not UTF-8", file=name, byte=error.start + 1, hint="Save it as UTF-8") from None
    return read_json_properties(text, name) if form is PropertiesFormat.JSON else read_properties(text, name)


def _check_names(properties: Mapping[str, str], kept: set[str], file: str) -> list[str]:
    """The timelines in some properties that are none of those that the table keeps.

    Raises:
        InvalidInput: they lack one that it keeps.
    """
    from hbstore.timelines.factory import CACHE, PRESENT

    timelines = dict.fromkeys(
        ".".join(name.removeprefix(CACHE).split(".")[:2])
        for name in properties
        if name.startswith(CACHE) and name != PRESENT
    )
    for timeline in sorted(kept - timelines.keys()):
        raise InvalidInput(
            "the file lacks a timeline of the table",
            file=file,
            timeline=timeline,
            hint=f"Add the properties of the timeline; their names begin with {CACHE}{timeline}.",
        )
    return [timeline for timeline in timelines if timeline not in kept]


def _damaged(file: str, error: CorruptTimeline) -> InvalidInput:
    """The error for a file with a damaged timeline; it names the property as the file does."""
    from hbstore.timelines.factory import CACHE

    fields = error.fields
    key, colon, reason = str(fields.get("reason")).partition(": ")
    if "key" in fields or not colon:
        key, reason = str(fields.get("key")), str(fields.get("reason"))
    return InvalidInput(
        "a timeline in the file is damaged",
        file=file,
        property=f"{CACHE}{fields.get('period')}.{fields.get('column')}.{key}",
        reason=reason,
        hint="Nothing was changed. Export it again, or rebuild the table's timelines with `hbstore timeline rebuild`",
    )
