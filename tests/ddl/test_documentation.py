"""docs/ddl.md: its Python runs, its command lines print what it shows, and it names every statement."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path
from typing import get_args

from typer.testing import CliRunner

from hbstore import Column, Table, connect
from hbstore.cli import app
from hbstore.ddl import Statement
from tests.ddl.strategies import STATEMENTS

PAGE = Path(__file__).parents[2] / "docs" / "ddl.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_pages_python_runs():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried > 5
    assert failed == 0


def test_the_page_shows_real_output(tmp_path):
    with connect(f"sqlite://{tmp_path}/catalog.db") as store:
        store.create_database("shop")
        columns = [Column("ds", "date"), Column("hour", "int")]
        location = f"file:{tmp_path}/warehouse/shop.db/sales"
        store.create_table(Table("shop", "sales", partition_columns=columns, location=location))
    environment = {"HBSTORE_URL": f"{tmp_path}/catalog.db", "HBSTORE_WAREHOUSE": f"{tmp_path}/warehouse"}
    blocks = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    steps = [step for block in blocks for step in re.split(r"^\$ hbstore ", block, flags=re.MULTILINE)[1:]]
    assert len(steps) > 3
    for step in steps:
        line, _, expected = step.partition("\n")
        assert CliRunner().invoke(app, shlex.split(line), env=environment).output == expected


def test_the_strategies_know_every_statement():
    """So that the round trip, and with it this page's table, leaves none out."""
    assert len(STATEMENTS.element_strategies) == len(get_args(Statement))
