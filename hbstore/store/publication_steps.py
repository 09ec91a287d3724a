"""What every step does that changes a table's publications: is the table still there, and the cell put anew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hbstore.errors import ConcurrentChange, PublicationLost
from hbstore.store.manifest_rows import manifest_key
from hbstore.store.publications_cell import WRITES, Publication, encoded_publications, publications_of
from hbstore.store.table_row import TableRow
from hbstore.transactions.transaction import RowView, Transaction


def table_now(transaction: Transaction, row: TableRow) -> tuple[RowView, TableRow | None]:
    """The row of a table in a transaction, and what it says."""
    view = transaction.row(row.key)
    return view, same_table(row, TableRow.of(view.key, view.log, view.cells))


def same_table(row: TableRow, now: TableRow | None) -> TableRow | None:
    """What is under a table's name now; None where that is another table."""
    return now if now is not None and now.table_id == row.table_id else None


def put_publications(
    view: RowView, now: TableRow | None, publications: list[Publication], gone: Iterable[str] = ()
) -> None:
    """Put other publications in the place of those of a table, and forget what those do that are gone."""
    if now is not None and publications != publications_of(now):
        view.put_cell(WRITES, encoded_publications(publications))
        view.write([], [manifest_key(now, one) for one in gone])


def decide_in(view: RowView, now: TableRow, publication_id: str) -> None:
    """Mark a publication of a table as decided, by the step that makes its change.

    Raises:
        PublicationLost: the table has no such publication any more.
    """
    known = publications_of(now)
    if all(one.id != publication_id for one in known):
        raise publication_lost(now, publication_id)
    put_publications(view, now, [replace(one, decided=True) if one.id == publication_id else one for one in known])


def table_gone(row: TableRow) -> ConcurrentChange:
    """The error where the table that was read is under its name no more."""
    hint = "Nothing was changed; read the table again"
    return ConcurrentChange("the table was dropped or renamed", table=row.table, hint=hint)


def publication_lost(row: TableRow, publication_id: str) -> PublicationLost:
    """The error where others took what a job had leased."""
    return PublicationLost(
        "the lease of this job ended: another job took its partitions, or the table was dropped or renamed",
        table=row.table,
        publication=publication_id,
        hint="Nothing was changed; write again",
    )
