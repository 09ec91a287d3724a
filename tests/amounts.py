"""How many generated cases a run of the tests tries: few, to judge a change; all, where ``make test`` may take a night.

What is random or made by a rule looks for faults by its number, and most changes break many of its cases or none. So
the gate tries some of each kind, the same ones each time, and ``HYPOTHESIS_PROFILE=thorough make test`` all of them;
`make fuzz` goes on from there.
"""

from __future__ import annotations

import os
import zlib

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "random")
WHOLE = PROFILE == "thorough"
QUICK = PROFILE == "quick"


THINNED = (
    "tests/client/test_remote_table.py",
    "tests/cubes/test_catalog_interleavings.py",
    "tests/files/test_warehouse_contract.py::test_several_remove",
    "tests/metastore/test_projection.py::test_many_are_cut",
    "tests/publishing/test_every_interleaving.py::test_two_at_once",
    "tests/spark/test_respelled_values.py",
    "tests/store/test_crashes_of_moves.py",
    "tests/store/test_interleavings.py",
    "tests/store/test_interleavings_of_moves.py",
    "tests/store/test_large_filters.py::test_every_backend",
    "tests/store/test_public_changes.py::test_a_change_is_made",
    "tests/store/test_public_changes.py::test_a_change_within_another_one_is",
    "tests/store/test_timelines_crashes.py",
    "tests/store/test_timelines_interleavings.py",
    "tests/transactions/test_crashes.py::test_the_next_step",
    "tests/transactions/test_interleavings.py::test_every_interleaving",
)
"""How tests begin of which the gate runs a third: each change with each fault, each type, or each pair."""


WHOLE_ON_HBASE = ("tests/rows/", "tests/transactions/", "tests/exactness/")
"""Where the gate runs all on HBase: the contract of rows, and what is built on it.

Elsewhere it runs a third of what also runs on other rows, but of each file something: there, what differs on HBase is
that its rows have no transactions, and memory's without transactions are asked, too.
"""


IN_WHOLE_RUNS = (
    "tests/store/test_region_server_deaths.py",
    "tests/spark/test_stream_deaths.py::test_every_event_is_there_once_however_often_the_query_is_killed[hbase]",
    "tests/metastore/clients/test_iceberg.py::test_every_step_on_hbase",
)
"""How tests begin that the gate leaves out, because other tests there show the same of hbstore.

Region servers: another test kills a whole HBase in the middle of writes. That regions move to a second server is a
feature of HBase, and takes a cluster of six processes. Streams on HBase: other tests kill streams on SQLite, and
publications on HBase. Iceberg in Java on HBase: Iceberg in Python locks tables there, too.
"""


def left_out(nodeids):
    """The tests that the gate leaves to others of their kind: by a number of the name, so it is always the same.

    `make check` leaves out five of six cases of every test.
    """
    if WHOLE:
        return set()
    cases = [one for one in nodeids if "[" in one]
    on_hbase = {one for one in cases if "hbase" in one.partition("[")[2] and not one.startswith(WHOLE_ON_HBASE)}
    thinned = {one for one in cases if QUICK or one in on_hbase or one.startswith(THINNED)}
    left = {one for one in thinned if zlib.crc32(one.encode()) % (6 if QUICK else 3)}
    with_hbase = {_file(one) for one in on_hbase - left}
    for one in cases:
        if one in on_hbase and _file(one) not in with_hbase:
            left.remove(one)
            with_hbase.add(_file(one))
    return left | {one for one in nodeids if one.startswith(IN_WHOLE_RUNS)}


def _file(nodeid):
    return nodeid.partition("::")[0]


def amount(gate, whole):
    """How many of something to try: ``gate`` in `.ci/run` and ``make test``."""
    return whole if WHOLE else gate
