"""The numbers of TCLIService that have a meaning: what drivers and the server say by i32."""

from __future__ import annotations

from enum import IntEnum


class StatusCode(IntEnum):
    """Of TStatus: how a call went."""

    SUCCESS = 0
    SUCCESS_WITH_INFO = 1
    STILL_EXECUTING = 2
    ERROR = 3
    INVALID_HANDLE = 4


class ProtocolVersion(IntEnum):
    """Of OpenSession: which version of the protocol each side speaks. From V6 on, rows come in columns."""

    V1 = 0
    V2 = 1
    V3 = 2
    V4 = 3
    V5 = 4
    V6 = 5
    V7 = 6
    V8 = 7
    V9 = 8
    V10 = 9
    V11 = 10


class OperationType(IntEnum):
    """Of TOperationHandle: what the operation is."""

    EXECUTE_STATEMENT = 0
    GET_TYPE_INFO = 1
    GET_CATALOGS = 2
    GET_SCHEMAS = 3
    GET_TABLES = 4
    GET_TABLE_TYPES = 5
    GET_COLUMNS = 6
    GET_FUNCTIONS = 7
    UNKNOWN = 8


class OperationState(IntEnum):
    """Of GetOperationStatus: how far an operation is."""

    INITIALIZED = 0
    RUNNING = 1
    FINISHED = 2
    CANCELED = 3
    CLOSED = 4
    ERROR = 5
    UNKNOWN = 6
    PENDING = 7
    TIMED_OUT = 8


class JobExecutionStatus(IntEnum):
    """Of TProgressUpdateResp: whether there is a bar of progress to draw."""

    IN_PROGRESS = 0
    COMPLETE = 1
    NOT_AVAILABLE = 2


class FetchOrientation(IntEnum):
    """Of FetchResults: which rows."""

    NEXT = 0
    PRIOR = 1
    RELATIVE = 2
    ABSOLUTE = 3
    FIRST = 4
    LAST = 5


class FetchType(IntEnum):
    """Of FetchResults: rows, or lines of the operation's log."""

    ROWS = 0
    LOG = 1


class InfoType(IntEnum):
    """Of GetInfo: what is asked; those that drivers ask, and their neighbours that the server knows."""

    SERVER_NAME = 13
    SEARCH_PATTERN_ESCAPE = 14
    DBMS_NAME = 17
    DBMS_VERSION = 18
    IDENTIFIER_QUOTE_CHAR = 29
    MAX_COLUMN_NAME_LENGTH = 30
    MAX_SCHEMA_NAME_LENGTH = 32
    MAX_TABLE_NAME_LENGTH = 35
    USER_NAME = 47
    ODBC_KEYWORDS = 10006
