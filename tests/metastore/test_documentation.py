"""docs/metastore.md says of every method which versions have it, and whether it is answered; the code says the same."""

from __future__ import annotations

import pytest

from hbstore.metastore.protocol import METHODS
from hbstore.metastore.replies import IN_MEMORY
from tests.metastore.clients.later_differences import DIFFERENCES
from tests.metastore.method_table import ANSWERED, HEADING, PAGE, ROW, methods, rewritten

TEXT = PAGE.read_text(encoding="utf-8")
TABLE = TEXT.partition(HEADING)[2]
ROWS = ROW.findall(TABLE)


def documented(*statuses):
    return {name for name, _, status, _ in ROWS if status in statuses}


def test_the_tables_are_made_from_the_code(request):
    if request.config.getoption("--update-golden", default=False):
        PAGE.write_text(rewritten(TEXT), encoding="utf-8")
    else:
        assert rewritten(TEXT) == TEXT, "run: pytest tests/metastore/test_documentation.py --update-golden"


def test_every_method_stands_there_once():
    names = [name for name, *_ in ROWS]
    assert len(names) == len(set(names))
    assert set(names) == methods()
    assert {status for _, _, status, _ in ROWS} == {"full", "part", "no"}


def test_what_is_said_to_be_answered_is():
    assert documented("full", "part") == ANSWERED


def test_what_is_said_not_to_be_answered_is_not():
    assert not documented("no") & ANSWERED
    assert not documented("no") & set(METHODS)


def test_the_service_has_no_method_that_nobody_answers():
    assert set(METHODS) == ANSWERED


@pytest.mark.parametrize("name", sorted(documented("part", "no")))
def test_what_is_not_whole_says_why(name):
    (note,) = [note for method, _, _, note in ROWS if method == name]
    section = TABLE.partition(f"| `{name}` |")[0].rpartition("\n### ")[2]
    assert note or "part" in section  # the first of a section speaks for those below it


def test_differences_from_a_metastore_of_hive_4_are_explained():
    text = " ".join(TEXT.split())
    assert [one for one in {one.reason for one in DIFFERENCES} if one not in text] == []


def test_the_page_knows_the_limit_of_a_reply():
    assert f"{IN_MEMORY // 2**20} MiB" in TEXT
