"""Calls to an endpoint in this process: thriftpy2 writes the call and reads the reply, and nothing stands between."""

from __future__ import annotations

from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TApplicationException, TMessageType
from thriftpy2.transport import TMemoryBuffer

from hbstore.metastore.calls import ClientSession
from hbstore.metastore.protocol import THRIFT
from tests.metastore.client import message


class Direct:
    """The service's methods as attributes: ``Direct(endpoint).get_table("shop", "sales")``.

    ``records`` holds what the endpoint told its observer, if that is this object's `observe`.
    """

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.session = ClientSession("test")

    def __getattr__(self, method):
        def call(*arguments):
            reply = self.endpoint.answer(self.session, message(method, *arguments))
            if reply is None:
                return None
            try:
                data = b"".join(reply.chunks())
            finally:
                reply.close()
            return self.result(method, data)

        return call

    @staticmethod
    def result(method, data):
        """What a reply says, or raise it."""
        protocol = TBinaryProtocol(TMemoryBuffer(data))
        name, kind, _ = protocol.read_message_begin()
        assert name == method
        if kind == TMessageType.EXCEPTION:
            refused = TApplicationException()
            protocol.read_struct(refused)
            raise refused
        found = getattr(THRIFT.ThriftHiveMetastore, f"{method}_result")()
        protocol.read_struct(found)
        for _, spec in sorted(found.thrift_spec.items()):
            if spec[1] != "success" and getattr(found, spec[1]) is not None:
                raise getattr(found, spec[1])
        return getattr(found, "success", None)
