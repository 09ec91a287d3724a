"""docs/glossary.md: one meaning for each word, and the code's own words are the code's."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
FEWEST, MOST = 25, 40


def entries():
    """Term, meaning and the words of today's code, of each line of the table."""
    lines = PAGE.split("|---|---|---|\n")[1].split("\n\n")[0].splitlines()
    for line in lines:
        term, meaning, today = (part.strip() for part in line.strip("|").split("|"))
        yield term, meaning, re.findall(r"`([^`]+)`", today)


def test_terms_stand_once_and_in_order():
    terms = [term.lower() for term, _, _ in entries()]
    assert terms == sorted(set(terms))
    assert FEWEST <= len(terms) <= MOST


def test_every_term_has_a_meaning_of_one_or_two_sentences():
    lengths = {term: len(re.findall(r"\.(?= |$)", meaning)) for term, meaning, _ in entries()}
    assert not {term: length for term, length in lengths.items() if length not in {1, 2}}


def test_the_codes_own_words_occur_in_the_code():
    """Where this fails after a renaming, take the old word out of the glossary's last column."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "hbstore").rglob("*.py"))
    words = {word for _, _, today in entries() for word in today}
    assert words
    assert not {word for word in words if not re.search(rf"\b{word}", code, re.IGNORECASE)}


def test_readers_find_it():
    assert "docs/glossary.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/glossary.md" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
