"""What commands that check tables have in common: which tables are meant, and how their timelines differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbstore.cli.failures import message
from hbstore.errors import TimelineError, TimelineNotFound
from hbstore.names import table_name

if TYPE_CHECKING:
    from hbstore.store.check import Problem
    from hbstore.store.partition_store import PartitionStore


def named_tables(store: PartitionStore, tables: Sequence[str] | None) -> tuple[list[tuple[str, str]], list[Problem]]:
    """The tables that were named, each once, or all, and what is wrong with their rows in the catalog.

    Raises:
        TableNotFound: one is not there; no work has been done yet.
    """
    names = None if not tables else {tuple(part.lower() for part in table_name(text)) for text in tables}
    sound, problems = [], []
    for database, table, problem in store.check_catalog():
        if names is not None and (database, table) not in names:
            continue
        if problem is not None:
            problems.append(problem)
            names = None if names is None else names - {(database, table)}
        elif table is not None:
            sound.append((database, table))
    for database, name in sorted((names or set()) - set(sound)):
        store.get_table(database, name)
    return sound, problems


def timeline_problems(store: PartitionStore, database: str, table: str) -> list[str]:
    """What is wrong with a table's timelines. O(partitions).

    Raises:
        TimelineNotFound: it keeps none.
    """
    try:
        return store.timelines.check(f"{database}.{table}")
    except TimelineNotFound:
        raise
    except TimelineError as error:  # not even what the table says of its timelines makes sense
        return [message(error)]
