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
    "tests/client/test_remote_table.py::test_names_are_selected",
    "tests/cubes/test_catalog_interleavings.py",
    "tests/metastore/test_projection.py::test_many_are_cut",
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


def is_left_out(nodeid):
    """Whether the gate leaves a test to others of its kind: by a number of its name, so it is always the same."""
    return not WHOLE and "[" in nodeid and nodeid.startswith(THINNED) and zlib.crc32(nodeid.encode()) % 3 != 0


def amount(gate, whole):
    """How many of something to try: ``gate`` in `.ci/run` and ``make test``."""
    return whole if WHOLE else gate
