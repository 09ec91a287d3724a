"""Tests wait for what they wait for: by an event, by `tests.pauses.until`, with limits that suit a slow machine."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
HERE = Path(__file__).name
SECONDS = 60
"""The shortest limit for something that has to come."""
LIMIT = 600
"""What pyproject.toml gives each test: no mark may give one less."""

CLOCKS = frozenset({"monotonic", "perf_counter", "process_time", "thread_time"})
CLOCKS |= {f"{clock}_ns" for clock in CLOCKS}
WAITS = ("acquire", "communicate", "create_connection", "join", "result", "run", "wait", "wait_for")
WORTH_A_LOOK = re.compile(
    rf"\bsleep\b|\b(?:{'|'.join(CLOCKS)})\b|time\.time\(|/proc/|\.(?:{'|'.join(WAITS)})\([^)]*?\b[1-9]"
    r"|mark\.timeout|(?:SECONDS|SOON) = [1-9]"
)
"""What the text of a file with a flaw has: reading all files takes a tenth of a minute."""

EXCEPTIONS = {
    "pauses.py": "what all other tests wait with",
    "fuzz/": "it says how much it does in a second, and ends when its time is over",
    "rows/test_hbase_faults.py: a clock": "a deadline and a timeout, as arguments of what is tested",
    "hiveserver2/test_statements.py: a clock": "a reply that must not come at once: a slow machine makes it later",
    "store/test_timelines_processes.py: a sleep": "the clock of what is tested is an hour late, and sleeps as always",
    "hbase_server.py: a short limit": "a Docker that does not answer at once is as good as none",
    "processes.py: another process": "what can be read of other processes, which may be gone",
}
"""Files that may, with the kind of line where it is one, and why."""


def flaws(tree):
    """The lines that make a test fail, or wait for nothing, on a machine of another speed, and their kinds."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name("time" | "asyncio"), "sleep") | ast.ImportFrom("time" | "asyncio"):
                yield node.lineno, "a sleep"
            case ast.Constant(str(text)) if re.search(r"\btime\.sleep\(", text):
                yield node.lineno, "a sleep"
            case ast.Attribute(ast.Name("time"), clock) if clock in CLOCKS:
                yield node.lineno, "a clock"
            case ast.Assert(test) if any(is_duration(part) for part in ast.walk(test)):
                yield node.lineno, "a clock"
            case ast.JoinedStr([ast.Constant("/proc/"), *_]):
                yield node.lineno, "another process"
            case ast.Call(ast.Attribute(_, "timeout"), [ast.Constant(limit)]) if limit <= LIMIT:
                yield node.lineno, "a short limit"
            case ast.Assign([ast.Name(name)], value) if is_short(value) and re.search("SECONDS$|SOON$", name):
                yield node.lineno, "a short limit"
            case ast.Call(ast.Attribute(_, name)) if name in WAITS and any(map(is_short, limits(node))):
                yield node.lineno, "a short limit"


def is_duration(node):
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and "time.time()" in ast.unparse(node)


def limits(call):
    return call.args[:2] + [keyword.value for keyword in call.keywords if keyword.arg == "timeout"]


def is_short(limit):
    """What is below a second is for something that must not come."""
    return isinstance(limit, ast.Constant) and isinstance(limit.value, int | float) and 1 <= limit.value < SECONDS


def is_excepted(place):
    return place.startswith(tuple(EXCEPTIONS))


@cache
def places():
    """The files, kinds and lines of all flaws."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py")) if path.name != HERE}
    return [
        (f"{path.relative_to(ROOT)}: {kind}", line)
        for path, text in texts.items()
        if WORTH_A_LOOK.search(text)
        for line, kind in flaws(ast.parse(text))
    ]


def test_no_test_depends_on_how_fast_the_machine_is():
    refused = [f"{place}, line {line}" for place, line in places() if not is_excepted(place)]
    assert not refused, "wait as tests/pauses.py does, and see tests/processes.py:\n" + "\n".join(refused)


def test_each_exception_is_needed():
    seen = [place for place, _ in places()]
    assert [one for one in EXCEPTIONS if not any(place.startswith(one) for place in seen)] == []


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("time.sleep(1)", ["a sleep"]),
        ("from time import sleep", ["a sleep"]),
        ("await asyncio.sleep(0.1)", ["a sleep"]),
        ("PROGRAM = 'import time; time.sleep(600)'", ["a sleep"]),
        ("began = time.monotonic()", ["a clock"]),
        ("assert time.time() - began < 3", ["a clock"]),
        ("assert began <= found.createTime <= time.time()", []),
        ("Path(f'/proc/{pid}/stat').read_text()", ["another process"]),
        ("Path('/proc/self/status').read_text()", []),
        ("assert event.wait(10)", ["a short limit"]),
        ("process.communicate(timeout=30)", ["a short limit"]),
        ("pytestmark = pytest.mark.timeout(300)", ["a short limit"]),
        ("SOON = 10", ["a short limit"]),
        ("waiting.join(0.1)", []),
        ("', '.join(names)", []),
        ("thread.join(SECONDS)", []),
    ],
)
def test_what_is_refused(text, kinds):
    assert [kind for _, kind in flaws(ast.parse(text))] == kinds
