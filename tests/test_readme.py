"""What README.md shows is what happens: its Python, and the commands that it shows with their output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODEL = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
PYTHON = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]


def without_times(text):
    return re.sub(r"[0-9.]+ ms", "… ms", text).strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder where the Python has run, with the files of docs/cli.md; and what the Python printed."""
    folder = tmp_path_factory.mktemp("readme")
    for name, text in zip(("model.yaml", "days.yaml"), re.findall(r"```yaml\n(.*?)```", MODEL, re.DOTALL), strict=True):
        (folder / name).write_text(text)
    command = [sys.executable, "-c", PYTHON]
    return folder, subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_the_python_prints_what_stands_below_it(folder):
    shown = re.search(r"prints\n\n```\n(.*?)```", README, re.DOTALL)[1]
    assert without_times(folder[1]) == without_times(shown)


def test_commands_print_what_stands_below_them(folder):
    steps = [
        step
        for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
        for step in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.MULTILINE)[1:]
        if step.startswith("hbstore ") and not step.startswith(("hbstore --store /data", "hbstore spark-conf"))
    ]
    assert len(steps) == 5
    environment = {**os.environ, "HBSTORE_URL": re.search(r"^\$ export HBSTORE_URL=(\S+)$", README, re.MULTILINE)[1]}
    for step in steps:
        line, _, expected = step.partition("\n")
        program = f'"{sys.executable}" -m {line}'
        done = subprocess.run(  # noqa: S602
            program, shell=True, cwd=folder[0], env=environment, capture_output=True, text=True, check=False
        )
        if expected:
            assert without_times(done.stdout + done.stderr.partition("3 partitions in")[0]) == without_times(expected)
        else:
            assert done.returncode == 0, done.stderr


def test_it_is_short():
    assert len(README.splitlines()) <= 120


def test_it_leads_to_every_page():
    pages = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")}
    linked = {link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", README)}
    assert pages <= linked
