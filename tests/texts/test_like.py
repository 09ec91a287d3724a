"""LIKE patterns in both dialects, compared with a recursive matcher."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hbstore.errors import InvalidInput
from hbstore.texts.like import ONE, RUN, LikePattern, like_dialect, parse_like

sql_patterns = st.text("ab%_\\é\n", max_size=8)
hive_patterns = st.text("ab.*%_+[(\\", max_size=8)
subjects = st.text("ab%_\\.*+[(é\n\U0010ffff", max_size=8)


def tokens(pattern: str, dialect: str) -> list[str | type | None]:
    """A pattern's characters, with None for any run and `str` for any one character; written from the definition."""
    found: list[str | type | None] = []
    while pattern:
        if dialect == "sql" and pattern[0] == "\\" and pattern[1:2] in ("%", "_", "\\"):
            found.append(pattern[1])
            pattern = pattern[2:]
        elif pattern.startswith("%" if dialect == "sql" else ".*"):
            found.append(None)
            pattern = pattern[1 if dialect == "sql" else 2 :]
        elif pattern[0] == ("_" if dialect == "sql" else "."):
            found.append(str)
            pattern = pattern[1:]
        else:
            found.append(pattern[0])
            pattern = pattern[1:]
    return found


def naive(pattern: list[str | type | None], text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] is None:
        return any(naive(pattern[1:], text[start:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] in (str, text[0]) and naive(pattern[1:], text[1:])


@given(sql_patterns, subjects)
@example("%a%", "ba")
@example("_%_", "a")
@example("%ab", "aab")
@example("a\\", "a\\")
def test_sql_patterns_match_as_the_definition_says(pattern, text):
    assert parse_like(pattern, "sql").matches(text) is naive(tokens(pattern, "sql"), text)


@given(hive_patterns, subjects)
@example(".*x.*", "x")
@example("a%", "ab")
@example("*", "*")
@example("..*", "a")
def test_hive_patterns_match_as_the_definition_says(pattern, text):
    assert parse_like(pattern, "hive2").matches(text) is naive(tokens(pattern, "hive2"), text)


@given(hive_patterns | sql_patterns, st.sampled_from(["sql", "hive2"]))
def test_a_printed_pattern_is_the_same_pattern_in_sql(pattern, dialect):
    parsed = parse_like(pattern, dialect)
    assert parse_like(str(parsed), "sql") == parsed


@given(sql_patterns, subjects)
def test_prefix_and_kinds_tell_the_truth(pattern, text):
    parsed = parse_like(pattern, "sql")
    if parsed.matches(text):
        assert text.startswith(parsed.prefix)
        assert not parsed.is_literal or text == parsed.prefix
    if parsed.is_prefix:
        assert parsed.matches(text) is text.startswith(parsed.prefix)
    if parsed.is_literal:
        assert parsed.matches(parsed.prefix)


@pytest.mark.parametrize(
    ("pattern", "dialect", "parts"),
    [
        ("", "sql", ()),
        ("%%", "sql", (RUN,)),
        ("%_%", "sql", (RUN, ONE, RUN)),
        ("a%b_", "sql", ("a", RUN, "b", ONE)),
        (r"\%\_\\\a", "sql", (r"%_\\a",)),
        ("2013-.*", "hive2", ("2013-", RUN)),
        (".*.*", "hive2", (RUN,)),
        ("a+[(%_", "hive2", ("a+[(%_",)),
        (r"\.", "hive2", ("\\", ONE)),
    ],
)
def test_parts(pattern, dialect, parts):
    assert parse_like(pattern, dialect) == LikePattern(parts)


def test_the_empty_pattern_matches_the_empty_text_alone():
    assert parse_like("", "sql").matches("")
    assert not parse_like("", "sql").matches("a")
    assert parse_like("", "sql").is_literal


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("%a%a%a%a%a%a%a%a%b", "a" * 5000),
        ("%" + "a%" * 500 + "b", "a" * 5000),
        ("%a_%a_%a_%a_%a_%b", "a" * 5000),
        ("_%" * 200 + "b", "a" * 5000),
    ],
)
def test_pathological_patterns_come_to_an_end(pattern, text):
    assert not parse_like(pattern, "sql").matches(text)
    assert parse_like(pattern, "sql").matches(text + "b")


def test_dialects_by_name():
    assert (like_dialect("sql"), like_dialect("hive2")) == ("sql", "hive2")
    for wrong in ("regex", None, 5, []):
        with pytest.raises(InvalidInput, match="the LIKE dialect is unknown"):
            like_dialect(wrong)
