r"""Lines of Hive's text files, as its LazySimpleSerDe reads and writes them: values with one character between them.

Spark's CSV is another format. It puts values in quotes, and escapes only inside of these; here a value is never quoted,
and an escape before a delimiter makes it a part of the value.

    7|eu\|north|\N        with the delimiter |, the escape \ and the null format \N: 7, "eu|north", NULL
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    CharType,
    MapType,
    StringType,
    StructField,
    StructType,
    VarcharType,
)

from hbstore.errors import InvalidInput
from hbstore.model.stored_as import FIELD_DELIMITER, SERIALIZATION_FORMAT
from hbstore.spark.texts import quoted

Asked: TypeAlias = Collection[str] | None
"""The columns of files that are asked for, in lower case; None: all."""

LINE: Final = "hbstore_line"
LINES: Final = StructType([StructField(LINE, StringType())])
"""What Spark reads of such files."""

_ESCAPE: Final = "escape.delim"
_NULL: Final = "serialization.null.format"
_ESCAPES_LINE_ENDS: Final = "serialization.escape.crlf"
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,3}\Z")
_TEXTS: Final = (StringType, CharType, VarcharType)
_PARTS: Final = "hbstore_parts"
_MOST_ESCAPES: Final = 100
_MARKS: Final = {"\n": "n", "\r": "r"}
"""What stands behind an escape for the end of a line."""


@dataclass(frozen=True, slots=True)
class HiveText:
    """How values stand in a line.

    Attributes:
        delimiter: what is between two values.
        escape: what takes the next character its meaning; None: nothing does.
        null: what stands for NULL.
        escapes_line_ends: whether line ends in values are written, with an escape.
    """

    delimiter: str
    escape: str | None
    null: str
    escapes_line_ends: bool

    @staticmethod
    def of(parameters: Mapping[str, str]) -> HiveText:
        r"""As a serde's parameters say.

        >>> HiveText.of({"field.delim": "9"}).delimiter
        '\t'
        """
        delimiter = parameters.get(FIELD_DELIMITER, parameters.get(SERIALIZATION_FORMAT))
        escape = parameters.get(_ESCAPE)
        return HiveText(
            _character(delimiter, "\x01"),
            None if escape is None else _character(escape, "\\"),
            parameters.get(_NULL, "\\N"),
            escape is not None and parameters.get(_ESCAPES_LINE_ENDS, "").lower() == "true",
        )

    def rows(self, lines: DataFrame, data: StructType, others: Sequence[str], names_asked: Asked = None) -> DataFrame:
        """The values of lines as columns, before other columns. What does not fit its column's type is NULL.

        Raises:
            InvalidInput: a column that is asked for is an array, a map or a struct.
        """
        fields = [(data.names.index(name), data[name]) for name in asked_of(data, names_asked)]
        _check(field for _, field in fields)
        parts = f.split(f.col(LINE), self._between, -1).alias(_PARTS)
        kept = [quoted(name) for name in others]
        values = [self._value(f.get(f.col(_PARTS), f.lit(at)), field) for at, field in fields]
        return lines.select(parts, *kept).select(*values, *kept)

    def lines(self, rows: DataFrame, data: StructType, others: Sequence[str]) -> DataFrame:
        """Rows as lines, before other columns. A text that no reader would read as it is fails the job.

        Raises:
            InvalidInput: a column is an array, a map or a struct.
        """
        _check(data.fields)
        texts = [f.coalesce(self._text(field), f.lit(self.null)) for field in data.fields]
        return rows.select(f.concat_ws(self.delimiter, *texts).alias(LINE), *map(quoted, others))

    @property
    def _between(self) -> str:
        """A regular expression for the places between two values."""
        delimiter = re.escape(self.delimiter)
        if self.escape is None:
            return delimiter
        escape = re.escape(self.escape)
        # An even number of escapes stands for half as many, and leaves the delimiter its meaning.
        escaped = f"{delimiter}(?<=(?<!{escape})(?:{escape}{escape}){{1,{_MOST_ESCAPES}}}{delimiter})"
        return f"(?<!{escape}){delimiter}|{escaped}"

    def _value(self, part: Column, field: StructField) -> Column:
        kind = field.dataType
        text = f.when(part != self.null, part)
        if isinstance(kind, StringType):
            value = self._unescaped(text)
        elif isinstance(kind, BinaryType):
            value = f.try_to_binary(text, f.lit("base64"))
        elif isinstance(kind, BooleanType):
            word = f.lower(text)
            value = f.when(word == "true", f.lit(True)).when(word == "false", f.lit(False))
        else:
            value = text.try_cast(kind)
        return value.alias(field.name)

    def _unescaped(self, text: Column) -> Column:
        if self.escape is None:
            return text
        escape = re.escape(self.escape)

        def of_part(part: Column) -> Column:
            for character, mark in _MARKS.items():
                part = f.replace(part, f.lit(f"{self.escape}{mark}"), f.lit(character))
            return f.regexp_replace(part, f"{escape}(?=[^\n\r])", "")

        parts = f.transform(f.split(text, f"{escape}{escape}", -1), of_part)  # between escapes that were escaped
        return f.when(text.contains(self.escape), f.array_join(parts, self.escape)).otherwise(text)

    def _text(self, field: StructField) -> Column:
        column = f.col(quoted(field.name))
        if isinstance(field.dataType, BinaryType):
            return f.base64(column)
        text = column.cast("string")
        if not isinstance(field.dataType, _TEXTS):
            return text
        if self.escape is not None:
            for character in (self.escape, self.delimiter):
                text = f.replace(text, f.lit(character), f.lit(f"{self.escape}{character}"))
            if self.escapes_line_ends:
                for character, mark in _MARKS.items():
                    text = f.replace(text, f.lit(character), f.lit(f"{self.escape}{mark}"))
        lost = [] if self.escapes_line_ends else list(_MARKS)
        lost += [] if self.escape is not None else [self.delimiter]
        if not lost:
            return text
        reason = f"a text contains an unescaped line end or delimiter, in the column {field.name}"
        return f.when(text.rlike("[" + "".join(map(re.escape, lost)) + "]"), f.raise_error(f.lit(reason))).otherwise(
            text
        )


def asked_of(data: StructType, names_asked: Asked) -> list[str]:
    """The names of the columns that are asked for."""
    return [name for name in data.names if names_asked is None or name.lower() in names_asked]


def _check(fields: Iterable[StructField]) -> None:
    for field in fields:
        if isinstance(field.dataType, ArrayType | MapType | StructType):
            raise InvalidInput(
                "hbstore does not read or write arrays, maps and structs in Hive's text format",
                column=field.name,
                type=field.dataType.simpleString(),
                hint="Store such columns as Parquet or ORC",
            )


def _character(text: str | None, default: str) -> str:
    """A delimiter as Hive reads it: a number of a byte, or the first character of a text."""
    if not text:
        return default
    return chr(int(text) % 256) if _NUMBER.match(text) else text[0]
