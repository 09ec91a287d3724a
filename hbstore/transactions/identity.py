"""The ids of transactions: unique, and they say which process began each of them, and when."""

from __future__ import annotations

import os
import secrets
import socket
import time
from functools import lru_cache


def new_id() -> str:
    """An id that no other transaction has.

    >>> len(new_id().split("/"))
    4
    """
    return f"{int(time.time())}/{_host()}/{os.getpid()}/{secrets.token_hex(8)}"


def began_at(transaction_id: str) -> int:
    """When a transaction began, in seconds since 1970.

    >>> began_at("1732500000/lake1/4711/5e0f")
    1732500000
    """
    return int(transaction_id.partition("/")[0])


def holder_of(transaction_id: str) -> str:
    """The process of a transaction, for people.

    >>> holder_of("1732500000/lake1/4711/5e0f")
    'process 4711 on lake1'
    """
    _, host, process, _ = transaction_id.split("/")
    return f"process {process} on {host}"


@lru_cache(maxsize=1)
def _host() -> str:
    return socket.gethostname().replace("/", "")
