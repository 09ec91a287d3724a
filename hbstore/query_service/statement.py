"""One statement on Spark: a session of its own, what a cube query in it reads, and its rows as a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from hbstore.cubes.cubes import Cubes
from hbstore.cubes.query.rewriting import Rewritten
from hbstore.ddl.parser import parse_script, running
from hbstore.ddl.statements import CubeQuery
from hbstore.errors import DdlSyntaxError, FilterError
from hbstore.names import DEFAULT_DATABASE
from hbstore.query_service.query import Request
from hbstore.spark.cube import answer
from hbstore.spark.cube_options import with_session
from hbstore.spark.sql import sql
from hbstore.spark.texts import quoted
from hbstore.store.partition_store import PartitionStore


@dataclass(slots=True)
class Statement:
    """A statement in a session of its own.

    Attributes:
        spark: any session; the statement's has its settings, but for what statements of others have changed.
        store: where hbstore's own statements are run.
        request: what is asked.

    Raises:
        DatabaseNotFound, InvalidName: the request's database is not there.
    """

    spark: SparkSession
    store: PartitionStore
    request: Request
    _session: SparkSession = field(init=False)

    def __post_init__(self) -> None:
        self._session = self.spark.newSession()
        database = self.request.database
        if database != DEFAULT_DATABASE:
            self.store.get_database(database)
            self._session.sql(f"USE {quoted(database)}")

    def rewritten(self) -> Rewritten | None:
        """What is read for a text that is one cube query; None for all other statements.

        Raises:
            CubeQueryError, NoCandidate, InvalidInput: as `Cubes.rewrite`.
        """
        query = _cube_query(self.request.text)
        if query is None:
            return None
        request = self.request
        options = with_session(self._session, dict(request.options))
        with running(request.text, query, 0, 1):
            cubes = Cubes(self.store, request.database)
            return cubes.rewrite(query.text, now=request.now, partial=request.partial, options=options)

    def rows(self, rewritten: Rewritten | None) -> DataFrame:
        """Run what is to be run once, and the rows, which are still to be computed; without columns, if it has none.

        Args:
            rewritten: as `rewritten` said.

        Raises:
            HbstoreError, PySparkException, Py4JError: as `hbstore.spark.sql` and `hbstore.spark.cube`.
        """
        if rewritten is None:
            return sql(self._session, self.request.text, store=self.store)
        return answer(self._session, self.store, self.request.database, rewritten)


def _cube_query(text: str) -> CubeQuery | None:
    """The cube query that a text is, if it is one and nothing else."""
    try:
        statements = [statement for statement, _ in parse_script(text)]
    except (DdlSyntaxError, FilterError):  # a statement of Spark's, or one that nothing knows: `sql` tells which
        return None
    query = statements[0] if len(statements) == 1 else None
    return query if isinstance(query, CubeQuery) else None
