"""Roles: made, given, taken back, dropped."""

from __future__ import annotations

import time

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from hbstore import AlreadyExists, CorruptRow, InvalidInput, connect
from hbstore.errors import RoleNotFound
from hbstore.model.service_objects import Membership, PrincipalType, Role
from hbstore.store.hive.roles import ADMIN, PUBLIC, _State

USER, ROLE, GROUP = PrincipalType


def test_public_and_admin_are_there_from_the_beginning(services):
    assert services.roles.names() == [ADMIN, PUBLIC]
    for name in (ADMIN, "PUBLIC"):
        with pytest.raises(AlreadyExists):
            services.roles.create(Role(name))
        with pytest.raises(InvalidInput):
            services.roles.drop(name)
    assert services.roles.get("Public").name == PUBLIC


def test_a_role_is_made_now_and_dropped(services):
    before = int(time.time())
    services.roles.create(Role("Sales", "ann", create_time=5))
    found = services.roles.get("sALES")
    assert (found.name, found.owner) == ("sales", "ann")
    assert before <= found.create_time <= time.time()
    with pytest.raises(AlreadyExists) as caught:
        services.roles.create(Role("SALES"))
    assert caught.value.fields == {"role": "sales"}
    services.roles.drop("Sales")
    assert services.roles.names() == [ADMIN, PUBLIC]
    for call in (services.roles.drop, services.roles.get, services.roles.members):
        with pytest.raises(RoleNotFound) as caught:
            call("sales")
        assert caught.value.fields == {"role": "sales"}
    for name in ("", " ", None):
        with pytest.raises(InvalidInput):
            services.roles.create(Role(name))


def test_a_role_is_given_and_taken_back(services):
    services.roles.create(Role("sales"))
    services.roles.grant(Membership("Sales", "bob", USER, grant_option=True, grantor="ann", grantor_type=1))
    services.roles.grant(Membership("sales", "bob", GROUP))
    with pytest.raises(AlreadyExists):
        services.roles.grant(Membership("sales", "bob", USER))
    (user, group) = services.roles.members("SALES")
    assert (user.principal, user.grant_option, user.grantor, group.principal_type) == ("bob", True, "ann", GROUP)
    assert user.time > 0
    assert [one.role for one in services.roles.memberships("bob", USER)] == ["sales", PUBLIC]
    assert [one.role for one in services.roles.memberships("bob", GROUP)] == ["sales"]
    assert services.roles.revoke("sales", "bob", USER, option_only=True)
    assert not services.roles.members("sales")[0].grant_option
    assert services.roles.revoke("Sales", "bob", USER)
    assert not services.roles.revoke("sales", "bob", USER)
    assert [one.principal_type for one in services.roles.members("sales")] == [GROUP]


def test_only_roles_that_are_there_are_given(services):
    services.roles.create(Role("sales"))
    for membership in (Membership("none", "bob"), Membership("sales", "none", ROLE)):
        with pytest.raises(RoleNotFound):
            services.roles.grant(membership)
    with pytest.raises(RoleNotFound):
        services.roles.revoke("none", "bob", USER)


def test_everybody_has_public(services):
    assert [one.role for one in services.roles.memberships("anybody", USER)] == [PUBLIC]
    assert services.roles.members(PUBLIC) == []
    with pytest.raises(InvalidInput):
        services.roles.grant(Membership(PUBLIC, "bob"))
    with pytest.raises(InvalidInput):
        services.roles.revoke(PUBLIC, "bob", USER)


def test_roles_do_not_belong_to_each_other_in_a_circle(services):
    for name in "abc":
        services.roles.create(Role(name))
    services.roles.grant(Membership("a", "b", ROLE))
    services.roles.grant(Membership("b", "C", ROLE))
    for role, principal in (("c", "a"), ("a", "a"), ("b", "a")):
        with pytest.raises(InvalidInput):
            services.roles.grant(Membership(role, principal, ROLE))
    services.roles.grant(Membership("a", "c", ROLE))
    assert [one.role for one in services.roles.memberships("C", ROLE)] == ["b", "a"]


def test_a_dropped_role_is_nobody_s(services):
    for name in ("a", "b", "c"):
        services.roles.create(Role(name))
    services.roles.grant(Membership("b", "ann"))
    services.roles.grant(Membership("a", "b", ROLE))
    services.roles.grant(Membership("c", "ann"))
    services.roles.drop("b")
    services.roles.create(Role("b"))
    assert services.roles.members("a") == services.roles.members("b") == []
    assert [one.role for one in services.roles.memberships("ann", USER)] == ["c", PUBLIC]


@pytest.mark.parametrize("data", [b"x", b"[]", b"[[],[1]]", b'[[],[["a"]]]', b'[[],[["a","b",9]]]'])
def test_bytes_that_are_no_roles_are_refused(data):
    with pytest.raises(CorruptRow):
        _State.decode(data)


class Machine(RuleBasedStateMachine):
    """Roles that come and go, against sets."""

    def __init__(self):
        super().__init__()
        self.roles = connect("memory://").hive.roles
        self.names = {ADMIN, PUBLIC}
        self.given = set()

    some = st.sampled_from(["a", "b", "c"])
    who = st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(PrincipalType))

    @rule(name=some)
    def create(self, name):
        if name not in self.names:
            self.roles.create(Role(name.upper()))
            self.names.add(name)

    @rule(name=some)
    def drop(self, name):
        if name in self.names:
            self.roles.drop(name)
            self.names.remove(name)
            self.given = {one for one in self.given if one[0] != name and one[1:] != (name, ROLE)}

    @rule(name=some, who=who)
    def grant(self, name, who):
        principal, kind = who
        missing = name not in self.names or (kind == ROLE and principal not in self.names)
        circle = kind == ROLE and not missing and principal in self._above(name)
        twice = (name, *who) in self.given
        expected = RoleNotFound if missing else InvalidInput if circle else AlreadyExists if twice else None
        if expected is None:
            self.roles.grant(Membership(name, principal, kind))
            self.given.add((name, *who))
            return
        with pytest.raises(expected):
            self.roles.grant(Membership(name, principal, kind))

    @rule(name=some, who=who)
    def revoke(self, name, who):
        if name in self.names:
            assert self.roles.revoke(name, *who) == ((name, *who) in self.given)
            self.given.discard((name, *who))

    @invariant()
    def all_agree(self):
        assert self.roles.names() == sorted(self.names)
        found = {
            (one.role, one.principal, one.principal_type) for name in self.names for one in self.roles.members(name)
        }
        assert found == self.given

    def _above(self, name):
        found = {name}
        for role, principal, kind in self.given:
            if kind == ROLE and principal == name:
                found |= self._above(role)
        return found


def test_any_run_of_changes():
    run_state_machine_as_test(Machine, settings=settings(max_examples=30, stateful_step_count=30, deadline=None))
