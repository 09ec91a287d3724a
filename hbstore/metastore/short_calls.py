"""Which calls are short by nature, so that the thread that waits for all clients answers them itself.

A short call reads at most a few rows of a local store. It lists nothing, changes nothing and touches no files. Other
threads answer all other calls, however few rows these turn out to read.

A filter is short if it has at most `SHORT_FILTER` characters and its plan is at most `FEW` point lookups. The thread
that waits for clients sees this before it reads the first row, and leaves all other filters to another thread.
"""

from __future__ import annotations

import threading
from typing import Final

SHORT_CALLS: Final = frozenset(
    {
        "add_write_notification_log",
        "add_write_notification_log_in_batch",
        "aliveSince",
        "fire_listener_event",
        "flushCache",
        "getMetaConf",
        "getName",
        "getStatus",
        "getStatusDetails",
        "getVersion",
        "get_all_databases",
        "get_all_table_constraints",
        "get_catalog",
        "get_catalogs",
        "get_check_constraints",
        "get_config_value",
        "get_current_notificationEventId",
        "get_database",
        "get_database_req",
        "get_databases",
        "get_default_constraints",
        "get_fields",
        "get_fields_req",
        "get_fields_with_environment_context",
        "get_foreign_keys",
        "get_function",
        "get_next_notification",
        "get_not_null_constraints",
        "get_notification_events_count",
        "get_num_partitions_by_filter",
        "get_partition",
        "get_partition_by_name",
        "get_partition_req",
        "get_partition_with_auth",
        "get_partitions_by_filter",
        "get_partitions_by_filter_req",
        "get_partitions_by_names",
        "get_partitions_by_names_req",
        "get_primary_keys",
        "get_runtime_stats",
        "get_schema",
        "get_schema_req",
        "get_schema_with_environment_context",
        "get_table",
        "get_table_req",
        "get_unique_constraints",
        "partition_name_has_valid_characters",
        "partition_name_to_spec",
        "partition_name_to_vals",
        "scheduled_query_poll",
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
    """Say that the calling thread is the one that waits for all clients."""
    _THREAD.selects = True


def leave_selector() -> None:
    """Leave a call to another thread, if the calling one waits for all clients; before work that may take long.

    Nothing may be changed yet, as the other thread begins the call anew.

    Raises:
        LongCall: the calling thread waits for all clients.
    """
    if getattr(_THREAD, "selects", False):
        raise LongCall
