"""What an engine says, kept in order, and waited for."""

from __future__ import annotations

import secrets
import threading
from contextlib import contextmanager
from pathlib import Path

from hbstore.files.warehouse import Warehouse
from hbstore.query_service.engine import Engine
from hbstore.query_service.messages import Cancel, Cancelled, Done, Failed, Ready, Run
from hbstore.query_service.query import Request
from tests.quick_java import OPTIONS

SECONDS = 180
"""Nothing here takes longer, however busy the machine is."""

ENDS = (Done, Failed, Cancelled)
QUICK = {
    "spark.driver.extraJavaOptions": f"{OPTIONS} -Duser.timezone=UTC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.log.level": "OFF",
}


class Listening:
    """An engine and all that it says."""

    def __init__(self, results):
        self.results = Path(results)
        self.engine = None
        self.messages = []
        self.reasons = []
        self.losses = []
        """How many messages had come when the process was lost, of each time."""
        self._changed = threading.Condition()

    def heard(self, message):
        with self._changed:
            self.messages.append(message)
            self._changed.notify_all()

    def lost(self, reason=None):
        with self._changed:
            self.reasons.append(reason)
            self.losses.append(len(self.messages))
            self._changed.notify_all()

    def until(self, condition):
        """Wait until a condition of what was said holds; what it returned."""
        with self._changed:
            found = self._changed.wait_for(condition, SECONDS)
        assert found, "it never came"
        return found

    def of(self, id_):
        return [message for message in list(self.messages) if getattr(message, "id", None) == id_]

    def end(self, id_):
        """Wait for a query's end."""
        return self.until(lambda: next((one for one in self.of(id_) if isinstance(one, ENDS)), None))

    def ready(self, times=1):
        """Wait until so many processes have begun."""
        return self.until(lambda: [one for one in self.messages if isinstance(one, Ready)][times - 1 :])[0]

    def start(self, text, **request):
        """Begin to run a statement; its id."""
        id_ = secrets.token_hex(16)
        self.engine.run(Run(id_, Request(text=text, **request), f"file:{self.results / id_}"))
        return id_

    def ask(self, text, **request):
        """Run a statement to its end; this, and its id."""
        id_ = self.start(text, **request)
        return self.end(id_), id_

    def cancel(self, id_):
        self.engine.cancel(Cancel(id_))

    def files(self, id_):
        """The files of a result, in order."""
        return sorted((self.results / id_).glob("*.parquet"))


@contextmanager
def listening(store, uri, folder, silent=SECONDS, **conf):
    """An engine with two cores over a store and its endpoint."""
    found = Listening(folder / "results")
    warehouse = Warehouse(str(folder / "warehouse"))
    settings = {**QUICK, **{name.replace("__", "."): value for name, value in conf.items()}}
    heard = {"silent": silent, "heard": found.heard, "lost": found.lost}
    found.engine = Engine(store, uri, warehouse, master="local[2]", conf=settings, **heard)
    found.engine.wake()
    try:
        yield found
    finally:
        found.engine.close()
