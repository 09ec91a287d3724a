"""Messages of TCLIService as drivers write and read them: by thriftpy2, and not by hbstore's own reading."""

from __future__ import annotations

from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TApplicationException, TMessageType
from thriftpy2.transport import TMemoryBuffer

from hbstore.hiveserver2.protocol import METHODS, THRIFT

GUID, SECRET = bytes(range(16)), bytes(range(100, 116))
SESSION = THRIFT.TSessionHandle(sessionId=THRIFT.THandleIdentifier(guid=GUID, secret=SECRET))
OPERATION = THRIFT.TOperationHandle(
    operationId=THRIFT.THandleIdentifier(guid=GUID, secret=SECRET), operationType=0, hasResultSet=True
)
OPEN = THRIFT.TOpenSessionReq(client_protocol=9, configuration={"use:database": "default"})
_VALUES = {
    "sessionHandle": SESSION,
    "operationHandle": OPERATION,
    "client_protocol": 9,
    "username": "ann",
    "password": "secret",
    "configuration": {"use:database": "default", "set:hiveconf:a": "b"},
    "confOverlay": {"a": "b"},
    "statement": "select 1",
    "runAsync": True,
    "queryTimeout": 5,
    "infoType": 17,
    "orientation": 0,
    "maxRows": 1000,
    "fetchType": 0,
    "getProgressUpdate": True,
    "tableTypes": ["TABLE", "VIEW"],
}
"""What calls hold in a field of some name; in all others a pattern."""


def request(method, **values):
    """A request of a method, with all fields, some of them as they are said here."""
    struct = getattr(THRIFT, f"T{method}Req")
    return struct(**{spec[1]: (_VALUES | values).get(spec[1], "%") for spec in struct.thrift_spec.values()})


def message(method, request, *, sequence=1, kind=TMessageType.CALL):
    """The bytes of a call."""
    transport = TMemoryBuffer()
    protocol = TBinaryProtocol(transport)
    protocol.write_message_begin(method, kind, sequence)
    protocol.write_struct(getattr(THRIFT.TCLIService, f"{method}_args")(req=request))
    return transport.getvalue()


def every_call(**values):
    """A valid call of each method, by its name."""
    return {method: message(method, request(method, **values)) for method in METHODS}


def status_call(sequence=1):
    """What driver 2.3.10 sends for each row."""
    request = THRIFT.TGetOperationStatusReq(operationHandle=OPERATION, getProgressUpdate=False)
    return message("GetOperationStatus", request, sequence=sequence)


def response(reply, *, sequence=1):
    """The response that a reply holds.

    Raises:
        TApplicationException: the reply is one.
    """
    protocol = TBinaryProtocol(TMemoryBuffer(reply))
    method, kind, number = protocol.read_message_begin()
    assert number == sequence
    if kind == TMessageType.EXCEPTION:
        raised = TApplicationException()
        protocol.read_struct(raised)
        raise raised
    result = getattr(THRIFT.TCLIService, f"{method}_result")()
    protocol.read_struct(result)
    return result.success
