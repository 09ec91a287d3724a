"""docs/metastore.md says of every method whether it is answered; this holds it to the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hbstore.metastore.endpoint import MODULES
from hbstore.metastore.protocol import METHODS
from hbstore.metastore.replies import IN_MEMORY

PAGE = (Path(__file__).parents[2] / "docs" / "metastore.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("\n## Methods\n")[2]
ROWS = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", TABLE, re.MULTILINE)
ANSWERED = {name for handlers in MODULES.values() for name in handlers.by_method}


def documented(*statuses):
    return {name for name, status, _ in ROWS if status in statuses}


def test_every_method_stands_there_once():
    names = [name for name, _, _ in ROWS]
    assert len(names) == len(set(names))
    assert {status for _, status, _ in ROWS} == {"full", "part", "no"}


def test_what_is_said_to_be_answered_is():
    assert documented("full", "part") == ANSWERED


def test_what_is_said_not_to_be_answered_is_not():
    assert not documented("no") & ANSWERED
    assert not documented("no") & set(METHODS)


def test_the_service_has_no_method_that_nobody_answers():
    assert set(METHODS) == ANSWERED


@pytest.mark.parametrize("name", sorted(documented("part", "no")))
def test_what_is_not_whole_says_why(name):
    (note,) = [note for method, _, note in ROWS if method == name]
    section = TABLE.partition(f"| `{name}` |")[0].rpartition("\n### ")[2]
    assert note or "part" in section  # the first of a section speaks for those below it


def test_the_page_knows_the_limit_of_a_reply():
    assert f"{IN_MEMORY // 2**20} MiB" in PAGE
