"""Files of partition specs, CSV or JSON Lines, as partitions with the numbers of their lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO, Final, NoReturn

from hbstore.cli.failures import message
from hbstore.errors import HbstoreError, InvalidInput, InvalidPartitionValue, did_you_mean
from hbstore.keys.partition_names import parse_partition_name
from hbstore.model.objects import Partition, Table, partition_value_texts

_PARAMETER: Final = "parameters."
_KINDS: Final = {"values": "a list", "spec": "an object", "name": "a text"}
"""The keys that say which partition a line of JSON is, and what each holds."""

_KEYS: Final = (*_KINDS, "location", "parameters", "create_time", "last_access_time")
_DIGITS: Final = 20
"""Of a number of seconds; the field that cannot hold a shorter number reports it."""
_BOM: Final = "\ufeff"


class SpecFormat(StrEnum):
    """How a file holds partition specs."""

    CSV = "csv"
    JSONL = "jsonl"


@dataclass(slots=True)
class SpecFile:
    """A file of partition specs that is being read.

    Attributes:
        name: as errors call it.
        stream: its bytes.
        format: CSV or JSON Lines.
        table: whose partitions they are.
        line: the number of the line that was read last, from 1.
        done: how many bytes were read.
    """

    name: str
    stream: BinaryIO
    format: SpecFormat
    table: Table
    line: int = field(default=0, init=False)
    done: int = field(default=0, init=False)

    def partitions(self) -> Iterator[Partition]:
        """The partitions, one for each line that is not blank; `line` is its number.

        Raises:
            InvalidInput: a line cannot be read; the error says which and why.
        """
        return self._from_csv() if self.format is SpecFormat.CSV else self._from_json_lines()

    def refuse(self, reason: str, hint: str | None = None) -> NoReturn:
        """Raise the error about the line that was read last."""
        hint = hint or "Correct the line, and repeat the command"
        raise InvalidInput(
            "hbstore cannot load a line of the file", file=self.name, line=self.line, reason=reason, hint=hint
        )

    def _lines(self) -> Iterator[str]:
        for data in self.stream:
            self.line += 1
            self.done += len(data)
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                self.refuse(f"byte {error.start + 1} of the line is not UTF-8")
            yield text.removeprefix(_BOM) if self.line == 1 else text

    def _from_csv(self) -> Iterator[Partition]:
        rows = csv.reader(self._lines(), strict=True)
        try:
            header = next((row for row in rows if row), None)
            if header is None:
                return
            columns = self._columns_of(header)
            for row in rows:
                if not row:
                    continue
                if len(row) != len(header):
                    self.refuse(f"the line has {len(row)} fields, but the header has {len(header)}")
                yield self._from_fields(dict(zip(columns, row, strict=True)))
        except csv.Error as error:
            self.refuse(str(error), 'Lines end with LF or CRLF; commas, quotes and line ends in a field need "quotes"')

    def _columns_of(self, header: list[str]) -> list[str]:
        """The header's columns as this module names them: partition columns, location, ``parameters.x``."""
        by_name = {name.lower(): name for name in self.table.partition_column_names}
        columns = []
        for name in map(str.strip, header):
            column = by_name.get(name.lower(), name)
            is_parameter = name.startswith(_PARAMETER) and name != _PARAMETER
            if not (column in by_name.values() or name == "location" or is_parameter):
                hint = f"The columns are {', '.join(by_name.values())}, and may be location and parameters.NAME"
                self.refuse(f"there is no column {name!r}", did_you_mean(name, [*by_name, "location"], hint))
            if column in columns:
                self.refuse(f"the column {column!r} occurs twice")
            columns.append(column)
        missing = [name for name in by_name.values() if name not in columns]
        if missing:
            self.refuse(f"the header lacks {', '.join(missing)}", "The first line names the columns: ds,hour,location")
        return columns

    def _from_fields(self, fields: dict[str, str]) -> Partition:
        values = [fields.pop(name) for name in self.table.partition_column_names]
        location = fields.pop("location", None) or None
        parameters = {column.removeprefix(_PARAMETER): text for column, text in fields.items() if text}
        return Partition(values, location=location, parameters=parameters)

    def _from_json_lines(self) -> Iterator[Partition]:
        for text in self._lines():
            if not text.strip():
                continue
            try:
                # Numbers stay the texts that they are: 1.10 is not 1.1 when it is a partition value.
                document = json.loads(text, parse_int=str, parse_float=str, parse_constant=self._no_constant)
            except ValueError as error:
                self.refuse(f"not JSON: {error}", "Write one object on each line")
            except RecursionError:
                self.refuse("nested too deeply", "Write one object on each line")
            if not isinstance(document, dict):
                self.refuse(
                    "not an object", 'Write {"values": ["2013-01-01", "5"]} or {"name": "ds=2013-01-01/hour=5"}'
                )
            yield self._from_object(document)

    def _no_constant(self, name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    def _from_object(self, document: Mapping[str, Any]) -> Partition:
        unknown = [key for key in document if key not in _KEYS]
        if unknown:
            self.refuse(f"there is no key {unknown[0]!r}", f"The keys are {', '.join(_KEYS)}")
        identities = {key: self._values(key, document[key]) for key in _KINDS if key in document}
        if not identities:
            self.refuse("the object does not name its partition", 'Give "values", "spec" or "name"')
        if len(set(identities.values())) > 1:
            self.refuse(f"{' and '.join(identities)} name different partitions", "Give one of them")
        location = document.get("location")
        if location is not None and not isinstance(location, str):
            self.refuse("the location is not a text")
        parameters = document.get("parameters")
        if not isinstance(parameters, dict | None):
            self.refuse("the parameters are not an object")
        texts = {key: self._text(key, value) for key, value in (parameters or {}).items()}
        created, accessed = self._seconds(document, "create_time"), self._seconds(document, "last_access_time")
        try:
            return Partition(
                next(iter(identities.values())),
                location=location,
                parameters=texts,
                create_time=created,
                last_access_time=accessed,
            )
        except HbstoreError as error:
            self.refuse(message(error), error.hint)

    def _values(self, key: str, value: Any) -> tuple[str, ...]:
        """The values that one of "values", "spec" and "name" means."""
        try:
            if key == "values" and isinstance(value, list):
                return partition_value_texts([self._value(key, partition_value) for partition_value in value])
            if key == "spec" and isinstance(value, dict):
                spec = {column: self._value(column, partition_value) for column, partition_value in value.items()}
                return partition_value_texts(spec, self.table.partition_column_names)
            if key == "name" and isinstance(value, str):
                return partition_value_texts(parse_partition_name(value), self.table.partition_column_names)
        except InvalidPartitionValue as error:
            self.refuse(message(error), error.hint)
        return self.refuse(f"{key!r} is not {_KINDS[key]}")

    def _value(self, name: str, value: Any) -> str | None:
        return None if value is None else self._text(name, value)

    def _text(self, name: str, value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, str):
            self.refuse(f"{name!r} holds {json.dumps(value)}, which is not a text")
        return value

    def _seconds(self, document: Mapping[str, Any], key: str) -> int:
        text = document.get(key) or "0"
        if not isinstance(text, str) or not text.isdecimal() or not text.isascii() or len(text) > _DIGITS:
            self.refuse(f"{key!r} is not a number of seconds")
        return int(text)
