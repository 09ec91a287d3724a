"""A store of every kind, a warehouse of real folders, and statements that run on both."""

from __future__ import annotations

import pytest

from hbstore.ddl import execute
from tests.metastore.writing import BACKENDS, opened, partition_of, table_of


class Shop:
    """shop.sales with the partitions a/1, a/2 and b/1, and attic.old of the same columns with none.

    Attributes:
        writing: an endpoint over the same store and warehouse.
    """

    def __init__(self, writing):
        self.writing = writing

    def run(self, text, database="shop"):
        """The results of a text's statements."""
        return execute(self.writing.store, text, database, str(self.writing.root))

    def rows(self, text):
        """What one statement finds."""
        (result,) = self.run(text)
        return list(result.rows)

    def changed(self, text):
        """How many partitions one statement changes."""
        (result,) = self.run(text)
        return result.changed

    def names(self, table="sales"):
        """The partitions of a table."""
        return [name for (name,) in self.rows(f"SHOW PARTITIONS {table}")]


@pytest.fixture(params=BACKENDS)
def shop(request, tmp_path):
    with opened(request, tmp_path) as writing:
        writing.create_database(type(writing.get_database("shop"))(name="attic"))
        writing.create_table(table_of())
        writing.create_table(table_of("old", dbName="attic"))
        writing.add_partitions([partition_of("a", "1"), partition_of("a", "2"), partition_of("b", "1")])
        for values in ("ds=a/hour=1", "ds=a/hour=2", "ds=b/hour=1"):
            writing.write(f"shop.db/sales/{values}/file", values)
        yield Shop(writing)
