"""Options of cube queries among a session's settings: ``SET spark.hbstore.cube.join_type = inner``, or Lens's names."""

from __future__ import annotations

from typing import Final

from pyspark.sql import SparkSession

from hbstore.cubes.query.option_names import LENS
from hbstore.cubes.query.options import OptionsArgument, QueryOptions

PREFIX: Final = "spark.hbstore.cube."
"""The prefix of settings that are options by hbstore's names."""

_NOW: Final = "lens.query.current.time.millis"


def with_session(spark: SparkSession, said: OptionsArgument = None) -> QueryOptions:
    """Options of a call with those of its session, which count less, unless the call's are of a file.

    Raises:
        InvalidInput: one is not an option, or has not such a value.
    """
    settings = {
        name.removeprefix(PREFIX): value
        for name, value in spark.conf.getAll.items()
        if name.startswith((PREFIX, LENS)) or name == _NOW
    }
    return QueryOptions.of(said, session=settings)
