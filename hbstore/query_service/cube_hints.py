"""Who reads a cube as if it were a table learns how to ask it."""

from __future__ import annotations

import re
from typing import Final

from pyspark.sql import SparkSession

from hbstore.cubes.cubes import Cubes
from hbstore.errors import HbstoreError
from hbstore.query_service.query import QueryProblem
from hbstore.spark.sql import current_database
from hbstore.store.partition_store import PartitionStore

_MISSING: Final = "TABLE_OR_VIEW_NOT_FOUND"
_QUOTED: Final = re.compile(r"`((?:[^`]|``)+)`(?:\.`((?:[^`]|``)+)`)?(?=[^.`])")
_ASKED: Final = {
    "cube": "CUBE SELECT … FROM {} WHERE time_range_in(…)",
    "fact": "CUBE SELECT of its cube",
    "dimension": "CUBE SELECT … FROM {}",
}
"""How what is no table is asked, by its kind."""


def with_cube_hint(problem: QueryProblem, store: PartitionStore, spark: SparkSession) -> QueryProblem:
    """An error of Spark's with a hint, if the table that Spark misses is a cube, a fact or a dimension.

    Args:
        problem: the error.
        store: where cubes are.
        spark: the statement's session.
    """
    name = _QUOTED.search(problem.text) if problem.fields.get("class", "").startswith(_MISSING) else None
    if name is None:
        return problem
    place, table = (name[1], name[2]) if name[2] else (current_database(spark), name[1])
    try:
        kind = next((kind for kind in _ASKED if table.lower() in Cubes(store, place).names(kind)), None)
    except HbstoreError:  # the database is not there, either
        return problem
    if kind is None:
        return problem
    return problem.model_copy(update={"hint": f"{table} is a {kind}: ask it by {_ASKED[kind].format(table)}"})
