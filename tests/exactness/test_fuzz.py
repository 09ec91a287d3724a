"""`make fuzz`: it compares on each backend, and what it finds can be found again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRONG = """
import sys
from tests.fuzz.__main__ import main
from tests.plans import naive
truth = naive._truth
naive._truth = lambda tree, typed, kinds: not truth(tree, typed, kinds)
sys.exit(main())
"""


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
