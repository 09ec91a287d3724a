"""The command that adds the partitions of a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer

from hbstore.cli.arguments import IfNotExistsOption, JsonOption, KeepInvalidOption, StoreOption, TableArgument, examples
from hbstore.cli.opening import open_store
from hbstore.cli.printing import print_answer
from hbstore.cli.progress import progress
from hbstore.cli.spec_file import SpecFile, SpecFormat
from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import table_name
from hbstore.texts.wording import plural

commands = typer.Typer()
_SUFFIXES: Final = {".csv": SpecFormat.CSV, ".jsonl": SpecFormat.JSONL, ".ndjson": SpecFormat.JSONL}


@commands.command(
    epilog=examples(
        "hbstore load shop.sales partitions.csv",
        "hbstore load shop.sales partitions.jsonl --if-not-exists",
        "hbstore load shop.sales - --format csv --batch 100",
    )
)
def load(
    ctx: typer.Context,
    table: TableArgument,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of partition specs; - is stdin.", show_default=False)
    ],
    *,
    format: Annotated[
        SpecFormat | None,
        typer.Option("--format", help="The format of the file; by default the end of its name tells it."),
    ] = None,
    batch: Annotated[
        int,
        typer.Option(
            "--batch", min=1, metavar="N", help="Lines in a batch; hbstore adds all lines of a batch, or none."
        ),
    ] = 1000,
    if_not_exists: IfNotExistsOption = False,
    keep_invalid: KeepInvalidOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add the partitions that a CSV or JSON Lines file lists.

    A CSV file begins with a header: the partition columns, and if you like location and any parameters.NAME.
    A line of JSON is an object with "values" (a list), "spec" (an object) or "name" (a text such as
    "ds=2013-01-01/hour=5"), and if you like "location", "parameters", "create_time" and "last_access_time".

    At a line that it cannot load, the command stops and writes nothing of that line's batch. Correct the line, and
    repeat the command with --if-not-exists.
    """
    from hbstore.cli.loading import Loading
    from hbstore.store.writer import partitioned

    kind = _format_of(file, format)
    with open_store(ctx, store) as opened:
        described = partitioned(opened.get_table(*table_name(table)))
        loading = Loading(opened, described, if_not_exists, "keep" if keep_invalid else "reject")
        with _opened(file) as (stream, size):
            source = SpecFile("<stdin>" if file == "-" else file, stream, kind, described)
            with progress(f"Loading {described}", size, in_bytes=True) as show:
                for _ in loading.batches(source, batch):
                    show(source.done)
    document = {"table": str(described), "file": source.name, "read": loading.read, "added": loading.added}
    existing = f", {loading.read - loading.added:,} already existed" if loading.read > loading.added else ""
    print_answer(document, [f"{plural(loading.added, 'partition')} added to {described}{existing}"], as_json=as_json)


def _format_of(file: str, given: SpecFormat | None) -> SpecFormat:
    found = given or _SUFFIXES.get(Path(file).suffix.lower())
    if found is None:
        name = "stdin" if file == "-" else file
        raise InvalidInput("the format of the file is unknown", file=name, hint="Add --format csv or --format jsonl")
    return found


@contextmanager
def _opened(file: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """The bytes of a file and how many they are, if that is known."""
    if file == "-":
        yield sys.stdin.buffer, None
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115  closed below
    except OSError as error:
        hint = "Check the path and its permissions"
        raise InvalidInput("the file cannot be read", file=file, reason=error.strerror, hint=hint) from error
    with stream:
        yield stream, Path(file).stat().st_size or None
