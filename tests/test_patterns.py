"""Regular expressions mean the same to every Python that hbstore runs on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hbstore.ddl import parse_statements
from hbstore.errors import TextError
from hbstore.filters.parser import parse_filter

ROOT = Path(__file__).parents[1]
PATTERNS = [*sorted((ROOT / "grammar").glob("*.lark")), *sorted((ROOT / "hbstore").rglob("*.py"))]


def test_no_group_is_repeated_without_giving_back():
    """Before Python 3.11.5 such a repetition matches too little if the group's parts give back: CPython's gh-106052."""
    repeated = re.compile(r"\)(?:[*+?]|\{[0-9,]+\})\+")
    assert len(PATTERNS) > 100
    assert [path for path in PATTERNS if repeated.search(path.read_text())] == []


@pytest.mark.parametrize("size", [1, 100_000])
def test_what_is_not_closed_takes_time_in_proportion(size):
    """A second. Patterns that begin anew at every sign take minutes, those that try every way to divide take hours."""
    for text in (
        "show tables like '" + "\\'a" * size,
        "/* " + "*a" * size,
        "show partitions t where /*" + "* /" * size,
        "show partitions t where " + "/**/" * size + "-" * size,
        "cube -- select\n" + "/**/--\n" * size + "selec",
        "cube " + "/* *" * size,
        "-- a" + "\\\n--" * size + "\ncube selec",
        "cube " + "--\\\n\n" * size + "'",
        "cube select '" + "\\'a" * size,
        "cube select " + "r'a" * size + "/**/" * size + "`",
    ):
        with pytest.raises(TextError, match=r"does not parse|the query is too long"):
            parse_statements(text)
    with pytest.raises(TextError, match="does not parse"):
        parse_filter("`" + "a``" * size + " = 1")
