"""The SQL port: all calls of TCLIService put together, over a query service."""

from __future__ import annotations

from typing import Final

from hbstore.errors import SessionNotFound
from hbstore.hiveserver2 import catalog_calls, session_calls, statement_calls
from hbstore.hiveserver2.calls import Client, DriverEndpoint, DriverHandlers, endpoint
from hbstore.hiveserver2.port_service import PortService
from hbstore.query_service.access import Access
from hbstore.query_service.service import QueryService

_MODULES: Final[dict[str, DriverHandlers]] = {
    "session_calls": session_calls.handlers,
    "statement_calls": statement_calls.handlers,
    "catalog_calls": catalog_calls.handlers,
}


def sql_port(queries: QueryService, access: Access) -> DriverEndpoint[PortService]:
    """An endpoint whose statements a query service runs.

    Args:
        queries: the query service.
        access: who may ask.
    """
    service = PortService(queries, access)

    def close_sessions(client: Client) -> None:
        """Close the sessions that a connection held."""
        for handle in list(client.sessions):
            try:
                session = service.sessions.get(handle)
            except SessionNotFound:  # closed over another connection
                continue
            service.close(session)

    return endpoint(service, _MODULES, quick=service.sessions.quick, on_closed=close_sessions)
