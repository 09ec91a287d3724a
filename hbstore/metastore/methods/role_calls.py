"""Roles, who has them, and what was granted: kept and listed. Nothing here decides who may do what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from hbstore.errors import InvalidInput
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.model.objects import Privileges
from hbstore.model.service_objects import Membership, ObjectGrant, ObjectRef, ObjectType, PrincipalType, Role

handlers = Handlers()
_GRANT: Final = 1
"""GrantRevokeType.GRANT; the other is REVOKE."""


@handlers.answers("create_role", writes=True)
def create_role(call: Call) -> bool:
    """Add a role."""
    role = call.arguments.role
    call.store.hive.roles.create(Role(role.roleName or "", role.ownerName))
    return True


@handlers.answers("drop_role", writes=True)
def drop_role(call: Call) -> bool:
    """Remove a role, from all who have it, with all that was granted to it."""
    name = call.store.hive.roles.get(call.arguments.role_name or "").name
    call.store.hive.grants.forget_role(name)  # first, so that a call that breaks off can be repeated
    call.store.hive.roles.drop(name)
    # And once more: what was granted to it meanwhile, or is on a table that was just being renamed.
    call.store.hive.grants.forget_role(name)
    return True


@handlers.answers("get_role_names")
def get_role_names(call: Call) -> list[str]:
    """The names of all roles."""
    return call.store.hive.roles.names()


@handlers.answers("list_roles")
def list_roles(call: Call) -> list[Any]:
    """The roles that a principal was given itself; users have ``public`` as well."""
    arguments = call.arguments
    memberships = call.store.hive.roles.memberships(
        arguments.principal_name or "", _principal_type(arguments.principal_type)
    )
    return [_role(call.store.hive.roles.get(membership.role)) for membership in memberships]


@handlers.answers("grant_role", writes=True)
def grant_role(call: Call) -> bool:
    """Give a role to a principal."""
    given = call.arguments
    member = given.role_name, given.principal_name, _principal_type(given.principal_type), bool(given.grant_option)
    call.store.hive.roles.grant(Membership(*member, grantor=given.grantor, grantor_type=given.grantorType))
    return True


@handlers.answers("revoke_role", writes=True)
def revoke_role(call: Call) -> bool:
    """Take a role from a principal; whether it had it."""
    arguments = call.arguments
    return call.store.hive.roles.revoke(
        arguments.role_name, arguments.principal_name, _principal_type(arguments.principal_type)
    )


@handlers.answers("grant_revoke_role", writes=True)
def grant_revoke_role(call: Call) -> Any:
    """Give a role to a principal or take it, or just the right to grant it on."""
    request = call.arguments.request
    member = request.roleName, request.principalName, _principal_type(request.principalType)
    option, roles, done = bool(request.grantOption), call.store.hive.roles, True
    if request.requestType == _GRANT:
        roles.grant(Membership(*member, option, grantor=request.grantor, grantor_type=request.grantorType))
    else:
        done = roles.revoke(*member, option_only=option)
    return THRIFT.GrantRevokeRoleResponse(success=done)


@handlers.answers("get_principals_in_role")
def get_principals_in_role(call: Call) -> Any:
    """Who was given a role."""
    memberships = call.store.hive.roles.members(call.arguments.request.roleName or "")
    return THRIFT.GetPrincipalsInRoleResponse(principalGrants=[_membership(membership) for membership in memberships])


@handlers.answers("get_role_grants_for_principal")
def get_role_grants_for_principal(call: Call) -> Any:
    """The roles that a principal was given, and by whom."""
    request = call.arguments.request
    memberships = call.store.hive.roles.memberships(
        request.principal_name or "", _principal_type(request.principal_type)
    )
    return THRIFT.GetRoleGrantsForPrincipalResponse(
        principalGrants=[_membership(membership) for membership in memberships]
    )


@handlers.answers("grant_privileges", writes=True)
def grant_privileges(call: Call) -> bool:
    """Give privileges.

    Raises:
        MetaException: a role to which some are given is not there.
    """
    _grant(call, _grants(call.arguments.privileges))
    return True


@handlers.answers("revoke_privileges", writes=True)
def revoke_privileges(call: Call) -> bool:
    """Take privileges back."""
    call.store.hive.grants.revoke(_grants(call.arguments.privileges))
    return True


@handlers.answers("grant_revoke_privileges", writes=True)
def grant_revoke_privileges(call: Call) -> Any:
    """Give privileges or take them back, or just the right to grant them on. Raises as `grant_privileges`."""
    request = call.arguments.request
    grants = _grants(request.privileges)
    if request.requestType == _GRANT:
        _grant(call, grants)
    else:
        call.store.hive.grants.revoke(grants, option_only=bool(request.revokeGrantOption))
    return THRIFT.GrantRevokePrivilegeResponse(success=True)


@handlers.answers("list_privileges")
def list_privileges(call: Call) -> list[Any]:
    """What was granted to a principal, or to all, on something, or on anything."""
    arguments = call.arguments
    target = None if arguments.hiveObject.objectType is None else _target(arguments.hiveObject)
    principal_type = None if arguments.principal_type is None else _principal_type(arguments.principal_type)
    grants = call.store.hive.grants.list(arguments.principal_name, principal_type, target)
    return [_privilege(grant) for grant in grants]


@handlers.answers("get_privilege_set")
def get_privilege_set(call: Call) -> Privileges:
    """What a user, some groups, and the roles of both were granted on something.

    The user, each group and each role has an entry, an empty one where nothing was granted: Hive's GRANT needs one for
    the user. On everything (GLOBAL) only those have one to whom something was granted, as with HMS.
    """
    arguments = call.arguments
    target = _target(arguments.hiveObject)
    grants = call.store.hive.grants.list(target=target)
    user, groups = arguments.user_name, arguments.group_names or ()

    def of(kind: PrincipalType, names: Iterable[str]) -> dict[str, list[Any]]:
        entries: dict[str, list[Any]] = {name: [] for name in names}
        for grant in grants:
            if grant.principal_type == kind and grant.principal in entries:
                entries[grant.principal].append(grant.grant)
        if target.type == ObjectType.GLOBAL:
            return {name: granted for name, granted in entries.items() if granted}
        return entries

    return Privileges(
        of(PrincipalType.USER, () if user is None else (user,)),
        of(PrincipalType.GROUP, groups),
        of(PrincipalType.ROLE, call.store.hive.roles.all_of(user, groups)),
    )


def _role(role: Role) -> Any:
    return THRIFT.Role(roleName=role.name, createTime=role.create_time, ownerName=role.owner)


def _membership(membership: Membership) -> Any:
    return THRIFT.RolePrincipalGrant(
        roleName=membership.role,
        principalName=membership.principal,
        principalType=membership.principal_type,
        grantOption=membership.grant_option,
        grantTime=membership.time,
        grantorName=membership.grantor,
        grantorPrincipalType=membership.grantor_type,
    )


def _principal_type(number: int | None) -> PrincipalType:
    """By its number; who says none means a user."""
    try:
        return PrincipalType(number or PrincipalType.USER)
    except ValueError as error:
        hint = "1 is a user, 2 a role, 3 a group"
        raise InvalidInput("the type of the principal is unknown", type=number, hint=hint) from error


def _target(hive_object: Any) -> ObjectRef:
    if hive_object is None:
        raise InvalidInput("the object of the privilege is missing", hint="Send a hiveObject")
    try:
        kind = ObjectType(hive_object.objectType or ObjectType.GLOBAL)
    except ValueError as error:
        hint = "1 is all, 2 a database, 3 a table, 4 a partition, 5 a column"
        raise InvalidInput("the type of the object is unknown", type=hive_object.objectType, hint=hint) from error
    if kind == ObjectType.GLOBAL:
        return ObjectRef(kind)
    if kind == ObjectType.DATABASE:  # some clients give its name as the object's
        return ObjectRef(kind, database_name(hive_object.dbName or hive_object.objectName))
    return ObjectRef(
        kind,
        database_name(hive_object.dbName),
        hive_object.objectName or "",
        hive_object.partValues or (),
        hive_object.columnName,
    )


def _grants(bag: Any) -> list[ObjectGrant]:
    privileges = () if bag is None else bag.privileges or ()
    if any(privilege.grantInfo is None for privilege in privileges):
        raise InvalidInput("the privilege is missing", hint="Send a grantInfo")
    return [
        ObjectGrant(
            _target(privilege.hiveObject),
            privilege.principalName,
            _principal_type(privilege.principalType),
            privilege.grantInfo,
        )
        for privilege in privileges
    ]


def _grant(call: Call, grants: Sequence[ObjectGrant]) -> None:
    for role in {grant.principal for grant in grants if grant.principal_type == PrincipalType.ROLE}:
        call.store.hive.roles.get(role)
    call.store.hive.grants.grant(grants)


def _privilege(grant: ObjectGrant) -> Any:
    target = THRIFT.HiveObjectRef(
        objectType=grant.target.type,
        dbName=grant.target.database or None,
        objectName=grant.target.table or grant.target.database or None,
        partValues=grant.target.values or None,
        columnName=grant.target.column,
    )
    return THRIFT.HiveObjectPrivilege(
        hiveObject=target, principalName=grant.principal, principalType=grant.principal_type, grantInfo=grant.grant
    )
