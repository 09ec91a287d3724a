"""The endpoint of `hbstore serve`: all handlers put together."""

from __future__ import annotations

from typing import Final

from hbstore.metastore import catalogs
from hbstore.metastore.calls import Endpoint, Handlers, Observer, endpoint
from hbstore.metastore.methods import (
    by_expression,
    constraint_calls,
    databases,
    exchanges,
    function_calls,
    lock_calls,
    notifications,
    partition_changes,
    partition_drops,
    partition_marks,
    partition_names,
    partition_projections,
    partition_reads,
    partition_specs,
    partition_values,
    partition_writes,
    request_methods,
    role_calls,
    schemas,
    service_calls,
    statistics_calls,
    table_changes,
    table_reads,
    tables,
    transaction_calls,
    write_ids,
)
from hbstore.model.objects import Column, Table
from hbstore.store.partition_store import connect
from hbstore.warehouse.service import Service

MODULES: Final[dict[str, Handlers]] = {
    "by_expression": by_expression.handlers,
    "catalogs": catalogs.handlers,
    "databases": databases.handlers,
    "exchanges": exchanges.handlers,
    "function_calls": function_calls.handlers,
    "lock_calls": lock_calls.handlers,
    "notifications": notifications.handlers,
    "partition_changes": partition_changes.handlers,
    "partition_drops": partition_drops.handlers,
    "partition_marks": partition_marks.handlers,
    "partition_names": partition_names.handlers,
    "partition_projections": partition_projections.handlers,
    "partition_reads": partition_reads.handlers,
    "partition_specs": partition_specs.handlers,
    "partition_values": partition_values.handlers,
    "partition_writes": partition_writes.handlers,
    "request_methods": request_methods.handlers,
    "role_calls": role_calls.handlers,
    "schemas": schemas.handlers,
    "constraint_calls": constraint_calls.handlers,
    "service_calls": service_calls.handlers,
    "statistics_calls": statistics_calls.handlers,
    "table_changes": table_changes.handlers,
    "table_reads": table_reads.handlers,
    "tables": tables.handlers,
    "transaction_calls": transaction_calls.handlers,
    "write_ids": write_ids.handlers,
}
"""The modules that answer methods."""


def warm_up() -> None:
    """Answer a question about nothing, so that the first real one need not wait for the grammar to be read."""
    with connect("memory://") as store:
        store.create_database("d")
        store.create_table(Table("d", "t", partition_columns=[Column("ds", "string"), Column("hour", "int")]))
        store.get_partitions_by_filter("d", "t", 'ds >= "a" and (hour) in (1, 2)', like_dialect="hive2")


def metastore(service: Service, observe: Observer) -> Endpoint:
    """The endpoint over a store and a warehouse."""
    return endpoint(service, MODULES, observe)
