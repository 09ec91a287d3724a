"""Pages of plans and tables beside the calls that they show: one server, asked in turn.

The table has 100,000 partitions. Each plan is new. Beside a page stands `store.explain` itself, in this process, on the
same file; the first line is a page that asks the store for next to nothing.
"""

from __future__ import annotations

import http.client
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from benchmarks.data import Filters, load, sales_partitions, sales_table
from benchmarks.rest import served
from benchmarks.timing import Report
from hbstore import connect

_TABLE: Final = "/databases/bench/tables/sales"
_RUNS: Final = 50


def run() -> Iterator[Report]:
    """The table."""
    report = Report("Pages of the console, to the last byte", headings=("page", "the call alone"))
    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as root:
        folder = Path(root)
        url = f"sqlite://{folder}/catalog.db"
        with connect(url) as store:
            load(store, sales_table(), sales_partitions())
            with served(url, folder) as port:
                _compared(report, http.client.HTTPConnection("127.0.0.1", port), store.table("bench.sales").explain)
    yield report


def _compared(report: Report, connection: http.client.HTTPConnection, explain: Callable[[str], object]) -> None:
    def page(path: str) -> int:
        connection.request("GET", path, headers={"Accept": "text/html"})
        reply = connection.getresponse()
        data = reply.read()
        assert reply.status == 200, data[:500]
        return len(data)

    filters = Filters()

    def skip(_: int) -> str:
        day, hour, region = filters.triple()
        return f"ds >= '{day}' and hour in ({hour}, {hour + 1}) and region like '{region[:2]}%'"

    def listed(run: int) -> str:
        return " or ".join(f"({filters.point()})" for _ in range(200 + run % 2))

    report.compare("a page without tables", lambda _: page("/databases?search=nosuchtable"), target="", runs=_RUNS)
    for name, text in (
        ("plan: one key", lambda _: filters.point()),
        ("plan: a skip scan", skip),
        ("plan: an OR of 200 keys", listed),
    ):
        report.compare(
            name,
            lambda run, text=text: page(f"{_TABLE}/plan?filter={quote(text(run))}"),
            lambda run, text=text: explain(text(run)),
            target="50 ms",
            runs=_RUNS,
        )
    report.compare("table", lambda _: page(_TABLE), target="", runs=_RUNS)
    report.compare("partitions: a page of 100", lambda _: page(f"{_TABLE}/partitions"), target="", runs=_RUNS)
