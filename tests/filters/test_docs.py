"""What docs/filter-language.md says is so."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from hbstore.errors import FilterError
from hbstore.filters.literals import MAX_DIGITS
from hbstore.filters.parser import MAX_FILTER_DEPTH, MAX_FILTER_LENGTH, MAX_FILTER_TERMS, parse_filter
from hbstore.filters.tree import RESERVED

PAGE = (Path(__file__).parents[2] / "docs" / "filter-language.md").read_text(encoding="utf-8")
ERRORS = re.findall(r"```text\n> (.*?)\n(.*?)\n```", PAGE, re.DOTALL)


def in_the_table_of(section):
    """What a section's table shows as code."""
    lines = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0].splitlines()
    return re.findall(r"`([^`]+)`", "\n".join(line for line in lines if line.startswith("|")))


CONDITIONS = in_the_table_of("Conditions")
LITERALS = in_the_table_of("Literals")


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_error_examples_are_real_output(text, message):
    with pytest.raises(FilterError) as caught:
        parse_filter(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", [text for text in CONDITIONS if " " in text and text != "not in"])
def test_conditions_parse(text):
    assert parse_filter(text) is not None


@pytest.mark.parametrize("text", LITERALS)
def test_literals_parse(text):
    assert parse_filter(f"a = {text}") is not None


def test_precedence():
    assert parse_filter("a = 1 or not b = 2 and c = 3") == parse_filter("a = 1 or ((not b = 2) and c = 3)")


@pytest.mark.parametrize("cap", [MAX_FILTER_LENGTH, MAX_FILTER_TERMS, MAX_FILTER_DEPTH, MAX_DIGITS])
def test_caps_are_listed(cap):
    assert f"{cap:,}" in PAGE


def test_reserved_words_are_listed():
    assert " ".join(f"`{word}`" for word in sorted(RESERVED)) in PAGE.replace("\n", " ")


def test_python_examples():
    parsed = doctest.DocTestParser().get_doctest(PAGE, {}, "filter-language.md", None, 0)
    assert doctest.DocTestRunner().run(parsed).failed == 0
