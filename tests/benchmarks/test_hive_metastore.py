"""A real Hive Metastore of dev/hms: it starts, is filled by calls and by SQL, answers rightly, and leaves nothing."""

from __future__ import annotations

import random
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.metastore.loading import load
from benchmarks.metastore.measuring import Asker, WrongAnswer
from benchmarks.metastore.memory import listing, memory_of, set_back_peak
from benchmarks.metastore.questions import QUESTIONS, Asked, all_partitions
from benchmarks.metastore.sales import specs
from benchmarks.metastore.servers import hive_metastore, scratch
from tests.metastore.serving import refused
from tests.pauses import until
from tests.quick_java import quick_java

ROOT = Path(__file__).parents[2]
DAYS = 5
pytestmark = [pytest.mark.slow, pytest.mark.spark]


def session(pid):
    """The processes of the session that a process leads."""
    shown = subprocess.run(["ps", "-o", "pid=", "-s", pid], capture_output=True, text=True, check=False)
    return shown.stdout.split()


@pytest.fixture(scope="module")
def asker():
    with scratch() as folder, quick_java(), hive_metastore(folder, "auto") as server:
        asker = Asker(server)
        load(server, asker.client, specs(DAYS), added=50)
        asker.learn()
        yield asker
        asker.client.close()


def test_it_holds_all_partitions(asker):
    asker.check(all_partitions(None, DAYS))


@pytest.mark.parametrize("question", QUESTIONS[:-1], ids=lambda question: question.name)
def test_it_agrees_on_every_answer(asker, question):
    asker.check(question.make(random.Random(3), DAYS))


def test_a_wrong_answer_is_noticed(asker):
    call = all_partitions(None, DAYS).call
    with pytest.raises(WrongAnswer, match="items"):
        asker.check(Asked(call, tuple(specs(DAYS - 1))))
    other = [*specs(DAYS)[:-1], *specs(DAYS + 1)[-1:]]
    with pytest.raises(WrongAnswer, match="other partitions"):
        asker.check(Asked(call, tuple(other)))


def test_memory_is_measured(asker):
    size = len(asker.ask(all_partitions(None, DAYS)).data)
    set_back_peak(asker.server.pid)
    listing(asker.server.port, 3, size)
    memory = memory_of(asker.server.pid)
    assert 0 < memory.own < memory.now <= memory.peak


def test_nothing_is_left_when_it_ends_or_its_starter_is_killed():
    program = """
import signal, sys
from benchmarks.metastore.servers import hive_metastore, scratch
with scratch() as folder, hive_metastore(folder, "auto") as server:
    ports = [server.port, *([server.postgres.port] if server.postgres else [])]
    print(folder, server.pid, *ports, flush=True)
    signal.pause()
"""
    with quick_java():
        starter = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    folder, pid, *ports = starter.stdout.readline().split()
    try:
        socket.create_connection(("127.0.0.1", int(ports[0]))).close()
        starter.send_signal(signal.SIGKILL)
        starter.wait()
        until(lambda: not session(pid))
        until(lambda: all(refused(int(port)) for port in ports))  # PostgreSQL ends by itself, a moment later
    finally:
        starter.kill()
        until(lambda: shutil.rmtree(folder, ignore_errors=True) or not Path(folder).exists())
