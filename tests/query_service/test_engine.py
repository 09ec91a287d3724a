"""The engine as the parent of a process that plays Spark's part: messages, deaths, pauses, ends."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

from hbstore import InvalidInput
from hbstore.errors import InvalidUrl
from hbstore.files.warehouse import Warehouse
from hbstore.query_service import engine
from hbstore.query_service.engine import LINES, Engine
from hbstore.query_service.messages import Cancelled, Done, Ready
from hbstore.query_service.query import QueryResult
from hbstore.servers import logs
from tests.pauses import until
from tests.processes import ROOT, runs
from tests.query_service.fake_spark import DIE, NO_MESSAGES
from tests.query_service.listening import Listening

URI = "thrift://127.0.0.1:9083"


@pytest.fixture(autouse=True)
def _fake(monkeypatch):
    monkeypatch.setattr(engine, "_MODULE", "tests.query_service.fake_spark")
    monkeypatch.setattr(engine, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(engine, "_LAST_PAUSE", 0.03)
    monkeypatch.chdir(ROOT)


@pytest.fixture
def begin(tmp_path):
    """Starts an engine, with a part for its process."""
    begun = []

    def start(part="answers", heard=None, lost=None):
        found = Listening(tmp_path)
        found.engine = Engine(
            f"sqlite://{tmp_path}/catalog.db",
            URI,
            Warehouse(str(tmp_path)),
            conf={"part": part},
            heard=heard or found.heard,
            lost=lost or found.lost,
        )
        begun.append(found.engine)
        found.engine.wake()
        return found

    yield start
    for one in begun:
        one.close()


def below(ready):
    """The process that the process started, and the scratch folder."""
    pid, folder = ready.version.split(" ", 1)
    return int(pid), Path(folder)


def test_nothing_is_started_before_somebody_asks(tmp_path):
    spark = Listening(tmp_path)
    engine = Engine(
        f"sqlite://{tmp_path}/catalog.db", URI, Warehouse(str(tmp_path)), heard=spark.heard, lost=spark.lost
    )
    spark.engine = engine
    spark.start("select 1")
    assert engine.pid is None
    engine.wake()
    spark.ready()
    engine.close()


@pytest.mark.parametrize("home", [True, False])
def test_without_java_nothing_is_started_and_it_is_logged_once(begin, monkeypatch, caplog, tmp_path, home):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path)) if home else monkeypatch.delenv("JAVA_HOME", raising=False)
    spark = begin()
    for number in range(1, 4):
        spark.until(lambda: len(spark.losses) == number)  # noqa: B023  called here
        assert "Install a JDK 17" in spark.reasons[-1].hint
        spark.engine.wake()
    assert len([one for one in caplog.records if one.message == "Spark cannot be started"]) == 1
    assert spark.engine.pid is None


def test_an_engine_that_is_closed_while_it_finds_no_java_ends(begin, monkeypatch):
    begun = Event()

    def missing():
        begun.wait()
        spark.engine._closed.set()
        spark.engine._wanted.set()
        return InvalidInput("no Java", hint="Install it")

    monkeypatch.setattr(engine, "_missing", missing)
    spark = begin()
    begun.set()
    until(lambda: not spark.engine._keeper.is_alive())


def test_what_is_said_is_heard_in_order(begin):
    spark = begin()
    spark.ready()
    ids = [spark.start("x" * number) for number in range(1, 200)]
    assert [spark.end(id_) for id_ in ids] == [Done(id_, QueryResult(rows=number)) for number, id_ in enumerate(ids, 1)]
    spark.cancel("a")
    assert spark.end("a") == Cancelled("a")
    assert not spark.losses


def test_a_long_statement_arrives(begin):
    spark = begin()
    spark.ready()
    assert spark.ask("x" * 1_000_000)[0].result.rows == 1_000_000


@pytest.mark.parametrize("by", ["itself", "SIGKILL"])
def test_a_process_that_dies_is_lost_once_and_another_is_started(begin, by):
    spark = begin()
    pid, folder = below(spark.ready())
    for time in (1, 2, 3):
        if by == "itself":
            spark.start(DIE)
        else:
            os.kill(spark.engine.pid, signal.SIGKILL)
        spark.ready(time + 1)
        assert len(spark.losses) == time
        assert isinstance(spark.ask("xyz")[0], Done)
    until(lambda: not runs(pid))
    assert not folder.exists()


def test_nothing_is_heard_of_a_process_after_it_was_lost(begin):
    spark = begin()
    spark.ready()
    id_ = spark.start(DIE)
    spark.start("behind it")
    spark.ready(2)
    assert [type(one) for one in spark.messages] == [Ready, Ready]
    assert spark.losses == [1]
    assert not spark.of(id_)


def test_what_is_said_between_two_processes_does_no_harm(begin, monkeypatch):
    monkeypatch.setattr(engine, "_FIRST_PAUSE", 600.0)
    monkeypatch.setattr(engine, "_LAST_PAUSE", 600.0)
    spark = begin()
    spark.ready()
    spark.start(DIE)
    spark.until(lambda: spark.losses)
    assert spark.engine.pid is None
    spark.start("select 1")
    spark.cancel("a")


@pytest.mark.parametrize(("soon", "pauses"), [(60.0, [0.01, 0.02, 0.03, 0.03]), (0.0, [0.01] * 4)])
def test_the_pause_grows_while_processes_die_soon(begin, monkeypatch, caplog, soon, pauses):
    monkeypatch.setattr(engine, "_SOON", soon)
    spark = begin("does not start")
    for number in range(1, 6):
        spark.until(lambda: len(spark.losses) == number)  # noqa: B023  called here
        spark.engine.wake()
    found = [record.fields for record in caplog.records if record.message == "the Spark process ended"]
    assert [fields["again_in"] for fields in found[:4]] == pauses
    assert {fields["code"] for fields in found} == {7}


def test_errors_of_who_hears_change_nothing(begin, caplog):
    said = []

    def fails(message):
        said.append(message)
        raise RuntimeError("boom")

    spark = begin(heard=fails, lost=fails)
    until(lambda: len(said) == 1)
    spark.start(DIE)
    until(lambda: len(said) == 3)
    assert [type(one) for one in said] == [Ready, type(None), Ready]
    until(lambda: len([record for record in caplog.records if record.exc_info]) == 3)


@pytest.mark.parametrize("part", NO_MESSAGES)
def test_a_process_that_says_what_is_no_message_is_ended(begin, monkeypatch, caplog, tmp_path, part):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spark = begin(part)
    spark.until(lambda: spark.losses)
    spark.engine.close()
    assert spark.messages == []
    assert "the Spark process says what is no message" in caplog.messages
    assert not list(tmp_path.glob("*-trap"))


def test_what_the_process_says_on_stderr_is_logged_line_by_line(begin, caplog):
    caplog.set_level(logging.INFO, "hbstore.query_service")
    spark = begin("says something")
    spark.ready()
    until(lambda: len([one for one in caplog.records if one.message == "the Spark process says"]) == 2)
    said = [one.fields["line"] for one in caplog.records if one.message == "the Spark process says"]
    assert said == ["WARN a: b", "caf\\xe9"]


def test_a_process_that_says_too_much_fills_no_log(begin, caplog, monkeypatch):
    caplog.set_level(logging.INFO, "hbstore.query_service")
    minutes = iter([0.0] * 5_003 + [60.0])  # the last line of the many comes in the next minute
    monkeypatch.setattr(logs, "time", SimpleNamespace(monotonic=lambda: next(minutes)))
    spark = begin("says too much")
    spark.ready()
    until(lambda: any(one.fields.get("line") == "last" for one in caplog.records if hasattr(one, "fields")))
    said = [one.fields for one in caplog.records if one.message == "the Spark process says"]
    assert [len(one["line"]) for one in said[:4]] == [16_384, 16_384, 40_000 - 2 * 16_384, len("rejected")]
    assert said[-1] == {"line": "last", "left_out": 5_003 - LINES}
    assert len(said) == LINES + 1


def test_closing_ends_the_process_and_is_no_loss(begin):
    spark = begin()
    pid, folder = below(spark.ready())
    leader = spark.engine.pid
    spark.engine.close()
    spark.engine.close()
    assert not runs(leader)
    assert not runs(pid)
    assert not spark.losses
    assert not folder.exists()
    spark.start("select 1")


def test_a_process_that_does_not_end_is_ended_by_force(begin, monkeypatch):
    monkeypatch.setattr(engine, "_GRACE", 0.01)
    spark = begin("stays")
    pid, folder = below(spark.ready())
    leader = spark.engine.pid
    spark.engine.close()
    assert not runs(leader)
    until(lambda: not runs(pid))
    assert not spark.losses
    assert not folder.exists()


def test_an_engine_is_closed_before_it_has_begun(begin):
    spark = begin()
    spark.engine.close()
    assert spark.engine.pid is None


def test_what_cannot_work_is_refused_at_once():
    def ignored(*_):
        return None

    with pytest.raises(InvalidUrl):
        Engine("memory://", URI, Warehouse("/nowhere"), heard=ignored, lost=ignored)
    with pytest.raises(InvalidInput):
        Engine("sqlite://a.db", "http://nowhere", Warehouse("/nowhere"), heard=ignored, lost=ignored)
