"""The reference in docs/cli.md: the help of every command, as the commands print it."""

from __future__ import annotations

from pathlib import Path

import typer
from typer.testing import CliRunner

from hbstore.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
HEADING = "\n## Reference\n"


def command_names():
    """The names of all commands, in the order of the help."""
    return list(typer.main.get_command(app).commands)


def reference():
    """What follows the heading: made from ``--help``."""
    parts = [
        "\n<!-- Made from --help. Write it anew with: pytest tests/cli/test_reference.py --update-golden -->\n",
        _section("hbstore"),
        *(_section("hbstore", name) for name in command_names()),
    ]
    return "\n".join(parts)


def _section(*words):
    shown = CliRunner().invoke(app, [*words[1:], "--help"], prog_name="hbstore", env={"TERMINAL_WIDTH": "80"})
    assert shown.exit_code == 0, shown.output
    return f"### {' '.join(words)}\n\n```text\n{shown.output.strip()}\n```\n"
