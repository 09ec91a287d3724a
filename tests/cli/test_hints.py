"""What errors advise: the commands and options that their hints name are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import hbstore
from tests.cli.reference import commands, is_group

ROOT = Path(hbstore.__file__).parent
COMMANDS = commands()
OPTION = re.compile(r"--[a-z][a-z-]*")
COMMAND = re.compile(r"`hbstore ([^`]*)`")
ANY = {name for name, command in COMMANDS.items() if not is_group(command)}
OPENING = {name for name in ANY if any("--store" in parameter.opts for parameter in COMMANDS[name].params)}
SHOWN_BY = {
    ("cli/loading.py", "--if-not-exists"): {"load"},
    ("properties_file.py", "--format"): {"timeline import"},
    ("cubes/catalog.py", "--cascade"): {"model drop"},
    ("ddl/session.py", "--warehouse"): {"sql"},
    ("metastore/server.py", "--max-message"): {"serve"},
    ("servers/metrics.py", "--metrics-port"): {"serve"},
    ("servers/listening.py", "--host"): {"serve"},
    ("servers/listening.py", "--port"): {"serve"},
    ("rows/sqlite/file.py", "--store"): OPENING,
    ("rows/hbase/tables.py", "--store"): OPENING,
    ("store/puts.py", "--if-not-exists"): {"add-partition", "load", "fact partitions add"},
    ("store/puts.py", "--keep-invalid"): {"add-partition", "load"},
    ("store/tables.py", "--cascade"): {"drop-database"},
    ("store/tables.py", "--if-not-exists"): {"create-database", "create-table"},
    ("transfer/scope.py", "--on-conflict"): {"import", "export"},
}
"""The commands that show hints which name an option, where those are not of the module that defines the command."""


def options(name):
    return {text for parameter in COMMANDS[name].params for text in (*parameter.opts, *parameter.secondary_opts)}


def texts(node):
    """The literal texts in an expression; for what is put into them stands a sign."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


def hints(path):
    """The hints of a module: arguments and variables of that name, and what stands in constants that they name."""
    text = path.read_text(encoding="utf-8")
    if "--" not in text and "`hbstore" not in text:
        return set()
    tree = ast.parse(text)
    constants, named = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                name = ast.unparse(target)
                constants.setdefault(name, []).extend(texts(node.value))
                if "hint" in name.lower():
                    named.update(texts(node.value))
        elif isinstance(node, ast.keyword) and node.arg == "hint":
            named.update(texts(node.value))
            named.update(
                text for one in ast.walk(node.value) if isinstance(one, ast.Name) for text in constants.get(one.id, ())
            )
    return named


def of_module(path):
    """The commands that a module of the command line defines."""
    module = f"hbstore.cli.{path.stem}"
    return {name for name in ANY if COMMANDS[name].callback.__module__ == module}


HINTS = [
    pytest.param(path, text, id=f"{path.relative_to(ROOT)}: {text[:60]}")
    for path in sorted(ROOT.rglob("*.py"))
    for text in sorted(hints(path))
    if OPTION.search(text) or COMMAND.search(text)
]


def of_command(words):
    """The command that words of a shell begin with; None if there is none."""
    return next((name for length in (3, 2, 1) if (name := " ".join(words[:length])) in ANY), None)


@pytest.mark.parametrize(("path", "text"), HINTS)
def test_a_hint_names_what_is_there(path, text):
    for line in COMMAND.findall(text):
        name = of_command(line.split())
        assert name, f"there is no such command: {line}"
        assert set(OPTION.findall(line)) <= options(name)
    place = path.relative_to(ROOT).as_posix()
    for option in OPTION.findall(COMMAND.sub("", text)):
        shown_by = SHOWN_BY.get((place, option))
        if shown_by is None:
            assert any(option in options(name) for name in of_module(path) or ANY)
        else:
            assert all(option in options(name) for name in shown_by)
