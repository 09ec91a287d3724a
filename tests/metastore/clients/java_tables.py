"""Conversations about databases and tables."""

from __future__ import annotations

from tests.metastore.clients.java_structs import columns, filled, partition, storage, table


def databases(ask):
    ask("getAllDatabases")
    ask("createDatabase", ask.struct("Database", name="sales", description="all of it", parameters={"a": "1"}))
    ask("createDatabase", ask.struct("Database", name="Archive", locationUri=ask.location("elsewhere/archive")))
    ask.fails("AlreadyExistsException", "createDatabase", ask.struct("Database", name="SALES"))
    ask.fails("InvalidObjectException", "createDatabase", ask.struct("Database", name="no name"))
    ask("getDatabase", "sales")
    ask("getDatabase", "ARCHIVE")
    ask.fails("NoSuchObjectException", "getDatabase", "nope")
    ask("getDatabases", "s*|arch*")
    ask("getDatabases", "*")
    ask("getDatabases", "S?les|.ales")
    ask("getAllDatabases")
    changed = ask.struct("Database", name="sales", parameters={"b": "2"}, ownerName="bob")
    changed.setOwnerType(ask.java.api("PrincipalType.USER"))
    ask("alterDatabase", "sales", changed)
    ask("getDatabase", "sales")
    ask.differs(
        "Hive answers as if it had altered it", "fails: NoSuchObjectException", "alterDatabase", "nope", changed
    )
    ask("createTable", table(ask, "sales", "one"))
    ask("createTable", table(ask, "archive", "one"))
    ask.files()
    ask.fails("InvalidOperationException", "dropDatabase", "sales")
    ask.fails("NoSuchObjectException", "dropDatabase", "nope")
    ask("dropDatabase", "nope", True, True)
    ask("dropDatabase", "sales", True, False, True)
    ask("dropDatabase", "archive", False, False, True)
    ask.fails("MetaException", "dropDatabase", "default")
    ask("getAllDatabases")
    ask.files()


def tables(ask):
    ask("createDatabase", ask.struct("Database", name="tables"))
    full = table(ask, "tables", "Full", parameters={"comment": "the comment", "k": "v"}, retention=7)
    full.getSd().setSortCols([ask.struct("Order", col="amount", order=1)])
    full.getSd().setBucketCols(["note"])
    full.getSd().setNumBuckets(4)
    ask("createTable", full)
    ask("createTable", table(ask, "tables", "flat", {}))
    outside = table(ask, "tables", "outside", sd=storage(ask, location=ask.location("elsewhere/outside")))
    outside.setTableType("EXTERNAL_TABLE")
    outside.setParameters({"EXTERNAL": "TRUE"})
    ask("createTable", outside)
    view = table(ask, "tables", "looking", {}, tableType="VIRTUAL_VIEW")
    view.setViewOriginalText("select 1")
    view.setViewExpandedText("select 1 as `1`")
    ask("createTable", view)
    for name in ("full", "FLAT", "outside", "looking"):
        ask("getTable", "tables", name)
    ask.files("tables.db")
    ask.fails("AlreadyExistsException", "createTable", table(ask, "tables", "FULL"))
    ask.fails("InvalidObjectException", "createTable", table(ask, "nope", "one"))
    ask.fails("InvalidObjectException", "createTable", table(ask, "tables", "no-name"))
    ask.fails("InvalidObjectException", "createTable", table(ask, "tables", "odd", {"x": "no_type"}))
    ask.fails("NoSuchObjectException", "getTable", "tables", "nope")
    ask.fails("NoSuchObjectException", "getTable", "nope", "full")
    ask("tableExists", "tables", "full")
    ask("tableExists", "tables", "nope")
    ask("tableExists", "nope", "nope")
    ask("getFields", "tables", "full")
    ask("getSchema", "tables", "full")
    ask.fails("UnknownTableException", "getSchema", "tables", "nope")
    ask("getPrimaryKeys", ask.struct("PrimaryKeysRequest", db_name="tables", tbl_name="full"))
    ask("getForeignKeys", ask.struct("ForeignKeysRequest", foreign_db_name="tables", foreign_tbl_name="full"))
    constrained = table(ask, "tables", "constrained", {})
    ask("createTableWithConstraints", constrained, [], [])
    ask("dropTable", "tables", "constrained")
    ask("dropTable", "tables", "outside", True, False)
    ask("dropTable", "tables", "flat", True, True, True)
    ask.fails("NoSuchObjectException", "dropTable", "tables", "flat", True, False)
    ask("dropTable", "tables", "flat", True, True)
    ask("dropTable", "nope", "flat")
    ask.fails("NoSuchObjectException", "dropTable", "nope", "flat", True, False)
    ask("dropTable", "tables", "looking")
    ask.files()


def listings(ask):
    kinds = ask.java.named("org.apache.hadoop.hive.metastore.TableType")
    ask("createDatabase", ask.struct("Database", name="lists"))
    ask("createDatabase", ask.struct("Database", name="lists_too"))
    for name, kind in (("a_one", "MANAGED_TABLE"), ("A_two", "EXTERNAL_TABLE"), ("b_one", "VIRTUAL_VIEW")):
        made = table(ask, "lists", name, tableType=kind, parameters={"comment": f"of {name}", "size": "7"})
        if kind == "EXTERNAL_TABLE":
            made.putToParameters("EXTERNAL", "TRUE")
        if kind == "VIRTUAL_VIEW":
            made.setSd(storage(ask))
            made.setPartitionKeys([])
        ask("createTable", made)
    ask("createTable", table(ask, "lists_too", "a_one", owner="bob"))
    ask("getAllTables", "lists")
    ask("getAllTables", "nope")
    for pattern in ("*", "a*", "A_*|b*", "*_one", ".*one", "nope", "", "a_?ne"):
        ask("getTables", "lists", pattern)
    ask("getTables", "nope", "*")
    ask("getTables", "lists", "*", kinds.MANAGED_TABLE)
    ask("getTables", "lists", "a*", kinds.EXTERNAL_TABLE)
    ask("getTables", "lists", "*", kinds.VIRTUAL_VIEW)
    ask("getTables", "lists", "*", kinds.MATERIALIZED_VIEW)
    ask("getTableMeta", "lists*", "*", [])
    ask("getTableMeta", "*too|lists", "a*", ["MANAGED_TABLE", "EXTERNAL_TABLE"])
    ask("getTableMeta", "nope", "*", ["MANAGED_TABLE"])
    ask("getTableObjectsByName", "lists", ["b_one", "A_ONE", "nope"])
    ask("getTableObjectsByName", "lists", ["a_one", "a_one"])
    ask("getTableObjectsByName", "lists", [])
    ask.fails("UnknownDBException", "getTableObjectsByName", "nope", ["a"])
    for text in (
        'hive_filter_field_owner__ = "ann"',
        'hive_filter_field_owner__ like "a.*" and hive_filter_field_last_access__ < 5',
        'hive_filter_field_params__size = "7"',
        'hive_filter_field_params__nope = "7"',
        'hive_filter_field_params__size <> "7" or hive_filter_field_owner__ != "bob"',
    ):
        ask("listTableNamesByFilter", "lists", text, -1)
    ask("listTableNamesByFilter", "lists", 'hive_filter_field_owner__ = "ann"', 3)
    ask("listTableNamesByFilter", "nope", 'hive_filter_field_owner__ = "ann"', -1)


def changed_tables(ask):
    filled(ask, "altered", "plain", ["a", "1"], ["b", "2"])
    ask.write("altered.db/plain/ds=a/hour=1/file")

    def change(name="plain", **fields):
        found = ask("getTable", "altered", name)
        for field, value in fields.items():
            getattr(found, f"set{field[0].upper()}{field[1:]}")(value)
        return found

    ask("alter_table", "altered", "plain", change(parameters={"p": "1"}, owner="bob", createTime=5))
    ask("getTable", "altered", "plain")
    ask("alter_table", "altered", "plain", change(tableName="Renamed"))
    ask("getTable", "altered", "renamed")
    ask.fails("NoSuchObjectException", "getTable", "altered", "plain")
    ask("listPartitions", "altered", "renamed", -1)
    ask.files("altered.db")
    ask.fails("InvalidOperationException", "alter_table", "altered", "nope", change("renamed"))
    ask("createTable", table(ask, "altered", "other"))
    ask.fails("InvalidOperationException", "alter_table", "altered", "renamed", change("renamed", tableName="other"))
    keys = columns(ask, day="string", hour="int")
    ask.fails("InvalidOperationException", "alter_table", "altered", "other", change("other", partitionKeys=keys))
    more = storage(ask, cols=columns(ask, amount="double", note="string", extra="int"))
    moved = change("renamed")
    more.setLocation(moved.getSd().getLocation())
    moved.setSd(more)
    ask("alter_table", "altered", "renamed", moved)
    ask("getPartition", "altered", "renamed", ["a", "1"])
    more.addToCols(columns(ask, last="string")[0])
    ask("alter_table", "altered", "renamed", moved, True)
    ask("getPartition", "altered", "renamed", ["a", "1"])
    elsewhere = change("renamed")
    elsewhere.getSd().setLocation(ask.location("elsewhere/renamed"))
    ask("alter_table", "altered", "renamed", elsewhere)
    ask("getTable", "altered", "renamed")
    ask("getPartition", "altered", "renamed", ["a", "1"])
    ask("add_partition", partition(ask, "altered", "renamed", "c", "3"))
    ask("alter_table", "altered", "renamed", change("renamed", tableName="again"))
    ask("listPartitions", "altered", "again", -1)
    ask("createDatabase", ask.struct("Database", name="altered_too"))
    ask("alter_table", "altered", "other", change("other", dbName="altered_too", tableName="other"))
    ask("getAllTables", "altered_too")
    ask.files("altered.db")


def compare_and_swap(ask):
    ask("createDatabase", ask.struct("Database", name="swaps"))
    ask("createTable", table(ask, "swaps", "iceberg", {}, parameters={"metadata_location": "v1"}))

    def swap(expected, to, key="metadata_location"):
        found = ask("getTable", "swaps", "iceberg")
        found.putToParameters("metadata_location", to)
        given = {"expected_parameter_key": key, "expected_parameter_value": expected}
        return "swaps", "iceberg", found, ask.struct("EnvironmentContext", properties=given)

    ask("alter_table_with_environmentContext", *swap("v1", "v2"))
    ask.fails("MetaException", "alter_table_with_environmentContext", *swap("v1", "v3"))
    ask.fails("MetaException", "alter_table_with_environmentContext", *swap("v2", "v3", key="nope"))
    ask("alter_table_with_environmentContext", *swap("v2", "v3"))
    ask("getTable", "swaps", "iceberg")


TOPICS = (databases, tables, listings, changed_tables, compare_and_swap)
