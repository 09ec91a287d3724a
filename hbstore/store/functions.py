"""Functions: rows of the catalog, ``F db 00 name``, each with the Hive Metastore's Function struct in ``d:def``.

Before the struct stand a NUL and 8 random bytes, new with every change: a late compare-and-put of a drop never mistakes
a function for an equal one before it. Cells that were written without them, which begin with no NUL, are read, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hbstore.arguments import expect
from hbstore.errors import AlreadyExists, ConcurrentChange, DatabaseNotFound, FunctionNotFound, InvalidName
from hbstore.names import identifier
from hbstore.rows.interface import Rows
from hbstore.service_model import Function
from hbstore.service_structs import decode_function, encode_function
from hbstore.store.table_row import DEFINITION
from hbstore.store.tables import Tables
from hbstore.transactions.outcome import decided

FUNCTION_KEYS: Final = (b"F", b"G")
_MARK: Final = b"\0"
"""No struct of a function begins so: the first byte is the type of its first field."""
_RANDOM: Final = 8
_ATTEMPTS: Final = 50
_A_FUNCTION: Final = 'Give a Function, such as Function("shop", "tax", "org.shop.Tax")'


def function_key(database: str, name: str) -> bytes:
    r"""The row of a function.

    >>> function_key("shop", "tax")
    b'Fshop\x00tax'
    """
    return b"F" + database.encode() + b"\x00" + name.encode()


@dataclass(frozen=True, slots=True, repr=False)
class Functions:
    """The functions of a store.

    Attributes:
        rows: where they are.
        tables: the databases that they belong to.

    >>> from hbstore import connect
    >>> store = connect("memory://")
    >>> store.create_database("shop")
    >>> functions = Functions(store.rows, Tables(store.rows))
    >>> functions.create(Function("shop", "Tax", "org.shop.Tax"))
    >>> functions.get("SHOP", "tax").class_name
    'org.shop.Tax'
    """

    rows: Rows
    tables: Tables

    def __repr__(self) -> str:
        return f"<Functions of {self.rows.url}>"

    def create(self, function: Function) -> None:
        """Add a function; it is created now, whatever it says.

        Raises:
            AlreadyExists: it is there already.
            DatabaseNotFound: its database is not there.

        >>> store.hive.functions.create(Function("shop", "Tax", "org.shop.Tax"))
        >>> store.hive.functions.names("shop")
        ['tax']
        """
        expect("function", function, Function, hint=_A_FUNCTION)
        self.tables.get_database(function.database)
        self._put(replace(function, create_time=int(time.time())))

    def get(self, database: str, name: str) -> Function:
        """Read a function; FunctionNotFound if it is not there, nor can be by its name.

        >>> store.hive.functions.create(Function("shop", "tax", "org.shop.Tax"))
        >>> store.hive.functions.get("shop", "TAX").class_name
        'org.shop.Tax'
        """
        return _function(self._cell(*_names(database, name)))

    def alter(self, database: str, name: str, function: Function) -> None:
        """Replace all of a function but when it was created; its name and its database may be others.

        Where they are, it may be seen under both names for a moment.

        Raises:
            FunctionNotFound: it is not there.
            AlreadyExists: there is one of the new name.
            DatabaseNotFound: the new database is not there.

        >>> store.hive.functions.create(Function("shop", "tax", "org.shop.Tax"))
        >>> store.hive.functions.alter("shop", "tax", Function("shop", "tariff", "org.shop.Tax"))
        >>> store.hive.functions.names("shop")
        ['tariff']
        """
        expect("function", function, Function, hint=_A_FUNCTION)
        key = function_key(*_names(database, name))
        new_key = function_key(function.database, function.name)
        for _ in range(_ATTEMPTS):
            cell = self._cell(*_names(database, name))
            altered = replace(function, create_time=_function(cell).create_time)
            if new_key == key:
                if self.rows.compare_and_put(key, DEFINITION, cell, _cell_of(altered)):
                    return
                continue
            self.tables.get_database(function.database)
            put = self._put(altered)
            with decided("the function has its new name, but the store became unavailable", function=altered):
                if self.rows.compare_and_put(key, DEFINITION, cell, b""):
                    return
                self.rows.compare_and_put(new_key, DEFINITION, put, b"")
        raise ConcurrentChange(
            "other writers kept changing the function", function=f"{database}.{name}", hint="Try again"
        )

    def drop(self, database: str, name: str) -> None:
        """Remove a function; FunctionNotFound if it is not there.

        >>> store.hive.functions.create(Function("shop", "tax", "org.shop.Tax"))
        >>> store.hive.functions.drop("shop", "tax")
        """
        key = function_key(*_names(database, name))
        for _ in range(_ATTEMPTS):
            if self.rows.compare_and_put(key, DEFINITION, self._cell(*_names(database, name)), b""):
                return
        raise ConcurrentChange(
            "other writers kept changing the function", function=f"{database}.{name}", hint="Try again"
        )

    def names(self, database: str) -> list[str]:
        """The names of a database's functions in order; none where it is not there, as in Hive.

        >>> store.hive.functions.names("shop")
        []
        """
        start = function_key(_name(database), "")
        found = self.rows.scan_catalog(start, start[:-1] + b"\x01")
        return [key[len(start) :].decode() for key, cells in found if cells.get(DEFINITION)]

    def all(self) -> list[Function]:
        """The functions of all databases, in order of their databases and names.

        >>> store.hive.functions.all()
        []
        """
        return [*self._scan(*FUNCTION_KEYS)]

    def _put(self, function: Function) -> bytes:
        """Put a function where there is none, and take it back if its database was dropped meanwhile; its cell."""
        key, data = function_key(function.database, function.name), _cell_of(function)
        if not self.rows.compare_and_put(key, DEFINITION, None, data):
            raise AlreadyExists("the function already exists", function=function, hint="Alter it, or drop it first")
        with decided(
            "the function was written, but the store became unavailable before its database was checked",
            function=function,
        ):
            try:
                self.tables.get_database(function.database)
            except DatabaseNotFound:
                self.rows.compare_and_put(key, DEFINITION, data, b"")
                raise
        return data

    def _cell(self, database: str, name: str) -> bytes:
        data = (self.rows.get(function_key(database, name)) or {}).get(DEFINITION)
        if not data:
            raise _not_found(database, name)
        return data

    def _scan(self, start: bytes, stop: bytes) -> Iterator[Function]:
        for _, cells in self.rows.scan_catalog(start, stop):
            if cells.get(DEFINITION):
                yield _function(cells[DEFINITION])

    def list(self, database: str) -> Sequence[Function]:
        """A database's functions in order of their names; none where it is not there, as in Hive.

        >>> store.hive.functions.list("shop")
        []
        """
        start = function_key(_name(database), "")
        return [*self._scan(start, start[:-1] + b"\x01")]


def _cell_of(function: Function) -> bytes:
    return _MARK + os.urandom(_RANDOM) + encode_function(function)


def _function(cell: bytes) -> Function:
    return decode_function(cell[len(_MARK) + _RANDOM :] if cell.startswith(_MARK) else cell)


def _name(database: str) -> str:
    return identifier("database", database)


def _names(database: str, name: str) -> tuple[str, str]:
    """Names in lower case. Clients ask for functions such as ``=`` too: there are none, which is no fault of theirs."""
    try:
        return identifier("database", database), identifier("function", name)
    except InvalidName:
        raise _not_found(database, name) from None


def _not_found(database: str, name: str) -> FunctionNotFound:
    hint = "Check the database and the name; upper and lower case do not matter"
    return FunctionNotFound("the function does not exist", function=f"{database}.{name}", hint=hint)
