"""Which calls are short by nature, so that the thread that waits for all clients answers them itself.

A short call reads at most a few rows of a local store. It lists nothing, changes nothing and touches no files. Filters
are short while they are no longer than `SHORT_FILTER` and their plans are no more than `FEW` point lookups; the thread
that waits for clients sees this before it reads the first row, and leaves all other filters to another thread.
All other calls are answered by other threads, however few rows they turn out to read.
"""

from __future__ import annotations

import threading
from typing import Final

SHORT_CALLS: Final = frozenset(
    {
        "aliveSince",
        "fire_listener_event",
        "flushCache",
        "getMetaConf",
        "getName",
        "getStatus",
        "getStatusDetails",
        "getVersion",
        "get_all_databases",
        "get_config_value",
        "get_current_notificationEventId",
        "get_database",
        "get_databases",
        "get_fields",
        "get_fields_with_environment_context",
        "get_foreign_keys",
        "get_function",
        "get_next_notification",
        "get_num_partitions_by_filter",
        "get_partition",
        "get_partition_by_name",
        "get_partition_with_auth",
        "get_partitions_by_filter",
        "get_partitions_by_names",
        "get_primary_keys",
        "get_schema",
        "get_schema_with_environment_context",
        "get_table",
        "get_table_req",
        "partition_name_has_valid_characters",
        "partition_name_to_spec",
        "partition_name_to_vals",
        "setMetaConf",
        "set_ugi",
        "shutdown",
    }
)

FEW: Final = 16
"""Partitions that a short call looks up."""

SHORT_FILTER: Final = 500
"""Characters of a filter that is parsed and planned at once: a millisecond."""

_THREAD: Final = threading.local()
"""`selects` is true in the thread that waits for all clients."""


class LongCall(BaseException):
    """A short call turns out to be long, before it has changed anything: it is answered again, by another thread.

    No `Exception`, as it is no answer to the client.
    """


def mark_selector() -> None:
    """Called by the thread that waits for all clients, once."""
    _THREAD.selects = True


def leave_selector() -> None:
    """Called before what may take long, where nothing was changed yet.

    Raises:
        LongCall: this is the thread that waits for all clients; another one will answer the call from its beginning.
    """
    if getattr(_THREAD, "selects", False):
        raise LongCall
