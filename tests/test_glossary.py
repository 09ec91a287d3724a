"""docs/glossary.md: one meaning for each word, and one word for each meaning."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
FEWEST, MOST = 25, 45


def entries():
    """Term and meaning of each line of the table."""
    lines = PAGE.split("|---|---|\n")[1].split("\n\n")[0].splitlines()
    for line in lines:
        term, meaning = (part.strip() for part in line.strip("|").split("|"))
        yield term, meaning


def test_terms_stand_once_and_in_order():
    terms = [term.lower() for term, _ in entries()]
    assert terms == sorted(set(terms))
    assert FEWEST <= len(terms) <= MOST


def test_every_term_has_a_meaning_of_one_or_two_sentences():
    lengths = {term: len(re.findall(r"\.(?= |$)", meaning)) for term, meaning in entries()}
    assert not {term: length for term, length in lengths.items() if length not in {1, 2}}


def test_the_code_uses_no_word_that_a_term_replaced():
    """They had other meanings as well, or none for a newcomer: incarnation for table id, ledger for lock table, …"""
    replaced = re.compile("annex|incarnation|ledger", re.IGNORECASE)
    pages = [*(ROOT / "hbstore").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    assert not {path.name for path in pages if replaced.search(path.read_text(encoding="utf-8"))}


def test_readers_find_it():
    assert "docs/glossary.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/glossary.md" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
