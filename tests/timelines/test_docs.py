"""What docs/timelines.md says is so."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from hbstore.errors import TimeRangeSyntaxError
from hbstore.timelines import UpdatePeriod, parse_time
from hbstore.timelines.properties import MAX_LISTED
from tests.timelines.strategies import utc

PAGE = Path(__file__).parents[2] / "docs" / "timelines.md"
TEXT = PAGE.read_text(encoding="utf-8")
PERIODS = re.findall(r"^\| `([A-Z]+)` \|.*\| `(\S+)` \| `(\S+)`", TEXT, re.MULTILINE)
TIMES = re.findall(
    r"`([^`]+)`", "\n".join(re.findall(r"^\| (`.*?`) \| \D", TEXT.split("## Time ranges")[1], re.MULTILINE))
)
ERRORS = re.findall(r"```text\n> (.*?)\n(.*?)\n```", TEXT, re.DOTALL)


def test_the_examples_are_real():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 10
    assert not found.failed


def test_every_period_is_described():
    assert [name for name, _, _ in PERIODS] == [period.name for period in UpdatePeriod]


@pytest.mark.parametrize(("name", "pattern", "text"), PERIODS)
def test_the_periods_are_written_like_that(name, pattern, text):
    period = UpdatePeriod[name]
    assert period.pattern == pattern
    assert period.format(period.parse(text)) == text


def test_the_times_parse():
    assert len(TIMES) == 19
    for text in TIMES:
        parse_time(text, utc(2015, 1, 29))


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_the_errors_are_real(text, message):
    with pytest.raises(TimeRangeSyntaxError) as caught:
        parse_time(text, utc(2015, 1, 29))
    assert str(caught.value) == message


def test_the_cap_is_documented():
    assert f"{MAX_LISTED:,} at most" in TEXT
