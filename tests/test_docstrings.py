"""Every example in a docstring is run by a test, but for those of the files in `NOT_RUN`."""

from __future__ import annotations

import doctest
import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

import hbstore
from tests.examples import uses
from tests.spark.test_examples import EXAMPLES

PACKAGE = Path(hbstore.__file__).parent
FILES = [
    path for path in sorted(PACKAGE.rglob("*.py")) if re.search(r"^\s*>>> ", path.read_text("utf-8"), re.MULTILINE)
]
NOT_RUN = {
    "airflow.py": "Airflow is not here; tests/airflow/test_sensor.py runs the sensor in an environment that has it"
}
"""And why."""
OF_SPARK = {example.name for example in EXAMPLES}


def examples_in(text):
    """What is an example to a reader, by its first line."""
    return Counter(re.findall(r"^\s*>>> (.*)$", text, re.MULTILINE))


def run_examples(path):
    """The same of those that pytest runs, or tests/spark/test_examples.py."""
    name = ".".join(["hbstore", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    return Counter(
        example.source.splitlines()[0]
        for test in doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name))
        if not uses("spark", test.examples) or test.name in OF_SPARK
        for example in test.examples
        if doctest.SKIP not in example.options
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_all_examples_of_a_file_are_run(path):
    text = path.read_text(encoding="utf-8")
    if str(path.relative_to(PACKAGE)) in NOT_RUN:
        assert "import airflow" in text or "from airflow" in text
        return
    left_out = examples_in(text) - run_examples(path)
    assert not left_out, f"no test runs these examples of {path.name}: {list(left_out)}"


def test_a_docstring_of_a_variable_has_no_example():
    """The finder takes docstrings of modules, classes and functions; what stands below a variable is run by nobody."""
    assert examples_in('A = 1\n"""\n>>> A\n1\n"""\n') == {"A": 1}
