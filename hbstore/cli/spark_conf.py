"""The command that prints the settings with which Spark uses an endpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Final

import typer

from hbstore.cli.arguments import JsonOption, examples
from hbstore.cli.printing import print_answer
from hbstore.errors import InvalidInput
from hbstore.metastore.spark_conf import (
    Setting,
    as_arguments,
    as_properties,
    as_python,
    endpoint_uri,
    spark_settings,
)

commands = typer.Typer()


class SettingsFormat(StrEnum):
    """How settings are written."""

    PROPERTIES = "properties"
    ARGS = "args"
    PYTHON = "python"


_WRITTEN: Final[Mapping[SettingsFormat, Callable[[Sequence[Setting]], list[str]]]] = {
    SettingsFormat.PROPERTIES: as_properties,
    SettingsFormat.ARGS: as_arguments,
    SettingsFormat.PYTHON: as_python,
}


@commands.command(
    "spark-conf",
    epilog=examples(
        "hbstore spark-conf --warehouse /data/warehouse",
        "hbstore spark-conf --uri thrift://one:9083 --uri thrift://two:9083 --warehouse s3a://bucket/warehouse",
        "hbstore spark-conf --host catalog.example.com --format args",
    ),
)
def spark_conf(
    *,
    host: Annotated[str, typer.Option("--host", help="The host that hbstore serve runs on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Its port.")] = 9083,
    uri: Annotated[
        list[str] | None,
        typer.Option(
            "--uri",
            metavar="URI",
            help="thrift://HOST:PORT instead of --host and --port; repeat it for several endpoints over one store.",
        ),
    ] = None,
    warehouse: Annotated[
        str | None,
        typer.Option(
            "--warehouse",
            metavar="DIR",
            help="The warehouse of hbstore serve; without it Spark uses its own warehouse for new databases.",
        ),
    ] = None,
    format: Annotated[
        SettingsFormat,
        typer.Option(
            "--format",
            help="properties for spark-defaults.conf, args for the command line of spark-submit, or python.",
        ),
    ] = SettingsFormat.PROPERTIES,
    as_json: JsonOption = False,
) -> None:
    """Print the settings by which Spark uses hbstore.

    With these settings hbstore is Spark's Hive Metastore. A comment explains each setting.

    They fit Spark's built-in Hive client. Paste them into spark-defaults.conf, a command line, or a program.
    """
    from hbstore.files.warehouse import Warehouse  # its thread pools take time to import, and help needs none

    if uri and (host, port) != ("127.0.0.1", 9083):
        raise InvalidInput("--uri excludes --host and --port", hint="Name every endpoint with --uri")
    root = None if warehouse is None else Warehouse(warehouse).root
    settings = spark_settings(uri or [endpoint_uri(host, port)], root)
    print_answer([setting._asdict() for setting in settings], _WRITTEN[format](settings), as_json=as_json)
