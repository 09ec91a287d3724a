"""Answers of cube queries among statements: Spark is started for the first query, and stays for the others."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hbstore.cli.spark_progress import stages
from hbstore.cli.spark_session import spark_jobs, spark_session
from hbstore.store.partition_store import PartitionStore

if TYPE_CHECKING:  # imported when there is a query: help and most statements need none
    from pyspark.sql import SparkSession

    from hbstore.ddl.results import Result
    from hbstore.ddl.statements import CubeQuery


@dataclass(slots=True)
class Answers:
    """Answers cube queries by Spark.

    Attributes:
        store: where the cubes are.
        open: ends the session of Spark, when the command ends.
    """

    store: PartitionStore
    open: ExitStack
    _session: SparkSession | None = field(default=None, init=False)

    def __call__(self, query: CubeQuery, database: str) -> Result:
        """The rows of a query of a cube in a database.

        Raises:
            CubeQueryError, InvalidInput: as `Cubes.rewrite`; this comes before Spark is started.
            StoreUnavailable: Spark cannot run it.
        """
        from hbstore.cubes import Cubes
        from hbstore.cubes.query.notes import notes_of
        from hbstore.ddl.results import Result

        rewritten = Cubes(self.store, database).rewrite(query.text)
        if self._session is None:
            self._session = self.open.enter_context(spark_session("hbstore sql", in_utc=True))
        from hbstore.spark.cube import answer

        with spark_jobs(), stages(self._session, "Asking Spark"):
            frame = answer(self._session, self.store, database, rewritten)
            rows = tuple(tuple(row) for row in frame.toLocalIterator())
        return Result(query, tuple(frame.columns), rows, notes=notes_of(rewritten))
