"""Arguments and options that several commands share, and how their texts are read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import DEFAULT_DATABASE, parse_partition_name
from hbstore.model.objects import Column, Table, partition_value_texts


class Dialect(StrEnum):
    """How LIKE patterns are written."""

    SQL = "sql"
    HIVE2 = "hive2"


StoreOption = Annotated[
    str | None, typer.Option("--store", metavar="URL", help="The store; the same as before the command.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
FilterOption = Annotated[
    str | None, typer.Option("--filter", metavar="FILTER", help="Only the partitions that this filter selects.")
]
DialectOption = Annotated[
    Dialect,
    typer.Option("--like-dialect", help="How LIKE patterns are written: % and _ in sql, .* and . in hive2."),
]
IfNotExistsOption = Annotated[bool, typer.Option("--if-not-exists", help="Skip what already exists.")]
IfExistsOption = Annotated[bool, typer.Option("--if-exists", help="Skip what does not exist.")]
KeepInvalidOption = Annotated[
    bool,
    typer.Option(
        "--keep-invalid",
        help="Keep values that do not fit their column's type, as text where engines read none from them.",
    ),
]
LocationOption = Annotated[str | None, typer.Option("--location", metavar="URI", help="Where the files are.")]
ParameterOption = Annotated[
    list[str] | None,
    typer.Option("--parameter", metavar="NAME=VALUE", help="A parameter, such as numRows=100; can be repeated."),
]
TableArgument = Annotated[str, typer.Argument(metavar="DB.TABLE", help="The table.", show_default=False)]
OneTableArgument = Annotated[str | None, typer.Argument(metavar="[DB.TABLE]", help="Only those of this table.")]
TablesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[DB.TABLE]...", help="The tables; by default all of them.")
]


DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="HBSTORE_DATABASE",
        metavar="DB",
        help="The database; by default the one that is called default.",
    ),
]
FromOption = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Where the range of time begins: 2015-01-29-06 or now.day-3days.",
        show_default=False,
    ),
]
ToOption = Annotated[
    str, typer.Option("--to", metavar="TIME", help="Where it ends; the end is not part of it.", show_default=False)
]
StorageOption = Annotated[
    str | None, typer.Option("--storage-name", metavar="STORAGE", help="The storage; required if there are several.")
]


NowOption = Annotated[
    str | None, typer.Option("--now", metavar="TIME", help="What now is for relative times: 2015-01-29-06.")
]
OptionOption = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option, such as join_type=inner; can be repeated."),
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server", envvar="HBSTORE_SERVER", metavar="URL", help="The server that runs the query: http://host:port."
    ),
]


def _not_typed(ctx: typer.Context, token: str | None) -> str | None:
    """The token, unless it stands on the command line, which every user of the machine can read."""
    source = ctx.get_parameter_source("token")
    if token is not None and source is not None and source.name == "COMMANDLINE":
        raise InvalidInput(
            "every user of the machine can read the command line, and the access token is a secret",
            option="--token",
            hint="Set HBSTORE_TOKEN, or write token = 'TOKEN' into a file of options that is yours alone",
        )
    return token


TokenOption = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="HBSTORE_TOKEN",
        metavar="TOKEN",
        callback=_not_typed,
        help="The access token, if the server asks: set the variable, as others can read the command line.",
    ),
]


def examples(*lines: str) -> str:
    """Example command lines as the end of a command's help, each on a line of its own."""
    return "\n".join(["\b", "Examples:", *(f"  $ {line}" for line in lines)])


def column(text: str) -> Column:
    """The column of ``NAME TYPE``.

    Raises:
        InvalidInput: one of the two is missing.

    >>> column("amount decimal(10, 2)")
    Column(name='amount', type='decimal(10, 2)', comment=None)
    """
    words = text.split(None, 1)
    if len(words) < 2:  # noqa: PLR2004  a name and a type
        raise InvalidInput(
            "a column needs a name and a type", column=repr(text), hint='Write "NAME TYPE" as one word: "ds date"'
        )
    return Column(words[0], words[1].strip())


def model_name(text: str, database: str | None) -> tuple[str, str]:
    """Database and name of ``NAME`` or ``DB.NAME`` of the model, where a database may have been named beside it.

    >>> model_name("sales", None), model_name("sales", "shop"), model_name("shop.sales", None)
    (('default', 'sales'), ('shop', 'sales'), ('shop', 'sales'))
    """
    before, dot, name = text.partition(".")
    return (before, name) if dot else (database or DEFAULT_DATABASE, text)


def parameters(texts: Sequence[str] | None) -> dict[str, str]:
    """The mapping of ``NAME=VALUE`` texts.

    Raises:
        InvalidInput: one has no name or no ``=``, or a name stands there twice.

    >>> parameters(["numRows=100", "note=a=b"])
    {'numRows': '100', 'note': 'a=b'}
    """
    return named_values("parameter", texts)


def named_values(what: str, texts: Sequence[str] | None) -> dict[str, str]:
    """The mapping of ``NAME=VALUE`` texts that are called `what`, as `parameters`.

    >>> named_values("time", ["dt=2015-01-29"])
    {'dt': '2015-01-29'}
    """
    pairs: dict[str, str] = {}
    noun = f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InvalidInput(f"{noun} needs a name and a value", **{what: repr(text)}, hint="Write NAME=VALUE")
        if name in pairs:
            raise InvalidInput(f"the command names {noun} twice", **{what: name}, hint="Name it once")
        pairs[name] = value
    return pairs


def time_of(now: str | None) -> datetime | None:
    """The time that ``--now`` names, if it is given."""
    from hbstore.times.time_range import parse_time  # its grammar takes time to load, and help needs none

    return None if now is None else parse_time(now, datetime.now(UTC))


def whole_spec(table: Table, text: str) -> tuple[str, ...]:
    """The values of a partition spec such as ``ds=2013-01-01/hour=5``, in column order.

    Raises:
        InvalidPartitionValue: it is no spec, names another column, or leaves one out.
    """
    return partition_value_texts(parse_partition_name(text), table.partition_column_names)
