"""By the partitions of which update periods functions of times are answered, written down by hand."""

from __future__ import annotations

import pytest

from hbstore.cubes.query.dependence import WITHIN
from hbstore.times.update_period import UpdatePeriod
from tests.cubes.query.time_claims import PERIODS, claims

ROWS = ""
"""No partitions will do."""


@pytest.fixture(scope="module")
def claimed():
    with claims() as some:
        yield some


def periods(names: str) -> frozenset[UpdatePeriod]:
    """Some periods, and what lies within them."""
    within = [WITHIN[UpdatePeriod.named(name)] for name in names.split()]
    return frozenset().union(*within).intersection(PERIODS)


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        # Weeks lie in no months, quarters and years.
        ("month(date_trunc('week', t))", "WEEKLY"),
        ("year(date_trunc('week', t))", "WEEKLY"),
        ("quarter(trunc(t, 'week'))", "WEEKLY"),
        ("date_trunc('month', date_trunc('week', t))", "WEEKLY"),
        ("weekofyear(last_day(t))", "MONTHLY"),
        ("weekofyear(date_trunc('year', t))", "YEARLY"),
        ("extract(yearofweek from t)", "WEEKLY"),
        ("weekofyear(t) + year(t)", "DAILY"),
        ("concat(year(t), '-', month(t))", "MONTHLY"),
        ("year(date_trunc('quarter', last_day(t)))", "YEARLY"),
        ("make_date(year(t), month(t), 1)", "MONTHLY"),
        # Seconds with their fraction.
        ("second(t)", "SECONDLY"),
        ("extract(second from t)", ROWS),
        ("date_part('seconds', date_trunc('minute', t))", "MINUTELY"),
        ("date_part('QTR', t)", "QUARTERLY"),
        ("date_part(bike, t)", ROWS),
        ("date_trunc('decade', t)", ROWS),
        # Patterns.
        ("date_format(t, 'yyyy-MM')", "MONTHLY"),
        ("date_format(t, 'yyyy-MM-dd 00:00:00')", "DAILY"),
        ("date_format(t, 'yyyy \"d\" QQQ')", "DAILY"),
        ("date_format(t, 'HH:mm:ss.SSS')", ROWS),
        ("date_format(t, 'YYYY')", ROWS),
        ("date_format(t, bike)", ROWS),
        ("from_unixtime(unix_timestamp(t), 'yyyy-MM-dd 00:00:00')", "DAILY"),
        ("from_unixtime(unix_timestamp(t) - 86400, 'yyyy')", "DAILY"),
        ("substr(t, 1, 7)", "MONTHLY"),
        ("left(cast(t as string), 10)", "DAILY"),
        ("substr(t, 12)", ROWS),
        ("substr(t, (-7), 2)", ROWS),
        ("to_date(date_format(t, 'yyyy-MM-01'))", "MONTHLY"),
        # Times before and behind.
        ("next_day(t, 'MON')", "WEEKLY"),
        ("next_day(t, 'SUN')", "DAILY"),
        ("date_sub(t, 1)", "DAILY"),
        ("weekofyear(date_add(t, 14))", "WEEKLY"),
        ("weekofyear(date_add(t, n))", "DAILY"),
        ("year(add_months(t, 3))", "QUARTERLY"),
        ("year(add_months(t, -24))", "YEARLY"),
        ("month(add_months(t, n))", "MONTHLY"),
        ("year(dateadd(MONTH, -3, t))", "QUARTERLY"),
        ("weekofyear(date_add(week, n, t))", "WEEKLY"),
        ("date_trunc('day', timestampadd(HOUR, 6, t))", "HOURLY"),
        ("hour(timestampadd(minute, n, t))", "MINUTELY"),
        ("datediff(MONTH, '2015-01-01', t)", ROWS),
        ("date_trunc('day', t + interval 6 hours)", "HOURLY"),
        ("date_trunc('day', t + interval '1 00:30' day to minute)", "MINUTELY"),
        ("date_trunc('day', t + interval 1 day 30 seconds)", "SECONDLY"),
        ("date_trunc('day', interval '36 hours -12 hours' + t)", "DAILY"),
        ("date_trunc('day', t + interval '1' month * 2)", ROWS),
        ("year(t - interval 1 month)", "MONTHLY"),
        ("year(to_date(t) + 365)", "DAILY"),
        ("date_trunc('week', t + interval 1 day) - interval 1 day", "DAILY"),
        ("date_sub(next_day(to_date(t), 'SUN'), 7)", "DAILY"),
        ("datediff(t, '2015-01-01')", "DAILY"),
        ("datediff(last_day(t), t)", "DAILY"),
        # Moments.
        ("t >= '2015-01-10'", "DAILY"),
        ("t < '2018-01-01'", "WEEKLY YEARLY"),
        ("'2015-04' <= t", "QUARTERLY"),
        ("t > timestamp'2015-01-31 23:59:59.999999'", "MONTHLY"),
        ("t > '2015-01-10'", ROWS),
        ("t = '2015-01-10'", ROWS),
        ("t between '2015-01-10' and '2015-01-31 23:59:59.999999'", "DAILY"),
        ("t >= '2015-01-10 06:30'", "MINUTELY"),
        ("t >= date_add(HOUR, 6, timestamp'2015-01-10')", ROWS),
        ("t >= date_add('2015-01-10', 6)", "DAILY"),
        ("month(t + interval '1/0' day)", ROWS),
        ("month(t + interval '1e3000000' day)", ROWS),
        ("t >= '2015-01-10T06:00:00+02:00'", ROWS),
        ("t >= '2015-13-01'", ROWS),
        ("t >= current_date() - interval 7 days", "DAILY"),
        ("t < date_trunc('month', now())", "MONTHLY"),
        ("date_trunc('month', t) = '2015-01-01'", "MONTHLY"),
        ("case when t >= date'2015-02-01' then year(t) end", "MONTHLY"),
        # Time zones.
        ("to_date(from_utc_timestamp(t, 'Europe/Zurich'))", "HOURLY"),
        ("date_trunc('day', to_utc_timestamp(t, 'America/New_York'))", "HOURLY"),
        ("date_trunc('day', convert_timezone('UTC', 'Europe/Zurich', t))", "HOURLY"),
        ("hour(from_utc_timestamp(t, '+05:00'))", "HOURLY"),
        ("hour(from_utc_timestamp(t, 'Asia/Kolkata'))", "MINUTELY"),
        ("year(from_utc_timestamp(t, 'UTC'))", "YEARLY"),
        ("hour(from_utc_timestamp(t, 'Nowhere/Else'))", ROWS),
        ("hour(from_utc_timestamp(t, bike))", ROWS),
        # What is not known.
        ("t", ROWS),
        ("max(t)", ROWS),
        ("max(to_date(t))", "DAILY"),
        ("months_between(t, '2015-01-01')", ROWS),
    ],
)
def test_functions(claimed, expression, names):
    assert claimed.of(expression) == periods(names)


def test_time_zones_have_had_other_offsets(claimed):
    days = "to_date(from_utc_timestamp(t, 'Europe/Zurich'))"
    assert claimed.of(days, "1890-01-01", "1891-01-01") == periods("SECONDLY")
    assert claimed.of(days, "0001-01-01", "9999-01-01") == periods(ROWS)
    assert claimed.of(days.replace("(t,", "(t - interval 200 years,")) == periods("SECONDLY")
    assert claimed.of(days.replace("(t,", "(date_add(t, n),")) == periods("DAILY")
    assert claimed.of(days.replace("(t,", "(t + interval 1900 years,")) == periods(ROWS)  # too many to look through
    assert claimed.of("hour(from_utc_timestamp(t, 'Asia/Gaza'))") == periods("MINUTELY")  # at 00:01, in some years


def test_dates_are_told_by_days():
    with claims("date") as claimed:
        assert claimed.of("t") == periods(ROWS)
        assert claimed.of("hour(t)") == periods("DAILY")
        assert claimed.of("t + 1") == periods("DAILY")
        assert claimed.of("year(t)") == periods("YEARLY")
        assert claimed.of("(t)") == periods(ROWS)


def test_texts_have_a_form_of_their_own():
    with claims("string") as claimed:
        assert claimed.of("year(t)") == periods("YEARLY")
        assert claimed.of("date_format(t, 'yyyy-MM')") == periods("MONTHLY")
        assert claimed.of("substr(t, 1, 7)") == periods(ROWS)
        assert claimed.of("t >= '2015-01-10'") == periods(ROWS)
        assert claimed.of("unix_timestamp(t)") == periods(ROWS)


@pytest.mark.parametrize(
    ("expression", "detail"),
    [
        ("t", "it has no t"),
        ("months_between(t, '2015')", "it has no t, and partitions do not tell MONTHS_BETWEEN(t, '2015')"),
        ("max(t) > '2015'", "it has no t, and partitions do not tell MAX(t)"),
        ("t + interval 6 hours", "it has no t, and partitions do not tell t + INTERVAL '6' HOURS"),
    ],
)
def test_a_refusal_names_the_function_that_needs_times_of_rows(claimed, expression, detail):
    assert {one.detail for one in claimed.refusal(expression).candidates} == {detail}


def test_a_refusal_names_the_function_that_no_update_period_tells(claimed):
    details = {one.fact: one.detail for one in claimed.refusal("month(date_trunc('week', t)), year(t)").candidates}
    assert details["monthly"] == "it has no update period in which MONTH(DATE_TRUNC('week', t)) stays the same"
    assert details["daily"].startswith("nothing for")
