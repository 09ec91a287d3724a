"""One right call of every public method, by its arguments: tests give one argument another value."""

from __future__ import annotations

from hbstore import Column, Constraint, ConstraintKind, Database, Partition, References, Table, col, connect
from hbstore.cubes import Cubes, PartitionDesc, Storage, parse_documents
from hbstore.model.objects import Grant, Order, Privileges, SerDe, Skew, StorageDescriptor
from hbstore.model.service_objects import (
    ColumnStatistic,
    Function,
    LockComponent,
    LockLevel,
    LockType,
    Membership,
    ObjectGrant,
    ObjectRef,
    ObjectType,
    PrincipalType,
    Role,
)
from hbstore.timelines import UpdatePeriod

DAY = "2013-01-01"
VALUES = (DAY, "5")
KEYS = [Column("ds", "date"), Column("hour", "int")]
TIMED = {"cube.storagetable.time.partcols": "ds", "cube.storagetable.update.periods": "DAILY"}
MODEL = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {start_time: dt}
measures: [{name: minutes, type: bigint, default_aggregate: sum}]
dim_attributes: [{name: start_time, type: timestamp}]
---
kind: fact
name: rides_daily
cube: rides
columns: [{name: minutes, type: bigint}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
---
kind: dimension
name: station
dim_attributes: [{name: id, type: int}]
---
kind: dimtable
name: stations
dimension: station
columns: [{name: id, type: int}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}, {name: country, type: string}]
    time_partition_columns: [dt]
"""
TABLE = {"database": "shop", "table": "sales"}
NAMED = {"database": "shop", "name": "sales"}
SALES = Table("shop", "sales", KEYS, [Column("amount", "int")], location="s3://shop/sales", parameters=TIMED)
ON_SALES = ObjectRef(ObjectType.TABLE, "shop", "sales")
EXCLUSIVE = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "shop", "sales")
STATISTIC = ColumnStatistic("amount", "int", b"")
THERE = {"name": "rides_daily", "storage": "lake"}
FILTER = {"filter": "hour = 5", "like_dialect": "sql"}


def filled_store():
    """A store with a table and its partitions, a lock, transactions, a role and a function."""
    store = connect("memory://")
    store.create_database("shop")
    store.create_table(SALES)
    store.create_table(Table("shop", "old", KEYS, parameters=TIMED))
    store.table("shop.sales").add([(DAY, str(hour)) for hour in (5, 6, 7)])
    store.hive.locks.lock([EXCLUSIVE])
    store.hive.transactions.open(2)
    store.hive.roles.create(Role("sales"))
    store.hive.functions.create(Function("shop", "tax", "org.shop.Tax"))
    return store


def filled_cubes():
    """Cubes with a fact, a dimension table, and a partition of each."""
    store = connect("memory://")
    store.create_database("shop")
    cubes = Cubes(store, "shop")
    cubes.create_all(parse_documents(MODEL, "yaml"))
    cubes.add_partitions(**THERE, descs=[PartitionDesc("DAILY", {"dt": "2015-01-29"})])
    cubes.add_partitions("stations", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-29"}, {"country": "nl"})])
    return cubes


STORE = {
    "table": {"name": "shop.sales"},
    "create_database": {"database": "attic", "if_not_exists": False},
    "get_database": {"name": "shop"},
    "alter_database": {"database": Database("shop"), "replaces": None},
    "drop_database": {"name": "shop", "cascade": True, "if_exists": False, "record": None, "tables": None},
    "create_table": {
        "table": Table("shop", "new"),
        "if_not_exists": False,
        "grants": None,
        "constraints": [],
        "invalid_types": "reject",
    },
    **dict.fromkeys(("get_table", "read_table", "table_row"), NAMED),
    **{key: {"database": "shop"} for key in ("tables", "table_names", "read_tables")},
    "table_ids": {"names": [("shop", "sales")]},
    "alter_table": {
        "table": SALES,
        "cascade": False,
        "expected_parameters": None,
        "replaces": None,
        "same_as": None,
        "invalid_types": "reject",
    },
    "rename_table": {
        **NAMED,
        "table": Table("shop", "sold", KEYS, parameters=TIMED),
        "relocated": None,
        "moved": None,
        "same_as": None,
        "invalid_types": "reject",
    },
    "drop_table": {**NAMED, "if_exists": False, "record": None, "same_as": None},
    "add_partitions": {
        **TABLE,
        "partitions": [Partition((DAY, "9"))],
        "if_not_exists": False,
        "invalid_values": "reject",
        "same_as": None,
    },
    "drop_partitions": {**TABLE, "values": [VALUES], "if_exists": False},
    "alter_partitions": {**TABLE, "partitions": [Partition(VALUES)], "expected": None},
    "rename_partition": {
        **TABLE,
        "values": VALUES,
        "renamed": (DAY, "9"),
        "expected": None,
        "moved": None,
        "invalid_values": "reject",
        "same_as": None,
    },
    "exchange_partitions": {
        "source": "shop.sales",
        "target": "shop.old",
        "values": [VALUES],
        "relocated": None,
        "publication": None,
    },
    "change_partitions": {
        **TABLE,
        "add": [],
        "put": [],
        "drop": [VALUES],
        "expected": None,
        "invalid_values": "reject",
    },
    "change": {
        "table": "shop.sales",
        "step": lambda sales: sales.change(drop=sales.partitions([VALUES])),
        "outrun": (),
        "hint": "Try again",
        "same_as": None,
    },
    "get_partition": {**TABLE, "values": VALUES},
    **{key: {**TABLE, "values": [VALUES]} for key in ("get_partitions", "get_payloads")},
    "get_partitions_by_filter": {**TABLE, **FILTER, "max_parts": -1},
    "get_partitions_by_expr": {**TABLE, "expression": col("hour") == 5, "max_parts": -1},
    "list_partitions_by_filter": {**TABLE, "expressions": "hour = 5"},
    "read_payloads": {
        **TABLE,
        "filter": "hour = 5",
        "consume": lambda *_: None,
        "max_parts": -1,
        "like_dialect": "sql",
        "after": VALUES,
    },
    "partition_names": {**TABLE, **FILTER, "spec": {"ds": DAY}, "max_parts": -1},
    **{key: {**TABLE, **FILTER} for key in ("count_partitions", "plan")},
    "explain": {**TABLE, **FILTER, "analyze": False},
    **dict.fromkeys(("totals", "check", "repair"), TABLE),
    "purge_dropped_tables": {"stop": None},
}
HANDLE = {
    "partition": {"partition": VALUES},
    "partitions": {**FILTER, "max_parts": -1},
    "names": {**FILTER, "spec": {"ds": DAY}, "max_parts": -1},
    **dict.fromkeys(("count", "plan"), FILTER),
    "explain": {**FILTER, "analyze": False},
    "add": {"partitions": [(DAY, "9")], "if_not_exists": False, "invalid_values": "reject"},
    "drop": {"partitions": [VALUES], "if_exists": False},
}
TABLE_TIMELINES = {
    "__getitem__": {"name": "DAILY.ds"},
    "convert": {"name": "DAILY.ds", "class_name": "RangesPartitionTimeline"},
}
TIMELINES = {
    "of": {"table": "shop.sales", "period": None, "column": None},
    **{key: {"table": "shop.sales"} for key in ("read", "built", "read_with_totals", "rebuild", "check", "export")},
    "convert": {"table": "shop.sales", "period": UpdatePeriod.DAILY, "column": "ds", "name": "RangesPartitionTimeline"},
    "take_over": {"table": "shop.sales", "properties": {}},
}
STATISTICS = {
    "write_table": {**TABLE, "statistics": [STATISTIC]},
    "write_partitions": {**TABLE, "statistics": {VALUES: [STATISTIC]}, "parameters": None},
    "read_table": {**TABLE, "columns": ["amount"]},
    "read_partitions": {**TABLE, "values": [VALUES], "columns": ["amount"]},
    "delete_table": {**TABLE, "column": "amount", "same_as": None},
    "delete_partition": {**TABLE, "values": VALUES, "column": "amount", "same_as": None},
}
FUNCTIONS = {
    "create": {"function": Function("shop", "tariff")},
    **{key: {"database": "shop", "name": "tax"} for key in ("get", "drop")},
    "alter": {"database": "shop", "name": "tax", "function": Function("shop", "tax")},
    **{key: {"database": "shop"} for key in ("names", "list")},
}
LOCKS = {
    "lock": {
        "components": [EXCLUSIVE],
        "user": "ann",
        "host": "here",
        "agent": None,
        "transaction": 0,
        "reads_only": False,
    },
    **{key: {"number": 1} for key in ("check", "heartbeat", "release")},
    "show": {**TABLE, "partition": None},
}
TRANSACTIONS = {
    "open": {"count": 1, "user": "ann", "host": "here", "agent": None},
    **{key: {"number": 1} for key in ("commit", "abort", "heartbeat")},
    "abort_all": {"numbers": [1]},
    "heartbeat_range": {"first": 1, "last": 2},
    "allocate_write_ids": {"numbers": [1], "table_id": None},
}
PRINCIPAL = {"principal": "ann", "principal_type": PrincipalType.USER}
ROLES = {
    "create": {"role": Role("buyers")},
    **{key: {"name": "sales"} for key in ("drop", "get")},
    "grant": {"membership": Membership("sales", "ann")},
    "revoke": {"role": "sales", **PRINCIPAL, "option_only": False},
    "memberships": PRINCIPAL,
    "all_of": {"user": "ann", "groups": ["buyers"]},
    "members": {"role": "sales"},
}
SELECT = ObjectGrant(ON_SALES, "ann", PrincipalType.USER, Grant("SELECT"))
GRANTS = {
    "grant": {"grants": [SELECT]},
    "revoke": {"grants": [SELECT], "option_only": False},
    "forget_role": {"role": "sales"},
    "list": {**PRINCIPAL, "target": ON_SALES},
}
MARKS = {key: {**TABLE, "spec": {"ds": DAY, "hour": "5"}, "event": 1} for key in ("mark", "is_marked")}
CONSTRAINTS = {
    "add": {**TABLE, "constraints": [Constraint(ConstraintKind.UNIQUE, ["ds"], "days")]},
    "drop": {**TABLE, "name": "days"},
    **dict.fromkeys(("of", "referring"), TABLE),
    "of_database": {"database": "shop"},
    "between": {"parent": ("shop", "sales"), "child": ("shop", None)},
}
DOCUMENTS = {key: {"database": "shop", "kind": "fact"} for key in ("names", "all")}
RECORD = {"kind": "note", "name": "monday"}
RECORDS = {
    "create": {**RECORD, "text": "{}"},
    "change": {**RECORD, "step": str.upper},
    "drop": {**RECORD, "expected": None},
    "list": {"kind": "note", "start": "m", "limit": 5},
}
JANUARY = UpdatePeriod.MONTHLY.parse("2015-01")
CUBES = {
    "create": {"document": Storage(name="attic"), "if_not_exists": False},
    "create_all": {"documents": [Storage(name="attic")], "if_not_exists": False},
    **{key: {"kind": "fact", "name": "rides_daily"} for key in ("get", "describe")},
    **{key: {"kind": "fact"} for key in ("names", "list")},
    "put": {"documents": [Storage(name="attic")], "only": "create", "if_not_exists": False, "check": True},
    "alter": {"document": Storage(name="lake"), "replaces": Storage(name="lake")},
    "drop": {"kind": "fact", "name": "rides_daily", "cascade": False, "replaces": None},
    "cube": {"name": "rides"},
    "fact": {"name": "rides_daily"},
    "dimtable": {"name": "stations"},
    "storage_table": THERE,
    "only_storage": {"name": "rides_daily"},
    "add_partitions": {**THERE, "descs": [PartitionDesc("DAILY", {"dt": "2015-02-01"})], "if_not_exists": False},
    **{
        key: {**THERE, "descs": [PartitionDesc("DAILY", {"dt": "2015-01-29"})]}
        for key in ("alter_partitions", "drop_partitions")
    },
    "partitions": {**THERE, "filter": None},
    "latest": {"dimtable": "stations", "storage": "lake", "other": {"country": "nl"}},
    "timelines": {
        "fact": "rides_daily",
        "storage": "lake",
        "update_period": "DAILY",
        "time_dimension": "start_time",
    },
    "rewrite": {
        "text": "select minutes from rides where time_range_in(start_time, '2015-01-29', '2015-01-30')",
        "now": JANUARY,
        "partial": True,
        "options": {"join_type": "inner"},
    },
    "candidates": {
        "cube": "rides",
        "fields": ["minutes"],
        "range": ("start_time", "2015-01", "2015-02"),
        "now": JANUARY,
        "options": {"join_type": "inner"},
    },
    "cover": {
        "fact": "rides_daily",
        "start": JANUARY,
        "end": UpdatePeriod.MONTHLY.next(JANUARY),
        "time_dimension": "dt",
        "partial": True,
    },
    "wait": {
        "fact": "rides_daily",
        "start": UpdatePeriod.DAILY.parse("2015-01-29"),
        "end": UpdatePeriod.DAILY.parse("2015-01-30"),
        "time_dimension": "dt",
        "seconds": 0,
    },
}
OBJECTS = {
    "store": (filled_store, STORE),
    "table handle": (lambda: filled_store().table("shop.sales"), HANDLE),
    "timelines of a table": (lambda: filled_store().table("shop.sales").timelines, TABLE_TIMELINES),
    "timelines": (lambda: filled_store().timelines, TIMELINES),
    "column statistics": (lambda: filled_store().column_statistics, STATISTICS),
    "functions": (lambda: filled_store().hive.functions, FUNCTIONS),
    "locks": (lambda: filled_store().hive.locks, LOCKS),
    "transactions": (lambda: filled_store().hive.transactions, TRANSACTIONS),
    "roles": (lambda: filled_store().hive.roles, ROLES),
    "grants": (lambda: filled_store().hive.grants, GRANTS),
    "marks": (lambda: filled_store().hive.marks, MARKS),
    "constraints": (lambda: filled_store().hive.constraints, CONSTRAINTS),
    "documents": (lambda: filled_store().documents, DOCUMENTS),
    "records": (lambda: filled_store().records, RECORDS),
    "cubes": (filled_cubes, CUBES),
}
"""What has methods, how it is made, and a right call of each method that takes arguments."""

MADE = {
    Column: {"name": "ds", "type": "date", "comment": None},
    Order: {"column": "ds", "order": 1},
    SerDe: {"name": None, "library": None, "parameters": {}, "later_fields": b""},
    Skew: {"columns": (), "values": (), "locations": {}},
    Privileges: {"users": {}, "groups": {}, "roles": {}},
    StorageDescriptor: {
        "columns": (),
        "input_format": None,
        "output_format": None,
        "compressed": False,
        "num_buckets": -1,
        "serde": SerDe(),
        "bucket_columns": (),
        "sort_columns": (),
        "parameters": {},
        "skew": None,
        "stored_as_sub_directories": False,
        "later_fields": b"",
    },
    Database: {"name": "attic", "location": None, "parameters": {}, "owner_type": None, "privileges": None},
    Table: {
        "database": "shop",
        "name": "new",
        "partition_columns": KEYS,
        "columns": (),
        "location": None,
        "parameters": {},
        "owner": None,
        "table_type": "MANAGED_TABLE",
        "storage": StorageDescriptor(),
        "create_time": 0,
        "retention": 0,
        "view_original_text": None,
        "privileges": None,
        "temporary": False,
        "rewrite_enabled": None,
        "later_fields": b"",
    },
    Partition: {
        "values": (DAY, "9"),
        "location": None,
        "parameters": {},
        "create_time": 0,
        "storage": None,
        "privileges": None,
        "later_fields": b"",
    },
    Function: {"database": "shop", "name": "tariff", "class_name": None, "owner_type": None, "resources": ()},
    ColumnStatistic: {"column": "amount", "type": "int", "data": b"", "analyzed": 0},
    LockComponent: {"type": 3, "level": 3, "database": "shop", "table": "sales", "partition": "ds=2013-01-01/hour=5"},
    Role: {"name": "buyers", "owner": None, "create_time": 0},
    Membership: {
        "role": "sales",
        **PRINCIPAL,
        "grant_option": False,
        "time": 0,
        "grantor": None,
        "grantor_type": None,
    },
    ObjectRef: {"type": 5, "database": "shop", "table": "sales", "values": (), "column": "amount"},
    ObjectGrant: {"target": ON_SALES, **PRINCIPAL, "grant": Grant("SELECT")},
    References: {
        "database": "shop",
        "table": "sales",
        "columns": ["amount"],
        "key": "",
        "update_rule": 0,
        "delete_rule": 0,
    },
    Constraint: {
        "kind": ConstraintKind.UNIQUE,
        "columns": ["ds"],
        "name": "days",
        "text": None,
        "references": None,
        "enabled": False,
        "validated": False,
        "relied": False,
    },
    Grant: {"privilege": "SELECT", "create_time": 0, "grantor": None, "grantor_type": None, "grant_option": False},
    PartitionDesc: {
        "update_period": "DAILY",
        "time": {"dt": "2015-02-01"},
        "other": {},
        "location": None,
        "parameters": {},
    },
}
"""Values that people make, with what they are made of."""
