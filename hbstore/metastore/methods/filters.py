"""Filters and expressions as clients send them, and what becomes of one that cannot be answered exactly.

This is the one place where that is decided:

* **A filter text** (get_partitions_by_filter, get_num_partitions_by_filter, get_part_specs_by_filter,
  get_partition_values) is answered exactly or not at all. What does not parse, names a column that is no partition
  column, or compares a column with a literal that cannot become its type exactly (``hour = 'x'``, ``name = 5``) is a
  MetaException with the filter error's text. There is never a wider answer, which a client would not notice, and never
  a narrower one, which would lose rows. Spark goes on with all partitions after such an error where
  ``spark.sql.hive.metastorePartitionPruningFallbackOnException`` is on, as ``hbstore spark-conf`` has it.
* **What Hive 2.3 refuses and hbstore answers**: a literal in quotes beside a column of another type, where the text is
  a value of that type (``hour = '5'``), LIKE on columns that are no text, and all of docs/filter-language.md that Hive
  lacks. **What Hive answers and hbstore refuses**: text behind a filter's end, which Hive passes over.
* **An expression** (get_partitions_by_expr, get_partitions_spec_by_expr, drop_partitions_req) is bytes. UTF-8 text of
  a filter, in the SQL dialect, is answered exactly, with hasUnknownPartitions false; errors in it are a MetaException.
  Hive's own clients send a Kryo blob of their classes. Where hbstore reads it as a whole, it is answered exactly, too.
  Where a part of an AND is not read, a listing has more partitions and hasUnknownPartitions true: the protocol's word
  for "look through these again", which those clients do. A limit is not applied then, as it would cut off partitions
  that the client may select. What is not read at all is answered as an unknown method, whereupon Hive prunes
  partitions itself; a drop never takes more than it was asked for, and is a MetaException in both cases.

LIKE patterns in filter texts are in the dialect ``hive2`` (``.*`` and ``.``), which is what 2.3's clients write there.
Hive 4 reads SQL's patterns, and so do the requests that only its clients send. But Spark writes ``.*`` through a client
of Hive 4, too (and finds nothing in a real Hive Metastore 4): where that stands in a request's filter, it is ``hive2``.
"""

from __future__ import annotations

import re
from typing import Final

from hbstore.errors import FilterSyntaxError
from hbstore.filters.parser import parse_filter
from hbstore.texts.like import LikeDialect

FILTER_DIALECT: Final[LikeDialect] = "hive2"
"""How LIKE patterns are written in filter texts."""

EXPRESSION_DIALECT: Final[LikeDialect] = "sql"
"""How they are written where an expression is a filter's text."""

_SERIALIZED: Final = re.compile(r"[\x00-\x08\x0e-\x1f]|java\.util\.|ExprNode")
"""What stands in a serialized expression: bytes that no text has, names of Java's classes and Hive's."""


def dialect_of_request(text: str | None) -> LikeDialect:
    """How LIKE patterns are written in the filter of a request of Hive 4: as in SQL, unless a run is ``.*``.

    >>> dialect_of_request("ds like '2013-%'"), dialect_of_request('ds like "2013-.*"')
    ('sql', 'hive2')
    """
    return "hive2" if text is not None and ".*" in text else "sql"


def expression_text(expression: bytes | None) -> str | None:
    r"""The filter text in an expression's bytes; None where they are an expression of Hive's own.

    Raises:
        FilterSyntaxError: the bytes are text, but no filter's.
        FilterTooLarge: the text is past a filter's caps.

    >>> expression_text(b"ds = '2013-01-01'")
    "ds = '2013-01-01'"
    >>> expression_text(b"\x01\x00java.util.ArrayLis\xf4\x01") is None
    True
    """
    try:
        text = (expression or b"").decode()
    except UnicodeDecodeError:
        return None
    try:
        parse_filter(text, EXPRESSION_DIALECT)
    except FilterSyntaxError:
        if _SERIALIZED.search(text):
            return None
        raise
    return text
