"""The endpoint's handlers, called in this process: so files move exactly as they do for Spark and Hive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from thriftpy2.thrift import TException

from hbstore.errors import AlreadyExists, DdlRefused, HbstoreError, PartitionNotFound
from hbstore.metastore import partition_changes, partition_drops, partition_writes, truncation
from hbstore.metastore.calls import CallRecord, Handler, Service
from hbstore.metastore.in_process import in_process
from hbstore.metastore.protocol import THRIFT

_HANDLERS: Final[Mapping[str, Handler]] = {
    method: handler
    for module in (partition_changes, partition_drops, partition_writes, truncation)
    for method, handler in module.handlers.by_method.items()
}


def ask(service: Service, method: str, /, **arguments: Any) -> CallRecord:
    """Call a method of the Hive Metastore's service; what its handler says of it.

    Args:
        service: store and warehouse.
        method: its name, as in ``service.thrift``.
        **arguments: its arguments, by the names that they have there.

    Raises:
        AlreadyExists, PartitionNotFound, DdlRefused: what the method's exceptions say.
        HbstoreError: what the store and the warehouse raise.
    """
    call = in_process(service, "ddl", method, **arguments)
    try:
        _HANDLERS[method](call)
    except TException as error:
        raise _told(error) from error
    return call.record


def struct(name: str, /, **fields: Any) -> Any:
    """A struct of the service as a handler reads it; what is left out has the IDL's default."""
    return getattr(THRIFT, name)(**fields)


def files_left(record: CallRecord) -> tuple[str, ...]:
    """A note where files could not be deleted."""
    place = record.noted("files_left")
    return () if place is None else (f"files that belong to no partition remain, such as those in {place}",)


def _told(error: TException) -> HbstoreError:
    reason = getattr(error, "message", None) or str(error)
    if isinstance(error, THRIFT.AlreadyExistsException):
        return AlreadyExists(
            "the partition already exists", reason=reason, hint="Name another partition, or use IF NOT EXISTS"
        )
    if isinstance(error, THRIFT.NoSuchObjectException):
        return PartitionNotFound(
            "the partition does not exist", reason=reason, hint="SHOW PARTITIONS lists the partitions of a table"
        )
    return DdlRefused(
        "the metastore's rules do not allow it", reason=reason, hint="Change the statement as the reason says"
    )
