"""Golden plans: filter, ----, scans. `pytest tests/plans/test_golden.py --update-golden` rewrites the files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hbstore.filters.parser import parse_filter
from hbstore.keys.types import parse_type
from hbstore.plans.planner import plan_filter
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs

GOLDEN = Path(__file__).parent / "golden"
COSTS = Costs(seek=10e-6, get=3e-6, read=1e-6, check=0.2e-6)
"""Fixed, so that plans do not change with what a backend measured."""


@dataclass
class Case:
    """A filter with what stands before it and the lines expected after it."""

    comments: list[str] = field(default_factory=list)
    filter: str = ""
    expected: list[str] = field(default_factory=list)
    schema: KeySchema | None = None
    statistics: Statistics = field(default_factory=Statistics)
    heading: list[str] = field(default_factory=list)

    def planned(self) -> list[str]:
        plan = plan_filter(parse_filter(self.filter), self.schema, self.statistics, COSTS)
        lines = []
        for scan in plan.scans:
            lines.append(str(scan))
            if scan.note is not None:
                lines.append(f"  because {scan.note}")
        return lines or ["nothing"]


def read_cases(path: Path) -> list[Case]:
    cases = []
    schema, statistics = None, Statistics()
    case = Case()
    for line in [*path.read_text().splitlines(), ""]:
        if line.startswith("columns "):
            schema, statistics = _schema(line.removeprefix("columns ")), Statistics()
            case.heading.append(line)
        elif line.startswith("statistics "):
            statistics = Statistics(tuple(map(int, line.split()[1:])))
            case.heading.append(line)
        elif line.startswith("#"):
            case.comments.append(line)
        elif line == "----":
            case.expected = [""]
        elif line and case.expected:
            case.expected.append(line)
        elif line:
            case.filter = line
            case.schema, case.statistics = schema, statistics
        elif case.expected:
            case.expected = case.expected[1:]
            cases.append(case)
            case = Case()
        else:  # a blank line between heading, comments and filter
            case.comments.append("") if case.comments else None
            case.heading.append("") if case.heading else None
    return cases


def _schema(text: str) -> KeySchema:
    columns = [column.split() for column in text.split(", ")]
    return KeySchema(b"db\0t\0", tuple(name for name, _ in columns), tuple(parse_type(kind) for _, kind in columns))


def write_cases(path: Path, cases: list[Case]) -> None:
    blocks = []
    for case in cases:
        heading = "\n".join(case.heading).strip()
        comments = "\n".join(case.comments).strip("\n")
        body = "\n".join([case.filter, "----", *case.planned()])
        # The first comment of a file stands above the heading, as it speaks of all of it.
        first, _, rest = (part.strip("\n") for part in comments.partition("\n\n"))
        if not blocks and heading:
            blocks.append(f"{first}\n\n{heading}\n\n{f'{rest}{chr(10)}' if rest else ''}{body}")
        elif heading:
            blocks.append(f"{heading}\n\n{f'{comments}{chr(10)}' if comments else ''}{body}")
        else:
            blocks.append(f"{f'{comments}{chr(10)}' if comments else ''}{body}")
    path.write_text("\n\n".join(blocks) + "\n")


CASES = [(path.name, case) for path in sorted(GOLDEN.glob("*.txt")) for case in read_cases(path)]


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case.filter}" for name, case in CASES])
def test_golden_plan(name, case, request):  # noqa: ARG001  the name is for the test's id
    if request.config.getoption("--update-golden", default=False):
        pytest.skip("rewritten below")
    assert case.planned() == case.expected


def test_update_golden_files(request, tmp_path):
    """Reading and writing the files gives the same files, which are rewritten only when that is asked for."""
    update = request.config.getoption("--update-golden", default=False)
    for path in sorted(GOLDEN.glob("*.txt")):
        cases = read_cases(path)
        assert cases, path
        written = path if update else tmp_path / path.name
        write_cases(written, cases)
        assert written.read_text() == path.read_text()


def test_every_row_of_the_spec_is_there():
    rows = (
        "p1 > 10 and p1 < 20",
        "p1 = 10",
        "p1 = 10 and c1 = 5",
        "p1 = 9 or p1 = 10",
        "p1 > 10 or p1 < 20",
        "c1 = 5",
        "p1 > 10 and c1 = 5",
        "p1 < 20 and c1 = 5",
        "p1 > 10 and p1 > 20 and p1 < 30 and p1 < 40",
        "p1 > 10 and (p1 > 20 or c1 = 5)",
        "p1 = 10 or c1 = 5",
        "(p1 = 10 and c1 = 5) or (p1 = 20 and c2 = 7)",
    )
    assert {case.filter for name, case in CASES if name == "spec.txt"} >= set(rows)


def test_the_two_distributive_laws_give_one_plan():
    plans = {case.filter: case.planned() for name, case in CASES if name == "spec.txt"}
    assert plans["p1 = 10 and (c1 = 5 or c2 = 7)"] == plans["(p1 = 10 and c1 = 5) or (p1 = 10 and c2 = 7)"]
    left = plans["(p1 = 10 or p1 = 20) and (c1 = 5 or c1 = 6)"]
    right = "(p1 = 10 and c1 = 5) or (p1 = 20 and c1 = 5) or (p1 = 10 and c1 = 6) or (p1 = 20 and c1 = 6)"
    assert left == plans[right]
