"""Functions: each a Function struct of the Hive Metastore, the state of a catalog row ``F db 00 name``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from hbstore.errors import AlreadyExists, CorruptRow, FunctionNotFound, InvalidName
from hbstore.keys.partition_names import identifier
from hbstore.model.service_objects import Function
from hbstore.model.service_structs import decode_function, encode_function
from hbstore.rows.damage import RESTORE
from hbstore.store.tables import Tables
from hbstore.texts.arguments import expect
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions

FUNCTION_KEYS: Final = (b"F", b"G")
_A_FUNCTION: Final = 'Give a Function, such as Function("shop", "tax", "org.shop.Tax")'


def function_key(database: str, name: str) -> bytes:
    r"""The row of a function.

    >>> function_key("shop", "tax")
    b'Fshop\x00tax'
    """
    return b"F" + database.encode() + b"\x00" + name.encode()


def check_function(key: bytes, state: bytes) -> None:
    """See that a row is that of a function.

    Raises:
        CorruptRow: its key or its state is none.
    """
    function = decode_function(state)
    if function_key(function.database, function.name) != key:
        raise CorruptRow("the name of the function differs from its row key", function=function.name, hint=RESTORE)


@dataclass(frozen=True, slots=True, repr=False)
class Functions:
    """The functions of a store.

    Attributes:
        transactions: those of the rows where they are.
        tables: the databases that they belong to.

    >>> functions = store.hive.functions
    >>> functions.create(Function("shop", "Tax", "org.shop.Tax"))
    >>> functions.get("SHOP", "tax").class_name
    'org.shop.Tax'
    """

    transactions: Transactions
    tables: Tables

    def __repr__(self) -> str:
        return f"<Functions of {self.transactions.rows.url}>"

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
        data = encode_function(replace(function, create_time=int(time.time())))
        self.tables.change_in_database(function.database, lambda transaction: _create(transaction, function, data))

    def get(self, database: str, name: str) -> Function:
        """Read a function; FunctionNotFound if it is not there, nor can be by its name.

        >>> store.hive.functions.create(Function("shop", "tax", "org.shop.Tax"))
        >>> store.hive.functions.get("shop", "TAX").class_name
        'org.shop.Tax'
        """
        names = _names(database, name)
        return _decoded(self.transactions.state(function_key(*names)), *names)

    def alter(self, database: str, name: str, function: Function) -> None:
        """Replace all of a function but when it was created; its name and its database may be others.

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
        names = _names(database, name)
        key = function_key(*names)

        def step(transaction: Transaction) -> None:
            view = transaction.row(key)
            before = _decoded(view.state, *names)
            data = encode_function(replace(function, create_time=before.create_time))
            if function_key(function.database, function.name) == key:
                view.set_state(data)
                return
            _create(transaction, function, data)
            view.set_state(b"")

        self.tables.change_in_database(function.database, step)

    def drop(self, database: str, name: str) -> None:
        """Remove a function; FunctionNotFound if it is not there.

        >>> store.hive.functions.create(Function("shop", "tax", "org.shop.Tax"))
        >>> store.hive.functions.drop("shop", "tax")
        """
        names = _names(database, name)

        def dropped(state: bytes) -> tuple[bytes, None]:
            _decoded(state, *names)
            return b"", None

        self.transactions.change_state(function_key(*names), dropped)

    def names(self, database: str) -> list[str]:
        """The names of a database's functions in order; none where it is not there, as in Hive.

        >>> store.hive.functions.names("shop")
        []
        """
        start = function_key(_name(database), "")
        found = self.transactions.scan(start, start[:-1] + b"\x01")
        return [key[len(start) :].decode() for key, log, _ in found if log.state]

    def all(self) -> list[Function]:
        """The functions of all databases, in order of their databases and names.

        >>> store.hive.functions.all()
        []
        """
        return self._scan(*FUNCTION_KEYS)

    def _scan(self, start: bytes, stop: bytes) -> list[Function]:
        return [decode_function(log.state) for _, log, _ in self.transactions.scan(start, stop) if log.state]

    def list(self, database: str) -> Sequence[Function]:
        """A database's functions in order of their names; none where it is not there, as in Hive.

        >>> store.hive.functions.list("shop")
        []
        """
        start = function_key(_name(database), "")
        return self._scan(start, start[:-1] + b"\x01")


def _create(transaction: Transaction, function: Function, data: bytes) -> None:
    view = transaction.row(function_key(function.database, function.name))
    if view.state:
        raise AlreadyExists("the function already exists", function=function, hint="Alter it, or drop it first")
    view.set_state(data)


def _decoded(state: bytes, database: str, name: str) -> Function:
    if not state:
        raise _not_found(database, name)
    return decode_function(state)


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
