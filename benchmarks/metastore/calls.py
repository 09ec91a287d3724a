"""Calls as bytes, ready to be sent: Thrift's plain binary protocol, made by thriftpy2 from hbstore's own IDL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import thriftpy2
from thriftpy2.protocol import TCyBinaryProtocol
from thriftpy2.thrift import TMessageType
from thriftpy2.transport import TCyMemoryBuffer

import hbstore

_IDL = Path(hbstore.__file__).parent / "metastore" / "service.thrift"
SERVICE = thriftpy2.load(
    str(_IDL), module_name="benchmarks_service_thrift", include_dirs=[str(_IDL.parent), str(_IDL.parents[1])]
)
STRUCTS = SERVICE.hive_metastore


def message(method: str, **arguments: Any) -> bytes:
    r"""The bytes of one call.

    >>> message("get_all_databases")
    b'\x80\x01\x00\x01\x00\x00\x00\x11get_all_databases\x00\x00\x00\x00\x00'
    """
    buffer = TCyMemoryBuffer()
    protocol = TCyBinaryProtocol(buffer)
    protocol.write_message_begin(method, TMessageType.CALL, 0)
    protocol.write_struct(getattr(SERVICE.ThriftHiveMetastore, f"{method}_args")(**arguments))
    protocol.write_message_end()
    return bytes(buffer.getvalue())
