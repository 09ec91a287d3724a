"""The settings with which Spark uses the endpoint as its Hive Metastore, and why each is there.

They are for Spark's built-in Hive client, 2.3.10. It has no setting for the size of a reply, and needs none: over a
plain socket its limit of 100 MiB is checked against every single text and never against the whole reply. Over framed
transport a reply ends at 16,384,000 bytes, which is why frames are switched off where something else switched them on
(hbstore speaks both).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final, NamedTuple

from hbstore.errors import InvalidInput

_URI: Final = re.compile(r"thrift://(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})\Z", re.ASCII)
_LARGEST_PORT: Final = 65535


class Setting(NamedTuple):
    """One of Spark's settings.

    Attributes:
        name: such as ``spark.sql.catalogImplementation``.
        value: its text.
        reason: one line.
    """

    name: str
    value: str
    reason: str


def endpoint_uri(host: str, port: int) -> str:
    """The URI of an endpoint.

    >>> endpoint_uri("127.0.0.1", 9083), endpoint_uri("::1", 9083)
    ('thrift://127.0.0.1:9083', 'thrift://[::1]:9083')
    """
    return f"thrift://[{host}]:{port}" if ":" in host else f"thrift://{host}:{port}"


def spark_settings(uris: Sequence[str], warehouse: str | None) -> list[Setting]:
    """The settings for endpoints over one store.

    Args:
        uris: ``thrift://host:port`` of each; Spark takes another one where one does not answer.
        warehouse: the endpoints' warehouse as a location; None leaves Spark's own in place.

    Raises:
        InvalidInput: there is no URI, one is not of that form, or the warehouse has characters that do not print.
    """
    if not uris:
        raise InvalidInput(
            "the URI of the endpoint is missing", hint="Give the URI of an endpoint, such as thrift://127.0.0.1:9083"
        )
    for uri in uris:
        found = _URI.match(uri)
        if found is None or not 0 < int(found[1]) <= _LARGEST_PORT:
            raise InvalidInput("the text is not the URI of an endpoint", uri=repr(uri), hint="Write thrift://HOST:PORT")
    if warehouse is not None and not warehouse.isprintable():
        raise InvalidInput(
            "the path of the warehouse contains unprintable characters",
            warehouse=repr(warehouse),
            hint="Rename the folder of the warehouse",
        )
    where = "where new databases go: what hbstore serve was given"
    return [
        Setting("spark.sql.catalogImplementation", "hive", "databases, tables and partitions are in a Hive Metastore"),
        Setting("spark.hadoop.hive.metastore.uris", ",".join(uris), "which hbstore is; of several any may answer"),
        *([] if warehouse is None else [Setting("spark.sql.warehouse.dir", warehouse, where)]),
        Setting(
            "spark.sql.hive.metastorePartitionPruningFallbackOnException",
            "true",
            "a filter that the endpoint refuses costs a full listing, not the query",
        ),
        Setting(
            "spark.hadoop.hive.metastore.thrift.framed.transport.enabled",
            "false",
            "in frames Spark's client ends a reply at 16 MB, and plain replies have no limit",
        ),
        Setting(
            "spark.hadoop.hive.metastore.client.connection.timeout",
            "10s",
            "a host that is gone is given up after this, and not after ten minutes",
        ),
        Setting(
            "spark.hadoop.hive.metastore.client.socket.timeout",
            "600s",
            "an answer may take this long: dropping a table removes all its files first",
        ),
        Setting(
            "spark.sql.sources.partitionOverwriteMode",
            "dynamic",
            "for writers: INSERT OVERWRITE replaces the partitions that get rows, and keeps all others of the table",
        ),
        Setting(
            "spark.hadoop.hive.exec.dynamic.partition.mode",
            "nonstrict",
            "for writers: Hive-format tables take inserts whose partitions are all dynamic",
        ),
        Setting(
            "spark.hadoop.hive.exec.max.dynamic.partitions",
            "100000",
            "for writers: one insert into a Hive-format table may fill more than 1,000 partitions",
        ),
    ]


def as_properties(settings: Sequence[Setting]) -> list[str]:
    """Lines for ``spark-defaults.conf``.

    >>> as_properties([Setting("spark.sql.warehouse.dir", "file:/a b", "why")])
    ['# why', 'spark.sql.warehouse.dir file:/a b']
    """
    lines = []
    for name, value, reason in settings:
        escaped = value.replace("\\", r"\\")
        lines += [f"# {reason}", f"{name} {escaped}"]
    return lines


def as_arguments(settings: Sequence[Setting]) -> list[str]:
    r"""Lines for a shell: the reasons as comments, then the arguments of ``spark-submit`` and ``spark-sql``.

    >>> print(*as_arguments([Setting("a", "file:/a b", "why"), Setting("b", "c", "why not")]), sep="\n")
    # a: why
    # b: why not
    --conf 'a=file:/a b' \
    --conf b=c
    """
    reasons = [f"# {name}: {reason}" for name, _, reason in settings]
    given = [f"--conf {shlex.quote(f'{name}={value}')}" for name, value, _ in settings]
    return [*reasons, *(f"{line} \\" for line in given[:-1]), given[-1]]


def as_python(settings: Sequence[Setting]) -> list[str]:
    """Lines of Python that make a session."""
    return [
        "from pyspark.sql import SparkSession",
        "",
        "spark = (",
        "    SparkSession.builder",
        *(
            line
            for name, value, reason in settings
            for line in (f"    # {reason}", f"    .config({_text(name)}, {_text(value)})")
        ),
        "    .getOrCreate()",
        ")",
    ]


def _text(value: str) -> str:
    """A literal in double quotes, where that needs no escapes."""
    return repr(value) if {'"', "\\"} & set(value) else f'"{value}"'
