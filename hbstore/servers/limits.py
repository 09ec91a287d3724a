"""What the clients of a server may do."""

from __future__ import annotations

import resource
from dataclasses import dataclass, field
from typing import Final

from hbstore.servers.connection import WRITE_TIMEOUT
from hbstore.servers.framing import ReadLimits
from hbstore.servers.memory import BUDGET
from hbstore.servers.reply_room import PATIENCE, ROOM

MAX_CONNECTIONS: Final = 2000
MAX_REQUESTS: Final = 1500
"""Fewer than connections, so that who only asks for something short finds a place."""

MAX_BODIES: Final = 128 * 1024 * 1024
"""Bytes of the bodies of requests over HTTP together."""

_OTHER_FILES: Final = 256
"""Files that a process may have open beside its clients' connections."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What clients may do.

    Attributes:
        connections: at once.
        message_memory: bytes of memory for their large messages.
        read: what each may send, and when.
        write_timeout: seconds after which a client that takes nothing of its reply is cut off; one that takes it
            slowly, at less than the least rate of ``read``, is so once the reply has taken that much longer.
        reply_room: bytes of memory and temporary files for long replies.
        reply_wait: seconds that a long reply waits for room.
        requests: over HTTP, under way at once.
        login_seconds: how long a login may take where the protocol has one, or the first request over HTTP.
        http_idle: seconds that a connection over HTTP may be silent between requests; clients open another.
        call_seconds: that a call of a metastore's client may take.
        gone_after: seconds of a call after which a client that sends nothing more counts as gone.
        room_after: seconds of silence after which a client has to go where another comes and there is no room.
    """

    connections: int = MAX_CONNECTIONS
    message_memory: int = BUDGET
    read: ReadLimits = field(default_factory=ReadLimits)
    write_timeout: float = WRITE_TIMEOUT
    reply_room: int = ROOM
    reply_wait: float = PATIENCE
    requests: int = MAX_REQUESTS
    login_seconds: float = 30.0
    http_idle: float = 300.0
    call_seconds: float = 600.0
    gone_after: float = 10.0
    room_after: float = 60.0


def allow_files(connections: int) -> None:
    """Let this process open as many files as it may have connections, as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + _OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        needed = min(needed, hard)
    while resource.RLIM_INFINITY != soft < needed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
        except (ValueError, OSError):  # macOS says that there is no limit, and has one
            needed //= 2
        else:
            return
