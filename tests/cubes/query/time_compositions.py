"""Random expressions of the time ``t``: functions of Spark within each other, arithmetic, comparisons, formats."""

from __future__ import annotations

from random import Random

UNITS = ["year", "YYYY", "quarter", "month", "MM", "week", "day", "DD", "hour", "minute", "second"]
DATE_UNITS = ["year", "quarter", "month", "week", "MON", "yy"]
FIELDS = [
    *("year", "yearofweek", "quarter", "qtr", "month", "week", "day", "dow", "dayofweek_iso", "doy", "hour"),
    *("minute", "second"),
]
ZONES = [
    *("Europe/Zurich", "America/New_York", "Asia/Tokyo", "Asia/Kolkata", "Australia/Lord_Howe", "UTC", "+05:00"),
    *("-03:30", "Asia/Gaza", "Africa/Casablanca", "Asia/Kathmandu", "Etc/GMT+7", "Pacific/Apia"),
]
PATTERNS = [
    *("yyyy", "yyyy-MM", "yyyyMM", "MMM", "yyyy-MM-dd", "yyyy-MM-dd 00:00:00", "EEEE", "D", "QQQ yyyy", "q", "a"),
    *("HH", "yyyy-MM-dd HH", "HH:mm", "hh a", "ss", "yyyy-MM-dd''T''HH:mm:ss", "SSS", "''day'' d", "[yyyy] MM", "k K"),
]
INTERVALS = [
    *("interval {n} hours", "interval {n} days", "interval {n} months", "interval {n} weeks", "interval {n} years"),
    *("interval '{n}' minute", "interval '{n}' second", "interval '1 06:00:00' day to second"),
    *("interval '1-3' year to month", "interval 30 minutes", "interval 7 days"),
    *("interval '1 12' day to hour", "interval 2 hours 30 minutes", "interval 250 milliseconds", "interval 12 months"),
]
MOMENTS = [
    *("'2015-01-10'", "'2015'", "'2015-04'", "date'2015-02-01'", "timestamp'2015-01-05 06:00:00'", "'2018-01-01'"),
    *("'2015-01-31 23:59:59.999999'", "cast('2015-06-01' as timestamp)", "date_trunc('week', '2015-03-04')"),
    *("to_date('2015-10-01')", "current_date() - interval 4000 days", "'2015-01-10 06:30'", "'2015-01-04'"),
    *("'2015-03-01' + interval 1 month", "date'2015-01-01' + interval 6 hours", "last_day('2015-01-10')"),
    *("date_add(HOUR, 6, timestamp'2015-01-10')", "timestampadd(DAY, 1, '2015-01-10')", "add_months('2015-01-10', 1)"),
]
NUMBERS = ["1", "2", "3", "4", "6", "7", "12", "14", "24", "36"]
DAYS = ["MON", "Monday", "SU", "SUN", "WED", "Friday"]

TIMES = [
    *("date_trunc('{unit}', {x})", "date_trunc('{unit}', {x})", "trunc({x}, '{date_unit}')", "last_day({x})"),
    *("next_day({x}, '{day}')", "add_months({x}, {n})", "add_months({x}, -{n})", "to_date({x})", "date({x})"),
    *("dateadd(QUARTER, {n}, {x})", "timestampadd(HOUR, {n}, {x})"),
    *("date_add({x}, {n})", "date_sub({x}, {n})", "{x} + {interval}", "{x} - {interval}", "({x}) + {interval}"),
    *("cast({x} as date)", "cast({x} as timestamp)", "to_timestamp({x})", "cast({x} as timestamp_ntz)"),
    *("from_utc_timestamp({x}, '{zone}')", "to_utc_timestamp({x}, '{zone}')", "timestamp({x})"),
    *("to_date({x}, 'yyyy-MM-dd')", "to_timestamp({x}, 'yyyy-MM-dd HH:mm:ss')"),
    *("convert_timezone('UTC', '{zone}', {x})", "convert_timezone('{zone}', 'UTC', {x})"),
    *("cast(cast({x} as string) as timestamp)", "to_date(date_format({x}, 'yyyy-MM-01'))"),
    *("from_unixtime(unix_timestamp({x}))", "timestamp_seconds(unix_timestamp({x}))"),
    *("timestamp_seconds(cast({x} as timestamp)::bigint)", "timestamp_seconds(unix_timestamp({x}) + 3600)"),
    *("from_unixtime(unix_timestamp({x}), 'yyyy-MM-dd HH:00:00')", "date_add({x}, -weekday({x}))"),
    *("make_date(year({x}), month({x}), 1)", "make_date(year({x}), 1, 1)", "greatest({x}, timestamp'2015-01-10')"),
    *("try_cast({x} as date)", "add_months(trunc({x}, 'year'), 3 * (quarter({x}) - 1))", "coalesce({x}, null)"),
]
VALUES = [
    *("year({x})", "quarter({x})", "month({x})", "monthname({x})", "weekofyear({x})", "day({x})", "dayname({x})"),
    *("dayofmonth({x})", "dayofweek({x})", "dayofyear({x})", "weekday({x})", "hour({x})", "minute({x})"),
    *("second({x})", "extract({field} from {x})", "extract({field} from {x})", "date_part('{field}', {x})"),
    *("date_format({x}, '{pattern}')", "date_format({x}, '{pattern}')", "to_char({x}, '{pattern}')"),
    *("from_unixtime(unix_timestamp({x}), '{pattern}')", "unix_timestamp({x})", "unix_date(to_date({x}))"),
    *("datediff({x}, '2015-01-01')", "datediff('2015-01-01', {x})", "{x} >= {moment}", "{x} < {moment}"),
    *("{x} > {moment}", "{x} <= {moment}", "{moment} <= {x}", "{moment} > {x}", "{x} = {moment}"),
    *("{x} between {moment} and {moment}", "{x} not between {moment} and '2015-12-31 23:59:59.999999'"),
    *(
        "substr(cast({x} as string), 1, {n})",
        "substring({x}, {n}, 2)",
        "substr({x}, -{n}, 2)",
        "left({x}, {n})",
        "cast({x} as string)",
    ),
    *("months_between({x}, '2015-01-01')", "{x} in ('2015-01-10', '2015-03-01')", "{x}", "hash({x})"),
    *("datediff({x}, {y})", "{x} >= {y}", "months_between({x}, {y})", "{x} is null", "right({x}, {n})"),
]
JOINED = [
    *("concat({a}, '-', {b})", "cast({a} as string) = cast({b} as string)", "struct({a}, {b})"),
    "case when {x} >= {moment} then cast({a} as string) else cast({b} as string) end",
    "if(month({x}) > {n}, cast({a} as string), cast({b} as string))",
    *("year({x}) * 100 + month({y})", "not ({a}) is null"),
]
TRUNCATIONS = [
    *("date_trunc('{unit}', {x})", "trunc({x}, '{date_unit}')", "last_day({x})", "next_day({x}, '{day}')"),
    *("to_date({x})", "date_sub({x}, {n})", "add_months({x}, {n})", "{x} + {interval}"),
]
PARTS = [
    *("year({x})", "quarter({x})", "month({x})", "weekofyear({x})", "day({x})", "hour({x})", "second({x})"),
    *("date_trunc('{unit}', {x})", "trunc({x}, '{date_unit}')", "extract({field} from {x})", "{x} >= {moment}"),
]
SINGLE = [value for value in (*VALUES, *TIMES) if "{y}" not in value]


def composition(random: Random, most: int = 4) -> str:
    """An expression of up to so many functions within each other, or two of them beside each other."""
    if random.random() < 0.15:
        return _filled(random, random.choice(JOINED), most - 1)
    return _filled(random, random.choice(VALUES if random.random() < 0.8 else TIMES), most - 1)


def plain_composition(random: Random) -> str:
    """One function of another one: of those that cube queries are mostly made of."""
    return _filled(random, random.choice(PARTS), 0, _filled(random, random.choice(TRUNCATIONS), 0))


def single(random: Random, template: str) -> str:
    """An expression of one function of the time itself."""
    return _filled(random, template, 0)


def _time(random: Random, most: int) -> str:
    text = "t"
    for _ in range(random.randint(0, most)):
        text = _filled(random, random.choice(TIMES), 0, text)
    return text


def _filled(random: Random, template: str, most: int, x: str | None = None) -> str:
    chosen = {
        "x": lambda: _time(random, most) if x is None else x,
        "y": lambda: _time(random, most) if x is None else x,
        "a": lambda: _filled(random, random.choice(SINGLE), max(0, most - 1)),
        "b": lambda: _filled(random, random.choice(SINGLE), max(0, most - 1)),
        "interval": lambda: random.choice(INTERVALS).format(n=random.choice(NUMBERS)),
        "moment": lambda: random.choice(MOMENTS),
        "unit": lambda: random.choice(UNITS),
        "date_unit": lambda: random.choice(DATE_UNITS),
        "field": lambda: random.choice(FIELDS),
        "zone": lambda: random.choice(ZONES),
        "pattern": lambda: random.choice(PATTERNS),
        "day": lambda: random.choice(DAYS),
        "n": lambda: random.choice(NUMBERS),
    }
    for name, choose in chosen.items():
        parts = template.split(f"{{{name}}}")
        template = parts[0] + "".join(choose() + part for part in parts[1:])
    return template
