"""The SQL port: all calls of TCLIService put together, over a query service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hbstore.errors import SessionNotFound
from hbstore.hiveserver2 import catalog_calls, session_calls, statement_calls
from hbstore.hiveserver2.calls import Client, DriverEndpoint, Handler
from hbstore.hiveserver2.port_service import PortService
from hbstore.query_service.access import Access
from hbstore.query_service.service import QueryService

HANDLERS: Final[Mapping[str, Handler]] = {
    "OpenSession": session_calls.open_session,
    "CloseSession": session_calls.close_session,
    "GetInfo": session_calls.info,
    "SetClientInfo": session_calls.client_info,
    "GetDelegationToken": session_calls.delegation,
    "CancelDelegationToken": session_calls.delegation,
    "RenewDelegationToken": session_calls.delegation,
    "ExecuteStatement": statement_calls.execute,
    "GetOperationStatus": statement_calls.operation_status,
    "GetResultSetMetadata": statement_calls.metadata,
    "FetchResults": statement_calls.fetch,
    "CancelOperation": statement_calls.cancel,
    "CloseOperation": statement_calls.close,
    "GetQueryId": statement_calls.query_id,
    **dict.fromkeys(catalog_calls.LISTINGS, catalog_calls.list_catalog),
    "GetFunctions": catalog_calls.list_functions,
}
"""What answers each method."""


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

    return DriverEndpoint(service, dict(HANDLERS), service.sessions.quick, close_sessions)
