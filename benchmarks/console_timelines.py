"""Pages of 50 timelines of a million hours each, one hour in a hundred missing: time and bytes over HTTP.

Beside each page stands that of a database without tables, from the same server.
"""

from __future__ import annotations

import http.client
import json
import random
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.rest import served
from benchmarks.timelines_stored import put_timelines
from benchmarks.timing import Figure, Report, seconds
from hbstore import connect
from hbstore.cubes import Cubes, parse_documents
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines import EndsAndHolesPartitionTimeline, UpdatePeriod

TABLES: Final = 50
HOURS: Final = 1_000_000
_HOUR: Final = UpdatePeriod.HOURLY
_FIRST: Final = _HOUR.parse_index("1910-01-01-00")
_RANGES: Final = (
    ("114 years", ""),
    ("10 years", "?from=1990&to=2000"),
    ("a year", "?from=1990&to=1991"),
    ("a month", "?from=1990-06&to=1990-07"),
    ("two days", "?from=1990-06-01&to=1990-06-03"),
)
_PAGES: Final = (
    ("database", "/databases/bench/timelines"),
    ("fact, with its cover", "/databases/bench/facts/rides"),
)


def run() -> Report:
    """The table."""
    report = Report(f"Console: {TABLES} timelines of {HOURS:,} hours, 1 % missing", headings=("page", "empty page"))
    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as root:
        folder = Path(root)
        url = f"sqlite://{folder}/catalog.db"
        with connect(url) as store:
            _fill(store)
        with served(url, folder) as port:
            connection = http.client.HTTPConnection("127.0.0.1", port)

            def page(path: str) -> int:
                connection.request("GET", path, headers={"Accept": "text/html"})
                reply = connection.getresponse()
                data = reply.read()
                assert reply.status == 200, data[:500]
                return len(data)

            cold = seconds(page, "/databases/bench/timelines")
            report.figures.append(Figure("database: 114 years, first page of a new server", cold, None, ""))
            for what, path in _PAGES:
                for name, asked in _RANGES:
                    report.compare(
                        f"{what}: {name}",
                        lambda _, path=path, asked=asked: page(f"{path}{asked}"),
                        lambda _: page("/databases/empty/timelines"),
                        target="300 ms, 300 KB",
                        runs=10,
                        note=f"{page(f'{path}{asked}') / 1_000:,.0f} KB",
                    )
            connection.close()
    return report


def _fill(store: PartitionStore) -> None:
    """A fact on 50 storages, whose tables hold timelines and no partitions."""
    for name in ("bench", "empty"):
        store.create_database(name)
    storages = [f"s{number:02}" for number in range(TABLES)]
    column = {"name": "dt", "type": "string"}
    table: dict[str, Any] = {
        "update_periods": ["HOURLY"],
        "partition_columns": [column],
        "time_partition_columns": ["dt"],
    }
    documents = [
        *({"kind": "storage", "name": name} for name in storages),
        {
            "kind": "cube",
            "name": "bikes",
            "measures": [{"name": "fare", "type": "double", "default_aggregate": "sum"}],
            "time_dimensions": {"dt": "dt"},
        },
        {
            "kind": "fact",
            "name": "rides",
            "cube": "bikes",
            "columns": [{"name": "fare", "type": "double"}],
            "storage_tables": [{"storage": name, **table} for name in storages],
        },
    ]
    cubes = Cubes(store, "bench")
    cubes.create_all(parse_documents(json.dumps(documents), "json"))
    pick = random.Random(1)
    for name in storages:
        hours = EndsAndHolesPartitionTimeline(f"{name}_rides", _HOUR, "dt")
        hours.add_index_ranges([(_FIRST, _FIRST + HOURS)])
        missing = sorted(pick.sample(range(_FIRST + 1, _FIRST + HOURS - 1), HOURS // 100))
        hours.drop_all(map(_HOUR.time, missing))
        put_timelines(store, f"{name}_rides", [hours])
