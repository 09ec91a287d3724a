"""What a program does to tables of Iceberg with its catalog on a Hive Metastore, step by step."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

from py4j.protocol import Py4JJavaError

WRITERS, COMMITS = 4, 5
"""How many threads append to one table at once, and how often each."""
ICEBERG = "org.apache.iceberg"


class Iceberg:
    """A catalog of Iceberg on a metastore, and what came of each step.

    Args:
        java: a JVM with the classes of Iceberg and of a client of Hive.
        uri: the metastore's.
        root: the warehouse's folder.
    """

    def __init__(self, java, uri, root):
        self.java, self.uri, self.root = java, uri, root
        self.outcomes = []

    def catalog(self):
        """A catalog with connections of its own."""
        catalog = self.java.named(f"{ICEBERG}.hive.HiveCatalog")()
        catalog.setConf(self.java.named("org.apache.hadoop.conf.Configuration")())
        catalog.initialize("hive", {"uri": self.uri, "warehouse": f"file:{self.root}", "clients": "2"})
        return catalog

    def namespace(self, name):
        return self.java.named(f"{ICEBERG}.catalog.Namespace.of")(self.java.texts(name))

    def table(self, database, name):
        return self.java.named(f"{ICEBERG}.catalog.TableIdentifier.of")(self.java.texts(database, name))

    def schema(self):
        """Of a number, and of a day by which tables are partitioned."""
        types, field = f"{ICEBERG}.types.Types", self.java.named(f"{ICEBERG}.types.Types$NestedField")
        long_, date = (self.java.named(f"{types}${name}Type").get() for name in ("Long", "Date"))
        return self.java.named(f"{ICEBERG}.Schema")([field.required(1, "id", long_), field.optional(2, "day", date)])

    def partitioning(self):
        return self.java.named(f"{ICEBERG}.PartitionSpec").builderFor(self.schema()).identity("day").build()

    def append(self, table, name, rows=1):
        """Commit a file of Parquet to a table; nobody reads it."""
        files = self.java.named(f"{ICEBERG}.DataFiles").builder(table.spec()).withPartitionPath("day=2026-01-02")
        table.newAppend().appendFile(
            files.withPath(f"file:{self.root}/{name}.parquet").withFileSizeInBytes(100).withRecordCount(rows).build()
        ).commit()

    def step(self, name, call):
        """Do one thing, and keep what it answers, or the class and text of its exception."""
        try:
            outcome = call()
        except Py4JJavaError as error:
            outcome = f"{error.java_exception.getClass().getName()}: {error.java_exception.getMessage()}"
        self.outcomes.append((name, self._plain(outcome)))

    def _plain(self, outcome):
        text = str(outcome).replace(str(self.root), "ROOT").replace(self.uri, "URI")
        return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", text)


def work(on):
    """Every step, on one catalog; the outcomes are the answer."""
    catalog, step = on.catalog(), on.step
    lake, table, other = on.namespace("lake"), on.table("lake", "events"), on.table("lake", "days")
    step("create namespace", lambda: catalog.createNamespace(lake, {"comment": "of events", "team": "a"}))
    step("create the namespace again", lambda: catalog.createNamespace(lake, {}))
    step("namespaces", lambda: sorted(map(str, catalog.listNamespaces())))
    step("set properties", lambda: catalog.setProperties(lake, {"team": "b", "owner": "c"}))
    step("remove properties", lambda: catalog.removeProperties(lake, {"owner"}))
    step("its metadata", lambda: dict(sorted(catalog.loadNamespaceMetadata(lake).items())))
    step("load a missing table", lambda: catalog.loadTable(table))
    step("create table", lambda: catalog.createTable(table, on.schema(), on.partitioning()))
    step("create it again", lambda: catalog.createTable(table, on.schema(), on.partitioning()))
    step("tables", lambda: sorted(map(str, catalog.listTables(lake))))
    step("append", lambda: on.append(catalog.loadTable(table), "a", 7))
    step("rows", lambda: catalog.loadTable(table).currentSnapshot().summary().get("total-records"))
    step("add a column", lambda: add_column(on, catalog, table))
    step("set a property", lambda: catalog.loadTable(table).updateProperties().set("owner", "c").commit())
    step("its schema", lambda: catalog.loadTable(table).schema())
    step("an outdated commit", lambda: outdated(on, catalog, table))
    step("at once", lambda: at_once(on, table))
    step("rows after that", lambda: catalog.loadTable(table).currentSnapshot().summary().get("total-records"))
    step("files after that", lambda: catalog.loadTable(table).currentSnapshot().summary().get("total-data-files"))
    step("rename", lambda: catalog.renameTable(table, other))
    step("rename a missing one", lambda: catalog.renameTable(table, on.table("lake", "gone")))
    step("rows of the new name", lambda: catalog.loadTable(other).currentSnapshot().summary().get("total-records"))
    step("in a transaction", lambda: in_a_transaction(catalog, other))
    step("register", lambda: catalog.registerTable(table, location(catalog, other)))
    step("tables with it", lambda: sorted(map(str, catalog.listTables(lake))))
    step("drop a namespace with tables", lambda: catalog.dropNamespace(lake))
    step("drop", lambda: catalog.dropTable(table, False))
    step("drop it again", lambda: catalog.dropTable(table, False))
    step("drop with files", lambda: catalog.dropTable(other, True))
    step("drop the namespace", lambda: catalog.dropNamespace(lake))
    step("namespaces left", lambda: sorted(map(str, catalog.listNamespaces())))
    catalog.close()
    return on.outcomes


def add_column(on, catalog, table):
    text = on.java.named(f"{ICEBERG}.types.Types$StringType").get()
    catalog.loadTable(table).updateSchema().addColumn("note", text).commit()


def outdated(on, catalog, table):
    """Commit to a state of a table that another commit has replaced: it is tried again on the new state."""
    state = catalog.loadTable(table)
    on.append(catalog.loadTable(table), "b")
    on.append(state, "c")


def in_a_transaction(catalog, table):
    """Two changes that are seen together."""
    transaction = catalog.loadTable(table).newTransaction()
    transaction.updateProperties().set("within", "1").commit()
    transaction.updateProperties().set("also", "2").commit()
    before = catalog.loadTable(table).properties().get("within")
    transaction.commitTransaction()
    after = catalog.loadTable(table).properties()
    return before, after.get("within"), after.get("also")


def at_once(on, table):
    """Append from several threads, each with a catalog of its own; a commit that another one overtook is repeated."""

    def writer(number):
        catalog = on.catalog()
        catalog.loadTable(table).updateProperties().set("commit.retry.num-retries", "100").commit()
        for at in range(COMMITS):
            on.append(catalog.loadTable(table), f"{number}-{at}")
        catalog.close()

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(writer, range(WRITERS)))


def location(catalog, table):
    """The file that holds a table's metadata now."""
    return catalog.loadTable(table).operations().current().metadataFileLocation()
