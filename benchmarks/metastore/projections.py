"""Locations and values of all partitions, as Hive 4's clients may ask for them, beside the whole partitions."""

from __future__ import annotations

from statistics import median
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.metastore.calls import SERVICE, message
from benchmarks.metastore.figures import shown
from benchmarks.metastore.measuring import Asker
from benchmarks.metastore.questions import ALL
from benchmarks.metastore.sales import DATABASE, TABLE

_RUNS: Final = 7
_WHOLE: Final = "get_partitions: whole partitions"


def calls() -> dict[str, bytes]:
    """What is compared, by its name; the first is what the others are compared with."""
    place = {"dbName": DATABASE, "tblName": TABLE}
    return {
        _WHOLE: message("get_partitions", db_name=DATABASE, tbl_name=TABLE, max_parts=ALL),
        **{
            f"get_partitions_with_specs: {name}": message(
                "get_partitions_with_specs",
                request=SERVICE.GetPartitionsRequest(**place, projectionSpec=SERVICE.GetProjectionsSpec(fields)),
            )
            for name, fields in (
                ("values, location", ["values", "sd.location"]),
                ("values, location, parameters", ["values", "sd.location", "parameters"]),
                ("all fields", []),
            )
        },
    }


def run(console: Console, askers: list[Asker]) -> None:
    """Print bytes and times of each server's replies; the load is that of the machine."""
    table = Table("server", title="What a projection saves; medians in one run", title_justify="left")
    table.add_column("call")
    for heading in ("bytes", "of the whole", "first byte", "last byte"):
        table.add_column(heading, justify="right")
    for asker in askers:
        whole = 0
        for name, call in calls().items():
            replies = [asker.client.ask(call) for _ in range(_RUNS)]
            size = len(replies[0].data)
            whole = whole or size
            first, last = (median(getattr(one, what) for one in replies[1:]) for what in ("first", "last"))
            table.add_row(
                asker.server.name,
                name,
                f"{size:,}",
                f"{size / whole:.1%}",
                shown(first, rate=False),
                shown(last, rate=False),
            )
    console.print(table)
