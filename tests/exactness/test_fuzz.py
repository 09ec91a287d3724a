"""`make fuzz`: it compares on each backend, and what it finds can be found again."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fuzz.__main__ import PARTS, main

ROOT = Path(__file__).parents[2]
WRONG = """
import sys
from tests.fuzz.__main__ import main
from tests.plans import naive
truth = naive._truth
naive._truth = lambda tree, typed, kinds: not truth(tree, typed, kinds)
sys.exit(main())
"""


@pytest.mark.parametrize("name", PARTS)
def test_what_issues_ask_for_is_documented_and_runs_that_part(name, monkeypatch):
    part = PARTS[name]
    asked = []
    monkeypatch.setitem(PARTS, name, replace(part, run=lambda options: asked.append(options) or 0))
    monkeypatch.setattr(sys, "argv", ["tests.fuzz", *part.enough.split()])
    assert main() == 0
    assert len(asked) == 1
    row = f'| `make fuzz ARGS="{part.enough}"` | {part.minutes} minutes |'
    assert row in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def fuzz(*arguments, program=("-m", "tests.fuzz")):
    command = [sys.executable, *program, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_pairs_are_compared_on_all_backends():
    done = fuzz("--backend", "all", "--pairs", "500", "--seed", "3")
    assert (done.returncode, done.stderr) == (0, "")
    found = re.match(r"([0-9,]+) pairs in \d+ s, all equal; ", done.stdout)
    assert int(found[1].replace(",", "")) >= 500


def test_a_difference_ends_it_with_the_command_that_repeats_it():
    done = fuzz("--pairs", "500", "--seed", "3", program=("-c", WRONG))
    assert done.returncode == 1
    assert "AssertionError" in done.stderr
    assert "filter: " in done.stderr
    assert done.stderr.endswith("python -m tests.fuzz --seed 3 --pairs 1 --backend memory\n")
