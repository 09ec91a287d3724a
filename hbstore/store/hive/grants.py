"""Grants: who was given which privilege on what. They are kept and listed; nothing here decides who may do what.

`hbstore.store.grants_row` has their rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import NoneType

from hbstore.errors import AlreadyExists, DatabaseNotFound, GrantNotFound, TableNotFound
from hbstore.model.service_objects import (
    ObjectGrant,
    ObjectRef,
    ObjectType,
    PrincipalType,
    principal_name,
    principal_type_of,
)
from hbstore.store.grants_row import GRANT_KEYS, GRANTS, dated, decode_grants, encode_grants, grants_key
from hbstore.store.table_row import database_key
from hbstore.store.tables import Tables
from hbstore.texts.arguments import expect, expect_flags, expect_many, expect_texts
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions

_Change = Callable[[list[ObjectGrant]], list[ObjectGrant]]


@dataclass(frozen=True, slots=True, repr=False)
class Grants:
    """The grants of a store.

    Attributes:
        transactions: those of the rows where they are.
        tables: the databases and tables that they are about.
    """

    transactions: Transactions
    tables: Tables

    def __repr__(self) -> str:
        return f"<Grants of {self.transactions.rows.url}>"

    def grant(self, grants: Iterable[ObjectGrant]) -> None:
        """Give privileges; those on one database or table all or none.

        Raises:
            AlreadyExists: one was given already, by the same grantor.
            DatabaseNotFound, TableNotFound: what it is about is not there.

        >>> from hbstore.model.objects import Grant
        >>> sales_table = ObjectRef(ObjectType.TABLE, "shop", "sales")
        >>> store.hive.grants.grant([ObjectGrant(sales_table, "ann", PrincipalType.USER, Grant("SELECT"))])
        >>> [grant.principal for grant in store.hive.grants.list(target=sales_table)]
        ['ann']
        """
        now = int(time.time())
        for target, some in _by_place(grants).items():

            def add(granted: list[ObjectGrant], some: list[ObjectGrant] = some) -> list[ObjectGrant]:
                identities = {object_grant.identity for object_grant in granted}
                for object_grant in some:
                    if object_grant.identity in identities:
                        raise AlreadyExists(
                            "the principal already has the privilege",
                            privilege=object_grant.grant.privilege,
                            principal=object_grant.principal,
                            hint="Nothing was granted. Leave out the privileges that the principal already has",
                        )
                    granted = [*granted, replace(object_grant, grant=dated(object_grant.grant, now))]
                return granted

            self._change(target, add)

    def revoke(self, grants: Iterable[ObjectGrant], *, option_only: bool = False) -> None:
        """Take privileges back from any grantor, or just the right to grant them on.

        Raises:
            GrantNotFound: one was not given.
            DatabaseNotFound, TableNotFound: what it is about is not there.

        >>> from hbstore.model.objects import Grant
        >>> grant = ObjectGrant(ObjectRef(ObjectType.DATABASE, "shop"), "ann", PrincipalType.USER, Grant("SELECT"))
        >>> store.hive.grants.grant([grant])
        >>> store.hive.grants.revoke([grant])
        >>> store.hive.grants.list()
        []
        """
        expect_flags(option_only=option_only)
        for target, some in _by_place(grants).items():

            def remove(granted: list[ObjectGrant], some: list[ObjectGrant] = some) -> list[ObjectGrant]:
                gone = {_apart_from_grantor(object_grant): object_grant for object_grant in some}
                missing = gone.keys() - {_apart_from_grantor(object_grant) for object_grant in granted}
                if missing:
                    object_grant = gone[min(missing, key=repr)]
                    raise GrantNotFound(
                        "the principal does not have the privilege",
                        privilege=object_grant.grant.privilege,
                        principal=object_grant.principal,
                        hint="Nothing was revoked. Leave out the privileges that the principal does not have",
                    )
                if option_only:
                    return [
                        _without_option(object_grant) if _apart_from_grantor(object_grant) in gone else object_grant
                        for object_grant in granted
                    ]
                return [object_grant for object_grant in granted if _apart_from_grantor(object_grant) not in gone]

            self._change(target, remove)

    def forget_role(self, role: str) -> None:
        """Take back all that was granted to a role that is dropped.

        >>> store.hive.grants.forget_role("sales")
        """
        expect_texts(role=role)
        for one in self.list(role, PrincipalType.ROLE):
            with suppress(GrantNotFound, DatabaseNotFound, TableNotFound):  # somebody else was faster
                self.revoke([one])

    def _on(self, target: ObjectRef) -> list[ObjectGrant]:
        try:
            key, mark = self._place(target)
        except (DatabaseNotFound, TableNotFound):
            return []
        return [one for one in decode_grants(self.transactions.state(key), mark) if one.target == target]

    def _all(self) -> list[ObjectGrant]:
        return self.tables.at_one_moment(lambda: list(self._scanned()))  # they follow a table that is renamed

    def _scanned(self) -> Iterator[ObjectGrant]:
        for key, log, _ in self.transactions.scan(*GRANT_KEYS):
            if not log.state:
                continue
            database, _, table = key[1:].decode().partition("\0")
            kind = ObjectType.TABLE if table else ObjectType.DATABASE if database else ObjectType.GLOBAL
            try:
                mark = self._place(ObjectRef(kind, database, table))[1]
            except (DatabaseNotFound, TableNotFound):
                continue
            yield from decode_grants(log.state, mark)

    def _change(self, target: ObjectRef, step: _Change) -> None:
        key, _ = self._place(target)

        def change(transaction: Transaction) -> None:
            mark = ""
            if target.type == ObjectType.TABLE:  # which may be another one now, or have another name
                mark = self.tables.view(transaction, target.database, target.table)[1].table_id.hex()
            view = transaction.row(key)
            view.set_state(encode_grants(step(decode_grants(view.state, mark)), mark))

        if target.type == ObjectType.DATABASE:
            self.tables.change_in_database(target.database, change)
        else:
            self.transactions.run(change)

    def _place(self, target: ObjectRef) -> tuple[bytes, str]:
        """The row of what grants are about, and what tells it from another of its name."""
        if target.type == ObjectType.GLOBAL:
            return GRANTS, ""
        if target.type == ObjectType.DATABASE:
            return grants_key(database_key(self.tables.get_database(target.database).name)), ""
        row = self.tables.open(target.database, target.table)
        return grants_key(row.key), row.table_id.hex()

    def list(
        self,
        principal: str | None = None,
        principal_type: PrincipalType | None = None,
        target: ObjectRef | None = None,
    ) -> Sequence[ObjectGrant]:
        """What was granted to a principal (None: to all) on something (None: on anything there is).

        >>> store.hive.grants.list("ann", PrincipalType.USER)
        []
        """
        expect_texts(or_none=True, principal=principal)
        principal_type = None if principal_type is None else principal_type_of(principal_type)
        expect("target", target, ObjectRef, NoneType, hint="Give an ObjectRef, or None")
        found = self._all() if target is None else self._on(target)
        return [
            one
            for one in found
            if principal_type in (None, one.principal_type)
            and (principal is None or principal_name(principal, one.principal_type) == one.principal)
        ]


def _by_place(grants: Iterable[ObjectGrant]) -> dict[ObjectRef, list[ObjectGrant]]:
    """Grants by the database or table that they are about."""
    found: dict[ObjectRef, list[ObjectGrant]] = {}
    for one in expect_many("grants", grants, ObjectGrant, hint="Give a list of ObjectGrants"):
        whole = ObjectRef(min(one.target.type, ObjectType.TABLE), one.target.database, one.target.table)
        found.setdefault(whole, []).append(one)
    return found


def _apart_from_grantor(grant: ObjectGrant) -> tuple[object, ...]:
    return grant.identity[:4]


def _without_option(one: ObjectGrant) -> ObjectGrant:
    return replace(one, grant=replace(one.grant, grant_option=False))
