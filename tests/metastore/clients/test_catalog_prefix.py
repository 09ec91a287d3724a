"""Clients of Hive 3.1 and later write the database as ``@hive#shop``: in every call that names one.

What is stored names the database alone, as these clients send it: a table, a partition, a function has a field for the
catalog, which is passed over.
"""

from __future__ import annotations

import pytest

from hbstore.metastore.endpoint import MODULES
from tests.metastore.client import STORED, TYPES
from tests.metastore.writing import column, opened, partition_of, says, storage, table_of

DB = "@hive#shop"
T = "sales"
CONTEXT = says(a="b")
PLACE = {"ds": "a", "hour": "1"}
EVENT = 1
REQUESTS = {
    "get_table_req": TYPES.GetTableRequest,
    "get_table_objects_by_name_req": lambda db, name: TYPES.GetTablesRequest(db, [name]),
    "get_partitions_by_expr": lambda db, name: TYPES.PartitionsByExprRequest(db, name, b'ds = "a"'),
    "get_partition_values": lambda db, name: TYPES.PartitionValuesRequest(db, name, [column("ds")]),
    "get_table_statistics_req": lambda db, name: TYPES.TableStatsRequest(db, name, ["amount"]),
    "get_partitions_statistics_req": lambda db, name: TYPES.PartitionsStatsRequest(
        db, name, ["amount"], ["ds=a/hour=1"]
    ),
    "get_aggr_stats_for": lambda db, name: TYPES.PartitionsStatsRequest(db, name, ["amount"], ["ds=a/hour=1"]),
    "get_primary_keys": TYPES.PrimaryKeysRequest,
    "get_foreign_keys": lambda db, name: TYPES.ForeignKeysRequest(foreign_db_name=db, foreign_tbl_name=name),
    "show_locks": TYPES.ShowLocksRequest,
    "list_privileges": lambda db, name: ("ann", 1, TYPES.HiveObjectRef(2, db, name)),
    "get_privilege_set": lambda db, name: (TYPES.HiveObjectRef(2, db, name), "ann", []),
}
"""Reading calls with a struct that names the database."""
READS = {
    "get_database": lambda db: (db,),
    "get_databases": lambda db: (db.replace("shop", "sh*"),),
    "get_all_tables": lambda db: (db,),
    "get_tables": lambda db: (db, "s*"),
    "get_tables_by_type": lambda db: (db, None, "MANAGED_TABLE"),
    "get_table": lambda db: (db, T),
    "get_table_meta": lambda db: (db, "*", []),
    "get_table_objects_by_name": lambda db: (db, [T]),
    "get_table_names_by_filter": lambda db: (db, 'hive_filter_field_owner__ = "ann"', -1),
    "get_fields": lambda db: (db, T),
    "get_fields_with_environment_context": lambda db: (db, T, CONTEXT),
    "get_schema": lambda db: (db, T),
    "get_schema_with_environment_context": lambda db: (db, T, CONTEXT),
    "get_partition": lambda db: (db, T, ["a", "1"]),
    "get_partition_by_name": lambda db: (db, T, "ds=a/hour=1"),
    "get_partition_with_auth": lambda db: (db, T, ["a", "1"], "ann", []),
    "get_partitions": lambda db: (db, T, -1),
    "get_partitions_with_auth": lambda db: (db, T, -1, "ann", []),
    "get_partitions_ps": lambda db: (db, T, ["a"], -1),
    "get_partitions_ps_with_auth": lambda db: (db, T, ["a"], -1, "ann", []),
    "get_partitions_by_names": lambda db: (db, T, ["ds=a/hour=1"]),
    "get_partitions_by_filter": lambda db: (db, T, 'ds = "a"', -1),
    "get_num_partitions_by_filter": lambda db: (db, T, 'ds = "a"'),
    "get_partitions_pspec": lambda db: (db, T, -1),
    "get_part_specs_by_filter": lambda db: (db, T, 'ds = "a"', -1),
    "get_partition_names": lambda db: (db, T, -1),
    "get_partition_names_ps": lambda db: (db, T, ["a"], -1),
    "isPartitionMarkedForEvent": lambda db: (db, T, PLACE, EVENT),
    "get_table_column_statistics": lambda db: (db, T, "amount"),
    "get_partition_column_statistics": lambda db: (db, T, "ds=a/hour=1", "amount"),
    "get_function": lambda db: (db, "f"),
    "get_functions": lambda db: (db, "*"),
    **{name: (lambda db, make=make: _arguments(make(db, T))) for name, make in REQUESTS.items()},
}
"""Reading calls, by the database's name."""


def _arguments(made):
    return made if isinstance(made, tuple) else (made,)


def _statistics(name=None, database=DB):
    about = TYPES.ColumnStatisticsDesc(name is None, database, T, name)
    data = TYPES.ColumnStatisticsData(doubleStats=TYPES.DoubleColumnStatsData(1.0, 2.0, 0, 2))
    return TYPES.ColumnStatistics(about, [TYPES.ColumnStatisticsObj("amount", "double", data)])


def _spec(*values):
    return TYPES.PartitionSpec(DB, T, partitionList=TYPES.PartitionListComposingSpec([partition_of(*values)]))


def _function(name):
    return TYPES.Function(name, "shop", "a.F", "ann", 1, 0, 1, [])


def _dropping(name):
    parts = TYPES.RequestPartsSpec(names=[name])
    return TYPES.DropPartitionsRequest(DB, T, parts, deleteData=True, ifExists=False)


WRITES = [
    ("create_database", STORED.Database(name="other")),
    ("alter_database", "@hive#other", STORED.Database(name="other", parameters={"a": "b"})),
    ("create_table", table_of("two")),
    ("create_table_with_environment_context", table_of("three"), CONTEXT),
    ("create_table_with_constraints", table_of("four"), [], []),
    ("alter_table", DB, "four", table_of("five")),
    ("alter_table_with_environment_context", DB, "five", table_of("six"), CONTEXT),
    ("alter_table_with_cascade", DB, "six", table_of("six", sd=storage(cols=[column("amount", "int")])), True),
    ("add_partition", partition_of("b", "1")),
    ("add_partition_with_environment_context", partition_of("b", "2"), CONTEXT),
    ("add_partitions", [partition_of("b", "3")]),
    ("add_partitions_pspec", [_spec("b", "4")]),
    ("add_partitions_req", TYPES.AddPartitionsRequest(DB, T, [partition_of("b", "5")], ifNotExists=False)),
    ("append_partition", DB, T, ["c", "1"]),
    ("append_partition_with_environment_context", DB, T, ["c", "2"], CONTEXT),
    ("append_partition_by_name", DB, T, "ds=c/hour=3"),
    ("append_partition_by_name_with_environment_context", DB, T, "ds=c/hour=4", CONTEXT),
    ("alter_partition", DB, T, partition_of("b", "1")),
    ("alter_partition_with_environment_context", DB, T, partition_of("b", "1"), CONTEXT),
    ("alter_partitions", DB, T, [partition_of("b", "1")]),
    ("alter_partitions_with_environment_context", DB, T, [partition_of("b", "1")], CONTEXT),
    ("rename_partition", DB, T, ["b", "1"], partition_of("b", "9")),
    ("markPartitionForEvent", DB, T, PLACE, EVENT),
    ("update_table_column_statistics", _statistics()),
    ("update_partition_column_statistics", _statistics("ds=a/hour=1")),
    ("set_aggr_stats_for", TYPES.SetPartitionsStatsRequest([_statistics("ds=a/hour=1")])),
    ("delete_table_column_statistics", DB, T, "amount"),
    ("delete_partition_column_statistics", DB, T, "ds=a/hour=1", "amount"),
    ("exchange_partition", {"ds": "c", "hour": "1"}, DB, T, DB, "two"),
    ("exchange_partitions", {"ds": "c"}, DB, T, DB, "two"),
    ("truncate_table", DB, T, ["ds=a/hour=1"]),
    ("drop_partition", DB, T, ["b", "2"], True),
    ("drop_partition_with_environment_context", DB, T, ["b", "3"], True, CONTEXT),
    ("drop_partition_by_name", DB, T, "ds=b/hour=4", True),
    ("drop_partition_by_name_with_environment_context", DB, T, "ds=b/hour=5", True, CONTEXT),
    ("drop_partitions_req", _dropping("ds=b/hour=9")),
    ("create_function", _function("g")),
    ("alter_function", DB, "g", _function("h")),
    ("drop_function", DB, "h"),
    ("lock", TYPES.LockRequest([TYPES.LockComponent(3, 2, DB, T)], user="ann", hostname="here")),
    ("fire_listener_event", TYPES.FireEventRequest(True, TYPES.FireEventRequestData(), DB, T)),
    ("drop_table", DB, "three", True),
    ("drop_table_with_environment_context", DB, "six", True, CONTEXT),
    ("drop_database", "@hive#other", True, True),
]
"""Writing calls, in an order in which each succeeds."""
NAMELESS = """
set_ugi getMetaConf setMetaConf get_config_value flushCache getName getVersion getStatus getStatusDetails aliveSince
shutdown get_all_databases get_all_functions partition_name_to_vals partition_name_to_spec
partition_name_has_valid_characters check_lock unlock heartbeat open_txns abort_txn abort_txns commit_txn
get_open_txns get_open_txns_info show_compact create_role drop_role get_role_names list_roles grant_role revoke_role
grant_revoke_role get_principals_in_role get_role_grants_for_principal get_current_notificationEventId
get_next_notification
"""
"""Calls that name no database."""
REFUSED = """
add_primary_key add_foreign_key drop_constraint grant_privileges revoke_privileges grant_revoke_privileges
"""
"""Calls about what is not kept."""


@pytest.fixture
def shop(request, tmp_path):
    request.param = "memory"
    with opened(request, tmp_path) as writing:
        writing.create_table(table_of())
        writing.add_partitions([partition_of("a", "1"), partition_of("a", "2")])
        writing.update_table_column_statistics(_statistics(database="shop"))
        writing.update_partition_column_statistics(_statistics("ds=a/hour=1", "shop"))
        writing.create_function(_function("f"))
        yield writing


def test_every_method_is_here():
    answered = {method for handlers in MODULES.values() for method in handlers.by_method}
    here = [*READS, *(method for method, *_ in WRITES), *NAMELESS.split(), *REFUSED.split()]
    assert answered - set(here) == set()
    assert len(here) == len(set(here))


@pytest.mark.parametrize("method", READS)
def test_a_question_is_answered_as_without_the_prefix(shop, method):
    expected = getattr(shop, method)(*READS[method]("shop"))
    assert getattr(shop, method)(*READS[method](DB)) == expected
    assert expected or method in {"isPartitionMarkedForEvent", "list_privileges"}


def test_all_databases_are_asked_for_by_a_prefix_alone(shop):
    assert shop.get_databases("@hive#") == ["default", "shop"]


def test_changes_are_made_as_without_the_prefix(shop):
    for method, *arguments in WRITES:
        getattr(shop, method)(*arguments)
    assert shop.get_all_databases() == ["default", "shop"]
    assert shop.get_all_tables("shop") == ["sales", "two"]
    assert shop.names() == ["ds=a/hour=1", "ds=a/hour=2"]
    assert shop.names("two") == [f"ds=c/hour={hour}" for hour in range(1, 5)]
    assert shop.get_functions("shop", "*") == ["f"]
    assert {one.dbName for one in shop.get_partitions("shop", "two", -1)} == {"shop"}
    assert (shop.root / "shop.db" / "two" / "ds=c" / "hour=1").is_dir()
    assert [one.dbname for one in shop.show_locks(TYPES.ShowLocksRequest()).locks] == ["shop"]
