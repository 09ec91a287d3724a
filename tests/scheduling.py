"""Which worker of pytest-xdist runs which tests, and in which order: those of one file together, the longest first."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

ALONE = (
    "tests/spark/test_stream_deaths.py",
    "tests/spark/test_write_deaths.py",
    "tests/spark/test_demo.py",
    "tests/spark/test_executor_deaths.py",
)
"""Files that start a Spark of their own for each test."""

TOGETHER = {
    "exactness": ("tests/exactness/",),
    "analyses": ("tests/spark/test_a", "tests/spark/test_b", "tests/spark/test_c", "tests/spark/test_f"),
    "spark": ("tests/spark/",),  # the other half, with a Spark of its own
    "transfer": ("tests/transfer/",),
    "clients": ("tests/metastore/clients/",),
    "faults": ("tests/rows/test_hbase_faults.py", "tests/metastore/test_faults.py"),
}
"""Files whose tests run in one worker: they count together, or share one Spark, other servers, or an HBase to kill."""

LONGEST = (
    "spark",
    "tests/metastore/spark/test_spark_statements.py",
    "analyses",
    "faults",
    *ALONE,
    "transfer",
    "exactness",
    "tests/metastore/spark/",
    "clients",
    "tests/metastore/test_serve.py",
    "tests/cli/test_analyze.py",
    "tests/cubes/test_catalog_interleavings.py",
    "tests/metastore/test_deaths.py",
    "tests/store/test_crashes_of_processes.py",
    "tests/store/test_moves_of_processes.py",
    "tests/benchmarks/",
    "tests/test_hbase_server.py",
    "tests/store/test_timelines_processes.py",
    "tests/cli/test_transfer.py",
    "tests/cli/test_processes.py",
    "tests/metastore/test_big_lists.py",
    "tests/publishing/test_exchange_deaths.py",
    "tests/rows/test_sqlite_processes.py",
    "tests/rows/test_hbase_filters.py",
    "tests/store/test_timelines_presence.py",
    "tests/cli/test_repair.py",
)
"""How the names begin of what takes long for its number of tests, the longest first; then whatever has most tests."""


class LongestFirst(LoadFileScheduling):
    """Whoever has nothing left to do gets the longest file, or group of files, that nobody has begun."""

    def _split_scope(self, nodeid):
        group = next((group for group, starts in TOGETHER.items() if nodeid.startswith(starts)), None)
        return super()._split_scope(nodeid) if group is None or nodeid.startswith(ALONE) else group

    def _assign_work_unit(self, node):
        longest = next((one for start in LONGEST for one in self.workqueue if one.startswith(start)), None)
        if longest is not None:
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
