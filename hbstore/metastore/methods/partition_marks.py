"""Marks on partitions: that one was marked for an event, such as that its data is complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from hbstore.errors import DatabaseNotFound, InvalidPartitionValue, TableNotFound, TableNotPartitioned
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.store.hive.marks import LOAD_DONE

handlers = Handlers()


@handlers.answers("markPartitionForEvent", writes=True)
def mark_partition(call: Call) -> None:
    """Mark a partition, which need not be there yet.

    Raises:
        UnknownTableException, UnknownDBException: there can be no such partition.
        InvalidPartitionException: the values are not those of the partition columns.
    """
    with _declared():
        call.store.hive.marks.mark(*_mark(call))


@handlers.answers("isPartitionMarkedForEvent")
def is_partition_marked(call: Call) -> bool:
    """Whether a partition was marked. Raises as `markPartitionForEvent`."""
    with _declared():
        return call.store.hive.marks.is_marked(*_mark(call))


def _mark(call: Call) -> tuple[str, str, Mapping[str, str], int]:
    """Which partition the call is about, and which event."""
    arguments = call.arguments
    event: int = arguments.eventType or LOAD_DONE
    return database_name(arguments.db_name), arguments.tbl_name or "", arguments.part_vals or {}, event


@contextmanager
def _declared() -> Iterator[None]:
    """Errors as HMS has them here: this is the one place where it tells tables from databases and partitions."""
    try:
        yield
    except TableNotFound as error:
        raise THRIFT.UnknownTableException(str(error)) from error
    except DatabaseNotFound as error:
        raise THRIFT.UnknownDBException(str(error)) from error
    except (InvalidPartitionValue, TableNotPartitioned) as error:
        raise THRIFT.InvalidPartitionException(str(error)) from error
