"""What examples in docstrings need that takes long to start: Spark, where they use the name `spark`, and a metastore.

tests/spark/test_examples.py defines `spark`; conftest.py runs a metastore for those that use the name `uri`.
"""

from __future__ import annotations

import ast
import doctest
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 60


def uses(name: str, examples: list[doctest.Example]) -> bool:
    """Whether one of some examples uses a name.

    >>> uses("spark", doctest.DocTestParser().get_examples(">>> spark.range(5)"))
    True
    >>> uses("spark", doctest.DocTestParser().get_examples(">>> settings['spark.sql.ansi.enabled']"))
    False
    """
    nodes = (node for example in examples for node in ast.walk(ast.parse(example.source)))
    return any(isinstance(node, ast.Name) and node.id == name for node in nodes)


@contextmanager
def other_metastore() -> Iterator[str]:
    """The URI of a metastore, hbstore's own endpoint in this process, that has web.visits with a month of days."""
    from hbstore import Column, Database, Table, connect
    from hbstore.files.warehouse import Warehouse
    from hbstore.metastore.endpoint import metastore
    from hbstore.metastore.server import metastore_server
    from hbstore.warehouse.service import Service

    with tempfile.TemporaryDirectory() as folder, connect("memory://") as store:
        store.create_database(Database("web", location=f"file:{folder}/web"))
        days, pages = [Column("ds", "date")], [Column("page", "string")]
        store.create_table(Table("web", "visits", days, pages, location=f"file:{folder}/web/visits"))
        store.table("web.visits").add([(f"2013-01-{day:02}",) for day in range(1, 32)])
        server = metastore_server(metastore(Service(store, Warehouse(folder)), lambda _: None)).start()
        try:
            yield f"thrift://127.0.0.1:{server.port}"
        finally:
            server.stop(SECONDS)
