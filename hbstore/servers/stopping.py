"""How a server learns that it has to stop: by SIGTERM or SIGINT, or because the process that started it is gone."""

from __future__ import annotations

import os
import select
import signal
import socket
from types import FrameType, TracebackType
from typing import Any, Final, Self

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class StopRequests:
    """Requests to stop, one after the other; used in the main thread, as ``with StopRequests() as requests``.

    Args:
        lifeline: a socket whose other end closes when the parent process is gone, which is a request too.
    """

    __slots__ = ("_before", "_lifeline", "_read", "_wakeup", "_write")

    def __init__(self, lifeline: socket.socket | None = None) -> None:
        self._lifeline = lifeline
        self._before: dict[int, Any] = {}
        self._read = self._write = self._wakeup = -1

    def __enter__(self) -> Self:
        """From now on signals are requests.

        They are written to the pipe in the very moment in which they come. A handler in Python would write later, when
        the main thread gets to it: never, where that is just about to wait for the pipe.
        """
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, _heard) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Signals mean what they meant before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._read)
        os.close(self._write)

    def end_at_next(self) -> None:
        """From now on a signal ends this process at once."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)

    def fileno(self) -> int:
        """What `select` takes: readable when there is a request by signal."""
        return self._read

    def wait(self, timeout: float | None = None) -> bool:
        """Take the next request, or wait for it; whether there was one."""
        sources: list[int | socket.socket] = [self._read]
        if self._lifeline is not None:
            sources.append(self._lifeline)
        ready, _, _ = select.select(sources, (), (), timeout)
        if self._read in ready:
            os.read(self._read, 1)
        elif ready:
            self._lifeline = None  # it stays readable, and is one request
        return bool(ready)


def _heard(_number: int, _frame: FrameType | None) -> None:
    """Nothing is left to do; without a handler the signal would not be written to the pipe."""
