"""Spark's Python, whose workers come up with what hbstore's tasks and its format import: a fork instead of seconds."""

from __future__ import annotations

import sys

TEXT = """#!{python}
# Spark starts it as "python -m pyspark.daemon MODULE"; the daemon forks workers, which import what they need.
import gc
import runpy
import sys

import hbstore.spark
import pyspark.sql.worker.plan_data_source_read
import pyspark.worker

# A worker looks for garbage after each task: among all that was imported it would take longer than most tasks.
gc.collect()
gc.freeze()
sys.argv = sys.argv[2:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def use_warm_python(session, folder):
    """Let the workers of a session start so; Spark ends those that wait for work for a minute, and starts new ones."""
    path = folder / "warm_python"
    path.write_text(TEXT.format(python=sys.executable))
    path.chmod(0o755)
    session.sparkContext.pythonExec = str(path)
