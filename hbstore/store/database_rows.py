"""Writing rows that belong to a database, which must be there: looked for before the transaction, and behind it."""

from __future__ import annotations

from collections.abc import Callable

from hbstore.errors import DatabaseNotFound
from hbstore.store.tables import Tables
from hbstore.transactions.outcome import decided
from hbstore.transactions.transaction import RowView, Transaction
from hbstore.transactions.transactions import Transactions


def change_in_database(
    transactions: Transactions, tables: Tables, database: str, step: Callable[[Transaction], object]
) -> None:
    """Run a transaction that changes the states of rows of a database.

    Where the database is dropped meanwhile, each row that nobody has changed since is made what it was before. So
    nothing of it is seen on the next database of the name.

    Raises:
        DatabaseNotFound: the database is not there.
    """
    tables.get_database(database)

    def changed(transaction: Transaction) -> list[RowView]:
        step(transaction)
        return list(transaction.views.values())

    before = transactions.run(changed)
    with decided("the change was made, but the store became unavailable before its database was looked for again"):
        try:
            tables.get_database(database)
        except DatabaseNotFound:
            transactions.run(lambda transaction: _take_back(transaction, before))
            raise


def _take_back(transaction: Transaction, before: list[RowView]) -> None:
    for old in before:
        view = transaction.row(old.key)
        if view.log.sequence == old.log.sequence + 1:
            view.set_state(old.state)
