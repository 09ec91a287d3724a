"""Spark's Python, whose workers come up with what hbstore's tasks and its format import: by a fork, in no time.

Spark starts ``python -m pyspark.daemon MODULE``; the daemon forks workers, which run the module. Those that wait for
work for a minute are ended, and others forked for the next task.
"""

from __future__ import annotations

import gc
import runpy
import shlex
import sys
from importlib import import_module

IMPORTED = ("hbstore.spark", "pyspark.worker", "pyspark.sql.worker.plan_data_source_read")


def use_warm_python(session, folder):
    """Let the workers of a session start so, by a program in a folder."""
    program = folder / "warm_python"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m {__name__} "$@"\n')
    program.chmod(0o755)
    session.sparkContext.pythonExec = str(program)


def main():
    """Be what Spark starts, after the imports."""
    for name in IMPORTED:
        import_module(name)
    # A worker looks for garbage after each task: among all that was imported it would take longer than most tasks.
    gc.collect()
    gc.freeze()
    sys.argv = sys.argv[sys.argv.index("-m") + 1 :]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
