"""Transactional (ACID) tables: what a Hive Metastore 2.3 checks of them, and how it writes what they say.

Hive keeps rows of such a table by transaction, in delta folders of ORC files, each bucket by itself. The parameter
``transactional`` says that it does, in any case of letters, and cannot be taken back, as other readers would not
understand the folders. Nothing here compacts: deltas stay until a job outside joins them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hbstore.errors import DdlRefused
from hbstore.model.objects import Table
from hbstore.warehouse.refusals import refusal
from hbstore.warehouse.table_kinds import is_external

_KEY: Final = "transactional"
_PROPERTIES: Final = "transactional_properties"
_TRUE: Final = "true"
_DEFAULT: Final = "default"
_ACID_FORMATS: Final = (
    "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
)
"""Those of Hive's formats that read and write deltas."""


def created_transactional(table: Table) -> dict[str, str]:
    """The parameters of a table that is created: ``transactional`` is ``true`` or left out.

    Raises:
        DdlRefused: it says something else, or the table cannot be transactional.
    """
    transactional = _parameter(table.parameters, _KEY)
    if transactional is None:
        return dict(table.parameters)
    kept = {key: value for key, value in table.parameters.items() if key.lower() != _KEY}
    if transactional.lower() == "false":
        return kept
    if transactional.lower() != _TRUE:
        raise refusal(DdlRefused, "'transactional' property of TBLPROPERTIES may only have value 'true'")
    _check_kind(table)
    properties = _parameter(table.parameters, _PROPERTIES)
    if properties is not None:
        _check_properties(properties)
        kept = {key: value for key, value in kept.items() if key.lower() != _PROPERTIES}
        kept[_PROPERTIES] = _DEFAULT
    return {**kept, _KEY: _TRUE}


def altered_transactional(old: Table, new: Table) -> dict[str, str]:
    """The parameters of a table that is altered, with ``transactional`` written in lower case.

    A table that was stored as transactional in another way, such as by an import from Hive 3, which needs no buckets,
    may be altered as long as it stays as it is.

    Raises:
        DdlRefused: it would cease to be transactional, or cannot be, or its ``transactional_properties`` change.
    """
    before, after = _parameter(old.parameters, _KEY), _parameter(new.parameters, _KEY)
    was, becomes = _is_true(before), _is_true(after)
    if not becomes and (was or (after is not None and after != before)):
        raise refusal(DdlRefused, "TBLPROPERTIES with 'transactional'='true' cannot be unset")
    if becomes and not (was and not _is_acid(old)):
        _check_kind(new)
    properties = _parameter(new.parameters, _PROPERTIES)
    if properties is not None and properties != _parameter(old.parameters, _PROPERTIES):
        if was:
            text = "TBLPROPERTIES with 'transactional_properties' cannot be altered after the table is created"
            raise refusal(DdlRefused, text)
        _check_properties(properties)
    if not becomes or after is None:
        return dict(new.parameters)
    return {**{key: value for key, value in new.parameters.items() if key.lower() != _KEY}, _KEY: after}


def _parameter(parameters: Mapping[str, str], name: str) -> str | None:
    """A parameter, whatever the case of its name; the last one, where there are several."""
    values = [value for key, value in parameters.items() if key.lower() == name]
    return values[-1] if values else None


def _is_true(text: str | None) -> bool:
    return text is not None and text.lower() == _TRUE


def _is_acid(table: Table) -> bool:
    storage = table.storage
    return bool(storage.bucket_columns) and (storage.input_format, storage.output_format) == _ACID_FORMATS


def _check_kind(table: Table) -> None:
    if not _is_acid(table):
        text = "The table must be bucketed and stored using an ACID compliant format (such as ORC)"
        raise refusal(DdlRefused, text)
    if is_external(table):
        raise refusal(DdlRefused, f"{table} cannot be declared transactional because it's an external table")


def _check_properties(text: str) -> None:
    if text.lower() != _DEFAULT:
        raise refusal(
            DdlRefused,
            "Invalid transactional properties specified for the table with the error unknown value "
            f"{text} for {_PROPERTIES}",
        )
