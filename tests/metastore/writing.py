"""A metastore with a real warehouse: what clients send to it, and what lies in its folders then."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from hbstore import Database, connect
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.endpoint import metastore
from hbstore.warehouse.service import Service
from tests.metastore.asking import BACKENDS, url_of
from tests.metastore.client import STORED, TYPES
from tests.metastore.direct import Direct

__all__ = ["BACKENDS", "STORED", "TYPES", "Writing", "opened"]
DATABASE = "shop"


class Writing(Direct):
    """A store and a warehouse behind an endpoint: its attributes are the service's methods.

    Attributes:
        store: the store.
        root: the warehouse's folder.
        records: what the log would say of each call.
    """

    def __init__(self, store, root, also_under=(), **options):
        self.store = store
        self.root = root
        self.records = []
        warehouse = Warehouse(str(root), also_under=tuple(map(str, also_under)))
        super().__init__(metastore(Service(store, warehouse, **options), self.records.append))

    def __getattr__(self, name):
        if name.startswith("_"):  # what Hypothesis and others look for when they print it
            raise AttributeError(name)
        return super().__getattr__(name)

    @property
    def notes(self):
        """What was noted of the last call."""
        record = self.records[-1]
        return {name: record.noted(name) for name in record.notes}

    def location(self, path):
        """The location of a path below the warehouse, as it is stored."""
        return f"file:{self.root}/{path}"

    def write(self, path, text="data"):
        """A file below the warehouse."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def tree(self, path=""):
        """What is below a folder of the warehouse: files, and folders with a slash at the end."""
        root = self.root / path
        return sorted(str(one.relative_to(root)) + ("/" if one.is_dir() else "") for one in root.rglob("*"))

    def table(self, name="sales"):
        """A table as a reply has it."""
        return self.get_table(DATABASE, name)

    def partition(self, *values, table="sales"):
        """A partition as a reply has it."""
        return self.get_partition(DATABASE, table, list(values))

    def names(self, table="sales"):
        """The names of a table's partitions."""
        return self.get_partition_names(DATABASE, table, -1)


@contextmanager
def opened(request, folder):
    """A store of the backend in ``request.param`` with the database ``shop``, and a warehouse in a folder."""
    with connect(url_of(request, folder)) as store:
        for name in store.database_names():
            store.drop_database(name, cascade=True)
        root = Path(folder) / "warehouse"
        root.mkdir()
        store.create_database(Database("default", location=f"file:{root}"))
        writing = Writing(store, root)
        writing.create_database(STORED.Database(name=DATABASE))
        yield writing
        for name in store.database_names():
            store.drop_database(name, cascade=True)


def column(name, kind="string", comment=None):
    return STORED.FieldSchema(name, kind, comment)


def storage(**fields):
    """A storage descriptor as Java's clients send it: with every field that they cannot leave out."""
    return STORED.StorageDescriptor(
        **{
            "cols": [column("amount", "double")],
            "inputFormat": "org.apache.hadoop.mapred.TextInputFormat",
            "outputFormat": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
            "compressed": False,
            "numBuckets": -1,
            "serdeInfo": STORED.SerDeInfo(serializationLib="lazy", parameters={}),
            "bucketCols": [],
            "sortCols": [],
            "parameters": {},
            "storedAsSubDirectories": False,
            **fields,
        }
    )


def table_of(name="sales", **fields):
    """A table ``shop.name``, by default partitioned by ds and hour."""
    return STORED.Table(
        **{
            "tableName": name,
            "dbName": DATABASE,
            "owner": "ann",
            "sd": storage(),
            "partitionKeys": [column("ds"), column("hour", "int")],
            "parameters": {},
            "tableType": "MANAGED_TABLE",
            **fields,
        }
    )


def external(name="sales", **fields):
    return table_of(name, tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"}, **fields)


PURGED = {"EXTERNAL": "TRUE", "external.table.purge": "true"}
"""Parameters of a table whose files are somebody else's, and go when it is dropped."""
TRANSLATED = {**PURGED, "TRANSLATED_TO_EXTERNAL": "TRUE"}
"""Those of a table that a Hive Metastore 4 has made of a managed one."""


def partition_of(*values, table="sales", location=None, **fields):
    return STORED.Partition(
        **{
            "values": list(values),
            "dbName": DATABASE,
            "tableName": table,
            "sd": storage(location=location),
            "parameters": {},
            **fields,
        }
    )


def says(**properties):
    """An environment context."""
    return TYPES.EnvironmentContext(properties=properties)
