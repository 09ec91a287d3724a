"""The rows of grants: what was granted on a database, on a table with its partitions and columns, or on everything.

Their keys are ``G db``, ``G db 00 table`` and ``G``. The state of a table's begins with the table id, so that what was
granted on a dropped table is not granted on the next of its name.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Final

from hbstore.errors import CorruptRow, InvalidInput
from hbstore.model.objects import Grant, Privileges
from hbstore.model.service_objects import ObjectGrant, ObjectRef, ObjectType, PrincipalType
from hbstore.rows.damage import RESTORE
from hbstore.store.table_row import names_of
from hbstore.transactions.transaction import Transaction

GRANTS: Final = b"G"
GRANT_KEYS: Final = (b"G", b"H")


def grants_key(key: bytes) -> bytes:
    r"""The row of what was granted on the database or table of a row.

    >>> grants_key(b"Tshop\x00sales")
    b'Gshop\x00sales'
    """
    return GRANTS + key[1:]


def encode_grants(grants: Sequence[ObjectGrant], mark: str) -> bytes:
    """The state of a row of grants; the mark is the table id in hexadecimal digits, and empty of all else."""
    return json.dumps([mark, [astuple(object_grant) for object_grant in grants]]).encode()


def decode_grants(state: bytes, mark: str) -> list[ObjectGrant]:
    """The grants in a state; none where they are of another table.

    Raises:
        CorruptRow: the state cannot be decoded.
    """
    if not state:
        return []
    try:
        stored_mark, grants = json.loads(state)
        if stored_mark != mark:
            return []
        return [
            ObjectGrant(ObjectRef(*target), principal, PrincipalType(kind), Grant(*grant))
            for target, principal, kind, grant in grants
        ]
    except (ValueError, TypeError, InvalidInput) as error:
        raise CorruptRow("the grants cannot be decoded", grants=state[:80], hint=RESTORE) from error


def mark_of(state: bytes) -> bytes:
    """The id of the table whose grants these are; empty of those on all else.

    Raises:
        CorruptRow: the state cannot be decoded.
    """
    try:
        return bytes.fromhex(json.loads(state)[0])
    except (ValueError, TypeError, IndexError, KeyError) as error:
        raise CorruptRow("the grants cannot be decoded", grants=state[:80], hint=RESTORE) from error


def check_grants(key: bytes, state: bytes) -> None:
    """See that a row is that of grants on what its key says.

    Raises:
        CorruptRow: its key or its state is none.
    """
    for one in decode_grants(state, mark_of(state).hex()):
        names = (one.target.database, one.target.table)
        if GRANTS + "\0".join(name for name in names if name).encode() != key:
            raise CorruptRow("a grant is not on what its row key names", target=one.target, hint=RESTORE)


def grant_first(transaction: Transaction, key: bytes, table_id: bytes, privileges: Privileges) -> None:
    """Grant what users, groups and roles may do with a table that is created."""
    target = ObjectRef(ObjectType.TABLE, *names_of(key))
    now = int(time.time())
    principals = (
        (PrincipalType.USER, privileges.users),
        (PrincipalType.GROUP, privileges.groups),
        (PrincipalType.ROLE, privileges.roles),
    )
    grants = {}
    for kind, granted in principals:
        for principal, some in granted.items():
            for grant in some:
                object_grant = ObjectGrant(target, principal, kind, dated(grant, now))
                grants[object_grant.identity] = object_grant
    transaction.row(grants_key(key)).set_state(encode_grants(list(grants.values()), table_id.hex()))


def move_grants(transaction: Transaction, key: bytes, new_key: bytes, table_id: bytes) -> None:
    """Let what was granted on a table follow it to its new name."""
    view = transaction.row(grants_key(key))
    grants = decode_grants(view.state, table_id.hex())
    if not grants:
        return
    database, name = names_of(new_key)
    moved = [replace(one, target=replace(one.target, database=database, table=name)) for one in grants]
    transaction.row(grants_key(new_key)).set_state(encode_grants(moved, table_id.hex()))
    view.set_state(b"")


def dated(grant: Grant, now: int) -> Grant:
    """A grant with the time when it was given, if it has none, for which Hive sends -1."""
    return grant if grant.create_time > 0 else replace(grant, create_time=now)
