"""The reference in docs/cli.md: the help of every command, as the commands print it."""

from __future__ import annotations

from pathlib import Path

import typer
from typer.testing import CliRunner

from hbstore.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
HEADING = "\n## Reference\n"


def commands():
    """All commands by name, such as "fact cover", in the order of the help; groups come before what is in them."""
    return dict(_below(typer.main.get_command(app), ""))


def is_group(command):
    """Whether it is a command that has commands."""
    return hasattr(command, "commands")


def reference():
    """What follows the heading: made from ``--help``."""
    parts = [
        "\n<!-- Made from --help. Write it anew with: pytest tests/cli/test_reference.py --update-golden -->\n",
        *(_section(*name.split()) for name in ("", *commands())),
    ]
    return "\n".join(parts)


def _below(group, before):
    for name, command in group.commands.items():
        if command.hidden:
            continue
        yield before + name, command
        if is_group(command):
            yield from _below(command, f"{before}{name} ")


def _section(*words):
    shown = CliRunner().invoke(app, [*words, "--help"], prog_name="hbstore", env={"TERMINAL_WIDTH": "80"})
    assert shown.exit_code == 0, shown.output
    return f"### {' '.join(('hbstore', *words))}\n\n```text\n{shown.output.strip()}\n```\n"
