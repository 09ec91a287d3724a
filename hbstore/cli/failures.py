"""Errors as people see them on stderr, and the exit codes that scripts see."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from typing import Final

import typer

from hbstore.cli.printing import visible
from hbstore.errors import (
    AddressUnavailable,
    CommitStateUnknown,
    ConcurrentChange,
    CorruptRow,
    CorruptTimeline,
    HbstoreError,
    NoCandidate,
    NotAStore,
    ServerUnavailable,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
    Uncoverable,
)

PROBLEMS: Final = 1
"""The command did its work, and the answer is bad: `check` and `timeline check` found problems, `fact cover`,
`fact wait`, `query run` and `sql` found time without partitions, `import` or `export` something that cannot be copied
as it is.
Nothing else ends like this, so that scripts can rely on it."""

MISTAKE: Final = 2
"""A mistake in the command or in what it was given; also typer's own code for wrong usage."""

STORE: Final = 3
"""The store, or the machine under it, does not do its part."""

BUG: Final = 4
"""An error that hbstore should not have; its traceback is shown."""

INTERRUPTED: Final = 130
"""128 + SIGINT, as shells have it."""

BROKEN_PIPE: Final = 141
"""128 + SIGPIPE, as any other program under ``| head``."""

STORE_ERRORS: Final = (
    AddressUnavailable,
    CommitStateUnknown,
    ConcurrentChange,
    CorruptRow,
    CorruptTimeline,
    NotAStore,
    ServerUnavailable,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)


def exit_code(error: BaseException) -> int:
    """The exit code of a command that ends with this error.

    >>> exit_code(StoreUnavailable("the store does not exist")), exit_code(HbstoreError("not a table name"))
    (3, 2)
    """
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    if isinstance(error, Uncoverable) or (
        isinstance(error, NoCandidate) and (error.missing or "ranges" in error.fields)
    ):
        return PROBLEMS
    return STORE if isinstance(error, (*STORE_ERRORS, OSError)) else MISTAKE


def message(error: HbstoreError) -> str:
    """What went wrong on one line, without the hint.

    >>> message(HbstoreError("the table does not exist", table="shop.sales", hint="list them"))
    'the table does not exist: table=shop.sales'
    """
    shown = ", ".join(f"{name}={value}" for name, value in error.fields.items())
    return visible(f"{error.text}: {shown}" if shown else error.text)


def report(error: BaseException, *, with_traceback: bool) -> None:
    """Tell the user about an error, on stderr."""
    if with_traceback:
        traceback.print_exception(error)
    elif isinstance(error, HbstoreError):
        _say("Error", message(error), typer.colors.RED)
        for line in getattr(error, "highlight", "").splitlines():
            typer.echo(f"    {visible(line)}", err=True)
        if error.hint:
            _say("Hint", visible(error.hint), typer.colors.CYAN)
    elif isinstance(error, KeyboardInterrupt):
        _say("Interrupted", "the command was stopped", typer.colors.RED)
    else:
        _say("Error", f"the operating system refused a call: {visible(str(error))}", typer.colors.RED)
    for note in getattr(error, "__notes__", ()):
        _say("Note", visible(note), typer.colors.CYAN)


def abandon_stdout() -> None:
    """Let nothing more go to stdout, after it has failed: Python would try again, and complain, when it exits."""
    with contextlib.suppress(OSError, ValueError):  # stdout is no file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _say(head: str, text: str, color: str) -> None:
    plain = "NO_COLOR" in os.environ or None  # None: as stderr is a terminal or not
    typer.echo(f"{typer.style(head, fg=color, bold=True)}: {text}", err=True, color=False if plain else None)
