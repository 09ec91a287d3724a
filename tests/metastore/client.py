"""A client of the metastore as another program has it: thriftpy2 over a socket, from service.thrift.

What it sends is written and what it gets is read by thriftpy2, so that the server's own reading and writing is not
tested by itself. thriftpy2 cannot read a map whose keys are lists (of a skewed table): `raw_call` is for those.
"""

from __future__ import annotations

import socket
from contextlib import contextmanager

from thriftpy2.protocol import TBinaryProtocol, TCyBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TCyBufferedTransport, TCyFramedTransport, TMemoryBuffer, TSocket

from hbstore.metastore.protocol import THRIFT

TYPES = THRIFT
"""The structs and exceptions of the service: ``TYPES.NoSuchObjectException``, ``TYPES.GetTableRequest``."""

STORED = THRIFT.hive_metastore
"""The structs that are stored: ``STORED.Table``, ``STORED.Partition``, ``STORED.StorageDescriptor``."""

HOST = "127.0.0.1"
SECONDS = 60


@contextmanager
def client(port, *, framed=False, timeout=SECONDS):
    """One connection to a server on this machine; its attributes are the service's methods.

    with client(9083) as metastore:
        table = metastore.get_table("shop", "sales")
    """
    sock = TSocket(HOST, port, socket_timeout=timeout * 1000)
    transport = (TCyFramedTransport if framed else TCyBufferedTransport)(sock)
    transport.open()
    try:
        yield TClient(THRIFT.ThriftHiveMetastore, TCyBinaryProtocol(transport))
    finally:
        transport.close()


def message(method, *arguments, sequence=1):
    """The bytes of a call, with its arguments in the order of the IDL."""
    transport = TMemoryBuffer()
    protocol = TBinaryProtocol(transport)
    given = getattr(THRIFT.ThriftHiveMetastore, f"{method}_args")()
    names = [spec[1] for _, spec in sorted(given.thrift_spec.items())]
    for name, value in zip(names, arguments, strict=False):
        setattr(given, name, value)
    protocol.write_message_begin(method, 1, sequence)
    protocol.write_struct(given)
    return transport.getvalue()


def raw_call(port, method, *arguments):
    """The bytes of a reply, or of what came before the server closed the connection."""
    return exchange(port, message(method, *arguments))


def exchange(port, sent):
    """What a server says to some bytes."""
    with socket.create_connection((HOST, port), timeout=SECONDS) as sock:
        sock.sendall(sent)
        sock.shutdown(socket.SHUT_WR)
        parts = []
        while data := sock.recv(1 << 16):
            parts.append(data)
        return b"".join(parts)
