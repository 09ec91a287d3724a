"""Which store a command works on, and what happens when it is not there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from hbstore.cli.printing import visible

if TYPE_CHECKING:  # imported when a store is opened: it takes a while, and help needs none
    from hbstore.store.partition_store import PartitionStore

FILE: Final = "hbstore.db"


@dataclass(frozen=True, slots=True)
class Settings:
    """What was said before the command.

    Attributes:
        url: the store, by ``--store`` or HBSTORE_URL; None for the default.
        with_traceback: errors are shown with their traceback.
    """

    url: str | None
    with_traceback: bool


def default_path() -> Path:
    """The store of those who name none: a file in the user's own folder for programs."""
    return Path(typer.get_app_dir("hbstore")) / FILE


def store_url(ctx: typer.Context, url: str | None) -> str:
    """The store of this command: its own ``--store``, what was said before the command, or the default."""
    settings: Settings = ctx.obj
    return url or settings.url or str(default_path())


def open_store(ctx: typer.Context, url: str | None) -> PartitionStore:
    """Open the store of this command; it must be there.

    Raises:
        StoreUnavailable: it is not there, and was not created.
    """
    from hbstore import connect

    return connect(store_url(ctx, url), create=False)


def open_or_create_store(ctx: typer.Context, url: str | None) -> tuple[PartitionStore, bool]:
    """Open the store of this command, or create it and say so on stderr; whether it was created."""
    from hbstore import connect

    named = store_url(ctx, url)
    path = missing_file(named)
    if named == str(default_path()):
        default_path().parent.mkdir(parents=True, exist_ok=True)
    store = connect(named, create=True)
    if path is not None:
        typer.echo(f"Created the store {visible(str(path))}", err=True)
    return store, path is not None


def missing_file(url: str) -> Path | None:
    """The file that a URL names, if nothing is there yet; an empty file is no store either."""
    from hbstore.rows.urls import parse_url

    parsed = parse_url(url)
    if parsed.scheme != "sqlite":
        return None
    from hbstore.rows.sqlite.file import parse_sqlite_url

    path = Path(parse_sqlite_url(parsed).path)
    try:
        return None if path.stat().st_size else path
    except FileNotFoundError:
        return path
