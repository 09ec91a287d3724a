"""`python dev/mutants`: small changes of code, and whether tests notice them, in a package of two modules."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "dev" / "mutants"
SOURCE = '''
"""Between 1 and 2."""

class Odd(ValueError):
    def text(self):
        return 1 + 1

class Shop:
    def __repr__(self):
        return "1" if self else "2"

    def cheaper(self, left, right, hint="a < b"):
        """Whether 1 < 2."""
        log.warning("%d", 1 + 1)
        if left is None or not right:
            raise Odd(f"{left + 1} < {right}", 3 < 4)
        self.seen[left] = self.pair(left, right)
        for one in [one for one in right if one > 1]:
            text = """
                1 < 2"""
            yield 7 if one == 5 else one * 2
        return left < right
'''
TINY = """
def cheaper(left, right):
    if left < right:
        return "left"
    return "right"


def total(amounts):
    number = 0
    for amount in amounts:
        number += amount
    return number
"""
TESTS = """
from shop.prices.compare import cheaper, total


def test_it_compares():
    assert cheaper(1, 2) == "left"


def test_it_adds():
    assert total([1, 2]) == 3
"""


@pytest.fixture(scope="module")
def mutations():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield import_module("mutations")


def all_mutants(mutations, source, module="shop.prices"):
    lines = source.splitlines()
    return [
        mutant
        for place in mutations.functions(ast.parse(source))
        for mutant in mutations.mutants_of(module, place, lines)
    ]


def test_each_kind_of_change_and_no_other(mutations):
    changes = {(one.kind, one.after) for one in all_mutants(mutations, SOURCE)}
    assert changes == {
        ("boolean operator", "if (left is None and (not right)):"),
        ("comparison", "if (left is not None) or not right:"),
        ("negated condition", "if left is None or (right):"),
        ("negated condition", "if (not (left is None or not right)):"),
        ("removed statement", "pass"),
        ("swapped arguments", "self.seen[left] = (self.pair(right, left))"),
        ("negated condition", "for one in ([one for one in right if (not (one > 1))]):"),
        ("boundary", "for one in [one for one in right if (one >= 1)]:"),
        ("constant", "for one in [one for one in right if one > 2]:"),
        ("negated condition", "yield (7 if not one == 5 else one * 2)"),
        ("constant", "yield 8 if one == 5 else one * 2"),
        ("comparison", "yield 7 if (one != 5) else one * 2"),
        ("constant", "yield 7 if one == 6 else one * 2"),
        ("operator", "yield 7 if one == 5 else (one // 2)"),
        ("constant", "yield 7 if one == 5 else one * 3"),
        ("returned value", "return None"),
        ("boundary", "return (left <= right)"),
    }
    assert {one.function for one in all_mutants(mutations, SOURCE)} == {"Shop.cheaper"}


def test_all_can_be_applied_and_mean_another_program(mutations):
    for mutant in all_mutants(mutations, SOURCE):
        module, changed = mutations.applied(mutant, {"shop.prices": SOURCE})
        assert module == "shop.prices"
        assert mutations.means_another(SOURCE, changed)


def test_of_equal_statements_the_same_one_changes(mutations):
    source = "def add(left, right):\n    left += 1\n    if right:\n        left += 1\n    return left\n"
    constants = [one for one in all_mutants(mutations, source) if one.kind == "constant"]
    assert [one.occurrence for one in constants] == [0, 1]
    moved = f"import os\n\n{source}"
    _, changed = mutations.applied(constants[1], {"shop.prices": moved})
    assert changed == moved.replace("        left += 1", "        left += 2")


def test_it_follows_a_function_to_another_module(mutations):
    (boundary,) = [one for one in all_mutants(mutations, TINY) if one.kind == "boundary"]
    moved = TINY.replace("def cheaper", "class Prices:\n    async def other(self): ...\n\n\ndef cheaper")
    module, changed = mutations.applied(boundary, {"shop.prices": "", "shop.sums.prices": moved})
    assert module == "shop.sums.prices"
    assert "if (left <= right):" in changed


@pytest.mark.parametrize(
    "sources",
    [
        {"shop.prices": TINY.replace("left < right", "right > left")},
        {"shop.prices": ""},
        {"shop.other": TINY, "shop.another": TINY},
    ],
    ids=["changed", "gone", "twice"],
)
def test_what_is_not_there_any_more_is_not_applied(mutations, sources):
    (boundary,) = [one for one in all_mutants(mutations, TINY) if one.kind == "boundary"]
    assert mutations.applied(boundary, sources) is None


def test_they_are_spread_over_rooms_by_lines(mutations):
    body = "".join(f"def add{number}(left):\n    return left + {number}\n" for number in range(60))
    sources = {"shop.a.long": body, "shop.b.short": body[: body.index("def add20")], "shop.keys": "A = 1\n" * 40}
    chosen = mutations.chosen(sources, 20, seed=3)
    assert [one.module for one in chosen].count("shop.a.long") == 12
    assert len({(one.module, one.function) for one in chosen}) == len(chosen) == 16  # 4 of a room without functions
    assert mutations.chosen(sources, 20, seed=3) == chosen != mutations.chosen(sources, 20, seed=4)


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "shop"
    files = {
        "shop/__init__.py": "",
        "shop/prices/__init__.py": "",
        "shop/prices/compare.py": TINY,
        "tests/prices/test_compare.py": TESTS,
        "conftest.py": "",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(root, "init", "--quiet")
    commit(root)
    return root


def git(root, *arguments):
    settings = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *settings, *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def commit(root):
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Sell")


def mutants(root, *arguments, code=0):
    command = [sys.executable, FOLDER, "--package", "shop", *map(str, arguments)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def table(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_tells_what_kills_each_goes_on_and_is_compared(repository, mutations, tmp_path):
    wanted = [
        one for one in all_mutants(mutations, TINY, "shop.prices.compare") if one.kind in {"boundary", "operator"}
    ]
    wanted += [one for one in all_mutants(mutations, TINY, "shop.prices.compare") if one.kind == "removed statement"]
    chosen, before, after = tmp_path / "chosen", tmp_path / "before", tmp_path / "after"
    chosen.write_text(mutations.written(wanted))
    assert {line["module"] for line in map(json.loads, mutants(repository, "choose").splitlines())} == {
        wanted[0].module
    }

    mutants(repository, "run", chosen, before, "--most", 1, "--last-stage", "room")
    assert [(one["outcome"], one["stage"]) for one in table(before)] == [("alive", "room")]
    mutants(repository, "run", chosen, before, "--last-stage", "room")
    same = tmp_path / "same"
    same.write_text("")
    lives = f"{wanted[0].id} shop/prices/compare.py:3: shop.prices.compare.cheaper, boundary"
    printed = mutants(repository, "show", chosen, before, "--equivalent", same).splitlines()
    assert printed[:3] == [lives, "    - if left < right:", "    + if (left <= right):"]
    assert printed[3:] == [
        f"{name:<16}    2 tried: 1 killed, 1 alive, 0 equivalent, 0 gone" for name in ("prices", "all")
    ]
    same.write_text(f"{wanted[0].id} equal prices are cheap\n")
    printed = mutants(repository, "show", chosen, before, "--equivalent", same).splitlines()
    assert printed[0] == f"{lives}: equal prices are cheap"
    assert printed[-1] == f"{'all':<16}    2 tried: 1 killed, 0 alive, 1 equivalent, 0 gone"
    killer = "tests/prices/test_compare.py::test_it_adds"
    assert [(one["id"], one["outcome"], one["by"]) for one in table(before)] == [
        (wanted[0].id, "alive", ""),
        (wanted[1].id, "killed", killer),
    ]

    test, source = repository / "tests/prices/test_compare.py", repository / "shop/prices/compare.py"
    test.write_text(TESTS.replace("total([1, 2]) == 3", "total([]) == 0"))
    source.write_text(TINY.replace("left < right", "left + 0 < right"))
    commit(repository)
    mutants(repository, "run", chosen, after, "--last-stage", "room", "--killers", before)
    assert [one["outcome"] for one in table(after)] == ["gone", "alive"]
    printed = mutants(repository, "compare", chosen, before, after, code=1)
    assert f"killed before by {killer}\n" in printed
    assert printed.endswith("alive → gone: 1; killed → alive: 1\n")
    assert git(repository, "worktree", "list").count("\n") == 1
    assert git(repository, "status", "--porcelain") == ""


def test_what_fails_without_the_mutant_kills_nothing(repository, mutations, tmp_path):
    test = repository / "tests/prices/test_compare.py"
    test.write_text("def test_it_fails():\n    assert False\n\n" + TESTS.replace("== 3", "in {3, -3}"))
    commit(repository)
    (added,) = [one for one in all_mutants(mutations, TINY, "shop.prices.compare") if one.kind == "removed statement"]
    chosen, outcomes = tmp_path / "chosen", tmp_path / "outcomes"
    chosen.write_text(mutations.written([added]))
    mutants(repository, "run", chosen, outcomes, "--last-stage", "files")
    assert [one["by"] for one in table(outcomes)] == ["tests/prices/test_compare.py::test_it_adds"]
