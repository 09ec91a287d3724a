r"""Who it may be that speaks another protocol, by the first bytes, and what to tell people about it.

>>> hint_for(b"GET ")
'This port does not speak HTTP; metrics have a port of their own (--metrics-port)'
"""

from __future__ import annotations

from typing import Final

_HTTP: Final = (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"PATC", b"CONN", b"PRI ")
_TLS: Final = b"\x16\x03"
_COMPACT: Final = b"\x82"
_SASL: Final = b"\x01\x00\x00\x00"
"""SASL's first message: START, and the size of a mechanism's name."""


def hint_for(first: bytes) -> str | None:
    """What to do, by the first four bytes of a connection; None where they tell nothing."""
    if first in _HTTP:
        return "This port does not speak HTTP; metrics have a port of their own (--metrics-port)"
    if first.startswith(_TLS):
        return "The client speaks TLS: set hive.metastore.use.SSL to false there"
    if first.startswith(_COMPACT):
        return (
            "The client speaks Thrift's compact protocol: set hive.metastore.thrift.compact.protocol.enabled to false"
        )
    if first == _SASL:
        return "The client wants to authenticate by SASL: set hive.metastore.sasl.enabled to false there"
    return None
