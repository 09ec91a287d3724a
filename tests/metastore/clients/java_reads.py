"""Conversations that read partitions, by values, names, filters and expressions."""

from __future__ import annotations

from tests.metastore.clients.java_structs import columns, filled, table

CASE = "hbstore finds a partition by its name whatever the case of the columns is"
UNKNOWN = "Hive fails with an internal error instead of one that clients know"
DAYS = [
    ("2026-01-01", "1"),
    ("2026-01-01", "2"),
    ("2026-01-02", "1"),
    ("2026-01-02", "10"),
    ("2026-01-02", "2"),
    ("2026-01-03", "2"),
]
FILTERS = (
    'ds = "2026-01-01"',
    'ds > "2026-01-01" and ds <= "2026-01-03"',
    "hour = 2",
    "hour > 1 and hour < 10",
    "10 = hour",
    '(ds = "2026-01-01" and hour = 1) or (ds = "2026-01-03" and hour >= 2)',
    '(ds) in ("2026-01-01", "2026-01-03")',
    '(ds) not in ("2026-01-01", "2026-01-03")',
    "((ds = '2026-01-01') or (ds = '2026-01-02')) and ((hour = 0) or (hour = 1))",
    'ds <> "2026-01-01"',
    'ds != "2026-01-01"',
    'ds between "2026-01-01" and "2026-01-02"',
    'ds like "2026-01-0[12].*"',
    'ds = "nope"',
    "",
)


def one_partition(ask):
    filled(ask, "reads", "days", *DAYS)
    ask("getPartition", "reads", "days", ["2026-01-02", "10"])
    ask("getPartition", "reads", "days", "ds=2026-01-02/hour=10")
    ask("getPartition", "reads", "DAYS", "ds=2026-01-02/hour=10")
    ask.differs(CASE, {"values": ["2026-01-02", "10"]}, "getPartition", "reads", "days", "DS=2026-01-02/Hour=10")
    ask("getPartitionWithAuthInfo", "reads", "days", ["2026-01-02", "10"], "ann", ["staff"])
    ask.fails("NoSuchObjectException", "getPartition", "reads", "days", ["2026-01-02", "11"])
    ask.fails("NoSuchObjectException", "getPartition", "reads", "days", "ds=2026-01-02/hour=11")
    ask.fails("NoSuchObjectException", "getPartitionWithAuthInfo", "reads", "days", ["2026-01-02", "11"], "a", [])
    ask.fails("NoSuchObjectException", "getPartition", "reads", "nope", ["a"])
    ask.fails("MetaException", "getPartition", "reads", "days", ["2026-01-02"])
    ask.fails("MetaException", "getPartition", "reads", "days", ["2026-01-02", "10", "x"])
    ask.fails("NoSuchObjectException", "getPartition", "reads", "days", "2026-01-02")
    names = ["ds=2026-01-03/hour=2", "ds=2026-01-01/hour=1", "ds=2026-01-03/hour=2", "ds=nope/hour=1"]
    ask("getPartitionsByNames", "reads", "days", names)
    ask("getPartitionsByNames", "reads", "days", [])
    ask.fails("NoSuchObjectException", "getPartitionsByNames", "reads", "nope", names)


def lists(ask):
    filled(ask, "lists_of", "days", *DAYS)
    for most in (-1, 0, 2, 100):
        ask("listPartitions", "lists_of", "days", most)
        ask("listPartitionNames", "lists_of", "days", most)
    for values in (["2026-01-02", ""], ["2026-01-02"], ["", "2"], ["", ""], ["2026-01-02", "10"], ["nope", ""]):
        ask("listPartitions", "lists_of", "days", values, -1)
        ask("listPartitionNames", "lists_of", "days", values, -1)
        if any(values):
            ask("listPartitionsWithAuthInfo", "lists_of", "days", values, 100, "ann", ["staff"])
    limited = "lists_of", "days", ["", ""], 1, "ann", ["staff"]
    ask.differs(
        "Hive forgets the limit if no value is given",
        [{"values": list(DAYS[0])}],
        "listPartitionsWithAuthInfo",
        *limited,
    )
    ask.fails("MetaException", "listPartitionNames", "lists_of", "days", ["a", "b", "c"], -1)
    ask.fails("MetaException", "listPartitions", "lists_of", "days", ["a", "b", "c"], -1)
    ask("listPartitionsWithAuthInfo", "lists_of", "days", 3, "ann", ["staff"])
    ask.fails("NoSuchObjectException", "listPartitions", "lists_of", "nope", -1)
    ask.differs(UNKNOWN, "fails: MetaException", "listPartitionNames", "lists_of", "nope", -1)
    ask.fails("NoSuchObjectException", "listPartitionNames", "lists_of", "nope", [""], -1)
    ask("listPartitionSpecs", "lists_of", "days", -1)
    ask("listPartitionSpecs", "lists_of", "days", 2)
    ask.fails("NoSuchObjectException", "listPartitionSpecs", "lists_of", "nope", -1)


def filters(ask):
    filled(ask, "filters", "days", *DAYS)
    for text in FILTERS:
        ask("listPartitionsByFilter", "filters", "days", text, -1)
        ask("getNumPartitionsByFilter", "filters", "days", text)
    ask("listPartitionsByFilter", "filters", "days", "hour >= 1", 2)
    ask("listPartitionSpecsByFilter", "filters", "days", "hour = 2", -1)
    ask("listPartitionSpecsByFilter", "filters", "days", FILTERS[5], 1)
    for broken in ("hour >", "nope = 1", 'hour = "a" and', "amount = 1.5"):
        ask.fails("MetaException", "listPartitionsByFilter", "filters", "days", broken, -1)
        ask.fails("MetaException", "getNumPartitionsByFilter", "filters", "days", broken)
    ask.fails("NoSuchObjectException", "listPartitionsByFilter", "filters", "nope", "hour = 1", -1)


def values(ask):
    filled(ask, "values_of", "days", *DAYS)
    ask("createTable", table(ask, "values_of", "flat", {}))

    def request(*names, **fields):
        keys = columns(ask, **dict.fromkeys(names, "string"))
        return ask.struct("PartitionValuesRequest", dbName="values_of", tblName="days", partitionKeys=keys, **fields)

    ask("listPartitionValues", request("ds"))
    ask("listPartitionValues", request("ds", applyDistinct=False))
    ask("listPartitionValues", request("ds", "hour", filter='ds = "2026-01-01"'))
    ask.differs(
        "Hive takes no notice of the order that is asked for",
        rows(("2026-01-03",), ("2026-01-02",), ("2026-01-01",)),
        "listPartitionValues",
        request("ds", ascending=False, partitionOrder=columns(ask, ds="string")),
    )
    ask.differs(
        "with a filter, Hive takes no notice of the columns that are asked for",
        rows(("1", "2026-01-01"), ("2", "2026-01-01")),
        "listPartitionValues",
        request("hour", "ds", filter='ds = "2026-01-01"'),
    )
    ask.differs(
        "Hive orders numbers as texts", rows(("1",), ("2",)), "listPartitionValues", request("hour", maxParts=2)
    )
    for text in ("ds=2026-01-01/hour=5", "ds=a%3Ab/hour=__HIVE_DEFAULT_PARTITION__", "a=b"):
        ask("partitionNameToVals", text)
        ask("partitionNameToSpec", text)
    for text in ("", "nothing"):
        ask("partitionNameToVals", text)
        ask("partitionNameToSpec", text)


def rows(*values):
    """A reply to get_partition_values."""
    return {"partitionValues": [{"row": list(one)} for one in values]}


def compared(ask, column, kind, text):
    """The bytes of the expression ``column = text`` as Hive's compiler serialises it."""
    java = ask.java
    types = java.named("org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory")
    plan = "org.apache.hadoop.hive.ql.plan"
    one = java.named(f"{plan}.ExprNodeColumnDesc")(getattr(types, f"{kind}TypeInfo"), column, "t", True)
    other = java.named(f"{plan}.ExprNodeConstantDesc")(text)
    equal = java.named("org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPEqual")()
    both = java.named(f"{plan}.ExprNodeGenericFuncDesc")(types.booleanTypeInfo, equal, [one, other])
    return java.named("org.apache.hadoop.hive.ql.exec.SerializationUtilities").serializeExpressionToKryo(both)


def expressions(ask):
    filled(ask, "exprs", "days", *DAYS)
    found = ask.java.jvm.java.util.ArrayList()
    expression = compared(ask, "ds", "string", "2026-01-01")
    ask("listPartitionsByExpr", "exprs", "days", expression, "__HIVE_DEFAULT_PARTITION__", -1, found)
    ask.note("found", ask.java.plain(found))


TOPICS = (one_partition, lists, filters, values, expressions)
