"""The Spark process without Spark: what it says, and how it ends."""

from __future__ import annotations

import subprocess
import sys
from multiprocessing import Pipe
from threading import Thread

from hbstore.query_service.messages import Planned, read
from hbstore.query_service.spark_process import SparkProcess
from tests.processes import ROOT


def test_a_parent_that_does_not_listen_holds_up_nothing():
    """It may wait until this process has read a long statement, and listen only then."""
    ours, theirs = Pipe()
    process = SparkProcess(theirs)
    said = [Planned(str(number), {"sql": "x" * 100_000}, ()) for number in range(50)]
    Thread(target=process._send, daemon=True).start()
    for message in said:
        process._say(message)
    assert [read(ours.recv_bytes()) for _ in said] == said


def test_a_process_whose_parent_is_gone_ends_before_it_starts_spark():
    ours, theirs = Pipe()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "hbstore.query_service.spark_process", str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    ours.close()
    assert process.wait(60) != 0
