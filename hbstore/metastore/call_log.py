"""The log of calls: which are logged, and what is said of each."""

from __future__ import annotations

import logging
from typing import Any, Final

from hbstore.metastore.calls import CallRecord, Observer

LONGEST_TEXT: Final = 4000
LONGEST_LIST: Final = 100
"""What is longer is cut short in the log: a filter may have 10,000 terms, and a plan as many scans."""

_LOG: Final = logging.getLogger("hbstore.metastore.calls")
_SERVERS_FAULT: Final = frozenset({"MetaException", "TApplicationException.INTERNAL_ERROR"})
"""What a client that did nothing wrong may get; all else tells it what it did, or what is not there."""


def call_log(*, slow_seconds: float, all_calls: bool = False) -> Observer:
    """Logs calls that are slow or that failed by the server's fault as warnings; with ``all_calls`` the others too."""

    def observe(record: CallRecord) -> None:
        if record.error in _SERVERS_FAULT:
            _LOG.warning("failed call", extra={"fields": call_fields(record)})
        elif record.seconds > slow_seconds:
            _LOG.warning("slow call", extra={"fields": call_fields(record)})
        elif all_calls:
            _LOG.info("call", extra={"fields": call_fields(record)})

    return observe


def call_fields(record: CallRecord) -> dict[str, Any]:
    """What the log says of a call.

    >>> call_fields(CallRecord("get_table", "127.0.0.1:4000", 0.00041234, 512, notes={"table": "shop.sales"}))
    {'method': 'get_table', 'client': '127.0.0.1:4000', 'seconds': 0.000412, 'bytes': 512, 'table': 'shop.sales'}
    """
    fields = {
        "method": record.method,
        "client": record.client,
        "seconds": round(record.seconds, 6),
        "bytes": record.size,
        "error": record.error,
        "message": record.message,
        **{name: record.noted(name) for name in record.notes},
    }
    return {name: _shortened(value) for name, value in fields.items() if value is not None}


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else value[:LONGEST_TEXT] + "…"
    if isinstance(value, (list, tuple)):
        some = [_shortened(element) for element in value[:LONGEST_LIST]]
        return some if len(value) <= LONGEST_LIST else [*some, f"… {len(value) - LONGEST_LIST:,} more"]
    return value
