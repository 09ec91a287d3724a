"""Conversations about what Hive 3 and 4 added; a client that lacks a method says so on both sides."""

from __future__ import annotations

from tests.metastore.clients.java_structs import columns, filled, table

API = "org.apache.hadoop.hive.metastore.api"
DAYS = [("2026-01-01", "1"), ("2026-01-01", "2"), ("2026-01-02", "1"), ("2026-01-02", "10")]


def catalogs(ask):
    ask("getCatalogs")
    ask("getCatalog", "hive")
    ask("getCatalog", "nope")
    ask("dropCatalog", "hive")
    ask("dropCatalog", "nope")


def no_constraints(ask):
    filled(ask, "bound", "t", ("a", "1"))
    for kind in ("Unique", "NotNull", "Default", "Check"):
        ask(
            f"get{kind}Constraints",
            ask.struct(f"{kind}ConstraintsRequest", catName="hive", db_name="bound", tbl_name="t"),
        )


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


TOPICS = (catalogs, no_constraints, projected, likes, requests, write_ids)
