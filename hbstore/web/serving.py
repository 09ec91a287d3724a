"""Serving the application in a thread of this process, by uvicorn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final

import uvicorn

from hbstore.metastore.server.server import listening_socket
from hbstore.web.app import Application

_GRACE: Final = 10
"""Seconds that requests under way have when the server stops."""

_BACKLOG: Final = 512
"""Connections that wait to be taken."""


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
    listening = listening_socket(host, port, shared_port=shared_port)
    listening.listen(_BACKLOG)
    settings = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=_GRACE, lifespan="off"
    )
    server = uvicorn.Server(settings)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, name="hbstore-http", daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        app.stop()
        server.should_exit = True
        thread.join()
        listening.close()
