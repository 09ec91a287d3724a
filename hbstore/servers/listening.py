"""Sockets that listen at an address of this machine, which several processes may share."""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from hbstore.errors import AddressUnavailable

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
"""How users of this machine name it."""


def port_can_be_shared() -> bool:
    """Whether the system spreads connections over processes that listen at one port.

    macOS and the BSDs have the option SO_REUSEPORT, too, but let all connections go to one of the processes.
    """
    return sys.platform == "linux" and hasattr(socket, "SO_REUSEPORT")


def is_loopback(host: str) -> bool:
    """Whether nobody but users of this machine reaches what listens at an address.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback("::1"), is_loopback("")
    (True, False, True, False)
    """
    try:
        places = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(str(place[4][0]).partition("%")[0]).is_loopback for place in places)


def names_server(header: str, hosts: Container[str]) -> bool:
    """Whether a header Host names a server: by one of its names, or by an address, which leads to no other place.

    >>> [names_server(header, {"localhost"}) for header in ("LOCALHOST:80", "[::1]:80", "127.0.0.1.example", "")]
    [True, True, False, False]
    """
    try:
        name = (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return False
    if name in hosts:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def listening_socket(host: str, port: int, *, shared_port: bool = False, option: str = "--port") -> socket.socket:
    """A socket that is bound to an address and does not listen yet.

    Args:
        host: a name or an address of this machine.
        port: 0 for a free one.
        shared_port: let other processes of this user bind to it too, if they ask for it as well, where a port can be
            shared (SO_REUSEPORT).
        option: by which users choose the port, for hints.

    Raises:
        AddressUnavailable: there is no such address here, the port is taken, or it may not be used.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if shared_port and port_can_be_shared():
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            sock.bind(address)
        except BaseException:
            sock.close()
            raise
    except (OSError, OverflowError) as error:
        raise AddressUnavailable(
            "the server cannot listen at this address",
            address=f"{host}:{port}",
            reason=getattr(error, "strerror", None) or error,
            hint=f"Choose another with --host and {option}; port 0 takes any free port",
        ) from error
    return sock


@contextmanager
def held_port(host: str, port: int, option: str = "--port") -> Iterator[int]:
    """Hold a port for children, without listening at it; the port, which 0 leaves to the system.

    Where a port cannot be shared it is only chosen: another program could take it before a child does.

    Args:
        host: a name or an address of this machine.
        port: which.
        option: by which users choose it, for hints.

    Raises:
        AddressUnavailable: the port is taken, or may not be used.
    """
    with listening_socket(host, port, option=option) as tried:  # which fails where others listen, even if they share
        chosen = int(tried.getsockname()[1])
    if not port_can_be_shared():
        yield chosen
        return
    with listening_socket(host, port, shared_port=True, option=option) as held:
        yield int(held.getsockname()[1])
