"""Every statement of the corpus does on the endpoint what it does on Spark's embedded metastore."""

from __future__ import annotations

import json

import pytest

from tests.metastore.spark.corpus import STATEMENTS
from tests.metastore.spark.runs import REFERENCE
from tests.metastore.spark.statement import Kind

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]
BACKENDS = ["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]
SHOWN = 6000


def fits(statement, outcome):
    """Whether an outcome is of the kind that the corpus says it is: two failures, or no rows twice, prove little."""
    if statement.kind is Kind.FAILS:
        return "error" in outcome and outcome["error"]["condition"] == statement.condition
    if "error" in outcome:
        return False
    if statement.kind is Kind.NONE:
        return not outcome["rows"]
    return statement.kind in {Kind.DOES, Kind.FOLDERS} or bool(outcome["rows"])


def compared(statement, outcome):
    """What has to be equal of two outcomes: error conditions and the exceptions' classes, or rows."""
    if "error" in outcome:
        return [f"{outcome['error']['condition']} by {one}" for one in outcome["error"]["causes"]]
    found = [json.dumps(row, ensure_ascii=False) for row in outcome["rows"]]
    return found if statement.kind is Kind.ORDERED else sorted(found)


def shown(statement, outcome):
    """An outcome for whoever reads a failure."""
    if "error" in outcome:
        return f"error {outcome['error']['condition']}\n{outcome['error']['text']}"[:SHOWN]
    return "\n".join(compared(statement, outcome) or ["no rows"])[:SHOWN]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_as_on_the_embedded_metastore(runs, statement, backend):
    expected, got = (runs[name].outcomes[statement.name] for name in (REFERENCE, backend))
    if not fits(statement, expected):
        pytest.fail(
            f"not what the corpus says: {statement.kind.value}\n{statement.text}\n{shown(statement, expected)}",
            pytrace=False,
        )
    if compared(statement, expected) != compared(statement, got):
        texts = f"-- expected\n{shown(statement, expected)}\n-- got\n{shown(statement, got)}"
        pytest.fail(f"{statement.text}\n{texts}", pytrace=False)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_is_refused_but_filters_that_spark_spoils(runs, backend):
    """Spark goes on with all partitions after such an error, so the statements alone would not show it."""
    failed = [call for call in runs[backend].calls if call["event"] != "call" and "error" in call]
    assert {(call["method"], call["filter"]) for call in failed} <= {("get_partitions_by_filter", 'p like ".*".*"')}
    assert not [line for line in runs[backend].calls if "traceback" in line]
