"""The README's worked example prints what the README says it prints, but for times."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1].joinpath("README.md").read_text()


def without_times(text: str) -> str:
    return re.sub(r"[0-9.]+ ms", "… ms", text).strip()


def test_the_worked_example_prints_what_stands_below_it(tmp_path):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    shown = re.search(r"prints\n\n```\n(.*?)```", README, re.DOTALL)[1]
    printed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert without_times(printed.stdout) == without_times(shown)


def test_the_shell_example_prints_what_stands_below_it(tmp_path):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True)
    shown = re.search(r"from the shell:\n\n```console\n(.*?)```", README, re.DOTALL)[1]
    commands = re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]
    assert commands
    for command in commands:
        line, _, expected = command.partition("\n")
        assert line.startswith("hbstore ")
        program = f'"{sys.executable}" -m {line}'
        printed = subprocess.run(program, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S602
        assert printed.stdout + printed.stderr == expected


def test_every_document_is_there():
    root = Path(__file__).parents[1]
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (root / link).exists(), link
