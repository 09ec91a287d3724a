"""One process with a Spark for all tests of this folder: a new Java costs more than most of what it is asked here.

    python -m tests.metastore.spark.process

For each line that it reads it calls a function of a module. That starts a session with `start_session`, on the
metastore that it is given, and may read and write lines itself; sessions share nothing but the Java.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkContext

ROOT = Path(__file__).parents[3]
SHOWN = 4000
"""Characters of a failure, and of the process's log, that a test shows."""


class SparkProcess:
    """The process, started where it is needed.

    Args:
        folder: for its log.
    """

    def __init__(self, folder):
        self._log = Path(folder) / "spark.log"
        self._process = None

    def run(self, function, *arguments):
        """Call a function of a module of tests with texts; the values that it told, in order."""
        with self.running(function, *arguments) as told:
            return list(told)

    @contextmanager
    def running(self, function, *arguments):
        """The same as a block: an iterator over what the function tells, as soon as it does. `go_on` answers it."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        self._say([function.__module__, function.__name__, list(map(str, arguments))])
        told = self._heard()
        try:
            yield told
            assert not list(told), "it told more than was read"
        except BaseException:
            self.close()  # whatever it is at
            raise

    def go_on(self):
        """Have the function, which waits with `wait_for_word`, go on."""
        self._say(None)

    def close(self):
        """Kill the process, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self):
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                cwd=ROOT,
                env={**os.environ, "TZ": "UTC"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def _say(self, words):
        self._process.stdin.write(f"{json.dumps(words)}\n")
        self._process.stdin.flush()

    def _heard(self):
        while True:
            line = self._process.stdout.readline()
            assert line, f"Spark's process ended:\n{self._log.read_text(errors='replace')[-SHOWN:]}"
            words = json.loads(line)
            assert "failed" not in words, words["failed"][-SHOWN:]
            if "told" not in words:
                return
            yield words["told"]


def tell(value):
    """In the process: tell the test a value."""
    _say({"told": value})


def wait_for_word():
    """In the process: wait for `go_on`."""
    sys.stdin.readline()


def _say(words):
    sys.stdout.write(f"{json.dumps(words)}\n")
    sys.stdout.flush()


def main():
    """Call functions until there is nothing more to read. What Java writes goes to the log."""
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in iter(sys.stdin.readline, ""):
        module, name, arguments = json.loads(line)
        try:
            getattr(importlib.import_module(module), name)(*arguments)
        except Exception:  # noqa: BLE001  the test fails of it
            _say({"failed": traceback.format_exc()})
        else:
            _say({})
        finally:
            if SparkContext._active_spark_context is not None:
                SparkContext._active_spark_context.stop()


if __name__ == "__main__":
    main()
