"""The server of drivers: its limits, and how it tells drivers beyond them."""

from __future__ import annotations

from typing import Any, Final

from anyio import CapacityLimiter

from hbstore.hiveserver2.calls import DriverEndpoint
from hbstore.hiveserver2.connection import DriverDialogue
from hbstore.hiveserver2.http_transport import MAX_HEAD, HttpTransport
from hbstore.query_service.access import Access
from hbstore.servers.bounds import UNWATCHED, DoorWatch
from hbstore.servers.framing import ReadLimits
from hbstore.servers.http import HttpServer
from hbstore.servers.limits import ServerLimits
from hbstore.servers.listening import listening_socket
from hbstore.servers.memory import Budget
from hbstore.servers.server import Server

MAX_MESSAGE: Final = 16 * 1024 * 1024
"""Bytes of one call: statements are its only large part, and shorter."""

MAX_ELEMENTS: Final = 100_000
"""Elements of one call, such as settings: many come from no driver, and would need memory."""

LIMITS: Final = ServerLimits(
    connections=200,
    message_memory=128 * 1024 * 1024,
    read=ReadLimits(message=MAX_MESSAGE, elements=MAX_ELEMENTS),
)
GRACE: Final = 10.0
"""Seconds that calls under way have to end when the server stops."""


def driver_server(
    endpoint: DriverEndpoint[Any],
    access: Access,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    limits: ServerLimits = LIMITS,
    shared_port: bool = False,
    watch: DoorWatch = UNWATCHED,
) -> Server:
    """A server of an endpoint for drivers, which holds its address and does not serve yet.

    Args:
        endpoint: answers the calls.
        access: who may log in.
        host: a name or an address of this machine.
        port: 0 for a free one; see `Server.port`.
        limits: what drivers may do.
        shared_port: another process of this user holds the port.
        watch: hears of connections, and of bounds that end some.

    Raises:
        AddressUnavailable: the port is taken, or the address cannot be used.
    """
    budget = Budget(limits.message_memory)
    transport = HttpTransport(endpoint, access, limits, budget, CapacityLimiter(limits.connections))
    http = HttpServer(transport, limits, watch, http="h11", h11_max_incomplete_event_size=MAX_HEAD)
    return Server(
        listening_socket(host, port, shared_port=shared_port),
        lambda client: DriverDialogue(client, endpoint, access, limits, budget, http),
        limits,
        patience=limits.login_seconds,
        tells_refused=True,
        grace=GRACE,
        http=http,
        watch=watch,
    )
