"""When tables and partitions were created and last changed, and by whom, as Hive keeps it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

DDL_TIME: Final = "transient_lastDdlTime"
"""The parameter that tells when a table or partition was last changed, in seconds since 1970."""

CHANGED_BY: Final = "last_modified_by"
"""The parameter in which Hive's clients say who altered a table or partition last."""


def now() -> int:
    """Seconds since 1970, as in create times."""
    return int(time.time())


def with_ddl_time(parameters: Mapping[str, str], *, zero_is_none: bool = False) -> dict[str, str]:
    """Parameters with the time of this change, unless the client gave one.

    Args:
        parameters: as given.
        zero_is_none: a given time of 0 counts as none.

    >>> with_ddl_time({"transient_lastDdlTime": "1700000000"})
    {'transient_lastDdlTime': '1700000000'}
    """
    stated = parameters.get(DDL_TIME)
    if stated is None or (zero_is_none and not stated.lstrip("0")):
        return {**parameters, DDL_TIME: str(now())}
    return dict(parameters)


def changed_by(parameters: Mapping[str, str]) -> str | None:
    """Who altered a table or a partition last, as its parameters say; None: no client said so.

    >>> changed_by({"last_modified_by": "ann"}), changed_by({})
    ('ann', None)
    """
    return parameters.get(CHANGED_BY, "").strip() or None
