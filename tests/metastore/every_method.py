"""Arguments for a call of every method, for tests of what holds for all of them.

They are about a database ``shop`` with a table ``sales`` that has the partitions a/1 and a/2: `fill` makes them.
"""

from __future__ import annotations

from tests.metastore.client import STORED, TYPES
from tests.metastore.writing import column, partition_of, says, storage, table_of

DATABASE = "shop"
T = "sales"
CONTEXT = says(a="b")
PLACE = {"ds": "a", "hour": "1"}
EVENT = 1
TABLE_LEVEL, EXCLUSIVE = 2, 3
GRANT, USER, ON_TABLE = 1, 1, 3
NUMBER = 1
"""Of a lock or a transaction."""


def reads(db):
    """The arguments of reading calls, by method; ``db`` is the database's name as the client writes it."""
    return {
        "get_database": (db,),
        "get_databases": (db.replace("shop", "sh*"),),
        "get_all_tables": (db,),
        "get_tables": (db, "s*"),
        "get_tables_by_type": (db, None, "MANAGED_TABLE"),
        "get_table": (db, T),
        "get_table_req": (TYPES.GetTableRequest(db, T),),
        "get_table_meta": (db, "*", []),
        "get_table_objects_by_name": (db, [T]),
        "get_table_objects_by_name_req": (TYPES.GetTablesRequest(db, [T]),),
        "get_table_names_by_filter": (db, 'hive_filter_field_owner__ = "ann"', -1),
        "get_fields": (db, T),
        "get_fields_with_environment_context": (db, T, CONTEXT),
        "get_schema": (db, T),
        "get_schema_with_environment_context": (db, T, CONTEXT),
        "get_primary_keys": (TYPES.PrimaryKeysRequest(db, T),),
        "get_foreign_keys": (TYPES.ForeignKeysRequest(foreign_db_name=db, foreign_tbl_name=T),),
        "get_unique_constraints": (TYPES.LaterConstraintsRequest("hive", db, T),),
        "get_not_null_constraints": (TYPES.LaterConstraintsRequest("hive", db, T),),
        "get_default_constraints": (TYPES.LaterConstraintsRequest("hive", db, T),),
        "get_check_constraints": (TYPES.LaterConstraintsRequest("hive", db, T),),
        "get_partition": (db, T, ["a", "1"]),
        "get_partition_by_name": (db, T, "ds=a/hour=1"),
        "get_partition_with_auth": (db, T, ["a", "1"], "ann", []),
        "get_partitions": (db, T, -1),
        "get_partitions_with_auth": (db, T, -1, "ann", []),
        "get_partitions_ps": (db, T, ["a"], -1),
        "get_partitions_ps_with_auth": (db, T, ["a"], -1, "ann", []),
        "get_partitions_by_names": (db, T, ["ds=a/hour=1"]),
        "get_partitions_by_filter": (db, T, 'ds = "a"', -1),
        "get_partitions_by_expr": (TYPES.PartitionsByExprRequest(db, T, b'ds = "a"'),),
        "get_partitions_spec_by_expr": (TYPES.PartitionsByExprRequest(db, T, b'ds = "a"'),),
        "get_num_partitions_by_filter": (db, T, 'ds = "a"'),
        "get_partitions_pspec": (db, T, -1),
        "get_part_specs_by_filter": (db, T, 'ds = "a"', -1),
        "get_partition_values": (TYPES.PartitionValuesRequest(db, T, [column("ds")]),),
        "get_partition_names": (db, T, -1),
        "get_partition_names_ps": (db, T, ["a"], -1),
        "isPartitionMarkedForEvent": (db, T, PLACE, EVENT),
        "get_table_column_statistics": (db, T, "amount"),
        "get_partition_column_statistics": (db, T, "ds=a/hour=1", "amount"),
        "get_table_statistics_req": (TYPES.TableStatsRequest(db, T, ["amount"]),),
        "get_partitions_statistics_req": (TYPES.PartitionsStatsRequest(db, T, ["amount"], ["ds=a/hour=1"]),),
        "get_aggr_stats_for": (TYPES.PartitionsStatsRequest(db, T, ["amount"], ["ds=a/hour=1"]),),
        "get_function": (db, "f"),
        "get_functions": (db, "*"),
        "show_locks": (TYPES.ShowLocksRequest(db, T),),
        "list_privileges": ("ann", USER, TYPES.HiveObjectRef(ON_TABLE, db, T)),
        "get_privilege_set": (TYPES.HiveObjectRef(ON_TABLE, db, T), "ann", []),
        "fire_listener_event": (TYPES.FireEventRequest(True, TYPES.FireEventRequestData(), db, T),),
        **requests(db),
    }


def requests(db):
    """The same of what Hive 3 and 4 added."""
    place = {"dbName": db, "tblName": T}
    return {
        "get_database_req": (TYPES.GetDatabaseRequest(db),),
        "get_databases_req": (TYPES.GetDatabaseObjectsRequest(db.replace("shop", "sh*")),),
        "get_functions_req": (TYPES.GetFunctionsRequest(db, "f*"),),
        "translate_table_dryrun": (TYPES.CreateTableRequest(table_of("new")),),
        "get_fields_req": (TYPES.GetFieldsRequest(**place),),
        "get_schema_req": (TYPES.GetSchemaRequest(**place),),
        "get_tables_ext": (TYPES.GetTablesExtRequest(db, "s*"),),
        "get_materialized_views_for_rewriting": (db,),
        "get_all_table_constraints": (TYPES.AllTableConstraintsRequest(db, T),),
        "get_partition_req": (TYPES.GetPartitionRequest(**place, partVals=["a", "1"]),),
        "get_partitions_req": (TYPES.PartitionsRequest(**place),),
        "get_partitions_ps_with_auth_req": (TYPES.GetPartitionsPsWithAuthRequest(**place, partVals=["a"]),),
        "get_partitions_by_names_req": (TYPES.GetPartitionsByNamesRequest(db, T, ["ds=a/hour=1"]),),
        "get_partitions_by_filter_req": (TYPES.GetPartitionsByFilterRequest(**place, filter='ds = "a"'),),
        "get_partitions_with_specs": (TYPES.GetPartitionsRequest(**place),),
        "get_partition_names_req": (TYPES.PartitionsByExprRequest(**place, expr=b'ds = "a"'),),
        "fetch_partition_names_req": (TYPES.PartitionsRequest(**place),),
        "get_partition_names_ps_req": (TYPES.GetPartitionNamesPsRequest(**place, partValues=["a"]),),
        "get_max_allocated_table_write_id": (TYPES.MaxAllocatedTableWriteIdRequest(db, T),),
        "get_notification_events_count": (TYPES.NotificationEventsCountRequest(0, db),),
        "add_write_notification_log": (TYPES.WriteNotificationLogRequest(1, 1, db, T),),
        "add_write_notification_log_in_batch": (TYPES.WriteNotificationLogBatchRequest(db, T),),
    }


NAMELESS_READS = {
    "set_ugi": ("ann", ["staff"]),
    "getMetaConf": ("hive.metastore.try.direct.sql",),
    "setMetaConf": ("hive.metastore.try.direct.sql", "false"),
    "get_config_value": ("hive.metastore.warehouse.dir", "none"),
    "flushCache": (),
    "getName": (),
    "getVersion": (),
    "getStatus": (),
    "getStatusDetails": (),
    "aliveSince": (),
    "shutdown": (),
    "get_runtime_stats": (TYPES.GetRuntimeStatsRequest(-1, -1),),
    "scheduled_query_poll": (TYPES.ScheduledQueryPollRequest("hive"),),
    "get_all_databases": (),
    "get_all_functions": (),
    "partition_name_to_vals": ("ds=a/hour=1",),
    "partition_name_to_spec": ("ds=a/hour=1",),
    "partition_name_has_valid_characters": (["a", "1"], True),
    "get_open_txns": (),
    "get_open_txns_info": (),
    "show_compact": (TYPES.ShowCompactRequest(),),
    "get_role_names": (),
    "list_roles": ("ann", USER),
    "get_principals_in_role": (TYPES.GetPrincipalsInRoleRequest("public"),),
    "get_role_grants_for_principal": (TYPES.GetRoleGrantsForPrincipalRequest("ann", USER),),
    "get_current_notificationEventId": (),
    "get_next_notification": (TYPES.NotificationEventRequest(0, 10),),
    "get_catalogs": (),
    "get_catalog": (TYPES.GetCatalogRequest("hive"),),
    "get_all_materialized_view_objects_for_rewriting": (),
    "get_open_txns_req": (TYPES.GetOpenTxnsRequest(),),
    "get_valid_write_ids": (TYPES.GetValidWriteIdsRequest(["shop.sales"]),),
}
"""Those that name no database; what they set is the connection's."""


def writes(db):
    """Writing calls in an order in which each succeeds: the method, then its arguments."""
    return [
        ("create_database", STORED.Database(name="other")),
        ("alter_database", db.replace("shop", "other"), STORED.Database(name="other", parameters={"a": "b"})),
        ("create_table", table_of("two")),
        ("create_table_with_environment_context", table_of("three"), CONTEXT),
        ("create_table_with_constraints", table_of("four"), [], []),
        ("alter_table", db, "four", table_of("five")),
        ("alter_table_with_environment_context", db, "five", table_of("six"), CONTEXT),
        ("alter_table_with_cascade", db, "six", table_of("six", sd=storage(cols=[column("amount", "int")])), True),
        ("add_partition", partition_of("b", "1")),
        ("add_partition_with_environment_context", partition_of("b", "2"), CONTEXT),
        ("add_partitions", [partition_of("b", "3")]),
        ("add_partitions_pspec", [_spec(db, "b", "4")]),
        ("add_partitions_req", TYPES.AddPartitionsRequest(db, T, [partition_of("b", "5")], ifNotExists=False)),
        ("append_partition", db, T, ["c", "1"]),
        ("append_partition_with_environment_context", db, T, ["c", "2"], CONTEXT),
        ("append_partition_by_name", db, T, "ds=c/hour=3"),
        ("append_partition_by_name_with_environment_context", db, T, "ds=c/hour=4", CONTEXT),
        ("alter_partition", db, T, partition_of("b", "1")),
        ("alter_partition_with_environment_context", db, T, partition_of("b", "1"), CONTEXT),
        ("alter_partitions", db, T, [partition_of("b", "1")]),
        ("alter_partitions_with_environment_context", db, T, [partition_of("b", "1")], CONTEXT),
        ("rename_partition", db, T, ["b", "1"], partition_of("b", "9")),
        ("markPartitionForEvent", db, T, PLACE, EVENT),
        ("update_table_column_statistics", statistics(db)),
        ("update_partition_column_statistics", statistics(db, "ds=a/hour=1")),
        ("set_aggr_stats_for", TYPES.SetPartitionsStatsRequest([statistics(db, "ds=a/hour=1")])),
        ("delete_table_column_statistics", db, T, "amount"),
        ("delete_partition_column_statistics", db, T, "ds=a/hour=1", "amount"),
        ("exchange_partition", {"ds": "c", "hour": "1"}, db, T, db, "two"),
        ("exchange_partitions", {"ds": "c"}, db, T, db, "two"),
        ("truncate_table", db, T, ["ds=a/hour=1"]),
        ("drop_partition", db, T, ["b", "2"], True),
        ("drop_partition_with_environment_context", db, T, ["b", "3"], True, CONTEXT),
        ("drop_partition_by_name", db, T, "ds=b/hour=4", True),
        ("drop_partition_by_name_with_environment_context", db, T, "ds=b/hour=5", True, CONTEXT),
        ("drop_partitions_req", _dropping(db, "ds=b/hour=9")),
        ("create_function", function("g")),
        ("alter_function", db, "g", function("h")),
        ("drop_function", db, "h"),
        ("lock", TYPES.LockRequest([TYPES.LockComponent(EXCLUSIVE, TABLE_LEVEL, db, T)], user="ann", hostname="here")),
        ("revoke_privileges", privileges(db, "SELECT")),
        ("grant_privileges", privileges(db, "SELECT")),
        ("grant_revoke_privileges", TYPES.GrantRevokePrivilegeRequest(GRANT, privileges(db, "INSERT"), False)),
        ("drop_table", db, "three", True),
        ("drop_table_with_environment_context", db, "six", True, CONTEXT),
        ("drop_database", db.replace("shop", "other"), True, True),
        *requests_that_write(db),
        *constraints(db),
    ]


def constraints(db):
    """The same of constraints."""
    key = TYPES.SQLPrimaryKey(db, T, "amount", 1, "sales_key")
    foreign = TYPES.SQLForeignKey(db, T, "amount", db, T, "amount", 1, fk_name="itself")
    place = {"table_db": db, "table_name": T, "column_name": "amount"}
    return [
        ("add_primary_key", TYPES.AddPrimaryKeyRequest([key])),
        ("add_foreign_key", TYPES.AddForeignKeyRequest([foreign])),
        ("add_unique_constraint", TYPES.AddUniqueConstraintRequest([TYPES.SQLUniqueConstraint(**place)])),
        ("add_not_null_constraint", TYPES.AddNotNullConstraintRequest([TYPES.SQLNotNullConstraint(**place)])),
        (
            "add_default_constraint",
            TYPES.AddDefaultConstraintRequest([TYPES.SQLDefaultConstraint(**place, default_value="1")]),
        ),
        (
            "add_check_constraint",
            TYPES.AddCheckConstraintRequest([TYPES.SQLCheckConstraint(**place, check_expression="amount > 0")]),
        ),
        ("drop_constraint", TYPES.DropConstraintRequest(db, T, "sales_key")),
    ]


def requests_that_write(db):
    """The same of what Hive 3 and 4 added."""
    place = {"dbName": db, "tableName": T}
    another = db.replace("shop", "another")
    return [
        ("create_database_req", TYPES.CreateDatabaseRequest("another")),
        ("alter_database_req", TYPES.AlterDatabaseRequest(another, STORED.Database("another", parameters={"a": "b"}))),
        ("drop_database_req", TYPES.DropDatabaseRequest(another, deleteData=True, cascade=True)),
        ("create_table_req", TYPES.CreateTableRequest(table_of("seven"), CONTEXT)),
        ("alter_table_req", TYPES.AlterTableRequest(db, "seven", table_of("seven", parameters={"a": "b"}))),
        ("drop_table_req", TYPES.DropTableRequest(db, "seven", deleteData=True)),
        ("truncate_table_req", TYPES.TruncateTableRequest(**place, partNames=["ds=a/hour=1"])),
        ("append_partition_req", TYPES.AppendPartitionsRequest(**place, name="ds=d/hour=1")),
        ("alter_partitions_req", TYPES.AlterPartitionsRequest(**place, partitions=[partition_of("d", "1")])),
        (
            "rename_partition_req",
            TYPES.RenamePartitionRequest(**place, partVals=["d", "1"], newPart=partition_of("d", "2")),
        ),
        ("drop_partition_req", TYPES.DropPartitionRequest(db, T, "ds=d/hour=2", deleteData=True)),
        ("update_table_column_statistics_req", TYPES.SetPartitionsStatsRequest([statistics(db)])),
        ("update_partition_column_statistics_req", TYPES.SetPartitionsStatsRequest([statistics(db, "ds=a/hour=1")])),
        ("delete_column_statistics_req", TYPES.DeleteColumnStatisticsRequest(db, T, tableLevel=True)),
        ("allocate_table_write_ids", TYPES.AllocateTableWriteIdsRequest(**place, txnIds=[])),
    ]


NAMELESS_WRITES = [
    ("open_txns", TYPES.OpenTxnRequest(3, "ann", "here", "agent")),
    ("heartbeat", TYPES.HeartbeatRequest(txnid=NUMBER)),
    ("heartbeat_txn_range", TYPES.HeartbeatTxnRangeRequest(NUMBER, NUMBER + 2)),
    ("add_dynamic_partitions", TYPES.AddDynamicPartitions(NUMBER)),
    ("commit_txn", TYPES.CommitTxnRequest(NUMBER)),
    ("abort_txn", TYPES.AbortTxnRequest(NUMBER + 1)),
    ("abort_txns", TYPES.AbortTxnsRequest([NUMBER + 2])),
    ("create_role", TYPES.Role(roleName="clerks", ownerName="ann")),
    ("grant_role", "clerks", "bob", USER, "ann", USER, True),
    ("revoke_role", "clerks", "bob", USER),
    ("grant_revoke_role", TYPES.GrantRevokeRoleRequest(GRANT, "clerks", "bob", USER, "ann", USER, True)),
    ("drop_role", "clerks"),
]
"""Those that name no database, likewise in order."""
OF_A_LOCK = [("check_lock", TYPES.CheckLockRequest(NUMBER)), ("unlock", TYPES.UnlockRequest(NUMBER))]
"""Those that succeed where a lock was given."""
REFUSED = [
    ("create_catalog", TYPES.CreateCatalogRequest(TYPES.Catalog("spark"))),
    ("alter_catalog", TYPES.AlterCatalogRequest("hive", TYPES.Catalog("hive"))),
    ("drop_catalog", TYPES.DropCatalogRequest("hive")),
]
"""Those that never succeed: they are about what cannot be changed."""


def fill(shop):
    """Make what the calls are about, but for the database: `tests.metastore.writing.opened` has made it."""
    shop.create_table(table_of())
    shop.add_partitions([partition_of("a", "1"), partition_of("a", "2")])
    shop.update_table_column_statistics(statistics(DATABASE))
    shop.update_partition_column_statistics(statistics(DATABASE, "ds=a/hour=1"))
    shop.create_function(function("f"))
    shop.grant_privileges(privileges(DATABASE, "SELECT"))


def statistics(db, partition=None):
    """Column statistics of the table, or of one of its partitions."""
    about = TYPES.ColumnStatisticsDesc(partition is None, db, T, partition)
    data = TYPES.ColumnStatisticsData(doubleStats=TYPES.DoubleColumnStatsData(1.0, 2.0, 0, 2))
    return TYPES.ColumnStatistics(about, [TYPES.ColumnStatisticsObj("amount", "double", data)])


def function(name):
    """A function of the database."""
    return TYPES.Function(name, DATABASE, "a.F", "ann", 1, 0, 1, [])


def privileges(db, privilege):
    """A privilege of a user on the table."""
    info = STORED.PrivilegeGrantInfo(privilege, 0, "root", USER, False)
    target = TYPES.HiveObjectRef(ON_TABLE, db, T)
    return TYPES.PrivilegeBag([TYPES.HiveObjectPrivilege(target, "ann", USER, info)])


def _spec(db, *values):
    return TYPES.PartitionSpec(db, T, partitionList=TYPES.PartitionListComposingSpec([partition_of(*values)]))


def _dropping(db, name):
    parts = TYPES.RequestPartsSpec(names=[name])
    return TYPES.DropPartitionsRequest(db, T, parts, deleteData=True, ifExists=False)
