"""Texts of values beside those of Spark's own server, which the function behind it makes of the same rows."""

from __future__ import annotations

import random
import struct
from datetime import date, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet

from hbstore.hiveserver2.hive_texts import hive_texts
from hbstore.hiveserver2.result_types import STRING, result_type
from hbstore.query_service.result_writing import write_rows
from hbstore.query_service.results import Results
from tests.query_service.written import ID

pytestmark = [pytest.mark.spark]
ROWS = 400
SETTINGS = {
    # What Spark's server does without it loses the days in October of 1582, and the local times before about 1900.
    "spark.sql.datetime.java8API.enabled": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # Arrow's files know one calendar only
}
REGIONS = [
    *("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca"),
    *("Pacific/Apia", "America/St_Johns", "Europe/Dublin", "Antarctica/Troll"),
]
OFFSETS = ["+05:30", "-18:00", "+1", "-0345", "GMT+1", "UTC-07:15", "Z", "PST", "EST", "IST", "VST", "AGT", "NET"]
YEAR_2037 = 67 * 365 * 86_400
FIRST, LAST = -62_135_596_800, 253_402_300_799
"""Seconds, of the years 1 and 9999."""
LARGEST = 9_223_372_000_000
END = "\x1e"


@pytest.fixture(scope="module", autouse=True)
def reads_times_as_arrow_writes_them(spark):
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    yield
    for name in SETTINGS:
        spark.conf.unset(name)


@pytest.fixture(scope="module")
def theirs(spark):
    """Spark's texts of a DataFrame of one column."""

    def shown(frame, zone="UTC"):
        spark.conf.set("spark.sql.session.timeZone", zone)
        texts = spark._jvm.org.apache.spark.sql.execution.HiveResult.hiveResultString(
            frame._jdf.queryExecution().executedPlan()
        )
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        return list(texts.mkString(END).split(END))

    return shown


@pytest.fixture
def ours(tmp_path):
    """The texts of what a query with these rows keeps, as clients get them."""

    def kept(frame):
        results = Results(str(tmp_path / "results"))
        [column] = write_rows(frame, results.location(ID)).columns
        texts = [
            text for batch, _ in results.batches(ID) for text in texts_of(batch.column(0), result_type(column.type))
        ]
        results.remove(ID)
        return texts

    return kept


def texts_of(array, told=STRING, zone="UTC"):
    return ["NULL" if text is None else text for text in hive_texts(array, told, zone).to_pylist()]


@pytest.fixture
def frame_of(spark, tmp_path):
    """Rows of one column, from an array."""

    def read(array):
        parquet.write_table(pa.table({"c": array}), tmp_path / "values.parquet", store_schema=False)
        return spark.read.parquet(str(tmp_path / "values.parquet")).coalesce(1)

    return read


def a_text(random_):
    return "".join(random_.choice('ab", \\{}[]:é中') for _ in range(random_.randint(0, 4)))


FLOATS = [0.0, -0.0, 1e-3, 1e7, 9999999.0, 1e21, -1.5e-7, float("nan"), float("-inf"), 0.1, 123456.75, 16777216.0]
"""Those that Java writes as short as possible."""
BYTES = [b"", b"abc", "é".encode(), b"a\xffb", b"\xf0\x9f", b"\xe4\xb8", b"\xc0\x80"]
"""Broken ones among them, in whose place Java and Python put as many letters."""
DAYS = [date(1, 1, 1), date(1582, 10, 10), date(1969, 12, 31), date(9999, 12, 31)]


def scalar(random_, kind):  # noqa: PLR0911  a line for each type
    """A value without parts."""
    if kind == pa.bool_():
        return random_.random() < 0.5
    if pa.types.is_integer(kind):
        return random_.randint(-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1)
    if pa.types.is_floating(kind):
        return random_.choice(FLOATS)
    if pa.types.is_decimal(kind):
        return Decimal(f"{random_.randint(-(10**kind.precision) + 1, 10**kind.precision - 1)}e-{kind.scale}")
    if kind == pa.binary():
        return random_.choice(BYTES)
    if kind == pa.date32():
        return random_.choice([*DAYS, date(1970, 1, 1) + timedelta(random_.randint(-700_000, 2_900_000))])
    if pa.types.is_timestamp(kind):
        return moment(random_, FIRST, LAST)
    return a_text(random_)


def moment(random_, first, last):
    """Microseconds, of which there are many with zeros at their end; the bounds are seconds."""
    return random_.randint(first * 10**6, last * 10**6) // (unit := 10 ** random_.randint(0, 11)) * unit


def value(random_, kind):
    if random_.random() < 0.15:
        return None
    if pa.types.is_list(kind):
        return [value(random_, kind.value_type) for _ in range(random_.randint(0, 3))]
    if pa.types.is_struct(kind):
        return {part.name: value(random_, part.type) for part in kind}
    if pa.types.is_map(kind):
        keys = {repr(key): key for key in (scalar(random_, kind.key_type) for _ in range(random_.randint(0, 4)))}
        return [(key, value(random_, kind.item_type)) for key in keys.values()]
    return scalar(random_, kind)


PLAIN = [
    *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary()),
    *(pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("us")),
    *(pa.decimal128(5, 0), pa.decimal128(10, 2), pa.decimal128(38, 18), pa.decimal128(38, 38)),
]
ALONE = [kind for kind in PLAIN if not (pa.types.is_floating(kind) or kind == pa.binary())]
"""The others are no texts where they stand alone."""
KEYS = [kind for kind in PLAIN if not pa.types.is_floating(kind)]


def parts(kinds):
    return pa.struct([pa.field(f'n"{at}', kind) for at, kind in enumerate(kinds)])


def array_of(kind, rows=ROWS, seed=1):
    random_ = random.Random(seed)
    return pa.array([value(random_, kind) for _ in range(rows)], kind)


@pytest.mark.parametrize("kind", ALONE, ids=str)
def test_values_alone(theirs, frame_of, kind):
    array = array_of(kind)
    assert texts_of(array) == theirs(frame_of(array))


@pytest.mark.parametrize("seed", range(3))
def test_values_within_others(ours, theirs, frame_of, seed):
    for kind in (
        pa.list_(parts(PLAIN)),
        parts([pa.map_(key, PLAIN[(at + seed) % len(PLAIN)]) for at, key in enumerate(KEYS)]),
        parts([pa.list_(pa.list_(kind)) for kind in PLAIN]),
        pa.map_(pa.string(), parts([pa.list_(pa.map_(pa.int32(), parts(PLAIN[:8])))])),
    ):
        frame = frame_of(array_of(kind, 60, seed))
        assert ours(frame) == theirs(frame)


@pytest.mark.parametrize("zone", [*REGIONS, *OFFSETS])
def test_zones(theirs, frame_of, zone):
    random_ = random.Random(7)
    decade = YEAR_2037 // 6
    starts = (
        FIRST,
        -3 * 10**9,
        -2 * 10**9,
        -(10**9),
        0,
        3 * decade,
        YEAR_2037 - decade,
        YEAR_2037,
        10**11,
        LAST - decade,
    )
    seconds = [(start, start + decade) for start in starts]
    values = [moment(random_, *bounds) for bounds in seconds for _ in range(ROWS // 2)]
    array = pa.array(values).cast(pa.timestamp("us", "UTC"))
    assert texts_of(array, zone=zone) == theirs(frame_of(array), zone)


@pytest.mark.parametrize("start", [0, 5 * YEAR_2037])
def test_every_change_of_the_clocks(theirs, frame_of, start):
    half_hours = [(start // 1_800 + at) * 1_800 * 10**6 for at in range(20_000)]
    array = pa.array(half_hours).cast(pa.timestamp("us", "UTC"))
    assert texts_of(array, zone="Australia/Lord_Howe") == theirs(frame_of(array), "Australia/Lord_Howe")


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "-05:00"])
def test_years_that_need_more_than_four_digits(theirs, frame_of, zone):
    random_ = random.Random(3)
    values = [moment(random_, *range_) for range_ in ((LAST, LARGEST), (-LARGEST, FIRST)) for _ in range(ROWS)]
    array = pa.array([FIRST * 10**6 - 1, LAST * 10**6 + 10**6, *values]).cast(pa.timestamp("us", "UTC"))
    found = texts_of(array, zone=zone)
    assert found == theirs(frame_of(array), zone)
    assert {text[0] for text in found} == {"+", "-", "0", "1", "2", "9"} & {text[0] for text in found}


def test_dates_of_all_years(theirs, frame_of):
    random_ = random.Random(4)
    array = pa.array([-719_529, -719_163, 2_932_897, *(random_.randint(-(2**30), 2**30) for _ in range(ROWS))])
    array = array.cast(pa.int32()).cast(pa.date32())
    assert texts_of(array) == theirs(frame_of(array))


def test_doubles_are_as_short_as_those_of_java_or_shorter(theirs, frame_of):
    random_ = random.Random(5)
    doubles = [struct.unpack("d", random_.randbytes(8))[0] for _ in range(3_000)]
    floats = [struct.unpack("f", random_.randbytes(4))[0] for _ in range(3_000)]
    near = [random_.choice([-1, 1]) * 10 ** random_.uniform(-4, 8) for _ in range(3_000)]
    for values, kind in ((doubles, pa.float64()), (near, pa.float64()), (floats, pa.float32()), (near, pa.float32())):
        array = pa.array([[one] for one in values], pa.list_(kind))
        pairs = zip(texts_of(array), theirs(frame_of(array)), strict=True)
        different = [(left[1:-1], right[1:-1]) for left, right in pairs if left != right]
        assert len(different) < len(values) / 5
        for left, right in different:
            assert len(left) <= len(right)
            assert pa.scalar(float(left)).cast(kind) == pa.scalar(float(right)).cast(kind)


INTERVALS = [
    *(
        "interval 1 day",
        "interval '-1' year",
        "interval '14' month",
        "interval '0' month",
        "interval '3-11' year to month",
    ),
    *("interval '-26:03' hour to minute", "interval '100.5' second", "-interval '1 02:03:04.5' day to second"),
    *("interval '1 02' day to hour", "interval '-5' minute", "interval '0.000001' second", "interval 5000 minute"),
    *("interval '106751991 04:00:54.775807' day to second", "interval '70:59' minute to second"),
    *("cast(null as interval day)", "interval '2 02:03' day to minute", "interval '-2147483648' month"),
]


@pytest.mark.parametrize("text", [*INTERVALS, "make_interval(1, 2, 0, 25, -3, 4, 5.6)", "parse_json('{\"a\":[1.50]}')"])
def test_types_that_results_keep_as_texts(ours, theirs, spark, text):
    frame = spark.sql(f"select {text}")
    assert ours(frame) == theirs(frame)
