"""The process in which Spark runs statements: started by `hbstore.query_service.engine`, which tells it what to run.

    python -m hbstore.query_service.spark_process FILE     the number of its end of a pair of sockets

Each statement has a thread and a group of jobs of its own; spark_sessions.py says in which session it runs. The process
ends when the sockets do, and its Java with it; when Java ends before, the process ends at once, and its parent learns
it by that.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Event, Lock, Thread, Timer
from typing import Any, Final

from pyspark import SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from hbstore.files.warehouse import Warehouse
from hbstore.metastore.spark_conf import spark_settings
from hbstore.query_service.cube_hints import with_cube_hint
from hbstore.query_service.messages import (
    Alive,
    Cancel,
    Cancelled,
    CloseSession,
    Done,
    Failed,
    FromSpark,
    Planned,
    Progressed,
    Ready,
    Run,
    Start,
    Started,
    written,
)
from hbstore.query_service.pulse import EVERY, Pulse, PulseTaker
from hbstore.query_service.query import QueryProgress, Request
from hbstore.query_service.result_writing import write_rows
from hbstore.query_service.spark_problems import problem_of
from hbstore.query_service.spark_sessions import SparkSessions
from hbstore.query_service.statement import Statement
from hbstore.query_service.tracking import Tracking
from hbstore.spark.sql import URL, WAREHOUSE
from hbstore.spark.starting import start_spark
from hbstore.store.partition_store import connect
from hbstore.warehouse.service import Service

_LOG: Final = logging.getLogger("hbstore.query_service")
_JAVA_ENDED: Final = 3
"""The exit code of a process whose Java ended."""

_DID_NOT_START: Final = 4
_NO_WORK: Final = 5
_EVERY: Final = 0.2
"""Seconds between two looks at how far queries are."""

_STOPPING: Final = 10.0
"""Seconds that Spark has to stop, and to remove what it keeps on disk."""

_DYING: Final = 5.0
"""Seconds in which a Java that does not answer any more ends, if it is about to."""

_EARLY: Final = 1000
"""Cancelled queries that are remembered because they have not come yet, or have ended before."""

_LOGGERS_OF_STATEMENTS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Where PySpark logs errors of statements, at length; users get them, in short."""

_FIRST: Final = ("SHOW DATABASES", "SELECT 1", "SELECT id, count(*) FROM range(2000) GROUP BY id")
"""Statements about the store, of a small result, and of one that Spark writes."""

_PRIVATE: Final = {"spark.hadoop.fs.permissions.umask-mode": "077"}
"""Hadoop passes over the process's umask. Its own counts for every file system: a cluster's has users in common."""

_TITLE: Final = 100
"""Characters of a statement that Spark shows of its jobs."""


@dataclass(slots=True)
class _Running:
    """A query that runs.

    Attributes:
        run: what was asked for.
        slot: the smallest number that no other query had when it began; names its pool among those that share Spark.
        cancelled: set when it is to end.
        tracking: asks Spark how far it is.
        progress: what was said of that last.
    """

    run: Run
    slot: int
    cancelled: Event = field(default_factory=Event)
    tracking: Tracking | None = None
    progress: QueryProgress = field(default_factory=QueryProgress)


class SparkProcess:
    """Runs statements on Spark as messages of a pipe say, and says what becomes of them.

    Args:
        pipe: to the parent and from it.
    """

    def __init__(self, pipe: Connection[Any, Any]) -> None:
        self._pipe = pipe
        self._outgoing: SimpleQueue[FromSpark] = SimpleQueue()
        self._changing = Lock()
        self._running: dict[str, _Running] = {}
        self._early: dict[str, None] = {}
        self._some_run = Event()
        self._ending = Event()
        self._spark: SparkSession | None = None
        self._sessions: SparkSessions | None = None
        self._service: Service | None = None

    def serve(self) -> None:
        """Do what the parent says until it says no more. Does not return."""
        scratch = None
        try:
            start: Start = self._pipe.recv()
            scratch = start.scratch
            Thread(target=self._send, name="hbstore-say", daemon=True).start()
            Thread(target=self._begin, args=(start,), name="hbstore-start", daemon=True).start()
            while True:
                message = self._pipe.recv()
                if isinstance(message, Run):
                    self._run(message)
                elif isinstance(message, Cancel):
                    self._cancel(message.id)
                elif isinstance(message, CloseSession):
                    Thread(target=self._close, args=(message.id,), name="hbstore-close", daemon=True).start()
        except (EOFError, OSError):
            self._end(scratch)

    # Beginning and ending

    def _begin(self, start: Start) -> None:
        """Start Spark."""
        try:
            store = connect(start.store, create=False)
            warehouse = Warehouse(start.warehouse, trash=start.trash, also_under=start.also_under)
            self._service = Service(store, warehouse, start.read_only)
            self._spark = _session(start)
            self._sessions = SparkSessions(self._spark, store)
            Thread(target=self._follow_java, name="hbstore-java", daemon=True).start()
            Thread(target=self._track, name="hbstore-progress", daemon=True).start()
            Thread(target=self._beat, name="hbstore-pulse", daemon=True).start()
            version = self._spark.version
        except Exception:  # noqa: BLE001  whatever it is, the parent starts another process
            _LOG.exception("Spark does not start")
            os._exit(_DID_NOT_START)
        self._say(Ready(version))
        self._warm_up(start.scratch)

    def _warm_up(self, scratch: str) -> None:
        """Run statements of each kind, so that Java has loaded what users' first ones need."""
        assert self._sessions is not None
        assert self._service is not None
        for number, text in enumerate(_FIRST):
            request = Request(text=text)
            try:
                rows = Statement(self._sessions.of(request), self._service, request).rows(None)
                write_rows(rows, f"file:{scratch}/first-{number}")
            except Exception:  # noqa: BLE001  what does not work, users are told of their own statements
                _LOG.debug("a first statement failed", exc_info=True)

    def _follow_java(self, seconds: float | None = None) -> None:
        """End this process when Java ends, unless it runs on for so many seconds."""
        try:
            _java().wait(seconds)
        except subprocess.TimeoutExpired:
            return
        if not self._ending.is_set():
            os._exit(_JAVA_ENDED)

    def _beat(self) -> None:
        """Say every few seconds that Spark is alive; end this process where it is not, so that another one starts."""
        taker = PulseTaker(self._ready_spark())
        while not self._ending.wait(EVERY):
            with self._changing:
                groups = [one.run.id for one in self._running.values() if not one.cancelled.is_set()]
            try:
                pulse = taker.look(groups)
            except Exception:  # noqa: BLE001  Java ends, or will not answer the next time either
                _LOG.debug("nothing is known of Spark", exc_info=True)
                continue
            if pulse in (Pulse.STOPPED, Pulse.EXECUTOR_DEAD) and not self._ending.is_set():
                _LOG.error("Spark does no more work: %s", pulse)
                os._exit(_NO_WORK)
            self._say(Alive(has_executor=pulse is Pulse.WELL))

    def _java_answers(self) -> bool:
        """Whether Java is there. A call in which it dies may fail with any error, which need not say so."""
        try:
            _scala_context(self._ready_spark()).isStopped()
        except Exception:  # noqa: BLE001  so may this one
            return False
        return True

    def _end(self, scratch: str | None) -> None:
        """Stop Spark and end the process, with its Java, soon and in any case."""
        self._ending.set()
        logging.disable()  # what goes on was given up
        by_force = Timer(_STOPPING, _finish, [scratch])
        by_force.daemon = True
        by_force.start()
        with self._changing:
            spark, running = self._spark, list(self._running.values())
        for one in running:
            one.cancelled.set()
        java = _java()
        if spark is not None and java is not None:
            try:
                spark.sparkContext.cancelAllJobs()
                spark.stop()
                java.stdin.close()  # the sign to end
                java.wait()
            except Exception:  # noqa: BLE001  Java is gone already, or does not answer
                _LOG.debug("Spark did not stop in order", exc_info=True)
        _finish(scratch)

    def _say(self, message: FromSpark) -> None:
        """Say something, in the order of these calls, and without waiting for the parent, which may wait for us."""
        self._outgoing.put(message)

    def _send(self) -> None:
        while True:
            message = self._outgoing.get()
            try:
                self._pipe.send_bytes(written(message))
            except OSError:  # nobody hears any more
                return

    # Queries

    def _run(self, run: Run) -> None:
        with self._changing:
            taken = {one.slot for one in self._running.values()}
            slot = next(number for number in range(len(taken) + 1) if number not in taken)
            running = self._running[run.id] = _Running(run, slot)
            if run.id in self._early:
                running.cancelled.set()
            self._some_run.set()
        # The thread's twin in Java inherits nothing from this one's: it sets the properties of its jobs itself.
        Thread(target=self._run_one, args=(running,), name=f"hbstore-query-{run.id[:8]}", daemon=True).start()

    def _cancel(self, id_: str) -> None:
        with self._changing:
            running = self._running.get(id_)
            if running is None:
                self._early[id_] = None
                if len(self._early) > _EARLY:
                    del self._early[next(iter(self._early))]
                return
            running.cancelled.set()
        self._cancel_jobs(id_)

    def _cancel_jobs(self, id_: str) -> None:
        """Cancel the jobs of a query; the stages of a shuffle that come later run on, and so this is to be repeated."""
        _scala_context(self._ready_spark()).cancelJobGroupAndFutureJobs(id_)

    def _run_one(self, running: _Running) -> None:
        """In a thread of its own: run a query, and say how it ended."""
        id_ = running.run.id
        end = self._end_of(running)
        if isinstance(end, Done):
            self._look_at(running, settle=True)
        with self._changing:
            del self._running[id_]
            if not self._running:
                self._some_run.clear()
        self._say(end)

    def _end_of(self, running: _Running) -> Done | Failed | Cancelled:
        run, cancelled = running.run, running.cancelled
        statement = None
        try:
            if cancelled.is_set():
                return Cancelled(run.id)
            spark = self._ready_spark()
            assert self._sessions is not None
            assert self._service is not None
            context = spark.sparkContext
            context.setLocalProperty("spark.scheduler.pool", f"slot-{running.slot}")
            context.setJobGroup(run.id, run.request.name or run.request.text[:_TITLE], interruptOnCancel=True)
            running.tracking = Tracking(spark, run.id)
            self._say(Started(run.id))
            statement = Statement(self._sessions.of(run.request), self._service, run.request)
            rewritten = statement.rewritten()
            if rewritten is not None:
                self._say(Planned(run.id, rewritten.to_dict(), rewritten.warnings))
            if cancelled.is_set():
                return Cancelled(run.id)
            result = write_rows(statement.rows(rewritten), run.location)
            return Done(run.id, result, tuple(statement.notes))
        except Exception as error:  # noqa: BLE001  whatever it is, it is how the query ended
            if not self._java_answers():
                self._follow_java(_DYING)
            if cancelled.is_set():
                return Cancelled(run.id)
            problem = problem_of(error, run.request.text)
            return Failed(
                run.id,
                problem if statement is None else with_cube_hint(problem, statement.service.store, statement.spark),
            )

    def _close(self, id_: str) -> None:
        """In a thread of its own: forget a session."""
        try:
            if self._sessions is not None:
                self._sessions.close(id_)
        except Exception:  # noqa: BLE001  nobody waits for it
            _LOG.warning("a session was not closed in order", exc_info=True)

    def _ready_spark(self) -> SparkSession:
        assert self._spark is not None  # the parent waits for `Ready`
        return self._spark

    # Progress

    def _track(self) -> None:
        """While queries run, say how far they are."""
        pause = Event()
        while True:
            self._some_run.wait()
            pause.wait(_EVERY)
            with self._changing:
                all_ = list(self._running.values())
            for one in all_:
                self._look_at(one)
                if one.cancelled.is_set():
                    self._cancel_jobs(one.run.id)

    def _look_at(self, running: _Running, *, settle: bool = False) -> None:
        """Say how far a query is, if that has changed and the query has not ended."""
        if running.tracking is None:
            return
        try:
            if settle:
                running.tracking.settle()
            progress = running.tracking.look()
        except Exception:  # noqa: BLE001  the query itself says what is wrong
            _LOG.debug("the progress of a query is not known", exc_info=True)
            return
        with self._changing:
            if running.run.id in self._running and progress != running.progress:
                running.progress = progress
                self._say(Progressed(running.run.id, progress))


def _session(start: Start) -> SparkSession:
    return start_spark(
        {
            "spark.master": start.master,
            "spark.app.name": "hbstore queries",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.scheduler.mode": "FAIR",
            "spark.local.dir": start.scratch,
            "spark.sql.session.timeZone": "UTC",  # in which times of hbstore are
            **(_PRIVATE if start.warehouse.startswith("file:") else {}),
            **{one.name: one.value for one in spark_settings([start.metastore], start.warehouse)},
            URL: start.store,
            WAREHOUSE: start.warehouse,
            **start.conf,
        },
        start.scratch,
    )


def _scala_context(spark: SparkSession) -> Any:
    """Spark's own context: some of what it can do has no name in Python."""
    return spark.sparkContext._jsc.sc()  # noqa: SLF001


def _java() -> Any:
    """The process of Java, if there is one."""
    return getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001  there is no public way to it


def _finish(scratch: str | None) -> None:
    """Remove the folder, and end this process and Java with it, which is of its group."""
    if scratch is not None:
        shutil.rmtree(scratch, ignore_errors=True)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def main() -> None:
    """Serve the parent at the other end of the sockets whose number is the argument."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    for name in _LOGGERS_OF_STATEMENTS:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)
    number = int(sys.argv[1])
    os.set_inheritable(number, False)
    SparkProcess(Connection(number)).serve()


if __name__ == "__main__":
    main()
