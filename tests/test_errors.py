"""Every error says what to do next."""

from __future__ import annotations

import ast
import pickle
from copy import copy, deepcopy
from datetime import UTC, datetime
from pathlib import Path

import pytest

import hbstore
from hbstore import errors

PACKAGE = Path(errors.__file__).parent
SAY_IT_THEMSELVES = {"Uncoverable", "UnknownUpdatePeriod", "UnknownTimelineClass"}
"""One makes its hint; the others list what there is."""
ERRORS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.HbstoreError) and name not in SAY_IT_THEMSELVES
}


def without_hint(source):
    """The lines of a module on which an error is made without a hint."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    made = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ERRORS]
    return [call.lineno for call in made if not any(_is_hint(one) for one in call.keywords)]


def _is_hint(keyword):
    none = isinstance(keyword.value, ast.Constant) and not keyword.value.value
    return keyword.arg is None or (keyword.arg == "hint" and not none)


def test_every_error_has_a_hint():
    modules = sorted(PACKAGE.rglob("*.py"))
    assert modules
    found = {str(path.relative_to(PACKAGE)): without_hint(path.read_text()) for path in modules}
    assert not {path: lines for path, lines in found.items() if lines}


def test_the_check_sees_errors_without_a_hint():
    lines = [
        'InvalidInput("x")',
        'InvalidInput("x", hint="y")',
        'InvalidInput("x", hint=None)',
        'InvalidInput("x", **f)',
    ]
    assert without_hint("\n".join(lines)) == [1, 3]


def example(kind):
    if kind is errors.Uncoverable:
        return kind([(datetime(2015, 1, 1, tzinfo=UTC), datetime(2015, 1, 2, tzinfo=UTC))])
    if issubclass(kind, errors.TextError):
        return kind("it is wrong", highlight="a\n^", hint="Do this", line=1, found=None)
    return kind("it is wrong", hint="Do this", table="shop.sales", number=7)


@pytest.mark.parametrize("again", [copy, deepcopy, lambda error: pickle.loads(pickle.dumps(error))])  # noqa: S301
@pytest.mark.parametrize(
    "kind",
    [
        one
        for one in {**vars(errors), **vars(hbstore)}.values()
        if isinstance(one, type) and issubclass(one, errors.HbstoreError)
    ],
)
def test_errors_can_be_pickled_and_copied(kind, again):
    error = example(kind)
    error.add_note("in the second batch")
    made = again(error)
    assert type(made) is kind
    assert vars(made) == vars(error)
    assert (str(made), made.args, made.hint) == (str(error), error.args, error.hint)
    assert str(errors.portable(error)) == str(error)
