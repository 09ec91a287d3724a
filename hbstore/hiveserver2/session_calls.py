"""Calls about sessions: open, close, and what the server says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyspark

from hbstore.errors import UnsupportedCall
from hbstore.hiveserver2.calls import DriverCall
from hbstore.hiveserver2.port_service import PortService
from hbstore.hiveserver2.protocol import THRIFT, InfoType, ProtocolVersion
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.query_service.query import ANONYMOUS

_NEWEST: Final = ProtocolVersion.V10
"""Driver 2.3.10 refuses a server that speaks more."""

_FETCH_SIZE: Final = "hive.server2.thrift.resultset.default.fetch.size"
_ROWS_AT_ONCE: Final = "10000"
_NULLS_LAST: Final = "hive.default.nulls.last"
"""Driver 4.0.1 asks it to say how NULLs are sorted."""

_USE: Final = "use:database"
_SETTING: Final = "set:hiveconf:"
_VARIABLE: Final = "set:hivevar:"
_OF_DRIVERS: Final = frozenset(
    {
        _FETCH_SIZE,
        "hive.create.as.external.legacy",
        "hive.server2.proxy.user",
        "wmpool",
        "wmapp",
        "mode",
    }
)
"""What drivers send for Hive's server alone."""

_KEYWORDS: Final = "ANTI,CUBE,DATABASE,DATABASES,LATERAL,OVERWRITE,PARTITION,PARTITIONED,RLIKE,SEMI,SORT,TBLPROPERTIES"
"""Words of Spark's and of cubes that SQL:2003 does not have."""


def open_session(call: DriverCall[PortService]) -> Any:
    """Begin a session; the login of SASL or HTTP says whose."""
    request, service = call.request, call.service
    version = request.client_protocol
    if version < ProtocolVersion.V6:
        raise UnsupportedCall(
            "the client is too old: its protocol has no columns",
            protocol=version,
            hint="Use a driver of Hive 0.13 or later",
        )
    service.close_idle()
    user = service.user_of(call.client, request.username, request.password)
    database, settings = _settings(request.configuration or {})
    if database != DEFAULT_DATABASE:  # which Spark has in any case
        service.store.get_database(database)
    held = call.client.held
    session = service.sessions.open(user or ANONYMOUS, database, settings, held=held)
    if held:
        call.client.sessions.add(session.handle)
    return THRIFT.TOpenSessionResp(
        serverProtocolVersion=min(version, _NEWEST),
        sessionHandle=THRIFT.TSessionHandle(
            sessionId=THRIFT.THandleIdentifier(guid=session.handle.guid, secret=session.handle.secret)
        ),
        configuration={_FETCH_SIZE: _ROWS_AT_ONCE, _NULLS_LAST: "false"},
    )


def _settings(configuration: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The current database and Spark's settings that a client asks for.

    >>> _settings({"use:database": "shop", "set:hiveconf:spark.sql.ansi.enabled": "true", "set:hivevar:day": "1"})
    ('shop', {'spark.sql.ansi.enabled': 'true', 'day': '1'})
    """
    settings = {}
    for key, value in configuration.items():
        name = key.removeprefix(_SETTING).removeprefix(_VARIABLE)
        if key != _USE and name not in _OF_DRIVERS:
            settings[name] = value
    return configuration.get(_USE) or DEFAULT_DATABASE, settings


def close_session(call: DriverCall[PortService]) -> Any:
    """Close a session, with its statements."""
    session = call.service.session(call.request.sessionHandle, alive=False)
    call.service.close(session)
    call.client.sessions.discard(session.handle)
    return THRIFT.TCloseSessionResp()


def info(call: DriverCall[PortService]) -> Any:
    """What the server says of itself. Drivers ask for its name to see whether a session is alive."""
    call.service.session(call.request.sessionHandle)
    answer = _INFOS.get(call.request.infoType)
    if answer is None:
        raise UnsupportedCall("the server does not say this of itself", info=call.request.infoType, hint="Do without")
    return THRIFT.TGetInfoResp(infoValue=THRIFT.TGetInfoValue(**{_kind(answer): answer}))


_INFOS: Final[Mapping[int, str | int]] = {
    InfoType.SERVER_NAME: "hbstore",
    InfoType.DBMS_NAME: "Spark SQL",  # its dialect, by which tools write their statements
    InfoType.DBMS_VERSION: pyspark.__version__,
    InfoType.SEARCH_PATTERN_ESCAPE: "\\",
    InfoType.IDENTIFIER_QUOTE_CHAR: "`",
    InfoType.MAX_COLUMN_NAME_LENGTH: 128,
    InfoType.MAX_SCHEMA_NAME_LENGTH: 128,
    InfoType.MAX_TABLE_NAME_LENGTH: 256,
    InfoType.ODBC_KEYWORDS: _KEYWORDS,
}


def _kind(answer: str | int) -> str:
    return "stringValue" if isinstance(answer, str) else "lenValue"


def client_info(call: DriverCall[PortService]) -> Any:
    """The client says what program it is."""
    call.service.session(call.request.sessionHandle)
    return THRIFT.TSetClientInfoResp()


def delegation(call: DriverCall[PortService]) -> Any:
    """There is no Kerberos here, whose users these tokens are for."""
    call.service.session(call.request.sessionHandle)
    raise UnsupportedCall("the server has no delegation tokens", hint="Connect by user and password")
