"""What is written of a query says what was meant, or is refused."""

from __future__ import annotations

from random import Random

import pytest
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from hbstore.cubes.dialect import QueryDialect
from hbstore.cubes.expressions import BadExpression, columns_of
from hbstore.cubes.function_calls import call
from hbstore.cubes.rereading import lost_by, written
from hbstore.errors import UnsupportedQuery
from tests.spark.spark_expressions import expression


def read(text):
    return parse_one(text, dialect=QueryDialect, into=exp.Condition)


def replaced(text, **named):
    """A query of an expression in which expressions stand in place of names, without brackets."""
    trees = {name: read(other) for name, other in named.items()}
    tree = read(text).transform(lambda node: trees.get(node.name, node) if isinstance(node, exp.Column) else node)
    return exp.select(tree).from_("t")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        *(("10 - a", "b - c"), ("a * 2", "b + c"), ("NOT a", "b OR c"), ("a AND d", "b OR c"), ("-a", "b + c")),
        *(("a = 1", "b IS NULL"), ("a IN (1)", "b OR c"), ("a[0]", "b || c"), ("a & 1", "b | c")),
        *(
            ("a || 'x'", "b = c"),
            ("CASE WHEN b THEN 1 - a END", "c - d"),
            ("F(x -> 2 / a)", "b * c"),
            ("a % 2", "-b - c"),
            ("SUM(10 - a) FILTER(WHERE d)", "b - c"),
            ("SUM(d) FILTER(WHERE 10 > 10 - a)", "b - c"),
        ),
    ],
)
def test_brackets_that_are_missing(text, other):
    with pytest.raises(UnsupportedQuery, match="cannot write an expression") as caught:
        written(replaced(text, a=other))
    assert caught.value.fields["expression"]
    assert written(replaced(text, a=f"({other})"))


@pytest.mark.parametrize(
    "tree",
    [
        exp.Length(this=exp.column("a")),
        exp.ToChar(this=exp.column("a"), format=exp.Literal.string("9")),
        exp.Concat(expressions=[exp.Literal.string("a")]),
    ],
)
def test_functions_of_other_engines(tree):
    with pytest.raises(UnsupportedQuery):
        written(exp.select("a").from_("t").where(tree))


@pytest.mark.parametrize("clause", ["select", "where", "having", "group_by", "order_by", "join"])
def test_every_clause_is_read_again(clause):
    wrong = exp.Sub(this=exp.column("a"), expression=read("b - c"))
    query = exp.select("x").from_("t")
    inner = query.join("u", on=wrong) if clause == "join" else getattr(query, clause)(wrong)
    for one in (inner, exp.union(query, inner, distinct=False), exp.select("x").from_(inner.subquery("y"))):
        with pytest.raises(UnsupportedQuery):
            written(one)


def test_what_is_the_same_passes():
    tree = exp.And(this=read("a = 1"), expression=exp.And(this=read("b = 2"), expression=exp.or_(read("c"), read("d"))))
    assert lost_by(tree, "a = 1 AND b = 2 AND ((c OR d))") is None
    assert lost_by(tree, "a = 1 AND b = 2 AND (c OR e)") is not None
    assert lost_by(call("length", exp.column("a")), "length(`a`)") is None
    assert written(exp.select("a").from_("t").order_by("b - c DESC")) == "SELECT a FROM t ORDER BY b - c DESC"


def test_random_expressions_are_written_as_they_were_read():
    kept, random = 0, Random(10)
    for _ in range(1_000):
        try:
            tree = read(expression(random, random.randrange(5)))
        except SqlglotError:
            continue
        kept += lost_by(tree, tree.sql(QueryDialect, pretty=True, comments=False)) is None
    assert kept > 850


@pytest.mark.parametrize(
    "text", ["a::json", "INT '5'", "a AT TIME ZONE 'UTC'", "[1, 2]", "{'a': 1}", "a = NOT b", "a ?? b"]
)
def test_what_spark_does_not_have_is_refused(text):
    with pytest.raises(BadExpression):
        columns_of(text)
