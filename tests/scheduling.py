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
    "tests/exactness/": "exactness",
    "tests/spark/": "spark",
    "tests/transfer/": "transfer",
    "tests/metastore/clients/": "clients",
    "tests/rows/test_hbase_faults.py": "faults",
    "tests/metastore/test_faults.py": "faults",
}
"""Files whose tests run in one worker: they count together, or share one Spark, other servers, or an HBase to kill."""

LONGEST = (
    "spark",
    "tests/metastore/spark/test_spark_statements.py",
    "faults",
    *ALONE,
    "transfer",
    "exactness",
    "tests/metastore/spark/",
    "clients",
    "tests/benchmarks/",
    "tests/metastore/test_serve.py",
    "tests/store/test_crashes_of_processes.py",
    "tests/store/test_moves_of_processes.py",
    "tests/store/test_timelines_processes.py",
    "tests/cli/test_repair.py",
)
"""How the names begin of what takes long for its number of tests, the longest first; then whatever has most tests."""


class LongestFirst(LoadFileScheduling):
    """Whoever has nothing left to do gets the longest file, or group of files, that nobody has begun."""

    def _split_scope(self, nodeid):
        groups = [] if nodeid.startswith(ALONE) else [TOGETHER[start] for start in TOGETHER if nodeid.startswith(start)]
        return groups[0] if groups else super()._split_scope(nodeid)

    def _assign_work_unit(self, node):
        longest = next((one for start in LONGEST for one in self.workqueue if one.startswith(start)), None)
        if longest is not None:
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
