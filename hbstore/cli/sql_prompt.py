"""A prompt for statements: lines are collected up to a semicolon, and remembered from one time to the next."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from hbstore.cli.failures import report
from hbstore.cli.opening import Settings
from hbstore.ddl import Result, Session
from hbstore.errors import HbstoreError

HISTORY: Final = 1_000
"""Lines that are remembered."""

_GOODBYE: Final = frozenset({"exit", "exit;", "quit", "quit;"})


def converse(
    session: Session, show: Callable[[Iterable[Result]], None], settings: Settings, read: Callable[[str], str] = input
) -> None:
    """Ask for statements and run them until somebody says ``exit`` or there is nothing more.

    Args:
        session: runs them.
        show: prints results.
        settings: say how errors are shown; they do not end the conversation.
        read: asks for a line; EOFError is the end, KeyboardInterrupt throws away what was not finished.
    """
    lines: list[str] = []
    while True:
        try:
            line = read(f"{session.database}> " if not lines else f"{'.' * len(session.database)}> ")
        except EOFError:
            print()  # noqa: T201  so that the shell's prompt begins a line
            return
        except KeyboardInterrupt:
            print()  # noqa: T201
            lines.clear()
            continue
        if not lines and line.strip().lower() in _GOODBYE:
            return
        lines.append(line)
        text = "\n".join(lines)
        if not text.strip():
            lines.clear()
        elif line.rstrip().endswith(";"):
            lines.clear()
            try:
                show(session.run(text))
            except (HbstoreError, KeyboardInterrupt) as error:
                report(error, with_traceback=settings.with_traceback)


@contextlib.contextmanager
def remembering() -> Iterator[None]:
    """Lines can be edited and called back, those of earlier times as well, where Python has readline."""
    try:
        import readline
    except ImportError:  # pragma: no cover  such as on Windows
        yield
        return
    history = history_file()
    with contextlib.suppress(OSError):  # there is none yet
        readline.read_history_file(history)
    readline.set_history_length(HISTORY)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # a folder that cannot be written is no reason to fail
            history.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(history)
            history.chmod(0o600)


def history_file() -> Path:
    """Where lines are remembered: in the user's folder for the state of programs."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "hbstore" / "sql_history"
