"""Changes by the metastore's own handlers, and their exceptions as errors of hbstore."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from pydantic import BaseModel, Field
from thriftpy2.thrift import TException

from hbstore.errors import AlreadyExists, DdlRefused, HbstoreError, PartitionNotFound, StoreReadOnly
from hbstore.metastore.calls import Call, CallRecord, Service
from hbstore.metastore.in_process import in_process
from hbstore.metastore.protocol import THRIFT

ATTEMPTS: Final = 5
"""How often a change is made up anew that others come before."""


class Dropped(BaseModel):
    """What a drop did."""

    dropped: int = Field(description="how many databases, tables or partitions are gone; a table counts as one")
    files_left: str | None = Field(default=None, description="a folder of them that could not be deleted")

    @classmethod
    def of(cls, number: int, record: CallRecord) -> Dropped:
        """What a call dropped."""
        return cls(dropped=number, files_left=record.noted("files_left"))


def writable(service: Service) -> Callable[[], None]:
    """What raises StoreReadOnly where the server changes nothing."""

    def check() -> None:
        if service.read_only:
            raise StoreReadOnly("this server is read-only", hint="Connect to a server that may write")

    return check


@contextmanager
def calling(service: Service, method: str, /, **arguments: Any) -> Iterator[Call]:
    """A call for a handler of the metastore, whose exceptions become errors of hbstore.

    Raises:
        AlreadyExists, PartitionNotFound, DdlRefused: what the handler's exceptions say.
    """
    try:
        yield in_process(service, "http", method, **arguments)
    except TException as error:
        raise _told(error) from error


def _told(error: TException) -> HbstoreError:
    if isinstance(error.__cause__, HbstoreError):
        return error.__cause__
    reason = getattr(error, "message", None) or str(error)
    if isinstance(error, THRIFT.AlreadyExistsException):
        return AlreadyExists("it already exists", reason=reason, hint="Use another name, or alter what is there")
    if isinstance(error, THRIFT.NoSuchObjectException):
        return PartitionNotFound("the partition does not exist", reason=reason, hint="List the table's partitions")
    return DdlRefused("the metastore's rules do not allow it", reason=reason, hint="Change what the reason names")
