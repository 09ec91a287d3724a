"""Whether what hbstore writes of an expression is what Spark reads in the expression itself."""

from __future__ import annotations

from sqlglot import exp

from hbstore.cubes.expressions import BadExpression, columns_of
from hbstore.cubes.query.text import parse_query
from hbstore.cubes.rereading import written
from hbstore.errors import HbstoreError

ALIKE = "read alike"
EQUAL = "of equal values"
REFUSED = "refused, though Spark reads them"
NOT_SPARK = "refused by both"
PASSED_ON = "refused by Spark alone"


def compare(values, text):
    """How an expression is kept: one of the words above.

    Raises:
        AssertionError: it gets a value that it does not have in Spark: another one, or one though Spark refuses it.
    """
    query = f"SELECT {text}\nFROM t"
    theirs = values.plan(query)
    ours = _rewritten(text)
    if ours is None:
        return NOT_SPARK if isinstance(theirs, str) else REFUSED
    if values.reads_alike(query, ours):
        return ALIKE
    meant, said = values.worth(query), values.worth(ours)
    if isinstance(meant, str) and isinstance(said, str):  # whatever else is wrong with it
        return PASSED_ON if isinstance(theirs, str) else EQUAL
    assert meant == said, (text, ours, meant, said)
    return EQUAL


def _rewritten(text):
    """What hbstore writes of a query of an expression, as it does at the end of each rewrite; None if it is refused."""
    tree = None
    try:
        tree = parse_query(f"cube select {text}\nfrom t").select
        ours = written(tree, pretty=len(text) % 2 == 0) if tree.selects else None  # nothing is a comment
    except HbstoreError:
        ours = None
    refused = _refused_in_a_model(text)
    alike = (ours is None) == (refused is not None)
    assert alike or refused == "no comment" or _is_more_than_an_expression(tree), (text, ours, refused)
    return ours


def _is_more_than_an_expression(tree):
    """Whether a query has, in place of an expression, what only a query can have there."""
    return tree is not None and (
        len(tree.selects) != 1 or isinstance(tree.selects[0], exp.Alias) or tree.args["distinct"]
    )


def _refused_in_a_model(text):
    """What a model should have in place of an expression; None if it takes that."""
    try:
        columns_of(text)
    except BadExpression as error:
        return error.expected
    return None
