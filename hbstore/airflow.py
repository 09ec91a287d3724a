"""A sensor for Apache Airflow: a task that succeeds when partitions hold the whole of a range of a fact.

from hbstore.airflow import CoverSensor

CoverSensor(
    task_id="rides_are_there",
    server="http://127.0.0.1:8080",
    fact="shop.rides_daily",
    start="{{ data_interval_start | ts }}",
    end="{{ data_interval_end | ts }}",
)

It asks a server (`hbstore serve --http-port`) by `hbstore.client`. Needs the extra ``airflow``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from hbstore.extras import check_extra

check_extra("airflow", "hbstore.airflow")  # before the imports that fail without it

from airflow.sdk import BaseHook, BaseSensorOperator
from airflow.sdk.exceptions import AirflowException
from airflow.triggers.base import BaseTrigger, TriggerEvent

import hbstore.client
from hbstore.cubes import Uncoverable
from hbstore.errors import HbstoreError, InvalidInput, ServerUnavailable
from hbstore.keys.partition_names import table_name
from hbstore.times.time_range import read_time


class CoverSensor(BaseSensorOperator):  # type: ignore[misc]  # Airflow is not there where types are checked
    """Waits until partitions hold [start, end) of a fact.

    In the mode "poke" each poke is a long poll, so the task hears of a commit at once. In the mode "reschedule" it asks
    each ``poke_interval`` seconds and holds no worker between them. With ``deferrable`` the triggerer asks instead.

    "now" is when the DAG run began: a sensor waits for one range, in every mode, at each poke and retry. A server that
    does not answer, as while it is started again, is asked again until the sensor's ``timeout``.

    Args:
        fact: ``"database.fact"``.
        start: where the range begins: "2015-01-29-06", "now.day-3days", or an ISO time. A template.
        end: where it ends; not part of it. A template.
        server: the URL of the server; None: the host of the connection.
        conn_id: a connection of Airflow, whose password is the access token; None: no token is sent.
        time_dimension: the cube's time dimension, where the fact has several.
        deferrable: whether to wait in the triggerer.
        **options: those of every sensor, such as ``timeout``.
    """

    template_fields: ClassVar[Sequence[str]] = ("server", "fact", "start", "end")

    def __init__(
        self,
        *,
        fact: str,
        start: str,
        end: str,
        server: str | None = None,
        conn_id: str | None = None,
        time_dimension: str | None = None,
        deferrable: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.fact = fact
        self.start = start
        self.end = end
        self.server = server
        self.conn_id = conn_id
        self.time_dimension = time_dimension
        self.deferrable = deferrable

    def poke(self, context: Any) -> bool:
        """Whether nothing of the range is missing."""
        waits = not (self.reschedule or self.deferrable)
        return self._question(context).is_answered(self.poke_interval if waits else 0, self.log)

    def execute(self, context: Any) -> Any:
        """Wait, here or in the triggerer."""
        if not self.deferrable:
            return super().execute(context)
        if not self.poke(context):
            trigger = CoverTrigger(**asdict(self._question(context)), poke_interval=self.poke_interval)
            timeout = timedelta(seconds=self.timeout)
            self.defer(trigger=trigger, method_name="execute_complete", timeout=timeout)
        return None

    def execute_complete(self, context: Any, event: dict[str, Any]) -> None:  # noqa: ARG002  Airflow hands it over
        """Called when the trigger has seen that nothing is missing, or has failed.

        Raises:
            AirflowException: it has failed.
        """
        if "error" in event:
            raise AirflowException(event["error"])

    def _question(self, context: Any) -> _Question:
        now = context["dag_run"].start_date or datetime.now(UTC)
        start, end = (read_time(text, now).isoformat() for text in (self.start, self.end))
        return _Question(self.server, self.conn_id, self.fact, start, end, self.time_dimension)


class CoverTrigger(BaseTrigger):  # type: ignore[misc]  # as the sensor
    """Waits in Airflow's triggerer for a `CoverSensor`. It holds no thread between two questions.

    Args:
        poke_interval: seconds between two questions.
        **question: server, conn_id, fact, start, end and time_dimension, as of the sensor; the times are ISO times.
    """

    def __init__(self, *, poke_interval: float, **question: str | None) -> None:
        super().__init__()
        self._question = _Question(**question)  # type: ignore[arg-type]  # as they were serialized
        self._poke_interval = poke_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """The class and its arguments, for the triggerer."""
        arguments = {**asdict(self._question), "poke_interval": self._poke_interval}
        return f"{type(self).__module__}.{type(self).__name__}", arguments

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """One event, when nothing of the range is missing."""
        try:
            while not await asyncio.to_thread(self._question.is_answered, 0, self.log):  # noqa: ASYNC110  no event says it
                await asyncio.sleep(self._poke_interval)
        except HbstoreError as error:
            yield TriggerEvent({"error": str(error)})
        else:
            yield TriggerEvent({"complete": True})


@dataclass(frozen=True, slots=True)
class _Question:
    """What a server is asked: values that JSON may hold, as the triggerer gets them."""

    server: str | None
    conn_id: str | None
    fact: str
    start: str
    end: str
    time_dimension: str | None

    def is_answered(self, seconds: float, log: Any) -> bool:
        """As `is_complete`; where the server does not answer it is not complete yet, which the log says."""
        try:
            return self.is_complete(seconds)
        except ServerUnavailable as error:
            log.warning("The sensor asks again until its timeout: %s", error)
            return False

    def is_complete(self, seconds: float) -> bool:
        """Whether nothing is missing, at once or after so many seconds at most."""
        database, name = table_name(self.fact)
        connection = None if self.conn_id is None else BaseHook.get_connection(self.conn_id)
        token = None if connection is None else connection.password or None
        range_ = datetime.fromisoformat(self.start), datetime.fromisoformat(self.end)
        with hbstore.client.connect(self.server or _url(connection), token=token) as server:
            cubes = server.cubes(database)
            try:
                cubes.wait(name, *range_, time_dimension=self.time_dimension, seconds=seconds)
            except Uncoverable:
                return False
            return True


def _url(connection: Any) -> str:
    """The URL of a connection of Airflow.

    Raises:
        InvalidInput: there is none.
    """
    if connection is None:
        raise InvalidInput("the sensor does not say which server", hint="Give server, or conn_id")
    port = f":{connection.port}" if connection.port else ""
    return f"{connection.schema or 'http'}://{connection.host}{port}"
