"""Serving the application at a port of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hbstore.servers.http import HttpServer
from hbstore.servers.listening import listening_socket
from hbstore.web.app import Application


@contextmanager
def http_served(app: Application, host: str, port: int, *, shared_port: bool = False) -> Iterator[int]:
    """Inside, an application is served.

    Args:
        app: which.
        host: a name or an address of this machine.
        port: 0 for a free one.
        shared_port: another process of this user holds the port.

    Yields:
        The port.

    Raises:
        AddressUnavailable: the port is taken, or the address cannot be used.
    """
    with listening_socket(host, port, shared_port=shared_port) as listener:
        server = HttpServer(app, listener).start()
        try:
            yield listener.getsockname()[1]
        finally:
            app.stop()
            server.close()
            server.join()
