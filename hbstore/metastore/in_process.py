"""Calls that another room makes in its own process: so files move exactly as they do for Spark and Hive."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hbstore.metastore.calls import Call, CallRecord, ClientSession, Service
from hbstore.metastore.protocol import METHODS


def in_process(service: Service, client: str, method: str, /, **arguments: Any) -> Call:
    """A call of the service's method, to be handed to its handler.

    Args:
        service: store and warehouse.
        client: who calls, as the log says it.
        method: its name, as in ``service.thrift``.
        **arguments: its arguments, by the names that they have there.
    """
    return Call(service, ClientSession(client), METHODS[method], SimpleNamespace(**arguments), CallRecord(method))
