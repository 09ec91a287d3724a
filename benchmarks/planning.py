"""Parsing and planning alone: text to scans, every time with new literals."""

from __future__ import annotations

import random

from benchmarks.timing import Report
from hbstore.filters.parser import parse_filter
from hbstore.keys.types import parse_type
from hbstore.plans.planner import plan_filter
from hbstore.plans.scan_plan import FilterPlan
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs

_SCHEMA = KeySchema(b"db\0t\0", ("p1", "p2"), (parse_type("int"), parse_type("int")))
_COSTS = Costs(seek=10e-6, get=3e-6, read=1e-6, check=0.1e-6)


def run() -> Report:
    """The figures of planning."""
    report = Report("Planning: parse and plan, new literals each time")
    pick = random.Random(1)
    cases = {
        "AND of 20 three-way ORs over two columns": (_and_of_ors, "10 ms, at most 61 scans", 50),
        "IN of 1,000 values": (_in_list, "50 ms", 50),
        "OR of 5,000 equalities": (_equalities, "250 ms", 10),
        "OR of 5,000 equalities over two columns": (_two_columns, "must work", 10),
        "5,000 IN values": (lambda one: _in_list(one, 5_000), "must work", 10),
        "parentheses 1,000 deep": (_deep, "must work", 10),
    }
    for name, (make, target, runs) in cases.items():
        scans = len(_plan(make(pick)).get_plans())
        report.compare(name, lambda _, make=make: _plan(make(pick)), target=target, runs=runs, note=f"{scans:,} scans")
    return report


def _plan(text: str) -> FilterPlan:
    return plan_filter(parse_filter(text), _SCHEMA, Statistics(), _COSTS)


def _and_of_ors(pick: random.Random) -> str:
    terms = []
    for _ in range(20):
        low, high = sorted((pick.randrange(10_000), pick.randrange(10_000)))
        terms.append(f"(p1 < {low} or p1 > {high} or p2 > {pick.randrange(100)})")
    return " and ".join(terms)


def _in_list(pick: random.Random, count: int = 1_000) -> str:
    return f"p1 in ({', '.join(str(pick.randrange(10**9)) for _ in range(count))})"


def _equalities(pick: random.Random) -> str:
    return " or ".join(f"p1 = {pick.randrange(10**9)}" for _ in range(5_000))


def _two_columns(pick: random.Random) -> str:
    return " or ".join(f"p{1 + at % 2} = {pick.randrange(10**9)}" for at in range(5_000))


def _deep(pick: random.Random) -> str:
    text = f"p1 = {pick.randrange(1000)}"
    for depth in range(1_000):
        text = f"({text} {'and' if depth % 2 else 'or'} p2 = {depth})"
    return text
