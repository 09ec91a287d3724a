"""Roles and who has them: the state of the catalog row ``R``, which is changed as a whole.

The role ``public`` is everybody's, and ``admin`` is there from the beginning. Nothing here decides who may do what.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, replace
from typing import Final

from hbstore.errors import AlreadyExists, CorruptRow, InvalidInput, RoleNotFound
from hbstore.model.service_objects import Membership, PrincipalType, Role, principal_type_of
from hbstore.rows.damage import RESTORE
from hbstore.texts.arguments import expect, expect_flags, expect_many, expect_texts
from hbstore.transactions.transactions import Transactions

PUBLIC: Final = "public"
ADMIN: Final = "admin"
_PUBLIC: Final = "The role public cannot be granted or revoked"
_KEY: Final = b"R"


@dataclass(frozen=True, slots=True)
class _State:
    roles: tuple[Role, ...] = (Role(ADMIN, ADMIN), Role(PUBLIC, PUBLIC))
    memberships: tuple[Membership, ...] = ()

    def encode(self) -> bytes:
        return json.dumps([[astuple(one) for one in some] for some in (self.roles, self.memberships)]).encode()

    @staticmethod
    def decode(data: bytes) -> _State:
        if not data:
            return _State()
        try:
            roles, memberships = json.loads(data)
            return _State(
                tuple(Role(*one) for one in roles),
                tuple(Membership(one[0], one[1], PrincipalType(one[2]), *one[3:]) for one in memberships),
            )
        except (ValueError, TypeError, IndexError, InvalidInput) as error:
            raise CorruptRow("the roles cannot be decoded", roles=data[:80], hint=RESTORE) from error


def check_roles(key: bytes, state: bytes) -> None:
    """See that a row is that of the roles.

    Raises:
        CorruptRow: its key or its state is not.
    """
    if key != _KEY:
        raise CorruptRow("the row key is not the key of the roles", key=key.hex(), hint=RESTORE)
    _State.decode(state)


@dataclass(frozen=True, slots=True, repr=False)
class Roles:
    """The roles of a store. Their names are the same in upper and lower case.

    Attributes:
        transactions: those of the rows where they are.

    >>> from hbstore import connect
    >>> roles = connect("memory://").hive.roles
    >>> roles.create(Role("Sales", owner="ann"))
    >>> roles.grant(Membership("sales", "bob"))
    >>> roles.names()
    ['admin', 'public', 'sales']
    >>> [one.role for one in roles.memberships("bob", PrincipalType.USER)]
    ['sales', 'public']
    """

    transactions: Transactions

    def __repr__(self) -> str:
        return f"<Roles of {self.transactions.rows.url}>"

    def create(self, role: Role) -> None:
        """Add a role; it is created now.

        Raises:
            AlreadyExists: it is there already, as ``public`` and ``admin`` always are.
            InvalidInput: it has no name.

        >>> store.hive.roles.create(Role("sales", owner="ann"))
        >>> store.hive.roles.names()
        ['admin', 'public', 'sales']
        """
        expect("role", role, Role, hint='Give a Role, such as Role("sales")')
        new_role = replace(role, name=_name(role.name), create_time=int(time.time()))

        def step(state: _State) -> _State:
            if any(one.name == new_role.name for one in state.roles):
                raise AlreadyExists("the role already exists", role=new_role.name, hint="Grant it, or drop it first")
            return replace(state, roles=(*state.roles, new_role))

        self._change(step)

    def drop(self, name: str) -> None:
        """Remove a role from the store and from all who have it. What was granted to it is `Grants.forget_role`'s.

        Raises:
            RoleNotFound: there is none.
            InvalidInput: it is ``public`` or ``admin``.

        >>> store.hive.roles.create(Role("sales"))
        >>> store.hive.roles.drop("sales")
        """
        name = _name(name)
        if name in (PUBLIC, ADMIN):
            raise InvalidInput(
                "this role cannot be dropped", role=name, hint="Revoke the role from its members instead"
            )

        def step(state: _State) -> _State:
            _check(state, name)
            kept = [one for one in state.memberships if one.role != name and _role_of(one) != name]
            return _State(tuple(one for one in state.roles if one.name != name), tuple(kept))

        self._change(step)

    def get(self, name: str) -> Role:
        """A role; RoleNotFound if there is none.

        >>> store.hive.roles.get("Public").name
        'public'
        """
        return _check(self._read(), _name(name))

    def names(self) -> list[str]:
        """The names of all roles in order.

        >>> store.hive.roles.names()
        ['admin', 'public']
        """
        return sorted(one.name for one in self._read().roles)

    def grant(self, membership: Membership) -> None:
        """Give a role to a user, a group or another role.

        Raises:
            RoleNotFound: there is no such role, or the principal is a role that is not there.
            AlreadyExists: the principal has it already.
            InvalidInput: it is ``public``, which everybody has, or roles would belong to each other in a circle.

        >>> store.hive.roles.grant(Membership("admin", "ann", PrincipalType.USER))
        """
        expect("membership", membership, Membership, hint='Give a Membership, such as Membership("sales", "ann")')
        granted = replace(membership, role=_name(membership.role), time=membership.time or int(time.time()))
        if granted.principal_type == PrincipalType.ROLE:
            granted = replace(granted, principal=_name(granted.principal))
        if granted.role == PUBLIC:
            raise InvalidInput("every principal has the role public", principal=granted.principal, hint=_PUBLIC)

        def step(state: _State) -> _State:
            _check(state, granted.role)
            if granted.principal_type == PrincipalType.ROLE:
                _check(state, granted.principal)
                if granted.principal in _above(state, granted.role):
                    hint = "The role already has the principal's role, perhaps through others: revoke that grant first"
                    raise InvalidInput(
                        "the grant would make a cycle of roles",
                        role=granted.role,
                        principal=granted.principal,
                        hint=hint,
                    )
            if any(_same(one, granted) for one in state.memberships):
                hint = "To change the grant, revoke it first"
                raise AlreadyExists(
                    "the principal already has the role", role=granted.role, principal=granted.principal, hint=hint
                )
            return replace(state, memberships=(*state.memberships, granted))

        self._change(step)

    def revoke(self, role: str, principal: str, principal_type: PrincipalType, *, option_only: bool = False) -> bool:
        """Take a role from a principal, or just the right to grant it; whether the principal had it.

        Raises:
            RoleNotFound: there is no such role.
            InvalidInput: it is ``public``, which everybody has.

        >>> store.hive.roles.revoke("admin", "ann", PrincipalType.USER)
        False
        """
        expect_flags(option_only=option_only)
        gone = Membership(_name(role), principal, principal_type)
        if principal_type == PrincipalType.ROLE:
            gone = replace(gone, principal=_name(principal))
        if gone.role == PUBLIC:
            raise InvalidInput("every principal has the role public", principal=principal, hint=_PUBLIC)
        had = False

        def step(state: _State) -> _State:
            nonlocal had
            _check(state, gone.role)
            had = any(_same(one, gone) for one in state.memberships)
            kept = [
                replace(one, grant_option=False) if _same(one, gone) else one
                for one in state.memberships
                if option_only or not _same(one, gone)
            ]
            return replace(state, memberships=tuple(kept))

        self._change(step)
        return had

    def memberships(self, principal: str, principal_type: PrincipalType) -> list[Membership]:
        """The roles that a principal was given itself; users have ``public`` as well.

        >>> [membership.role for membership in store.hive.roles.memberships("ann", PrincipalType.USER)]
        ['public']
        """
        expect_texts(principal=principal)
        principal_type = principal_type_of(principal_type)
        if principal_type == PrincipalType.ROLE:
            principal = _name(principal)
        asked = (principal, principal_type)
        found = [one for one in self._read().memberships if (one.principal, one.principal_type) == asked]
        if principal_type == PrincipalType.USER:
            found.append(Membership(PUBLIC, principal, principal_type, grantor=PUBLIC, grantor_type=PrincipalType.ROLE))
        return found

    def all_of(self, user: str | None, groups: Iterable[str] = ()) -> list[str]:
        """The names, in order, of all roles that a user and groups have, those of their roles included.

        Args:
            user: None for groups only. Every user has ``public``.
            groups: the names of groups.

        >>> store.hive.roles.all_of("ann")
        ['public']
        """
        expect_texts(or_none=True, user=user)
        names = expect_many("groups", groups, str, hint="Give a list of the groups' names")
        state = self._read()
        principals = {(group, PrincipalType.GROUP) for group in names}
        if user is not None:
            principals.add((user, PrincipalType.USER))
        direct = [one.role for one in state.memberships if (one.principal, one.principal_type) in principals]
        every = set().union(*(_above(state, role) for role in direct))
        return sorted(every if user is None else every | {PUBLIC})

    def members(self, role: str) -> list[Membership]:
        """Who was given a role; of ``public`` nobody, as everybody has it. RoleNotFound if there is none.

        >>> store.hive.roles.members("admin")
        []
        """
        state = self._read()
        name = _check(state, _name(role)).name
        return [one for one in state.memberships if one.role == name]

    def _read(self) -> _State:
        return _State.decode(self.transactions.state(_KEY))

    def _change(self, step: Callable[[_State], _State]) -> None:
        def change(state: bytes) -> tuple[bytes | None, None]:
            before = _State.decode(state)
            after = step(before)
            return None if after == before else after.encode(), None

        self.transactions.change_state(_KEY, change)


def _name(role: str) -> str:
    expect_texts(role=role)
    if not role.strip():
        raise InvalidInput("the role has no name", role=repr(role), hint="Give the role's name")
    return role.strip().lower()


def _check(state: _State, name: str) -> Role:
    for role in state.roles:
        if role.name == name:
            return role
    raise RoleNotFound("the role does not exist", role=name, hint="Create it first")


def _role_of(membership: Membership) -> str | None:
    """The role that is the member, where a role is."""
    return membership.principal if membership.principal_type == PrincipalType.ROLE else None


def _same(one: Membership, two: Membership) -> bool:
    return (one.role, one.principal, one.principal_type) == (two.role, two.principal, two.principal_type)


def _above(state: _State, role: str) -> set[str]:
    """A role, the roles that it was given, those that these were given, and so on."""
    reached: set[str] = set()
    fresh = {role}
    while fresh:
        reached |= fresh
        fresh = {one.role for one in state.memberships if _role_of(one) in fresh} - reached
    return reached
