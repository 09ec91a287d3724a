"""Pages of queries beside what programs get of the same: the same server, asked in turn."""

from __future__ import annotations

import http.client
import math
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import parquet

from benchmarks.timing import Report
from hbstore import Column, Table, connect
from hbstore.files.warehouse import Warehouse
from hbstore.query_service.access import Access
from hbstore.query_service.limits import Limits
from hbstore.query_service.messages import Cancel, CloseSession, Done, Ready, Run, Started
from hbstore.query_service.query import Query, QueryResult, Request, ResultColumn
from hbstore.query_service.results import Results
from hbstore.query_service.servers import Servers
from hbstore.query_service.service import QueryService
from hbstore.warehouse.service import Service
from hbstore.web.app import application
from hbstore.web.serving import http_served

ROWS: Final = 10_000
HISTORY: Final = 1_000
TABLES: Final = 400
COLUMNS: Final = (
    ResultColumn(name="day", type="date"),
    *(ResultColumn(name=f"m{at}", type="double") for at in range(3)),
)


class Idle:
    """A Spark that is told what to do, and says nothing."""

    def wake(self) -> None:
        """Nothing starts."""

    def run(self, run: Run) -> None:
        """Take a query."""

    def cancel(self, cancel: Cancel) -> None:
        """Take no notice."""

    def close_session(self, close: CloseSession) -> None:
        """Take no notice."""


def run() -> Report:
    """The table."""
    report = Report(
        f"Pages of queries, to the last byte: {HISTORY:,} queries, results of {ROWS:,} rows, {TABLES} tables",
        headings=("page", "JSON"),
    )
    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as root, connect(f"sqlite://{root}/catalog.db") as store:
        service = QueryService(
            store,
            Results(f"{root}/results"),
            Servers(store.records, lambda: datetime.now(UTC)),
            Limits(queued=HISTORY + 1),
        )
        service.open(Idle())
        store.create_database("bench")
        columns = [Column(f"c{at}", "double", "what it holds") for at in range(30)]
        for number in range(TABLES):
            store.create_table(Table("bench", f"t{number}", columns=columns))
        query = _filled(service)
        catalog = Service(store, Warehouse(f"{root}/warehouse"))
        with http_served(application(service, Access(), catalog=catalog), "127.0.0.1", 0) as port:
            connection = http.client.HTTPConnection("127.0.0.1", port)

            def get(path: str, form: str) -> int:
                connection.request("GET", path, headers={"Accept": form})
                reply = connection.getresponse()
                data = reply.read()
                assert reply.status == 200, data[:500]
                return len(data)

            for name, page, data in (
                (
                    "a result: chart and 100 rows",
                    f"/queries/{query.id}",
                    f"/queries/{query.id}/results?page_size={ROWS}",
                ),
                ("the editor and 50 queries of the history", "/queries", "/queries?limit=50"),
                (f"names of {TABLES} tables with 30 columns", "/databases/bench/names", "/databases/bench/tables"),
            ):
                form = "application/json" if page == "/databases/bench/names" else "text/html"
                report.compare(
                    name,
                    lambda _, page=page, form=form: get(page, form),
                    lambda _, data=data: get(data, "application/json"),
                    target="",
                    runs=20,
                    note=f"{get(page, form):,} bytes beside {get(data, 'application/json'):,}",
                )
            connection.close()
        service.close()
    return report


def _filled(service: QueryService) -> Query:
    """A history, whose newest query has succeeded."""
    service.runner.heard(Ready("4"))
    for number in range(HISTORY):
        query = service.submit(Request(text=f"select {number} from some_table where a = 'b'", database="bench"))
        if number < HISTORY - 1:
            service.cancel(query.id)
    folder = Path(service.results.location(query.id).removeprefix("file:"))
    folder.mkdir(parents=True)
    values = [[1_000 * math.sin(row / (50 + 10 * at)) for row in range(ROWS)] for at in range(3)]
    table = pa.table({"c0": pa.array(range(ROWS), pa.date32()), **{f"c{at + 1}": one for at, one in enumerate(values)}})
    parquet.write_table(table, folder / "part-00000.parquet")
    (folder / "_SUCCESS").touch()
    service.runner.heard(Started(query.id))
    service.runner.heard(Done(query.id, QueryResult(columns=COLUMNS, rows=ROWS, size=1)))
    return query
