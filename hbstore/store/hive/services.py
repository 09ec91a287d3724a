"""What only Hive asks a metastore for: functions, locks, transactions, roles, grants, marks, constraints."""

from __future__ import annotations

from dataclasses import dataclass

from hbstore.store.hive.companions import Companions
from hbstore.store.hive.constraints import Constraints
from hbstore.store.hive.functions import Functions
from hbstore.store.hive.grants import Grants
from hbstore.store.hive.lock_table import LockTableRow
from hbstore.store.hive.locks import Locks
from hbstore.store.hive.marks import Marks
from hbstore.store.hive.roles import Roles
from hbstore.store.hive.transactions import HiveTransactions
from hbstore.store.tables import Tables
from hbstore.transactions.transactions import Transactions


@dataclass(frozen=True, slots=True, repr=False)
class Hive:
    """The services of a Hive Metastore beside its catalog.

    Attributes:
        functions: user-defined functions of databases.
        locks: shared and exclusive locks on databases, tables and partitions.
        transactions: open transactions, which locks may belong to.
        roles: roles, and the users, groups and roles that have them.
        grants: privileges on databases, tables, columns and partitions. hbstore keeps them and enforces none.
        marks: partitions that a client marked for an event, such as "loading is done".
        constraints: keys, NOT NULL, defaults and checks of tables. hbstore keeps them and enforces none.

    >>> import hbstore
    >>> store = hbstore.connect("memory://")
    >>> store.hive.roles.names()
    ['admin', 'public']
    """

    functions: Functions
    locks: Locks
    transactions: HiveTransactions
    roles: Roles
    grants: Grants
    marks: Marks
    constraints: Constraints

    @classmethod
    def of(cls, transactions: Transactions, tables: Tables, companions: Companions) -> Hive:
        """The services of a store.

        >>> store.hive
        <Hive: functions, locks, transactions, roles, grants, marks, constraints>
        """
        lock_table = LockTableRow(transactions)
        return cls(
            Functions(transactions, tables),
            Locks(lock_table),
            HiveTransactions(lock_table),
            Roles(transactions),
            Grants(transactions, tables),
            Marks(companions),
            Constraints(tables),
        )

    def __repr__(self) -> str:
        return "<Hive: functions, locks, transactions, roles, grants, marks, constraints>"
