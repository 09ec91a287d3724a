"""Where comments end, as Spark's own parser says it: in hbstore's statements, and before the first word of others."""

from __future__ import annotations

import random
import re
from itertools import accumulate

import pytest

from hbstore.ddl import parse_statements
from hbstore.errors import DdlSyntaxError
from hbstore.hiveserver2.statement_kinds import has_rows
from hbstore.spark.java_errors import JAVA_ERRORS

pytestmark = pytest.mark.spark

TEXTS = 400
COMMENTS = ("-- a", "--", "\\", "\n", "\r", "\r\n", " ", "/* b */", "/* b\n-- */", "/* /* c */ */", "/* /* */", "*/")
SPEC = "partition (ds = 'a')"


@pytest.fixture(scope="module")
def parsed(spark):
    """What Spark makes of a text: the plan as a text, or None."""
    parser = spark._jsparkSession.sessionState().sqlParser()

    def parse(text):
        try:
            return parser.parsePlan(text).toString()
        except JAVA_ERRORS:
            return None

    return parse


def texts(begin, *words):
    """Random texts of comments, parts of comments, and a few words."""
    chosen = random.Random(20261127)
    return [begin + "".join(chosen.choices((*COMMENTS, *words), k=chosen.randint(1, 9))) for _ in range(TEXTS)]


def deepest(text):
    """How many comments stand in each other."""
    return max(accumulate((1 if bracket == "/*" else -1 for bracket in re.findall(r"/\*|\*/", text)), initial=0))


def test_in_statements_about_partitions(parsed):
    read = []
    for text in texts("show partitions t ", SPEC, SPEC, SPEC):
        plan = parsed(text)
        try:
            (statement,) = parse_statements(text)
        except DdlSyntaxError:
            assert plan is None or deepest(text) > 2, repr(text)  # more are refused
        else:
            assert plan is not None, repr(text)
            assert (statement.spec is not None) == ("unresolvedpartitionspec((ds,a)" in plan), repr(text)
            read.append(statement.spec)
    assert len(read) > TEXTS // 8
    assert any(read)
    assert not all(read)


def test_before_the_first_word(parsed):
    kinds = []
    for text in texts("", "select 1", "drop table t", "select 1", "drop table t"):
        plan = parsed(text)
        if plan is not None:
            kinds.append("DropTable" not in plan)
            assert has_rows(text) == kinds[-1], repr(text)
    assert len(kinds) > TEXTS // 16
    assert any(kinds)
    assert not all(kinds)
