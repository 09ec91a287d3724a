"""What goes to stdout: one JSON document, a table on a terminal, or one line for each thing in a pipe."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

import typer

from hbstore.times.moments import sql_text

_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
_LINES_AT_ONCE: Final = 1000

TABLE_ROWS: Final = 1000
"""Rows that a table on a terminal has at most: its columns are as wide as the widest of all its cells, so that it must
be whole before its first line is printed. What is longer is printed as in a pipe."""


def on_terminal() -> bool:
    """Whether stdout is read by a person."""
    return sys.stdout.isatty()


def visible(text: str) -> str:
    r"""The text with control characters written out, as a terminal would obey them.

    >>> visible("s3://a\x1b[2J")
    's3://a\\x1b[2J'
    """
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


def print_answer(
    document: Any,
    lines: Iterable[str],
    *,
    as_json: bool,
    table: tuple[Sequence[str], Iterable[Sequence[str]]] | None = None,
) -> None:
    """What a command answers: one JSON document, or lines; on a terminal a table (headers, rows), if there is one."""
    if as_json:
        print_json(document)
    elif table is not None and on_terminal():
        print_table(*table)
    else:
        print_lines(lines)


def print_json(value: Any) -> None:
    """One value as an indented JSON document."""
    _write([json.dumps(value, ensure_ascii=ascii_only(), indent=2)])


def print_json_array(values: Iterable[Any]) -> None:
    """Many values as one JSON array, a line for each; they are taken and printed bit by bit."""
    encode = json.JSONEncoder(ensure_ascii=ascii_only()).encode
    sys.stdout.write("[")
    separator = "\n"
    remaining = iter(values)
    while some := list(islice(remaining, _LINES_AT_ONCE)):
        sys.stdout.write(separator + ",\n".join(map(encode, some)))
        separator = ",\n"
    sys.stdout.write("\n]\n")


def print_lines(lines: Iterable[str]) -> None:
    """One line for each text."""
    remaining = iter(lines)
    while some := list(islice(remaining, _LINES_AT_ONCE)):
        _write(map(visible, some))


def print_note(text: str) -> None:
    """What the user should know beside the answer, on stderr."""
    typer.echo(f"Note: {visible(text)}", err=True)


def print_warning(text: str) -> None:
    """What the user should mend or decide, on stderr."""
    typer.echo(f"Warning: {visible(text)}", err=True)


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table for a terminal. Nothing is cut off: cells that are too wide go on in the next line."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))  # Text, as [brackets] in cells are no markup
    Console().print(table)


def print_rows(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows whose number is not known yet: as a table on a terminal if they are few, else as lines with tabs."""
    remaining = iter(rows)
    first = list(islice(remaining, TABLE_ROWS + 1))
    if on_terminal() and len(first) <= TABLE_ROWS:
        print_table(headers, first)
        return
    for some in (first, remaining):
        sys.stdout.writelines("\t".join(map(visible, row)) + "\n" for row in some)


def print_query_rows(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, as_csv: bool = False, as_json: bool = False
) -> None:
    """The rows of a query: as one JSON document, as CSV with a line of names, or for people."""
    if as_json:
        print_json({"columns": columns, "rows": [list(map(plain, row)) for row in rows]})
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(["" if cell is None else str(cell) for cell in row] for row in rows)
    else:
        print_rows(columns, (["NULL" if cell is None else str(cell) for cell in row] for row in rows))


def print_fields(fields: Mapping[str, object]) -> None:
    """Names and values, a line for each, the values under each other; None is left out."""
    shown = {name: value for name, value in fields.items() if value is not None}
    width = max(map(len, shown), default=0)
    print_lines(f"{name:<{width}}  {value}" for name, value in shown.items())


def time_text(seconds: int) -> str | None:
    """Seconds since 1970 for people, in UTC; None for 0, which means that the time is not known.

    >>> time_text(1356998400)
    '2013-01-01 00:00:00 UTC'
    """
    return f"{sql_text(datetime.fromtimestamp(seconds, UTC))} UTC" if seconds else None


def _write(lines: Iterable[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


def ascii_only() -> bool:
    """Whether stdout takes no more than ASCII: JSON can say everything in it."""
    return (sys.stdout.encoding or "").replace("-", "").lower() != "utf8"


def plain(cell: Any) -> Any:
    """A cell as JSON has it: numbers, texts, truths and lists; all else as text.

    >>> plain((1, None, datetime(2015, 1, 29)))
    [1, None, '2015-01-29 00:00:00']
    """
    if isinstance(cell, list | tuple):
        return [plain(one) for one in cell]
    return cell if cell is None or isinstance(cell, str | int | float | bool) else str(cell)
