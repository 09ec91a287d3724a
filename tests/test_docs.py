"""The pages of docs/, README.md and CONTRIBUTING.md: what they name exists, and protocols are told in one form."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROTOCOLS = sorted((ROOT / "docs" / "protocols").glob("*.md"))
PARTS = ["Problem", "Invariant", "Steps", "What a crash leaves", "Test that shows it"]


def name(page):
    return str(page.relative_to(ROOT))


def prose(page):
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """What links into a page can name: its headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", *PROTOCOLS], ids=name)
def test_files_and_tests_that_a_page_names_exist(page):
    named = re.findall(r"`((?:hbstore|tests|docs|dev|grammar|benchmarks)/[^`\s]*?)(?:::(\w+))?`", prose(page))
    assert named
    for path, test in named:
        assert (ROOT / path).exists(), path
        assert not test or f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{test}"


@pytest.mark.parametrize("page", PROTOCOLS, ids=name)
def test_protocols_are_told_in_one_form(page):
    assert re.findall(r"^## (.+)$", prose(page), re.MULTILINE) == PARTS
    assert f"protocols/{page.name}" in (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8")


ODD = ("whoever", "who comes", "who lists", "of no moment", "never in neither", "whichever", "thereof", "therein")
ODD += ("as they came", "is told by", "nobody says")
"""Words that a reader has to stop at. Name the actor, and say what it does."""


def test_no_odd_words():
    code = [path for path in (ROOT / "hbstore").rglob("*") if path.suffix in {".py", ".thrift"}]
    word = re.compile(rf"\b({'|'.join(ODD)})\b".replace(" ", r"\s+"), re.IGNORECASE)
    lines = {f"{name(path)}: {found[0]}" for path in PAGES + code for found in word.finditer(path.read_text("utf-8"))}
    assert not lines
