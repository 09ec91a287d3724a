"""Grants of privileges: given, listed, taken back, and gone with what they are about."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import AlreadyExists, CorruptRow, DatabaseNotFound, TableNotFound
from hbstore.errors import GrantNotFound
from hbstore.model.objects import Grant
from hbstore.model.service_objects import ObjectGrant, ObjectRef, ObjectType, PrincipalType
from hbstore.store.grants_row import decode_grants, encode_grants
from tests.store.conftest import sales_table
from tests.strategies import grants, unicode_text

USER, ROLE, GROUP = PrincipalType
EVERYTHING = ObjectRef(ObjectType.GLOBAL)
SHOP = ObjectRef(ObjectType.DATABASE, "Shop")
SALES = ObjectRef(ObjectType.TABLE, "shop", "Sales")
PRICE = ObjectRef(ObjectType.COLUMN, "shop", "sales", column="Price")
DAY = ObjectRef(ObjectType.PARTITION, "shop", "sales", ["2013-01-01", "5"])

some_grants = st.builds(
    ObjectGrant,
    st.builds(
        ObjectRef,
        st.sampled_from(ObjectType),
        unicode_text,
        unicode_text,
        st.lists(unicode_text, max_size=2),
        st.none() | unicode_text,
    ),
    unicode_text,
    st.sampled_from(PrincipalType),
    grants,
)


@pytest.fixture
def sales(services):
    services.store.create_table(sales_table())
    return services


def to(principal, target, privilege="SELECT", kind=USER, **fields):
    return ObjectGrant(target, principal, kind, Grant(privilege, **{"create_time": 7, "grantor": "ann", **fields}))


@given(st.lists(some_grants, max_size=4), unicode_text)
def test_all_grants_are_kept_in_their_bytes(some, mark):
    assert decode_grants(encode_grants(some, mark), mark) == some
    assert decode_grants(encode_grants(some, mark), mark + "x") == []


@pytest.mark.parametrize("data", [b"x", b"[]", b'["", [1]]', b'["", [[[9], "a", 1, ["S"]]]]'])
def test_bytes_that_are_no_grants_are_refused(data):
    with pytest.raises(CorruptRow):
        decode_grants(data, "")


def test_grants_are_listed_by_whom_and_what_they_are_for(sales):
    wanted = [
        to("bob", EVERYTHING),
        to("bob", SHOP, "CREATE"),
        to("bob", SALES),
        to("bob", SALES, "INSERT", grant_option=True),
        to("bob", SALES, kind=GROUP),
        to("eve", PRICE),
        to("eve", DAY),
    ]
    sales.grants.grant(wanted)
    assert sales.grants.list() == wanted
    assert sales.grants.list("bob", USER) == wanted[:4]
    assert sales.grants.list("bob", GROUP) == [wanted[4]]
    assert sales.grants.list("bob", USER, SALES) == wanted[2:4]
    assert sales.grants.list(target=PRICE) == [wanted[5]]
    assert sales.grants.list(target=DAY) == [wanted[6]]
    assert sales.grants.list("eve", USER, SHOP) == []
    assert sales.grants.list(target=replace(DAY, values=("2013-01-01", "6"))) == []


def test_a_grant_is_made_now_unless_it_says_when(sales):
    before = int(time.time())
    sales.grants.grant([to("bob", SALES, create_time=0)])
    (found,) = sales.grants.list()
    assert before <= found.grant.create_time <= time.time()


def test_what_is_granted_twice_is_refused_with_all_on_that_table(sales):
    sales.grants.grant([to("bob", SALES)])
    with pytest.raises(AlreadyExists) as caught:
        sales.grants.grant([to("eve", SALES), to("bob", SALES, "select", grant_option=True)])
    assert caught.value.fields == {"privilege": "select", "principal": "bob"}
    assert sales.grants.list() == [to("bob", SALES)]
    sales.grants.grant([to("bob", SALES, grantor="eve")])
    assert len(sales.grants.list()) == 2


def test_grants_are_taken_back_whoever_made_them(sales):
    sales.grants.grant([to("bob", SALES), to("bob", SALES, grantor="eve"), to("eve", SALES, grant_option=True)])
    sales.grants.revoke([to("eve", SALES, grantor=None)], option_only=True)
    assert sales.grants.list("eve") == [to("eve", SALES)]
    with pytest.raises(GrantNotFound) as caught:
        sales.grants.revoke([to("bob", SALES), to("bob", SALES, "INSERT")])
    assert caught.value.fields == {"privilege": "INSERT", "principal": "bob"}
    assert len(sales.grants.list("bob")) == 2
    sales.grants.revoke([to("bob", SALES)])
    assert sales.grants.list() == [to("eve", SALES)]


def test_what_is_not_there_has_no_grants(sales):
    for target, expected in [
        (ObjectRef(ObjectType.DATABASE, "none"), DatabaseNotFound),
        (ObjectRef(ObjectType.TABLE, "shop", "none"), TableNotFound),
    ]:
        with pytest.raises(expected):
            sales.grants.grant([to("bob", target)])
        assert sales.grants.list(target=target) == []


def test_the_next_table_of_a_name_has_none(sales):
    sales.grants.grant([to("bob", SALES), to("bob", DAY), to("bob", SHOP)])
    sales.store.drop_table("shop", "sales")
    assert sales.grants.list() == [to("bob", SHOP)]
    sales.store.create_table(sales_table())
    assert sales.grants.list() == [to("bob", SHOP)]
    assert sales.grants.list(target=SALES) == []
    sales.grants.grant([to("eve", SALES)])
    assert sales.grants.list(target=SALES) == [to("eve", SALES)]


def test_the_grants_of_a_dropped_database_or_role_go(sales):
    sales.grants.grant([to("sales", SHOP, kind=ROLE), to("bob", SHOP), to("sales", EVERYTHING, kind=ROLE)])
    sales.grants.grant([to("sales", SHOP)])
    sales.grants.forget_role("Sales")
    assert sales.grants.list() == [to("bob", SHOP), to("sales", SHOP)]
    sales.store.drop_database("SHOP", cascade=True)
    sales.store.create_database("shop")
    assert sales.grants.list() == []
