"""Conversations about what Hive 3 and 4 added; a client that lacks a method says so on both sides."""

from __future__ import annotations

from tests.metastore.clients.java_structs import columns, filled, storage, table

API = "org.apache.hadoop.hive.metastore.api"
DAYS = [("2026-01-01", "1"), ("2026-01-01", "2"), ("2026-01-02", "1"), ("2026-01-02", "10")]


def catalogs(ask):
    ask("getCatalogs")
    ask("getCatalog", "hive")
    ask("getCatalog", "nope")
    ask("dropCatalog", "hive")
    ask("dropCatalog", "nope")


def _constraint(ask, kind, column, name=None, *, table="t", seq=None, text=None):
    """A struct of Hive's about one column."""
    named = {"NotNull": "nn_name", "Unique": "uk_name", "PrimaryKey": "pk_name"}.get(kind, "dc_name")
    made = ask.struct(
        f"SQL{kind}{'' if kind == 'PrimaryKey' else 'Constraint'}",
        catName="hive",
        table_db="bound",
        table_name=table,
        column_name=column,
        enable_cstr=False,
        validate_cstr=False,
        rely_cstr=True,
    )
    if seq is not None:
        made.setKey_seq(seq)
    if name is not None:
        getattr(made, f"set{named.capitalize()}")(name)
    if kind == "Default":
        made.setDefault_value(text)
    if kind == "Check":
        made.setCheck_expression(text)
    return made


def _foreign(ask, column, to, name=None, *, parent="t", seq=1):
    made = ask.struct(
        "SQLForeignKey",
        pktable_db="bound",
        pktable_name=parent,
        pkcolumn_name=to,
        fktable_db="bound",
        fktable_name="child",
        fkcolumn_name=column,
        key_seq=seq,
        update_rule=1,
        delete_rule=2,
        enable_cstr=False,
        validate_cstr=False,
        rely_cstr=True,
        catName="hive",
    )
    if name is not None:
        made.setFk_name(name)
    return made


def constraints(ask):
    def show(*names):
        for name in names:
            place = {"catName": "hive", "db_name": "bound", "tbl_name": name}
            ask("getPrimaryKeys", ask.struct("PrimaryKeysRequest", **place))
            for kind in ("Unique", "NotNull", "Default", "Check"):
                ask(f"get{kind}Constraints", ask.struct(f"{kind}ConstraintsRequest", **place))
            foreign = {"foreign_db_name": "bound", "foreign_tbl_name": name}
            ask("getForeignKeys", ask.struct("ForeignKeysRequest", catName="hive", **foreign))
            parent = {"parent_db_name": "bound", "parent_tbl_name": name}
            ask("getForeignKeys", ask.struct("ForeignKeysRequest", catName="hive", **parent))

    def one(*given, **more):
        return _constraint(ask, *given, **more)

    def change(name, **fields):
        found = ask("getTable", "bound", name)
        for field, value in fields.items():
            getattr(found, f"set{field[0].upper()}{field[1:]}")(value)
        ask("alter_table", "bound", name, found)

    ask("createDatabase", ask.struct("Database", name="bound"))
    keys = [one("PrimaryKey", "Amount", seq=1), one("PrimaryKey", "ds", seq=2)]
    of_one = (
        [one("NotNull", "note")],
        [one("Default", "note", text="'x'")],
        [one("Check", "note", "C1", text="note > 'a'")],
    )
    ask("createTableWithConstraints", table(ask, "bound", "t"), keys, [], [one("Unique", "note", seq=1)], *of_one)
    ask("createTable", table(ask, "bound", "child"))
    show("t", "child", "nope")
    ask("addForeignKey", [_foreign(ask, "Amount", "amount"), _foreign(ask, "ds", "ds", seq=2)])
    ask("addForeignKey", [_foreign(ask, "note", "note", "To_Unique")])
    ask("addForeignKey", [_foreign(ask, "note", "note", "nowhere", parent="nope")])
    ask("addForeignKey", [_foreign(ask, "amount", "amount", "half")])
    ask("addPrimaryKey", [one("PrimaryKey", "note", "second", seq=1)])
    ask("addPrimaryKey", [one("PrimaryKey", "note", table="nope", seq=1)])
    ask("addUniqueConstraint", [one("Unique", "note", "C1", seq=1)])
    ask("addUniqueConstraint", [one("Unique", "hour", "U2", seq=1), one("Unique", "note", "U2", seq=2)])
    ask("addNotNullConstraint", [one("NotNull", "hour"), one("NotNull", "ds", "N2")])
    ask("addNotNullConstraint", [one("NotNull", "nope")])
    ask("addDefaultConstraint", [one("Default", "hour", "D2", text="7")])
    ask("addCheckConstraint", [one("Check", None, text="hour < 24")])
    show("t", "child")
    change("t", tableName="renamed")
    show("renamed", "child")
    change("child", tableName="kid")
    show("renamed", "kid")
    ask("dropConstraint", "bound", "renamed", "n2")
    ask("dropConstraint", "bound", "renamed", "nope")
    change("kid", sd=storage(ask, cols=columns(ask, total="double", note="string")))
    show("renamed", "kid")
    change("renamed", sd=storage(ask, cols=columns(ask, amount="double", text="string")))
    show("renamed")
    wrong = table(ask, "bound", "wrong")
    for given in (one("Unique", "nope", table="wrong", seq=1), one("Unique", "note", table="elsewhere", seq=1)):
        ask("createTableWithConstraints", wrong, [], [], [given], [], [], [])
    ask("tableExists", "bound", "wrong")
    ask("dropTable", "bound", "kid")
    ask("dropTable", "bound", "renamed")


def projected(ask):
    filled(ask, "projects", "t", *DAYS)
    mode = ask.java.api("PartitionFilterMode")

    def specs(*fields, kind=None, filters=None, include=None, exclude=None):
        projection = ask.struct("GetProjectionsSpec", fieldList=list(fields))
        projection.setIncludeParamKeyPattern(include)
        projection.setExcludeParamKeyPattern(exclude)
        where = ask.struct("GetPartitionsFilterSpec")
        if kind is not None:
            where.setFilterMode(getattr(mode, kind))
            where.setFilters(filters)
        request = ask.struct("GetPartitionsRequest", dbName="projects", tblName="t", catName="hive")
        request.setProjectionSpec(projection)
        request.setFilterSpec(where)
        return request

    for fields in (
        (),
        ("values", "sd.location"),
        ("values",),
        ("values", "parameters", "createTime"),
        ("values", "sd.location", "sd.cols.name", "sd.serdeInfo.serializationLib"),
        ("values", "sd.inputFormat"),
        ("nope",),  # not "sd": a real metastore answers it or fails, by what it was asked before
    ):
        ask("getPartitionsWithSpecs", specs(*fields))
    both = "values", "sd.location"
    ask("getPartitionsWithSpecs", specs(*both, kind="BY_NAMES", filters=["ds=2026-01-01/hour=2", "ds=nope/hour=1"]))
    ask("getPartitionsWithSpecs", specs(*both, kind="BY_NAMES", filters=["ds=2026-01-01"]))
    ask("getPartitionsWithSpecs", specs(*both, kind="BY_VALUES", filters=["2026-01-02"]))
    ask("getPartitionsWithSpecs", specs(*both, kind="BY_VALUES", filters=["", "1"]))
    ask("getPartitionsWithSpecs", specs(*both, kind="BY_EXPR", filters=['ds = "2026-01-02"']))
    ask("getPartitionsWithSpecs", specs(*both, kind="BY_EXPR", filters=["hour > 1", 'ds = "2026-01-02"']))
    ask("getPartitionsWithSpecs", specs("values", "parameters", include="num%"))
    ask("getPartitionsWithSpecs", specs("values", "parameters", exclude="%Time"))


def likes(ask):
    filled(ask, "alike", "t", *DAYS)
    for pattern in ("2026-01-0.", "2026-01-0_", "2026.*", "2026%", ".*1", "%1"):
        ask("listPartitionsByFilter", "alike", "t", f'ds like "{pattern}"', -1)


def requests(ask):
    filled(ask, "asks", "t", *DAYS)

    def request(name, **fields):
        return ask.struct(name, dbName="asks", tblName="t", **fields)

    ask("listPartitionNames", request("PartitionsByExprRequest", expr=bytes([255]), maxParts=-1))
    ask("listPartitionNames", request("PartitionsByExprRequest", expr=bytes([255]), order="0,1:-+", maxParts=3))
    ask("listPartitionsWithAuthInfoRequest", request("GetPartitionsPsWithAuthRequest", partVals=["2026-01-01", ""]))
    ask("listPartitionsRequest", request("GetPartitionsPsWithAuthRequest", partVals=["2026-01-01", ""]))
    ask("getPartitionRequest", request("GetPartitionRequest", partVals=["2026-01-01", "1"]))
    names = ask.struct("GetPartitionsByNamesRequest", db_name="asks", tbl_name="t", names=["ds=2026-01-01/hour=1"])
    ask("getPartitionsByNames", names)
    ask("listPartitionNamesRequest", request("GetPartitionNamesPsRequest", partValues=["2026-01-01"]))
    ask("getAllTableConstraints", request("AllTableConstraintsRequest", catName="hive"))
    ask("getTablesExt", "hive", "asks", "*", 1, 10)
    ask("translateTableDryrun", ask.struct("CreateTableRequest", table=table(ask, "asks", "other")))
    ask("truncateTable", "asks", "t", ["ds=2026-01-01/hour=1"])
    ask("getPartition", "asks", "t", ["2026-01-01", "1"])
    ask("getMaterializedViewsForRewriting", "asks")
    ask("getAllMaterializedViewObjectsForRewriting")
    more = columns(ask, amount="double", note="string", extra="int")
    changed = ask("getTable", "asks", "t")
    changed.getSd().setCols(more)
    ask("alter_table", "hive", "asks", "t", changed, ask.struct("EnvironmentContext", properties={}))
    ask("getTable", "asks", "t")


def write_ids(ask):
    filled(ask, "writes", "t", ("a", "1"))
    ask("rollbackTxn", ask("openTxn", "ann"))  # so that numbers of transactions are not those of writes to the table
    first = ask("openTxn", "ann")
    ask("allocateTableWriteId", first, "writes", "t")
    seen = ask("getValidTxns")
    ask("getValidWriteIds", ["writes.t"], seen.writeToString())
    ask("heartbeatTxnRange", first, first)
    ask("rollbackTxn", first)
    ask("heartbeatTxnRange", first, first)


TOPICS = (catalogs, constraints, projected, likes, requests, write_ids)
