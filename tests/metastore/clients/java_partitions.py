"""Conversations that change partitions: added, altered, renamed, moved to another table, dropped."""

from __future__ import annotations

from tests.metastore.clients.java_reads import UNKNOWN, compared
from tests.metastore.clients.java_structs import filled, partition, storage, table


def added(ask):
    ask("createDatabase", ask.struct("Database", name="adds"))
    ask("createTable", table(ask, "adds", "t"))

    def one(*values, **fields):
        return partition(ask, "adds", "t", *values, **fields)

    ask("add_partition", one("a", "1", parameters={"k": "v"}, createTime=5, lastAccessTime=6))
    ask("getPartition", "adds", "t", ["a", "1"])
    ask.fails("AlreadyExistsException", "add_partition", one("a", "1"))
    context = ask.struct("EnvironmentContext", properties={"x": "y"})
    ask("add_partition", one("a", "2", sd=storage(ask, location=ask.location("adds_elsewhere/a2"))), context)
    ask("add_partitions", [one("b", "1"), one("b", "2")])
    ask("add_partitions", [one("b", "2"), one("d", "1")], True, True)
    ask("add_partitions", [one("b", "2"), one("d", "2")], True, False)
    ask("add_partitions", [], True, True)
    for values in ((), ("a",), ("a", "1", "x")):
        ask.fails("MetaException", "add_partition", one(*values))
        ask.fails("MetaException", "add_partitions", [one(*values)])
    ask.fails("InvalidObjectException", "add_partition", partition(ask, "adds", "nope", "a", "1"))
    ask.fails("InvalidObjectException", "add_partitions", [partition(ask, "adds", "nope", "a", "1")])
    for values in (("a/b:c=d %", "7"), ("ü é 漢", "8"), ("__HIVE_DEFAULT_PARTITION__", "9")):
        ask("add_partition", one(*values))
        ask("getPartition", "adds", "t", list(values))
    ask("add_partition", one("plain", "9", sd=storage(ask, location=f"{ask.root}/adds_elsewhere/plain")))
    ask("getPartition", "adds", "t", ["plain", "9"])
    ask("listPartitionNames", "adds", "t", -1)
    ask("createTable", table(ask, "adds", "flat", {}))
    ask.fails("MetaException", "add_partition", partition(ask, "adds", "flat", "a"))
    ask.files("adds.db")
    ask.files("adds_elsewhere")


def not_added(ask):
    filled(ask, "not_added", "t", ("b", "2"), ("d", "2"))

    def one(*values):
        return partition(ask, "not_added", "t", *values)

    ask.fails("AlreadyExistsException", "add_partitions", [one("c", "1"), one("b", "2")])
    ask.fails("AlreadyExistsException", "add_partitions", [one("e", "2"), one("d", "2")], False, True)
    ask.fails("MetaException", "add_partitions", [one("c", "1"), one("c", "1")])
    ask("listPartitionNames", "not_added", "t", -1)
    ask.differs("Hive leaves folders of what it refuses", [], "files", "not_added.db/t/ds=e")
    null = "__HIVE_DEFAULT_PARTITION__"
    unlike = "an empty value is told as the name of the null partition, which Hive names it by, too"
    ask.differs(unlike, {"values": [null, "10"]}, "add_partition", one("", "10"))
    ask.fails("AlreadyExistsException", "add_partition", one(null, "10"))
    ask("getPartition", "not_added", "t", [null, "10"])
    ask("listPartitionNames", "not_added", "t", -1)


def appended(ask):
    ask("createDatabase", ask.struct("Database", name="appends"))
    ask("createTable", table(ask, "appends", "t"))
    context = ask.struct("EnvironmentContext", properties={"x": "y"})
    ask("appendPartition", "appends", "t", ["a", "1"])
    ask("appendPartition", "appends", "t", ["a", "2"], context)
    ask("appendPartition", "appends", "t", "ds=b/hour=1")
    ask("appendPartition", "appends", "t", "ds=b/hour=2", context)
    ask("appendPartitionByName", "appends", "t", "ds=c%3Ac/hour=3")
    ask.fails("AlreadyExistsException", "appendPartition", "appends", "t", ["a", "1"])
    ask.fails("AlreadyExistsException", "appendPartition", "appends", "t", "ds=a/hour=1")
    for name in ("ds=b", "ds=/hour=1", "ds=b/hour="):
        ask.fails("InvalidObjectException", "appendPartition", "appends", "t", name)
    ask.fails("MetaException", "appendPartition", "appends", "t", ["a"])
    ask.fails("InvalidObjectException", "appendPartition", "appends", "nope", ["a", "1"])
    specs = "org.apache.hadoop.hive.metastore.partition.spec"
    listed = ask.struct("PartitionListComposingSpec", partitions=[partition(ask, "appends", "t", "s", "1")])
    spec = ask.struct("PartitionSpec", dbName="appends", tableName="t", partitionList=listed)
    spec.setRootPath(ask.location("appends.db/t"))
    get = ask.java.named(f"{specs}.PartitionSpecProxy$Factory").get
    ask("add_partitions_pspec", get([spec]))
    bare = ask.struct("PartitionWithoutSD", values=["s", "2"], relativePath="/ds=s/hour=2", parameters={})
    shared = storage(ask, location=ask.location("appends.db/t"))
    shared = ask.struct("PartitionSpecWithSharedSD", partitions=[bare], sd=shared)
    spec = ask.struct("PartitionSpec", dbName="appends", tableName="t", sharedSDPartitionSpec=shared)
    spec.setRootPath(ask.location("appends.db/t"))
    ask("add_partitions_pspec", get([spec]))
    ask("listPartitions", "appends", "t", ["s", "1"], -1)
    since = ask.differs(
        "Hive forgets when it was created", [{"createTime": "NOW"}], "listPartitions", "appends", "t", ["s", "2"], -1
    )
    ask.note("location", since[0].getSd().getLocation())
    ask("listPartitionNames", "appends", "t", -1)
    ask.files("appends.db")


def altered(ask):
    filled(ask, "alters", "t", ("a", "1"), ("a", "2"), ("b", "1"))
    ask.write("alters.db/t/ds=a/hour=1/file", "12345")

    def change(*values, **fields):
        found = ask("getPartition", "alters", "t", list(values))
        for field, value in fields.items():
            getattr(found, f"set{field[0].upper()}{field[1:]}")(value)
        return found

    ask("alter_partition", "alters", "t", change("a", "1", parameters={"p": "1"}, lastAccessTime=9))
    ask("getPartition", "alters", "t", ["a", "1"])
    context = ask.struct("EnvironmentContext", properties={"STATS_GENERATED": "TASK"})
    ask("alter_partition", "alters", "t", change("a", "1", parameters={"numRows": "3"}), context)
    ask("getPartition", "alters", "t", ["a", "1"])
    both = [change("a", "1", parameters={"q": "1"}), change("b", "1", parameters={"q": "2"})]
    ask("alter_partitions", "alters", "t", both)
    ask("listPartitions", "alters", "t", -1)
    missing = partition(ask, "alters", "t", "nope", "1")
    changed = change("a", "1", parameters={"q": "lost"})
    ask.fails("InvalidOperationException", "alter_partition", "alters", "t", missing)
    ask.fails("InvalidOperationException", "alter_partitions", "alters", "t", [changed, missing])
    ask("getPartition", "alters", "t", ["a", "1"])
    ask("alter_partitions", "alters", "t", [changed], context)
    ask("getPartition", "alters", "t", ["a", "1"])
    elsewhere = change("b", "1")
    elsewhere.getSd().setLocation(f"file://{ask.root}/elsewhere/b1")
    ask("alter_partition", "alters", "t", elsewhere)
    ask("getPartition", "alters", "t", ["b", "1"])
    ask("renamePartition", "alters", "t", ["a", "1"], change("a", "1", values=["a", "9"]))
    ask("getPartition", "alters", "t", ["a", "9"])
    ask.fails("NoSuchObjectException", "getPartition", "alters", "t", ["a", "1"])
    taken = change("a", "9", values=["a", "2"])
    ask.fails("InvalidOperationException", "renamePartition", "alters", "t", ["a", "9"], taken)
    ask.fails("InvalidOperationException", "renamePartition", "alters", "t", ["no", "1"], change("a", "9"))
    ask.files("alters.db")
    ask("renamePartition", "alters", "t", ["b", "1"], change("b", "1", values=["c", "1"]))
    ask.differs(
        "a folder that lies elsewhere, by the user's own wish, stays there",
        {"sd": {"location": ask.shown_location("elsewhere/b1")}},
        "getPartition",
        "alters",
        "t",
        ["c", "1"],
    )


def dropped(ask):
    filled(ask, "drops", "t", *((ds, hour) for ds in "abcd" for hour in "123"))
    context = ask.struct("EnvironmentContext", properties={"ifPurge": "TRUE"})
    ask("dropPartition", "drops", "t", ["a", "1"])
    ask("dropPartition", "drops", "t", ["a", "2"], context)
    ask("dropPartition", "drops", "t", "ds=a/hour=3", True)
    ask("dropPartition", "drops", "t", ["b", "1"], False)
    ask("dropPartitionByName", "drops", "t", "ds=b/hour=2", True)
    ask("dropPartitionByName", "drops", "t", "ds=b/hour=3", True, context)
    options = ask.java.named("org.apache.hadoop.hive.metastore.PartitionDropOptions").instance()
    ask("dropPartition", "drops", "t", ["c", "1"], options.deleteData(True).purgeData(True))
    ask.fails("NoSuchObjectException", "dropPartition", "drops", "t", ["a", "1"])
    ask.fails("NoSuchObjectException", "dropPartition", "drops", "t", ["a", "1"], True)
    ask.fails("NoSuchObjectException", "dropPartitionByName", "drops", "t", "ds=a/hour=1", True)
    ask.fails("NoSuchObjectException", "dropPartition", "drops", "nope", ["a", "1"], True)
    ask.fails("MetaException", "dropPartition", "drops", "t", ["a"], True)
    ask("listPartitionNames", "drops", "t", -1)
    ask.files("drops.db")
    ask.fails("NoSuchObjectException", "dropPartitionByName", "drops", "t", "ds=a", True)


def dropped_by_expression(ask):
    filled(ask, "kryo", "t", ("a", "1"), ("a", "2"), ("b", "1"))

    def drop(expression):
        pairs = [ask.java.named("org.apache.hadoop.hive.common.ObjectPair")(0, expression)]
        return "dropPartitions", "kryo", "t", pairs, True, False, True

    ask(*drop(compared(ask, "ds", "string", "b")))
    ask.differs(
        "Hive does not take a filter's text for an expression",
        [{"values": ["a", "2"]}],
        *drop(b'ds = "a" and hour = 2'),
    )
    ask.differs("what differs above", ["ds=a/hour=1"], "listPartitionNames", "kryo", "t", -1)


def exchanged(ask):
    filled(ask, "swap", "one", ("a", "1"), ("a", "2"), ("b", "1"), ("c", "1"))
    ask.write("swap.db/one/ds=a/hour=1/file")
    ask("createTable", table(ask, "swap", "two"))
    ask("createTable", table(ask, "swap", "other", {"day": "string"}))
    ask.differs(
        "Hive answers an empty partition",
        {"values": ["a", "1"], "tableName": "two"},
        "exchange_partition",
        {"ds": "a", "hour": "1"},
        "swap",
        "one",
        "swap",
        "two",
    )
    ask("exchange_partitions", {"ds": "b"}, "swap", "one", "swap", "two")
    ask.fails("MetaException", "exchange_partitions", {"ds": "nope"}, "swap", "one", "swap", "two")
    ask.fails("MetaException", "exchange_partitions", {"ds": "a"}, "swap", "one", "swap", "other")
    for tables in (("swap", "nope", "swap", "two"), ("swap", "one", "swap", "nope")):
        ask.differs(UNKNOWN, "fails: MetaException", "exchange_partition", {"ds": "a"}, *tables)
    ask("listPartitions", "swap", "one", -1)
    ask("listPartitions", "swap", "two", -1)
    ask.files("swap.db")
    ask("add_partition", partition(ask, "swap", "two", "c", "1"))
    ask.fails("MetaException", "exchange_partitions", {"ds": "c"}, "swap", "one", "swap", "two")
    ask("listPartitionNames", "swap", "one", -1)
    names = ["ds=a/hour=1", "ds=b/hour=1", "ds=c/hour=1"]
    ask.differs("Hive loses the partition that is in the way", names, "listPartitionNames", "swap", "two", -1)


def marked(ask):
    filled(ask, "marks", "t", ("a", "1"))
    done = ask.java.api("PartitionEventType.LOAD_DONE")
    ask("isPartitionMarkedForEvent", "marks", "t", {"ds": "a", "hour": "1"}, done)
    ask("markPartitionForEvent", "marks", "t", {"ds": "a", "hour": "1"}, done)
    ask("isPartitionMarkedForEvent", "marks", "t", {"ds": "a", "hour": "1"}, done)
    ask("isPartitionMarkedForEvent", "marks", "t", {"ds": "a", "hour": "2"}, done)
    ask.fails("UnknownTableException", "markPartitionForEvent", "marks", "nope", {"ds": "a", "hour": "1"}, done)
    ask.fails("UnknownTableException", "isPartitionMarkedForEvent", "marks", "nope", {"ds": "a", "hour": "1"}, done)
    ask.fails("InvalidPartitionException", "markPartitionForEvent", "marks", "t", {"ds": "a"}, done)
    ask.fails("InvalidPartitionException", "markPartitionForEvent", "marks", "t", {"ds": "a", "x": "1"}, done)


TOPICS = (added, not_added, appended, altered, dropped, dropped_by_expression, exchanged, marked)
