"""Conversations about what is not a table: settings, functions, locks, transactions, roles, events."""

from __future__ import annotations

from tests.metastore.clients.java_reads import UNKNOWN
from tests.metastore.clients.java_structs import filled


def settings(ask):
    ask("getConfigValue", "hive.metastore.partition.name.whitelist.pattern", "none")
    ask("getConfigValue", "hive.nothing.of.the.kind", "none")
    ask.fails("ConfigValSecurityException", "getConfigValue", "java.home", "none")
    ask("getMetaConf", "hive.metastore.try.direct.sql")
    ask("setMetaConf", "hive.metastore.try.direct.sql", "false")
    ask("getMetaConf", "hive.metastore.try.direct.sql")
    ask("setMetaConf", "hive.metastore.try.direct.sql", "true")
    ask.fails("MetaException", "getMetaConf", "hive.nothing.of.the.kind")
    ask.fails("MetaException", "setMetaConf", "hive.nothing.of.the.kind", "1")
    ask("flushCache")
    ask("validatePartitionNameCharacters", ["a", "b/c"])
    ask("getCurrentNotificationEventId")
    ask("getNextNotification", 0, 10, None)


def functions(ask):
    ask("createDatabase", ask.struct("Database", name="funcs"))

    def function(name, **fields):
        made = ask.struct("Function", functionName=name, dbName="funcs", className="a.B", ownerName="ann", **fields)
        made.setOwnerType(ask.java.api("PrincipalType.USER"))
        made.setFunctionType(ask.java.api("FunctionType.JAVA"))
        return made

    jar = ask.struct("ResourceUri", uri="file:/a.jar")
    jar.setResourceType(ask.java.api("ResourceType.JAR"))
    ask("createFunction", function("lower_it", resourceUris=[jar], createTime=7))
    ask("createFunction", function("upper_it", resourceUris=[]))
    ask("getFunction", "funcs", "lower_it")
    ask("getFunction", "funcs", "LOWER_IT")
    for pattern in ("*", "l*", "*_it|x", "nope"):
        ask("getFunctions", "funcs", pattern)
    ask("getFunctions", "nope", "*")
    ask("getAllFunctions")
    ask.fails("AlreadyExistsException", "createFunction", function("lower_it", resourceUris=[]))
    ask.fails("NoSuchObjectException", "getFunction", "funcs", "=")
    ask.fails("NoSuchObjectException", "getFunction", "nope", "lower_it")
    ask.fails("NoSuchObjectException", "dropFunction", "funcs", "nope")
    changed = function("renamed", resourceUris=[])
    changed.setClassName("c.D")
    ask("alterFunction", "funcs", "lower_it", changed)
    ask("getFunctions", "funcs", "*")
    ask.differs(
        "Hive keeps the resources as they were",
        {"className": "c.D", "resourceUris": []},
        "getFunction",
        "funcs",
        "renamed",
    )
    ask("dropFunction", "funcs", "upper_it")
    ask("getFunctions", "funcs", "*")


def request(ask, exclusive, *, database="locks", name="t", part=None, txn=0):
    """A lock on a table or on one of its partitions."""
    component = ask.struct("LockComponent", dbname=database, tablename=name, partitionname=part)
    component.setType(ask.java.api(f"LockType.{'EXCLUSIVE' if exclusive else 'SHARED_READ'}"))
    component.setLevel(ask.java.api(f"LockLevel.{'PARTITION' if part else 'TABLE'}"))
    component.setOperationType(ask.java.api(f"DataOperationType.{'UPDATE' if txn else 'NO_TXN'}"))
    made = ask.java.named("org.apache.hadoop.hive.metastore.LockRequestBuilder")("a client").setUser("ann")
    made = made.setTransactionId(txn) if txn else made
    return made.addLockComponent(component).build()


def locks(ask):
    filled(ask, "locks", "t", ("a", "1"))
    first = ask("lock", request(ask, exclusive=True)).getLockid()
    second = ask("lock", request(ask, exclusive=False)).getLockid()
    ask("checkLock", first)
    ask("checkLock", second)
    ask("heartbeat", 0, first)
    ask("unlock", first)
    ask("checkLock", second)
    third = ask("lock", request(ask, exclusive=False)).getLockid()
    fourth = ask("lock", request(ask, exclusive=True, name="other")).getLockid()
    fifth = ask("lock", request(ask, exclusive=False, part="ds=a/hour=1")).getLockid()
    shown = ask.struct("ShowLocksRequest", dbname="locks")
    ask("showLocks", shown)
    for one in (second, third, fourth, fifth):
        ask("unlock", one)
    ask("showLocks", shown)
    ask.fails("NoSuchLockException", "checkLock", first)
    ask.fails("NoSuchLockException", "heartbeat", 0, first)
    ask("unlock", first)


def transactions(ask):
    filled(ask, "txns", "t", ("a", "1"))
    first = ask("openTxn", "ann")
    more = ask("openTxns", "ann", 2).getTxn_ids()
    ask("heartbeat", first, 0)
    held = ask("lock", request(ask, exclusive=True, database="txns", txn=first)).getLockid()
    waiting = ask("lock", request(ask, exclusive=True, database="txns")).getLockid()
    ask.fails("TxnOpenException", "unlock", held)
    ask("commitTxn", first)
    ask("checkLock", waiting)
    ask("unlock", waiting)
    ask("rollbackTxn", more[0])
    ask.fails("TxnAbortedException", "commitTxn", more[0])
    ask("abortTxns", more.subList(1, 2))
    ask("commitTxn", first)
    ask.fails("NoSuchTxnException", "heartbeat", 1_000_000, 0)
    ask("showCompactions")


def roles(ask):
    user = ask.java.api("PrincipalType.USER")
    ask("listRoleNames")
    ask("create_role", ask.struct("Role", roleName="staff", ownerName="ann"))
    again = ask.struct("Role", roleName="staff", ownerName="ann")
    ask.differs(UNKNOWN, "fails: MetaException", "create_role", again)
    ask("listRoleNames")
    ask("list_roles", "bob", user)
    ask("grant_role", "staff", "bob", user, "ann", user, False)
    ask("list_roles", "bob", user)
    ask("get_principals_in_role", ask.struct("GetPrincipalsInRoleRequest", roleName="staff"))
    ask("revoke_role", "staff", "bob", user, False)
    ask("list_roles", "bob", user)
    place = ask.struct("HiveObjectRef", dbName="default")
    place.setObjectType(ask.java.api("HiveObjectType.DATABASE"))
    ask("list_privileges", "bob", user, place)
    ask("get_privilege_set", place, "bob", ["staff"])
    ask("drop_role", "staff")
    ask("listRoleNames")
    ask.differs("Hive answers as if it had dropped it", "fails: MetaException", "drop_role", "staff")


TOPICS = (settings, functions, locks, transactions, roles)
