"""Partitions by filter over REST beside the metastore's door: two servers of one store, asked in turn.

Both times are those to the last byte of a reply, which nobody decodes. The door sends the stored bytes as they are.
"""

from __future__ import annotations

import http.client
import multiprocessing
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from benchmarks.data import load, sales_partitions, sales_table
from benchmarks.metastore.calls import message
from benchmarks.metastore.client import Client
from benchmarks.metastore.servers import hbstore
from benchmarks.timing import Report
from hbstore import connect

FEW: Final = "ds = '2013-03-05' and hour >= 4 and hour < 8"
"""A hundred partitions."""

ALL: Final = "ds >= '2013-01-01'"
"""100,000."""

LARGE: Final = 1_000_000
"""Bytes of a reply."""

FORMS: Final = (
    ("stored bytes, Arrow", {"fields": "thrift", "format": "arrow"}),
    ("names and locations, NDJSON", {"fields": "name,location", "format": "ndjson"}),
    ("all usual fields, Arrow", {"format": "arrow"}),
    ("all usual fields, NDJSON", {"format": "ndjson"}),
)


def run() -> Iterator[Report]:
    """The table."""
    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as root:
        folder = Path(root)
        url = f"sqlite://{folder}/catalog.db"
        with connect(url) as store:
            load(store, sales_table(), sales_partitions())
        with hbstore(folder, "SQLite", url) as door, served(url, folder) as port:
            yield _compared(door.port, port)


def _compared(door_port: int, port: int) -> Report:
    report = Report(
        "Partitions by filter, to the last byte: REST beside the metastore's door", headings=("REST", "door")
    )
    door, connection = Client(door_port), http.client.HTTPConnection("127.0.0.1", port)

    def over_rest(path: str, query: dict[str, str]) -> int:
        connection.request("GET", f"/databases/bench/tables/sales/{path}?{urlencode(query)}")
        reply = connection.getresponse()
        data = reply.read()
        assert reply.status == 200, data[:500]
        if len(data) > LARGE:
            connection.close()  # which the server does itself while the door is asked for as much
        return len(data)

    for hits, text, runs in ((100, FEW, 200), (100_000, ALL, 3)):
        call = message("get_partitions_by_filter", db_name="bench", tbl_name="sales", filter=text, max_parts=-1)
        size = len(door.ask(call, hits * 700).data)
        connection.close()
        for name, query in FORMS:
            asked = {"filter": text, **query}
            sent = over_rest("partitions", asked)
            report.compare(
                f"{hits:,} hits: {name}",
                lambda _, asked=asked: over_rest("partitions", asked),
                lambda _, call=call: door.ask(call),
                target="1.5",
                runs=runs,
                note=f"{sent:,} bytes beside {size:,}",
            )
    names = message("get_partition_names", db_name="bench", tbl_name="sales", max_parts=-1)
    door.ask(names, 100_000 * 20)
    connection.close()
    report.compare(
        "100,000 names",
        lambda _: over_rest("partitions/names", {"format": "text"}),
        lambda _: door.ask(names),
        target="1.5",
        runs=3,
    )
    door.close()
    connection.close()
    return report


@contextmanager
def served(url: str, folder: Path) -> Iterator[int]:
    """The application in a process of its own; inside, its port."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(url, str(folder), there))
    process.start()
    try:
        yield here.recv()
    finally:
        here.send(None)
        process.join()


def _serve(url: str, folder: str, pipe: Connection) -> None:
    from datetime import UTC, datetime

    from hbstore.files.warehouse import Warehouse
    from hbstore.query_service.access import Access
    from hbstore.query_service.limits import Limits
    from hbstore.query_service.results import Results
    from hbstore.query_service.servers import Servers
    from hbstore.query_service.service import QueryService
    from hbstore.warehouse.service import Service
    from hbstore.web.app import application
    from hbstore.web.serving import http_served

    with connect(url) as store:
        servers = Servers(store.records, lambda: datetime.now(UTC))
        service = QueryService(store, Results(f"{folder}/results"), servers, Limits())
        app = application(service, Access(), catalog=Service(store, Warehouse(f"{folder}/warehouse")))
        with http_served(app, "127.0.0.1", 0) as port:
            pipe.send(port)
            pipe.recv()
