"""The rooms of docs/architecture.md: imports point downwards only, and never in a circle."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "hbstore"
ROOMS = (
    ("cli", "__main__"),
    ("web", "console", "hiveserver2"),
    ("query_service",),
    ("airflow",),
    ("client",),
    ("spark",),
    ("ddl",),
    ("transfer", "repair"),
    ("metastore",),
    ("retention",),
    ("warehouse",),
    ("publishing",),
    ("cubes",),
    ("",),  # hbstore/__init__.py, the public names
    ("store",),
    ("timelines",),
    ("plans",),
    ("hive_expressions",),
    ("filters",),
    ("times",),
    ("transactions",),
    ("rows",),
    ("files",),
    ("model",),
    ("pictures",),
    ("servers",),
    ("thrift",),
    ("texts",),
    ("keys",),
    ("installed",),
    ("extras", "release"),
    ("errors", "byte_cache"),
)
"""From the top down; modules of one room may import each other."""
LEVEL = {part: level for level, room in enumerate(ROOMS) for part in room}


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = ["hbstore", *path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a module imports, wherever in its text: in functions and for types too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: write imports in full, as hbstore.…"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in known else node.module)
    return {name for name in found if name.split(".")[0] == "hbstore"}


def room(module: str) -> str:
    return [*module.split("."), ""][1]


MODULES = modules()


@pytest.fixture(scope="module")
def imported():
    """What each module imports."""
    return {name: imports(path, MODULES) for name, path in MODULES.items()}


def test_every_module_is_in_a_room():
    strangers = {name for name in MODULES if room(name) not in LEVEL}
    assert not strangers, "give them a room here and in docs/architecture.md"


def test_imports_point_downwards(imported):
    edges = [(module, name) for module, names in imported.items() for name in names]
    assert not [edge for edge in edges if LEVEL[room(edge[1])] < LEVEL[room(edge[0])]]


def test_what_is_imported_is_there(imported):
    assert not {module: names - set(MODULES) for module, names in imported.items() if names - set(MODULES)}


def test_no_imports_go_in_a_circle(imported):
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_the_documented_rooms_are_these_in_this_order():
    table = (ROOT / "docs" / "architecture.md").read_text().split("## Rooms")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    documented = [re.sub(r"/$|\.py$", "", name) for row in rows for name in re.findall("`([^`]+)`", row)]
    levels = [LEVEL[name] for name in documented]
    assert levels == sorted(levels)
    assert set(documented) == set(LEVEL) - {"", "__main__"}


def test_the_check_sees_imports_in_functions(tmp_path):
    source = tmp_path / "some.py"
    source.write_text("def f():\n    from hbstore.rows import urls\n    from hbstore import errors, nothing\n")
    assert imports(source, MODULES) == {"hbstore.rows.urls", "hbstore.errors", "hbstore"}
