"""File formats by their one-word names, as in Hive's ``STORED AS``: the classes that read and write such files.

Spark, Hive and Trino all know these classes. CSV is Hive's text with commas: its classes know no quotes, so a comma in
a value is written with a backslash before it.

>>> stored_as("csv").serde.library, stored_as("csv").serde.parameters["field.delim"]
('org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe', ',')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, get_args

from hbstore.model.frozen import FrozenDict
from hbstore.model.objects import StorageDescriptor

FileFormat: TypeAlias = Literal["parquet", "orc", "text", "csv"]
"""What files can be stored as."""

FILE_FORMATS: Final[tuple[FileFormat, ...]] = get_args(FileFormat)

FIELD_DELIMITER: Final = "field.delim"
SERIALIZATION_FORMAT: Final = "serialization.format"
PROVIDER: Final = "spark.sql.sources.provider"
"""The parameter of a table in which Spark keeps what it calls the format of its files."""

_READERS: Final = {
    "parquethiveserde": "parquet",
    "orcserde": "orc",
    "jsonserde": "json",
    "opencsvserde": "csv",
    "lazysimpleserde": "text",
}
"""What Spark calls its readers, by what the class of the serde ends with, in lower case."""

_HIVE: Final = "org.apache.hadoop.hive"


@dataclass(frozen=True, slots=True)
class _Classes:
    input_format: str
    output_format: str
    library: str
    parameters: Mapping[str, str] = field(default_factory=FrozenDict)


_TEXT: Final = _Classes(
    "org.apache.hadoop.mapred.TextInputFormat",
    f"{_HIVE}.ql.io.HiveIgnoreKeyTextOutputFormat",
    f"{_HIVE}.serde2.lazy.LazySimpleSerDe",
)
_CLASSES: Final[Mapping[FileFormat, _Classes]] = {
    "parquet": _Classes(
        f"{_HIVE}.ql.io.parquet.MapredParquetInputFormat",
        f"{_HIVE}.ql.io.parquet.MapredParquetOutputFormat",
        f"{_HIVE}.ql.io.parquet.serde.ParquetHiveSerDe",
    ),
    "orc": _Classes(
        f"{_HIVE}.ql.io.orc.OrcInputFormat", f"{_HIVE}.ql.io.orc.OrcOutputFormat", f"{_HIVE}.ql.io.orc.OrcSerde"
    ),
    "text": _TEXT,
    "csv": replace(_TEXT, parameters=FrozenDict({FIELD_DELIMITER: ",", "escape.delim": "\\"})),
}


def reader_of(parameters: Mapping[str, str], storage: StorageDescriptor) -> str | None:
    """What Spark calls its reader of a table's files, by the provider that Spark wrote, else by the serde.

    None where the table does not say, or says another: such as one in a database, behind a storage handler.

    >>> reader_of({}, stored_as("csv")), reader_of({PROVIDER: "delta"}, stored_as("parquet"))
    ('text', None)
    """
    provider = parameters.get(PROVIDER, "").lower()
    if provider:
        return provider if provider in _READERS.values() else None
    return _READERS.get((storage.serde.library or "").lower().rpartition(".")[2])


def stored_as(name: FileFormat, storage: StorageDescriptor | None = None) -> StorageDescriptor:
    """A storage with the classes of a format, where it does not say others itself.

    Args:
        name: the format.
        storage: what else is known of it; its own classes and parameters count before the format's.
    """
    classes = _CLASSES[name]
    own = StorageDescriptor() if storage is None else storage
    parameters = {**classes.parameters, **own.serde.parameters}
    parameters.setdefault(SERIALIZATION_FORMAT, parameters.get(FIELD_DELIMITER, "1"))  # as Hive and Spark have it
    return replace(
        own,
        input_format=own.input_format or classes.input_format,
        output_format=own.output_format or classes.output_format,
        serde=replace(own.serde, library=own.serde.library or classes.library, parameters=parameters),
    )


def format_of_classes(storage: StorageDescriptor) -> FileFormat | None:
    """The format that one of a storage's classes is of; None if it names none, or others.

    >>> from hbstore.model.objects import SerDe
    >>> format_of_classes(StorageDescriptor(serde=SerDe(library="org.apache.hadoop.hive.ql.io.orc.OrcSerde")))
    'orc'
    """
    named = {storage.input_format, storage.output_format, storage.serde.library}
    for name, classes in _CLASSES.items():
        if named & {classes.input_format, classes.output_format, classes.library}:
            return name
    return None
