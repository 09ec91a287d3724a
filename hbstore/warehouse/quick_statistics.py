"""Statistics that need no look into files: ``numFiles`` and ``totalSize``, as Hive keeps them among the parameters.

Hive counts the files of a table without partitions, or of a partition, when it is created in a folder that is there
already, and whenever it is altered, unless the client says ``DO_NOT_UPDATE_STATS``. As the count replaces what the
client may have known better, ``COLUMN_STATS_ACCURATE`` goes with it, except where the client says that the change is a
job's own (``STATS_GENERATED``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from hbstore.files.warehouse import Warehouse
from hbstore.model.objects import Partition, Table
from hbstore.warehouse.table_kinds import is_view

NUM_FILES: Final = "numFiles"
TOTAL_SIZE: Final = "totalSize"
ACCURATE: Final = "COLUMN_STATS_ACCURATE"
DO_NOT_UPDATE: Final = "DO_NOT_UPDATE_STATS"
GENERATED: Final = "STATS_GENERATED"

_BASIC: Final = "BASIC_STATS"
_BY_TASK: Final = "TASK"
_BY_JOB: Final = frozenset({_BY_TASK, "USER"})


def created_table_parameters(
    warehouse: Warehouse, table: Table, properties: Mapping[str, str], *, made_folder: bool
) -> dict[str, str]:
    """The parameters of a table that is created, with the count of its files if they are there already."""
    return _table_parameters(warehouse, table, properties, made_folder=made_folder, again=False)


def altered_table_parameters(warehouse: Warehouse, table: Table, properties: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a table that is altered, with the count of its files, unless the client says otherwise."""
    if properties.get(DO_NOT_UPDATE) == "true":
        return dict(table.parameters)
    return _table_parameters(warehouse, table, properties, made_folder=False, again=True)


def created_partition_parameters(
    warehouse: Warehouse, parameters: Mapping[str, str], location: str | None, properties: Mapping[str, str]
) -> dict[str, str]:
    """The parameters of a partition whose folder was there before it, with the count of its files."""
    if _has_counts(parameters):
        return dict(parameters)
    return _counted(warehouse, parameters, location, properties)


def altered_partition_parameters(
    warehouse: Warehouse,
    table: Table,
    old: Partition,
    new: Partition,
    location: str | None,
    properties: Mapping[str, str],
) -> dict[str, str]:
    """The parameters of a partition that is altered.

    Its files are counted where the client gives no counts or other counts than the old ones, as then they may be wrong.
    """
    if properties.get(DO_NOT_UPDATE) == "true" or is_view(table):
        return dict(new.parameters)
    same = _same_counts(old.parameters, new.parameters)
    if same and _has_counts(new.parameters) and properties.get(GENERATED) not in _BY_JOB:
        return dict(new.parameters)
    if same:
        return _with_accuracy(new.parameters, properties)
    return _counted(warehouse, new.parameters, location, properties)


def truncated_parameters(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters of what has no data any more: all counts are 0 and accurate.

    >>> truncated_parameters({"numRows": "5", "totalSize": "100", "owner": "me"})["numRows"]
    '0'
    """
    counts = dict.fromkeys(("numRows", "rawDataSize", NUM_FILES, TOTAL_SIZE), "0")
    counted = {key: counts.get(key, value) for key, value in parameters.items()}
    return {**counted, NUM_FILES: "0", TOTAL_SIZE: "0", ACCURATE: json.dumps({_BASIC: "true"}, separators=(",", ":"))}


def _table_parameters(
    warehouse: Warehouse, table: Table, properties: Mapping[str, str], *, made_folder: bool, again: bool
) -> dict[str, str]:
    parameters = dict(table.parameters)
    if is_view(table) or table.partition_columns:
        return parameters
    if parameters.pop(DO_NOT_UPDATE, "").lower() == "true":
        return parameters
    if made_folder or (_has_counts(parameters) and not again):
        return parameters
    return _counted(warehouse, parameters, table.location, properties)


def _counted(
    warehouse: Warehouse, parameters: Mapping[str, str], location: str | None, properties: Mapping[str, str]
) -> dict[str, str]:
    counts = None if location is None else warehouse.quick_statistics(location)
    files, size = counts or (0, 0)
    return _with_accuracy({**parameters, NUM_FILES: str(files), TOTAL_SIZE: str(size)}, properties)


def _with_accuracy(parameters: Mapping[str, str], properties: Mapping[str, str]) -> dict[str, str]:
    """With the mark that the counts are accurate if a job made them, else without any such mark."""
    settled = {key: value for key, value in parameters.items() if key != ACCURATE}
    if properties.get(GENERATED) == _BY_TASK:
        known = {}
        with suppress(ValueError):
            known = json.loads(parameters.get(ACCURATE, "{}"))
        columns = known if isinstance(known, dict) else {}
        settled[ACCURATE] = json.dumps({_BASIC: "true", **columns}, separators=(",", ":"))
    return settled


def _has_counts(parameters: Mapping[str, str]) -> bool:
    return NUM_FILES in parameters and TOTAL_SIZE in parameters


def _same_counts(old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    return all(key in old and old[key] == new.get(key) for key in (NUM_FILES, TOTAL_SIZE))
