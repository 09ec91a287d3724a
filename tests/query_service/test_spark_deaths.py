"""Deaths of Spark's process, of its Java and of their parent: nothing is left running, and what can goes on."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest

from hbstore.query_service import engine
from hbstore.query_service.messages import Alive, Cancelled, Done, Failed, Progressed
from tests.pauses import until
from tests.processes import Process, runs, say, state
from tests.query_service.listening import listening

pytestmark = [pytest.mark.spark]
LONG = "select count(*) from range(0, 20000000000, 1, 100000) where id % 3 = 1"


def java_of(leader):
    """The Java in the group of a Spark process."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            name, letter, group = state(folder.name)
            if name == "java" and letter != "Z" and int(group) == leader:
                return int(folder.name)
    return None


def begun(spark):
    """A query whose tasks run."""
    id_ = spark.start(LONG)
    spark.until(lambda: [one for one in spark.of(id_) if isinstance(one, Progressed) and one.progress.tasks])
    return id_


@pytest.fixture(scope="module")
def spark(place):
    with listening(place.url, place.uri, place.folder, silent=60) as spark:
        spark.ready()
        yield spark


@pytest.mark.parametrize("victim", ["process", "java", "idle java", "hung java"])
def test_after_a_death_another_spark_runs_statements(spark, victim, monkeypatch):
    times = len(spark.losses)
    leader = spark.engine.pid
    java = java_of(leader)
    id_ = None if victim == "idle java" else begun(spark)
    if victim == "hung java":
        spark.until(lambda: any(isinstance(one, Alive) for one in spark.messages))
    how = signal.SIGSTOP if victim == "hung java" else signal.SIGKILL
    os.kill(leader if victim == "process" else java, how)
    if victim == "hung java":
        monkeypatch.setattr(spark.engine, "_silent", 5)
    spark.until(lambda: len(spark.losses) > times)
    monkeypatch.undo()
    spark.ready(times + 2)
    assert len(spark.losses) == times + 1
    until(lambda: not runs(leader) and not runs(java))
    assert not [one for one in spark.of(id_) if isinstance(one, Done | Failed | Cancelled)]
    end, _ = spark.ask("select id from range(5)")
    assert end.result.rows == 5
    assert len(spark.losses) == times + 1


def test_closing_ends_java_while_a_query_runs(spark):
    """The last one that uses this engine."""
    begun(spark)
    leader, losses = spark.engine.pid, len(spark.losses)
    java = java_of(leader)
    spark.engine.close()
    assert not runs(leader)
    until(lambda: not runs(java))
    assert len(spark.losses) == losses


def test_an_error_of_a_java_that_dies_is_no_end_of_a_query(place, monkeypatch):
    monkeypatch.setattr(engine, "_MODULE", "tests.query_service.dying_java")
    with listening(place.url, place.uri, place.folder) as spark:
        spark.ready()
        id_ = spark.start("select 1")
        spark.until(lambda: spark.losses)
        assert len(spark.losses) == 1
        assert not [one for one in spark.of(id_) if isinstance(one, Done | Failed | Cancelled)]


def test_closing_ends_java_while_it_starts(place, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with listening(place.url, place.uri, place.folder) as spark:
        java = until(lambda: spark.engine.pid and java_of(spark.engine.pid))
    until(lambda: not runs(java))
    assert not spark.losses
    assert not list(tmp_path.glob("*.conf")), "the settings of Spark, which may hold secrets"


def test_spark_ends_when_its_parent_is_killed(place):
    parent = Process(__name__, "be_parent", place.url, place.uri, place.folder)
    ((leader, java, folder),) = parent.heard(1)
    assert runs(leader)
    assert runs(java)
    assert Path(folder).is_dir()
    parent.kill()
    until(lambda: not runs(leader) and not runs(java))
    assert not Path(folder).exists()


def be_parent(url, uri, folder):
    """In a process of its own: have Spark run a query, and say which processes that takes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what Spark says while it starts is no error
    tempfile.tempdir = tempfile.mkdtemp(dir=folder)
    with listening(url, uri, Path(folder)) as spark:
        spark.ready()
        begun(spark)
        leader = spark.engine.pid
        (scratch,) = Path(tempfile.tempdir).iterdir()
        say(leader, java_of(leader), scratch)
        signal.pause()


def test_a_dead_executor_is_noticed_though_java_lives(place, monkeypatch):
    monkeypatch.setattr(engine, "_MODULE", "tests.query_service.dead_executor")
    with listening(place.url, place.uri, place.folder) as spark:
        spark.ready()
        leader, id_ = spark.engine.pid, spark.start("select id, count(*) from range(5) group by id")
        spark.until(lambda: spark.losses)
        assert not [one for one in spark.of(id_) if isinstance(one, Done | Failed | Cancelled)]
        until(lambda: not runs(leader))
