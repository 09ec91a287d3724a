"""A variable that a reader has to keep in mind says what it holds."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import hbstore

ROOT = Path(hbstore.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
VAGUE = frozenset({"asked", "found", "given", "here", "known", "made", "one", "there", "told", "wanted"})
LINES = 5
"""A variable of that many lines and more needs a name of its own."""


def vague_variables(tree):
    """The functions, lines and names of variables that are vague and live long."""
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        lines = defaultdict(list)
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in VAGUE:
                lines[node.id].append(node.lineno)
        for name, places in lines.items():
            if max(places) - min(places) >= LINES:
                yield f"{min(places)} {name} in {function.name}"


def test_no_variable_is_vague():
    vague = [
        f"{file.relative_to(ROOT)}:{place}" for file in FILES for place in vague_variables(ast.parse(file.read_text()))
    ]
    assert not vague, "name the thing that it holds:\n" + "\n".join(vague)


@pytest.mark.parametrize(("between", "expected"), [(3, []), (4, ["2 found in find"])])
def test_a_vague_variable_may_live_a_few_lines(between, expected):
    text = "def find():\n    found = 1\n" + "    pass\n" * between + "    return found\n"
    assert list(vague_variables(ast.parse(text))) == expected
