"""The tables of methods in docs/metastore.md: which versions of Hive have a method, and whether hbstore answers it.

The page itself holds the notes, and whether an answer is full. All else is made from the code and from the lists of
methods in `hive_methods.json`, which `tests/metastore/clients/test_service_definition.py` compares with Hive's classes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from hbstore.metastore.endpoint import MODULES
from hbstore.metastore.methods.request_methods import METHODS_BY_REQUEST

PAGE = Path(__file__).parents[2] / "docs" / "metastore.md"
HEADING = "\n## Methods\n"
ROW = re.compile(r"^\| `(\w+)` \| ([\d., –a-z]+) \| (\w+) \| (.*) \|$", re.MULTILINE)
METHODS_OF = json.loads((Path(__file__).parent / "hive_methods.json").read_text(encoding="utf-8"))
"""The methods of each version of Hive, but for those of fb303, which all have."""

VERSIONS = tuple(METHODS_OF)
ANSWERED = {name for handlers in MODULES.values() for name in handlers.by_method}
FB303 = {
    *("aliveSince", "getCounter", "getCounters", "getCpuProfile", "getName", "getOption", "getOptions", "getStatus"),
    *("getStatusDetails", "getVersion", "reinitialize", "setOption", "shutdown"),
}
NOT_ANSWERED = "\n### Not answered\n"
REASONS = (
    (r"_index", "indexes, which Hive 3 dropped"),
    (r"(^|_)type(_all)?$", "types of its own"),
    (r"token|master_key", "no security of its own"),
    (r"file_metadata", "no cache of file footers"),
    (r"dynamic_partitions", "what a transaction adds is not recorded, as only a compactor would read it"),
    (r"compact|Compact|mark_|set_hadoop_jobid|submit_for_cleanup", "nothing is compacted"),
    (r"_wm_|resource_?plan", "no resource plans: they are of Hive's own workers"),
    (r"schema|serde", "no registry of schemas"),
    (r"scheduled_query", "no scheduled queries"),
    (r"stored_procedure|package", "no stored procedures"),
    (r"dataconnector", "no connectors: databases of other systems are not shown"),
    (
        r"replication|repl_|write_event_info|cm_recycle|seed_",
        "replication needs notifications, of which there are none",
    ),
    (r"runtime_stats", "no statistics of Hive's own queries"),
    (r"materializ|creation_metadata", "what a materialized view was made from is not recorded"),
    (r"min_history|transaction_statistics|txnid_in_conflict", "conflicts of transactions are not looked for"),
    (r"refresh_privileges", "privileges are kept as they are granted"),
    (r"properties", "no properties of Hive's own"),
    (r"db_uuid", "the store has no number of its own"),
    (r"columns_with_stats", "statistics are asked for by their columns"),
    (r"getOption|setOption|getCpuProfile|reinitialize", "fb303"),
    (r"getCounter", "fb303: `--metrics-port` instead"),
)
"""Why a method is not answered, by a pattern of its name; the first that fits."""


def methods():
    """All methods that Hive or hbstore has."""
    return {*ANSWERED, *FB303, *(name for names in METHODS_OF.values() for name in names)}


def versions_of(name):
    """The versions of Hive that have a method: ``all``, ``2.3``, ``2.3–3.1``, ``4.0, 4.1``."""
    having = [version for version in VERSIONS if name in FB303 or name in METHODS_OF[version]]
    if having == list(VERSIONS):
        return "all"
    if len(having) > 2 and having == list(VERSIONS)[VERSIONS.index(having[0]) :][: len(having)]:
        return f"{having[0]}–{having[-1]}"
    return ", ".join(having) or "none"


def reason(name):
    """Why a method is not answered."""
    return next((text for pattern, text in REASONS if re.search(pattern, name)), "")


def rewritten(page):
    """The page with its tables as they should be."""
    before, heading, tables = page.partition(HEADING)
    rows = {name: (status, note) for name, _, status, note in ROW.findall(tables)}
    head, not_answered, _ = tables.partition(NOT_ANSWERED)

    def line(name, status, note):
        if name in METHODS_BY_REQUEST and not note:
            note = f"as {METHODS_BY_REQUEST[name].older}"
        return f"| `{name}` | {versions_of(name)} | {status} | {note} |"

    head = ROW.sub(lambda found: line(found[1], found[3], found[4]), head)
    rest = [
        line(name, "no", reason(name) or rows.get(name, ("", ""))[1])
        for name in sorted(methods() - ANSWERED, key=lambda name: (reason(name), name))
    ]
    table = "\n".join(["| method | Hive | status | notes |", "|---|---|---|---|", *rest])
    return f"{before}{heading}{head}{not_answered}\n{table}\n"
