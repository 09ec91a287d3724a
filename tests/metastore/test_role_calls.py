"""Roles and privileges through the endpoint."""

from __future__ import annotations

import pytest

from hbstore import connect
from hbstore.store.partition_store import PartitionStore
from tests.metastore import writing as with_files
from tests.metastore.asking import Asking, add, table_of
from tests.metastore.client import STORED, TYPES
from tests.store.faults import Fault
from tests.store.strikes import struck

USER, ROLE = 1, 2
TABLE = 3


@pytest.fixture
def asking(asking):
    drop_roles(asking)  # one HBase serves the tests of others, too
    yield asking
    drop_roles(asking)


def drop_roles(asking):
    for name in set(asking.get_role_names()) - {"admin", "public"}:
        asking.drop_role(name)


def test_roles_are_created_given_and_dropped(asking):
    assert asking.get_role_names() == ["admin", "public"]
    assert asking.create_role(TYPES.Role(roleName="Clerks", ownerName="ann"))
    assert asking.grant_role("clerks", "bob", USER, "ann", USER, True)
    assert [one.roleName for one in asking.list_roles("bob", USER)] == ["clerks", "public"]
    (member,) = asking.get_principals_in_role(TYPES.GetPrincipalsInRoleRequest("clerks")).principalGrants
    assert (member.principalName, member.grantOption, member.grantorName) == ("bob", True, "ann")
    request = TYPES.GetRoleGrantsForPrincipalRequest("bob", USER)
    assert asking.get_role_grants_for_principal(request).principalGrants[0].roleName == "clerks"
    assert asking.revoke_role("clerks", "bob", USER)
    assert asking.drop_role("clerks")
    with pytest.raises(TYPES.MetaException):
        asking.drop_role("clerks")
    with pytest.raises(TYPES.MetaException):
        asking.create_role(TYPES.Role(roleName="public"))


def test_a_role_is_given_and_taken_by_one_request(asking):
    asking.create_role(TYPES.Role(roleName="clerks"))
    given = TYPES.GrantRevokeRoleRequest(1, "clerks", "bob", USER, "ann", USER, False)
    assert asking.grant_revoke_role(given).success
    taken = TYPES.GrantRevokeRoleRequest(2, "clerks", "bob", USER)
    assert asking.grant_revoke_role(taken).success
    assert not asking.grant_revoke_role(taken).success


def bag(principal, kind, *privileges):
    target = TYPES.HiveObjectRef(TABLE, "shop", "sales", [], None)
    grants = [STORED.PrivilegeGrantInfo(one, 0, "ann", USER, False) for one in privileges]
    return TYPES.PrivilegeBag([TYPES.HiveObjectPrivilege(target, principal, kind, one) for one in grants])


def test_privileges_are_granted_listed_and_revoked(asking):
    add(asking, table_of("sales", ds="date"), [("2013-01-01",)])
    asking.create_role(TYPES.Role(roleName="clerks"))
    asking.grant_role("clerks", "bob", USER, "ann", USER, False)
    assert asking.grant_privileges(bag("bob", USER, "SELECT", "INSERT"))
    request = TYPES.GrantRevokePrivilegeRequest(1, bag("clerks", ROLE, "UPDATE"), False)
    assert asking.grant_revoke_privileges(request).success
    target = TYPES.HiveObjectRef(TABLE, "SHOP", "Sales", [], None)
    listed = asking.list_privileges("bob", USER, target)
    assert [one.grantInfo.privilege for one in listed] == ["SELECT", "INSERT"]
    assert listed[0].hiveObject.objectName == "sales"
    found = asking.get_privilege_set(target, "bob", [])
    assert [one.privilege for one in found.userPrivileges["bob"]] == ["SELECT", "INSERT"]
    assert [one.privilege for one in found.rolePrivileges["clerks"]] == ["UPDATE"]
    assert asking.revoke_privileges(bag("bob", USER, "SELECT"))
    assert [one.grantInfo.privilege for one in asking.list_privileges("bob", USER, target)] == ["INSERT"]
    with pytest.raises(TYPES.MetaException):
        asking.revoke_privileges(bag("bob", USER, "SELECT"))


def test_what_is_granted_to_a_role_is_its_however_its_name_is_written(asking):
    add(asking, table_of("sales", ds="date"), [])
    asking.create_role(TYPES.Role(roleName="clerks"))
    asking.grant_role("Clerks", "bob", USER, "ann", USER, False)
    asking.grant_privileges(bag("CLERKS", ROLE, "SELECT"))
    target = TYPES.HiveObjectRef(TABLE, "shop", "sales", [], None)
    assert [one.privilege for one in asking.get_privilege_set(target, "bob", []).rolePrivileges["clerks"]] == ["SELECT"]
    (listed,) = asking.list_privileges("Clerks", ROLE, target)
    assert listed.principalName == "clerks"
    asking.revoke_privileges(bag("clerks", ROLE, "SELECT"))
    assert asking.list_privileges(None, None, target) == []


def test_privileges_are_granted_to_roles_that_are_there(asking):
    """Else who creates the role later would have them."""
    add(asking, table_of("sales", ds="date"), [])
    with pytest.raises(TYPES.MetaException, match="role does not exist"):
        asking.grant_privileges(bag("clerks", ROLE, "SELECT"))
    with pytest.raises(TYPES.MetaException, match="role does not exist"):
        asking.grant_revoke_privileges(TYPES.GrantRevokePrivilegeRequest(1, bag("clerks", ROLE, "SELECT"), False))
    assert asking.list_privileges(None, None, TYPES.HiveObjectRef(TABLE, "shop", "sales", [], None)) == []


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER])
def test_a_role_that_comes_back_has_nothing_after_a_crash_of_its_drop(fault):
    def with_role():
        store = connect("memory://?atomic=false")
        store.create_database("shop")
        asking = Asking(store)
        add(asking, table_of("sales", ds="date"), [])
        asking.create_role(TYPES.Role(roleName="clerks"))
        asking.grant_privileges(bag("clerks", ROLE, "SELECT"))
        return store

    for store, _, _ in struck(with_role, lambda faulty: Asking(faulty).drop_role("clerks"), fault, least=2):
        asking = Asking(PartitionStore(store.rows))
        if "clerks" in asking.get_role_names():
            asking.drop_role("clerks")
        asking.create_role(TYPES.Role(roleName="clerks"))
        assert asking.store.hive.grants.list() == []


def test_what_is_granted_with_a_table_and_later_follows_it_to_its_new_name(shop):
    """As Trino and Presto do: the owner's privileges come with the table, and are asked for by list_privileges."""
    owners = [STORED.PrivilegeGrantInfo(name, -1, "ann", USER, True) for name in ("SELECT", "INSERT", "SELECT")]
    new = new_table(
        privileges=STORED.PrincipalPrivilegeSet(userPrivileges={"ann": owners}, rolePrivileges={"r": owners})
    )
    shop.create_table(new)
    stored = shop.get_table("shop", "sales")
    assert stored.privileges is None
    assert granted(shop, "sales") == [
        ("SELECT", "ann", True),
        ("INSERT", "ann", True),
        ("SELECT", "r", True),
        ("INSERT", "r", True),
    ]
    shop.grant_privileges(bag("bob", USER, "UPDATE"))
    before = granted(shop, "sales")
    stored.privileges = STORED.PrincipalPrivilegeSet(userPrivileges={"eve": owners})
    shop.alter_table("shop", "sales", stored)
    stored.tableName = "sold"
    shop.alter_table("shop", "sales", stored)
    assert granted(shop, "sold") == before
    assert shop.get_table("shop", "sold").privileges is None
    shop.create_table(new_table())
    assert granted(shop, "sales") == []
    shop.drop_table("shop", "sales", False)
    stored.tableName = "sales"
    shop.alter_table("shop", "sold", stored)
    assert granted(shop, "sales") == before


def new_table(**fields):
    new = with_files.table_of()
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def granted(shop, table):
    """What was granted on a table: privileges with whom they were granted to, and whether they may be granted on."""
    found = shop.list_privileges(None, None, TYPES.HiveObjectRef(TABLE, "shop", table, [], None))
    assert all(one.grantInfo.createTime > 0 and one.hiveObject.partValues is None for one in found)
    return [(one.grantInfo.privilege, one.principalName, one.grantInfo.grantOption) for one in found]


def test_a_privilege_set_has_an_entry_for_everybody_it_is_about(asking):
    """As HMS 2.3.10: Hive's GRANT reads the user's, even an empty one, before it sends anything."""
    add(asking, table_of("sales", ds="date"), [("2013-01-01",)])
    on_table = TYPES.HiveObjectRef(TABLE, "shop", "sales")
    on_database = TYPES.HiveObjectRef(2, "shop")
    on_all = TYPES.HiveObjectRef(1)

    def names(target, user, groups):
        found = asking.get_privilege_set(target, user, groups)
        return tuple(
            {name: len(granted) for name, granted in (some or {}).items()}
            for some in (found.userPrivileges, found.groupPrivileges, found.rolePrivileges)
        )

    assert names(on_table, "bob", None) == ({"bob": 0}, {}, {"public": 0})
    assert names(on_database, "bob", ["g", "h"]) == ({"bob": 0}, {"g": 0, "h": 0}, {"public": 0})
    assert names(on_table, None, ["g"]) == ({}, {"g": 0}, {})
    for role in ("boss", "under", "grouped"):
        asking.create_role(TYPES.Role(role, 0, "me"))
    asking.grant_role("boss", "bob", USER, "me", USER, False)
    asking.grant_role("under", "boss", ROLE, "me", USER, False)
    asking.grant_role("grouped", "g", 3, "me", USER, False)
    asking.grant_privileges(bag("under", ROLE, "SELECT"))
    asking.grant_privileges(bag("bob", USER, "SELECT"))
    assert names(on_table, "bob", None) == ({"bob": 1}, {}, {"boss": 0, "public": 0, "under": 1})
    assert names(on_table, None, ["g"]) == ({}, {"g": 0}, {"grouped": 0})
    assert names(on_all, "bob", ["g"]) == ({}, {}, {})


def test_nothing_is_notified(asking):
    assert asking.get_current_notificationEventId().eventId == 0
    assert asking.get_next_notification(TYPES.NotificationEventRequest(0, 10)).events == []
    asking.fire_listener_event(TYPES.FireEventRequest(successful=True))
