"""The bar of commands that run Spark: real jobs, on what says that it is a terminal."""

from __future__ import annotations

import io
import re
import sys
import threading

from hbstore.cli.progress import stages
from tests.pauses import idle

TASKS = 8


class Terminal(io.StringIO):
    def isatty(self):
        return True


def slow_job(spark):
    return spark.sparkContext.parallelize(range(TASKS), TASKS).map(lambda one: idle(0.4) or one).sum()


def test_a_bar_shows_how_many_tasks_are_done(spark, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with stages(spark, "Asking Spark"):
        assert slow_job(spark) == sum(range(TASKS))
    shown = sys.stderr.getvalue()
    assert re.search(r"Asking Spark: stage \d+, tasks", shown)
    done = {int(one) for one in re.findall(rf"(\d+)/{TASKS}\b", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown))}
    assert done & set(range(1, TASKS))
    assert not any(one.name == "hbstore-progress" for one in threading.enumerate())


def test_elsewhere_there_is_none(spark, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with stages(spark, "Asking Spark"):
        assert slow_job(spark) == sum(range(TASKS))
    assert sys.stderr.getvalue() == ""
