"""A server's log: one JSON object on each line, and no warning again and again.

>>> import logging
>>> record = logging.LogRecord("hbstore", logging.INFO, "", 0, "call", None, None)
>>> record.created, record.process, record.fields = 0.0, 4711, {"method": "getName", "bytes": 34}
>>> print(JsonLines().format(record))
{"time": "1970-01-01T00:00:00.000Z", "level": "info", "pid": 4711, "event": "call", "method": "getName", "bytes": 34}
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from typing import Any, Final

REFUSALS: Final = 20
"""Lines about refused clients that a door writes in a minute."""

_MINUTE: Final = 60.0


class JsonLines(logging.Formatter):
    """Formats a log record as a JSON object: time, level, event, and what the record's ``fields`` say."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        written = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "time": written.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "pid": record.process,
            "event": record.getMessage(),
        }
        fields: Mapping[str, Any] = getattr(record, "fields", {})
        line.update(fields)
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


@contextmanager
def logging_to(path: str | None) -> Iterator[None]:
    """Everything that hbstore logs goes to a file, or to stderr where none is named.

    The file is opened anew when it was moved away, as logrotate does, and several processes may write to it.

    Raises:
        OSError: the file cannot be written.
    """
    handler: logging.Handler
    if path is None:
        handler = logging.StreamHandler()
    else:
        handler = WatchedFileHandler(path, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("hbstore")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.propagate = True
        logger.removeHandler(handler)
        handler.close()


class Complaints:
    """Lines about what may happen thousands of times a second: each is said once a minute at most.

    The next one has the number of those that were not said, as ``left_out``.

    Args:
        log: where they are said.
        most: how often in a minute each is said.
        level: of the lines.
    """

    __slots__ = ("_level", "_log", "_minutes", "_most")

    def __init__(self, log: logging.Logger, most: int = 1, level: int = logging.WARNING) -> None:
        self._log = log
        self._most = most
        self._level = level
        self._minutes: dict[str, _Minute] = {}

    def say(self, text: str, **fields: object) -> None:
        """Say it, if it was not said too often within the last minute."""
        now = time.monotonic()
        minute = self._minutes.get(text)
        if minute is None or now - minute.began >= _MINUTE:
            if minute is not None and minute.left_out:
                fields["left_out"] = minute.left_out
            minute = self._minutes[text] = _Minute(now)
        if minute.said >= self._most:
            minute.left_out += 1
            return
        minute.said += 1
        self._log.log(self._level, text, extra={"fields": fields})


@dataclass(slots=True)
class _Minute:
    """How often a line was said, and not said, in a minute that began then."""

    began: float
    said: int = 0
    left_out: int = 0
