"""The sessions of Spark's in which statements run: one for a statement alone, or one that outlives its statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from pyspark.sql import SparkSession

from hbstore.errors import SessionLost
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.query_service.query import QuerySession, Request
from hbstore.spark.texts import quoted
from hbstore.store.partition_store import PartitionStore

_HINT: Final = "Connect again, and set again what the session needs"


@dataclass(slots=True)
class _Kept:
    """A session that outlives its statements.

    Attributes:
        beginning: held while it begins, so that two first statements begin it once.
        spark: Spark's; None until a statement has begun it.
    """

    beginning: Lock = field(default_factory=Lock)
    spark: SparkSession | None = None


@dataclass(slots=True)
class SparkSessions:
    """The sessions of one Spark.

    Attributes:
        spark: what sessions are made of; they have its settings.
        store: where databases are.
    """

    spark: SparkSession
    store: PartitionStore
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _changing: Lock = field(default_factory=Lock)

    def of(self, request: Request) -> SparkSession:
        """The session in which a statement runs. Where it cannot begin, its next statement tries again.

        A statement with settings of its own has a copy of the session: what SET and USE change in it is over with it.

        Raises:
            SessionLost: it began in another Spark.
            DatabaseNotFound, InvalidName: its database is not there.
            PySparkException: Spark refuses one of its settings.
        """
        if request.session is None:
            spark = self._begun(QuerySession(id="", database=request.database))
        else:
            spark = self._begun_once(request.session)
        return _copy(spark, request.settings) if request.settings else spark

    def close(self, id_: str) -> None:
        """Forget a session, with its temporary views and what Spark cached of them; one that is not there is fine."""
        with self._changing:
            kept = self._kept.pop(id_, None)
        if kept is None:
            return
        with kept.beginning:
            spark = kept.spark
        if spark is not None:
            catalog: Any = spark._jsparkSession.sessionState().catalog()  # noqa: SLF001  others list tables, too
            views = catalog.listLocalTempViews("*")
            for number in range(views.size()):
                spark.catalog.dropTempView(views.apply(number).table())

    def _begun_once(self, session: QuerySession) -> SparkSession:
        kept = self._of(session)
        with kept.beginning:
            if kept.spark is None:
                kept.spark = self._begun(session)
            return kept.spark

    def _of(self, session: QuerySession) -> _Kept:
        with self._changing:
            kept = self._kept.get(session.id)
            if kept is None:
                if not session.fresh:
                    raise SessionLost(
                        "the Spark of this session died, with what SET, USE and temporary views left in it",
                        session=session.id,
                        hint=_HINT,
                    )
                kept = self._kept[session.id] = _Kept()
            return kept

    def _begun(self, session: QuerySession) -> SparkSession:
        spark = self.spark.newSession()
        for name, value in session.settings.items():
            spark.conf.set(name, value)
        if session.database != DEFAULT_DATABASE:
            self.store.get_database(session.database)
            spark.sql(f"USE {quoted(session.database)}")
        return spark


def _copy(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """A session that begins as another one is now, with other settings."""
    java: Any = spark._jsparkSession  # noqa: SLF001  Python has no name for it
    copy = SparkSession(spark.sparkContext, java.cloneSession())
    for name, value in settings.items():
        copy.conf.set(name, value)
    return copy
