"""One statement in a session of Spark's: what a cube query reads, and its rows as a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from hbstore.cubes.cubes import Cubes
from hbstore.cubes.query.rewriting import Rewritten
from hbstore.ddl.parser import parse_script, running
from hbstore.ddl.statements import CubeQuery
from hbstore.errors import DdlSyntaxError, FilterError
from hbstore.query_service.query import Request
from hbstore.spark.cube import answer
from hbstore.spark.cube_options import with_session
from hbstore.spark.sql import current_database, noting_sql
from hbstore.warehouse.service import Service


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in a session.

    Attributes:
        spark: the session.
        service: on which hbstore's own statements are run, as all requests to the server.
        request: what is asked.
        notes: what the user should know besides the rows, when they are there.
    """

    spark: SparkSession
    service: Service
    request: Request
    notes: list[str] = field(default_factory=list)

    def rewritten(self) -> Rewritten | None:
        """What is read for a text that is one cube query; None for all other statements.

        Raises:
            CubeQueryError, NoCandidate, InvalidInput: as `Cubes.rewrite`.
        """
        query = _cube_query(self.request.text)
        if query is None:
            return None
        request = self.request
        options = with_session(self.spark, dict(request.options))
        with running(request.text, query, 0, 1):
            cubes = Cubes(self.service.store, current_database(self.spark))
            return cubes.rewrite(query.text, now=request.now, partial=request.partial, options=options)

    def rows(self, rewritten: Rewritten | None) -> DataFrame:
        """Run what is to be run once, and the rows, which are still to be computed; without columns, if it has none.

        Args:
            rewritten: as `rewritten` said.

        Raises:
            HbstoreError, PySparkException, Py4JError: as `hbstore.spark.sql` and `hbstore.spark.cube`.
        """
        if rewritten is None:
            return noting_sql(
                self.spark,
                self.request.text,
                self.notes.append,
                store=self.service.store,
                warehouse=self.service.warehouse,
                read_only=self.service.read_only,
            )
        return answer(self.spark, self.service.store, current_database(self.spark), rewritten)


def _cube_query(text: str) -> CubeQuery | None:
    """The cube query that a text is, if it is one and nothing else."""
    try:
        statements = [statement for statement, _ in parse_script(text)]
    except (DdlSyntaxError, FilterError):  # a statement of Spark's, or one that nothing knows: `sql` tells which
        return None
    query = statements[0] if len(statements) == 1 else None
    return query if isinstance(query, CubeQuery) else None
