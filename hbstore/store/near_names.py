"""Names of tables and databases that are like one that is not there, for those who ask and read the answer.

Services of other programs do without: those ask for tables that are not there all the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from hbstore.errors import MOST_NAMES, DatabaseNotFound, HbstoreError, TableNotFound, did_you_mean
from hbstore.store.table_row import DATABASE_KEYS, DEFINITION, names_of, table_keys
from hbstore.store.tables import Tables


def suggest(error: BaseException | None, tables: Tables) -> None:
    """Say in the hint of an error that a table or a database is not there what is called almost so. One bounded scan.

    >>> error = TableNotFound("the table does not exist", table="shop.salse", hint="List the tables")
    >>> suggest(error, sales._tables)
    >>> error.hint
    'Did you mean shop.sales? List the tables'
    """
    if isinstance(error, TableNotFound):
        missing = str(error.fields.get("table", ""))
        names = _table_names(tables, missing.partition(".")[0])
    elif isinstance(error, DatabaseNotFound):
        missing = str(error.fields.get("database", ""))
        names = (key[1:].decode() for key, log, _ in tables.transactions.scan(*DATABASE_KEYS) if log.state)
    else:
        return
    if not (error.hint or "").startswith("Did you mean"):
        with suppress(HbstoreError):
            error.hint = did_you_mean(missing, islice(names, MOST_NAMES + 1), error.hint or "")


def _table_names(tables: Tables, database: str) -> Iterator[str]:
    for key, _ in tables.transactions.scan_cell(*table_keys(database), DEFINITION):
        yield ".".join(names_of(key))
