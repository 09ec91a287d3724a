"""Boxes: planned without step functions, as the general planner plans them."""

from __future__ import annotations

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from hbstore.filters.tree import Between, Comparison, In, Integer, IsNull, Operator, Text
from hbstore.keys import NULL_PARTITION
from hbstore.plans.bind import bind
from hbstore.plans.boxes import box_gets, box_scan
from hbstore.plans.estimate import Estimator
from hbstore.plans.narrow import MAX_SCANS, Narrower
from hbstore.plans.scan_plan import MultiScanPlan, ScanKind, absolute
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs
from hbstore.rows.predicate import NEVER, all_of, any_of
from hbstore.times.clock import Now
from hbstore.types import parse_type

KINDS = ("int", "tinyint", "string", "date", "boolean", "decimal(10,2)", "double")
TEXTS = {
    **dict.fromkeys(("int", "tinyint", "decimal(10,2)", "double"), ("0", "1", "2", "127")),
    "string": ("", "a", "a\0", "b"),
    "date": ("2013-01-01", "2013-01-02", "2013-01-03", "9999-12-31"),
    "boolean": ("false", "true"),
}
"""Few values that touch, so that plans have neighbours to join."""

seconds = st.sampled_from((0.0, 1e-7, 1e-6, 2e-6, 3e-6, 1e-5, 3e-4))


@st.composite
def schemas(draw):
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    return KeySchema(b"d\0t\0", tuple(f"c{at}" for at in range(len(kinds))), tuple(map(parse_type, kinds)))


def literals(schema, at):
    return st.sampled_from([Text(text) for text in (*TEXTS[schema.types[at].name], NULL_PARTITION)])


@st.composite
def statistics(draw, schema):
    """Nothing, or counts that rise with the depth."""
    if draw(st.booleans()):
        return Statistics()
    counts = [draw(st.integers(0, 5))]
    for _ in schema.names[1:]:
        counts.append(counts[-1] * draw(st.integers(1, 8)))
    return Statistics(tuple(counts))


costs = st.builds(Costs, seconds, seconds, seconds, seconds)


def planned(predicate, schema, known, prices, budget):
    estimator = Estimator(schema, known, prices)
    return MultiScanPlan(
        tuple(absolute(scan, schema) for scan in Narrower(estimator, budget).narrow(predicate)), schema
    )


@st.composite
def boxes(draw):
    """A condition on each of the leading columns, most of them equalities."""
    schema = draw(schemas())
    leaves = []
    for at in range(draw(st.integers(1, len(schema.names)))):
        literal, name = literals(schema, at), st.just(schema.names[at])
        equal = st.builds(Comparison, name, st.just(Operator.EQ), literal)
        other = st.one_of(
            st.builds(Comparison, name, st.sampled_from(Operator), literal),
            st.builds(Between, name, literal, literal),
            st.builds(In, name, st.lists(literal, min_size=1, max_size=2).map(tuple)),
            st.builds(IsNull, name, st.booleans()),
        )
        leaves.append(draw(st.one_of(equal, equal, other)))
    return schema, all_of([bind(leaf, schema, Now()) for leaf in leaves])


@given(boxes(), st.data())
def test_the_scan_of_a_box_is_the_planners(case, data):
    schema, predicate = case
    found = box_scan(predicate, schema)
    event(str(found and found.kind))
    if found is not None:
        known, prices = data.draw(statistics(schema)), data.draw(costs)
        assert planned(predicate, schema, known, prices, data.draw(st.integers(1, 10))) == MultiScanPlan(
            (found,), schema
        )


@st.composite
def ored_keys(draw):
    """ORs of whole keys, of which some touch."""
    schema = draw(schemas())
    key = st.tuples(*[literals(schema, at) for at in range(len(schema.names))])
    keys = draw(st.lists(key, min_size=2, max_size=12))
    return schema, any_of(
        all_of(
            bind(Comparison(name, Operator.EQ, literal), schema, Now())
            for name, literal in zip(schema.names, one, strict=True)
        )
        for one in keys
    )


_INTS = KeySchema(b"", ("a", "b"), (parse_type("int"), parse_type("int")))


def _ints(*keys):
    return any_of(
        all_of(bind(Comparison(n, Operator.EQ, Integer(v)), _INTS, Now()) for n, v in zip("ab", key, strict=True))
        for key in keys
    )


@given(ored_keys(), st.data())
@example((_INTS, _ints((1, 1), (2, 1))), None)
@example((_INTS, _ints((1, 1), (1, 2))), None)
@example((_INTS, _ints((1, 1), (2, 2), (2, 4))), None)
@example((_INTS, NEVER), None)
def test_the_gets_of_boxes_are_the_planners(case, data):
    schema, predicate = case
    known, prices, budget = Statistics(), Costs(1e-5, 3e-6, 1e-6, 2e-7), MAX_SCANS
    if data is not None:
        known, prices = data.draw(statistics(schema)), data.draw(costs)
        budget = data.draw(st.sampled_from((MAX_SCANS, 1, 3)))
    found = box_gets(predicate, Estimator(schema, known, prices), budget)
    event("mine" if found else "not mine")
    if found is not None:
        expected = planned(predicate, schema, known, prices, budget)
        assert MultiScanPlan(tuple(absolute(scan, schema) for scan in found), schema) == expected


@pytest.mark.parametrize("distinct", [(), (10, 100), (100, 200), (2, 4)])
@pytest.mark.parametrize(
    "keys", [[(1, 1), (2, 1)], [(1, 1), (1, 2)], [(1, at) for at in range(1, 12, 2)], [(1, 1), (9, 9)]]
)
def test_neighbours_and_hulls(keys, distinct):
    predicate, prices = _ints(*keys), Costs(1e-5, 3e-6, 1e-6, 2e-7)
    found = box_gets(predicate, Estimator(_INTS, Statistics(distinct), prices), MAX_SCANS)
    expected = planned(predicate, _INTS, Statistics(distinct), prices, MAX_SCANS)
    if found is None:
        assert keys != [(1, 1), (9, 9)] or distinct == (2, 4)
    else:
        assert MultiScanPlan(tuple(absolute(scan, _INTS) for scan in found), _INTS) == expected


def test_where_a_get_is_dear_a_scan_is_made():
    predicate, prices = _ints((1, 1), (1, 3)), Costs(1e-6, 3e-6, 1e-6, 2e-7)
    assert box_gets(predicate, Estimator(_INTS, Statistics(), prices), MAX_SCANS) is None
    assert planned(predicate, _INTS, Statistics(), prices, MAX_SCANS).scans[0].kind is ScanKind.SCAN


def test_usual_filters_are_boxes():
    schema = KeySchema(b"d\0t\0", ("ds", "hour", "region"), tuple(map(parse_type, ("string", "int", "string"))))
    known, prices = Statistics((250, 4_000, 100_000)), Costs(6e-6, 2e-6, 7e-7, 2e-7)
    ds, hour, region = (Comparison(name, Operator.EQ, Text("5")) for name in schema.names)
    after = Comparison("hour", Operator.GT, Text("3"))
    for leaves in ([ds], [ds, hour], [ds, hour, region], [ds, after]):
        assert box_scan(all_of(bind(leaf, schema, Now()) for leaf in leaves), schema) is not None
    keys = any_of(
        all_of(bind(leaf, schema, Now()) for leaf in (Comparison("ds", Operator.EQ, Text(str(day))), hour, region))
        for day in range(200)
    )
    assert len(box_gets(keys, Estimator(schema, known, prices), MAX_SCANS)) == 200
