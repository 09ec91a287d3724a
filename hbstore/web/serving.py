"""Serving the application at a port of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from hbstore.servers.bounds import UNWATCHED, DoorWatch
from hbstore.servers.http import GRACE, HttpDialogue, HttpServer
from hbstore.servers.limits import ServerLimits
from hbstore.servers.listening import listening_socket
from hbstore.servers.server import Server
from hbstore.web.app import Application

LIMITS: Final = ServerLimits(http_idle=5.0)


@contextmanager
def http_served(
    app: Application,
    host: str,
    port: int,
    *,
    limits: ServerLimits = LIMITS,
    shared_port: bool = False,
    watch: DoorWatch = UNWATCHED,
) -> Iterator[int]:
    """Inside, an application is served.

    Args:
        app: which.
        host: a name or an address of this machine.
        port: 0 for a free one.
        limits: what clients may do.
        shared_port: another process of this user holds the port.
        watch: hears of connections and requests, and of bounds that end some.

    Yields:
        The port.

    Raises:
        AddressUnavailable: the port is taken, or the address cannot be used.
    """
    http = HttpServer(app, limits, watch)
    with Server(
        listening_socket(host, port, shared_port=shared_port),
        lambda client: HttpDialogue(client, http, limits),
        limits,
        patience=limits.login_seconds,
        tells_refused=True,
        grace=2 * GRACE,
        http=http,
        watch=watch,
    ) as server:
        try:
            yield server.port
        finally:
            app.stop()
