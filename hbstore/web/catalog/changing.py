"""What all routes that change the catalog share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import BaseModel, Field

from hbstore.errors import StoreReadOnly
from hbstore.warehouse.service import Service


class Dropped(BaseModel):
    """What a drop did."""

    dropped: int = Field(description="how many databases, tables or partitions are gone; a table counts as one")
    files_left: str | None = Field(default=None, description="a folder of them that could not be deleted")

    @classmethod
    def of(cls, number: int, left: Sequence[str]) -> Dropped:
        """So many are dropped, and files are left in these locations."""
        return cls(dropped=number, files_left=left[-1] if left else None)


def writable(service: Service) -> Callable[[], None]:
    """What raises StoreReadOnly where the server changes nothing."""

    def check() -> None:
        if service.read_only:
            raise StoreReadOnly("this server is read-only", hint="Connect to a server that may write")

    return check
