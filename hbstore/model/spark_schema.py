"""The schema that Spark writes among a table's parameters: JSON, which older versions cut into parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SCHEMA: Final = "spark.sql.sources.schema"


def schema_text(parameters: Mapping[str, str]) -> str:
    """The JSON of a schema; an empty text where Spark wrote none. O(length), whatever number of parts is claimed.

    Raises:
        KeyError: a part is missing.
        ValueError: how many parts there are is no number.

    >>> schema_text({"spark.sql.sources.schema.numParts": "1", "spark.sql.sources.schema.part.0": '{"type":"struct"}'})
    '{"type":"struct"}'
    """
    return parameters.get(SCHEMA) or "".join(
        parameters[f"{SCHEMA}.part.{number}"] for number in range(int(parameters.get(f"{SCHEMA}.numParts", "0")))
    )
