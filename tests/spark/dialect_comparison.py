"""Whether what hbstore writes of an expression is what Spark reads in the expression itself."""

from __future__ import annotations

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from hbstore.cubes.dialect import QueryDialect
from hbstore.cubes.rereading import written
from hbstore.errors import UnsupportedQuery

ALIKE = "read alike"
EQUAL = "of equal values"
REFUSED = "refused"
NOT_SPARK = "which Spark does not read"


def compare(values, text):
    """How an expression is kept: one of the words above.

    Raises:
        AssertionError: Spark reads the expression and what hbstore writes of it otherwise, and it has other values.
    """
    theirs = values.tree(text)
    try:
        tree = parse_one(text, dialect=QueryDialect, into=exp.Condition)
        ours = written(tree, pretty=len(text) % 2 == 0)
    except (SqlglotError, UnsupportedQuery):
        return NOT_SPARK if isinstance(theirs, str) else REFUSED
    if isinstance(theirs, str):
        return NOT_SPARK
    if values.reads_alike(text, ours):
        return ALIKE
    meant, said = (values.worth(f"SELECT {one}\nFROM t") for one in (text, ours))
    if meant == "NESTED_AGGREGATE_FUNCTION":  # whatever else is wrong with it
        return NOT_SPARK
    assert meant == said, (text, ours, meant, said)
    return EQUAL
