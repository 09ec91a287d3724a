"""Calls about statements and their rows: execute, follow, fetch, cancel, close."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from hbstore.errors import InvalidInput, UnsupportedCall
from hbstore.hiveserver2.calls import DriverCall
from hbstore.hiveserver2.operations import Operation, OperationStatus, StatementOperation
from hbstore.hiveserver2.port_service import PortService, handle_of
from hbstore.hiveserver2.progress import HEADERS, bar
from hbstore.hiveserver2.protocol import THRIFT, FetchOrientation, FetchType, JobExecutionStatus, OperationType
from hbstore.hiveserver2.row_sets import row_set, table_schema
from hbstore.hiveserver2.sessions import DriverSession
from hbstore.hiveserver2.statement_kinds import has_rows
from hbstore.hiveserver2.statuses import status_of
from hbstore.query_service.query import MAX_TEXT, Request, ResultColumn

_POLL: Final = 0.5
"""Seconds that a client waits for a reply about a statement that runs: a cancel on the same connection waits, too."""


def execute(call: DriverCall[PortService]) -> Any:
    """Run a statement; unless the client asked not to wait, the reply comes at its end."""
    request, service = call.request, call.service
    session = service.session(request.sessionHandle)
    statement = _submitted(service, session, request)
    rows = has_rows(statement.text)
    if not request.runAsync:
        status = statement.at_its_end()
        session.fresh = False
        if status.problem is not None:
            service.sessions.close_operation(statement.handle)
        status.check()
        rows = status.has_rows
    handle = service.operation_handle(statement, OperationType.EXECUTE_STATEMENT, has_rows=rows)
    return THRIFT.TExecuteStatementResp(operationHandle=handle)


def _submitted(service: PortService, session: DriverSession, request: Any) -> StatementOperation:
    text = request.statement
    if not text.strip(" \t\r\n;"):
        raise InvalidInput("the statement is empty", sqlstate="42617", hint="Send a statement")
    if len(text) > MAX_TEXT:
        raise InvalidInput("the statement is too long", characters=len(text), limit=MAX_TEXT, hint="Send a shorter one")
    session.check()
    submission = Request(
        text=text,
        database=session.database,
        user=session.user,
        session=session.in_spark(),
        settings=dict(request.confOverlay or {}),
    )
    query = service.queries.submit(submission)
    statement = StatementOperation(service.queries, query.id, text, float(request.queryTimeout or 0) or None)
    try:
        service.sessions.add(session, statement)
    except Exception:
        statement.close()
        raise
    return statement


def operation_status(call: DriverCall[PortService]) -> Any:
    """How far an operation is. A client that asks about one that runs waits a while."""
    service = call.service
    session, operation = service.operation(call.request.operationHandle)
    status = operation.status(_POLL)
    if status.is_final:
        session.fresh = False
    reply = THRIFT.TGetOperationStatusResp(operationState=int(status.state), hasResultSet=status.has_rows)
    if status.problem is not None:
        failed = status_of(status.problem)
        reply.sqlState, reply.errorCode, reply.errorMessage = failed.sqlState, failed.errorCode, failed.errorMessage
        session.lost = session.lost or status.problem.error in ("SparkLost", "SessionLost")
    if status.query is not None:
        _tell_times(reply, status)
    if call.request.getProgressUpdate:
        reply.progressUpdateResponse = _progress(status)
    if status.is_final:
        call.kept_for = operation.handle
    return reply


def _tell_times(reply: Any, status: OperationStatus) -> None:
    assert status.query is not None
    for name, at in (("operationStarted", status.query.started_at), ("operationCompleted", status.query.ended_at)):
        if at is not None:
            setattr(reply, name, int(at.timestamp() * 1000))


def _progress(status: OperationStatus) -> Any:
    shown = None if status.query is None else bar(status.query)
    if shown is None:
        return None
    return THRIFT.TProgressUpdateResp(
        headerNames=list(HEADERS),
        rows=[list(row) for row in shown.rows],
        progressedPercentage=shown.part,
        status=JobExecutionStatus.COMPLETE if status.is_final else JobExecutionStatus.IN_PROGRESS,
        footerSummary=shown.summary,
        startTime=shown.started,
    )


def metadata(call: DriverCall[PortService]) -> Any:
    """The columns of an operation's rows."""
    _, operation = call.service.operation(call.request.operationHandle)
    return THRIFT.TGetResultSetMetadataResp(schema=table_schema(operation.columns()))


def fetch(call: DriverCall[PortService]) -> Any:
    """The next rows of an operation, or the next lines of its log. No rows say that there are no more."""
    request = call.request
    _, operation = call.service.operation(request.operationHandle)
    if request.fetchType == FetchType.LOG:
        return THRIFT.TFetchResultsResp(hasMoreRows=False, results=_log(operation))
    orientation = request.orientation
    if orientation not in (FetchOrientation.NEXT, FetchOrientation.FIRST):
        raise UnsupportedCall(
            "rows can be fetched forwards, or from the first on",
            sqlstate="HY106",
            orientation=orientation,
            hint="Read the result again",
        )
    page = operation.page(request.maxRows, from_start=orientation == FetchOrientation.FIRST)
    rows = row_set(page.start, page.columns, page.arrays, page.time_zone)
    return THRIFT.TFetchResultsResp(hasMoreRows=bool(page.arrays and len(page.arrays[0])), results=rows)


def _log(operation: Operation) -> bytes:
    lines = pa.array(operation.log(), pa.string())
    return row_set(0, [ResultColumn(name="log", type="string")], [lines], "UTC")


def cancel(call: DriverCall[PortService]) -> Any:
    """Cancel an operation."""
    _, operation = call.service.operation(call.request.operationHandle)
    operation.cancel()
    return THRIFT.TCancelOperationResp()


def close(call: DriverCall[PortService]) -> Any:
    """Close an operation; a statement that runs is cancelled."""
    call.service.sessions.close_operation(handle_of(call.request.operationHandle.operationId))
    return THRIFT.TCloseOperationResp()


def query_id(call: DriverCall[PortService]) -> Any:
    """The id of a statement's query, by which `hbstore query` and REST name it."""
    _, operation = call.service.operation(call.request.operationHandle)
    return THRIFT.TGetQueryIdResp(queryId=getattr(operation, "id", operation.handle.text))
