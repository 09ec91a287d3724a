"""Partial answers of several facts: of the times that all of them have."""

from __future__ import annotations

import pytest

from hbstore.errors import NoCandidate
from tests.cubes.small_cube import CUBE, fact, opened, partitions, table

DAYS = [f"2015-01-{day:02}" for day in range(1, 16)]
RATIO = "cube select fare / minutes as pace from rides where time_range_in(start_time, '2015-01-01', '2015-01-16')"


def of_two_facts(fares, minutes):
    """A cube whose fares and minutes are in two facts, by update period their partitions."""
    facts = (
        fact(name, column, table("lake", *there))
        for name, column, there in (("fares", "fare", fares), ("durations", "minutes", minutes))
    )
    return opened(*CUBE, *facts)


def all_but(*days):
    return partitions("DAILY", [day for day in DAYS if day not in days])


def days_of(found):
    return {table: [f"{one.time:%Y-%m-%d}" for one in some] for table, some in found.partitions.items()}


def missing_of(ranges):
    return [(f"{start:%m-%d}", f"{stop:%m-%d}") for start, stop in ranges]


def test_a_ratio_is_one_of_the_same_days():
    with of_two_facts(["DAILY"], ["DAILY"]) as cubes:
        cubes.add_partitions("fares", "lake", all_but("2015-01-05"))
        cubes.add_partitions("durations", "lake", all_but("2015-01-09"))
        with pytest.raises(NoCandidate) as caught:
            cubes.rewrite(RATIO)
        found = cubes.rewrite(RATIO, partial=True)
    common = [day for day in DAYS if day not in ("2015-01-05", "2015-01-09")]
    assert days_of(found) == {"lake_durations": common, "lake_fares": common}
    assert missing_of(found.missing) == [("01-05", "01-06"), ("01-09", "01-10")]
    assert missing_of(caught.value.missing) == missing_of(found.missing)
    assert not any(candidate.taken for candidate in caught.value.candidates)


def test_a_week_that_lies_across_a_missing_day_is_read_by_its_days_or_not_at_all():
    with of_two_facts(["DAILY", "WEEKLY"], ["DAILY"]) as cubes:
        weeks = partitions("WEEKLY", ["2015-W02"])
        cubes.add_partitions("fares", "lake", [*weeks, *partitions("DAILY", [*DAYS[:4], DAYS[6], *DAYS[11:]])])
        cubes.add_partitions("durations", "lake", all_but("2015-01-08"))
        with pytest.raises(NoCandidate) as caught:
            cubes.rewrite(RATIO)
        found = cubes.rewrite(RATIO, partial=True)
    assert missing_of(caught.value.missing) == [("01-08", "01-09")]
    assert missing_of(found.missing) == [("01-05", "01-07"), ("01-08", "01-12")]
    common = [*DAYS[:4], DAYS[6], *DAYS[11:]]
    assert days_of(found) == {"lake_durations": common, "lake_fares": common}


def test_facts_that_have_no_time_in_common_answer_without_rows():
    with of_two_facts(["DAILY"], ["DAILY"]) as cubes:
        cubes.add_partitions("fares", "lake", partitions("DAILY", DAYS[:7]))
        cubes.add_partitions("durations", "lake", partitions("DAILY", DAYS[7:]))
        found = cubes.rewrite(RATIO, partial=True)
    assert dict(found.partitions) == {}
    assert missing_of(found.missing) == [("01-01", "01-16")]
    assert "WHERE\n    FALSE" in found.sql
