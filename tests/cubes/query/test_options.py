"""Options of cube queries: each changes the answer as it says, wherever it is said, and no other is taken."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path

import duckdb
import pytest

from hbstore.cubes.logical_tables import StorageTable
from hbstore.cubes.query.option_names import OPTIONS
from hbstore.cubes.query.options import QueryOptions
from hbstore.errors import CubeSyntaxError, InvalidInput, InvalidModel, InvalidTime, NoCandidate, UnsupportedQuery
from tests.cubes.query.spark_in_duckdb import define, in_duckdb
from tests.cubes.query.stars import ordered
from tests.cubes.small_cube import CUBE, fact, opened, partitions, stations, table

DAYS = [f"2015-01-{day:02}" for day in range(1, 32)]
HOURS = [f"2015-01-10-{hour:02}" for hour in range(24)]
MONTH = "time_range_in(start_time, '2015-01', '2015-02')"
DAY = "time_range_in(start_time, '2015-01-10', '2015-01-11')"
LENS = "lens.cube.query."
PAGE = Path(__file__).parents[3] / "docs" / "cube-queries.md"


@pytest.fixture(scope="module")
def world():
    """Rows whose fares tell from which table and update period they are: 1, 100, 1,000 and 7."""
    by_day = fact("daily", "fare station_id", table("lake", "DAILY", "MONTHLY"), table("vault", "DAILY"), weight=10)
    by_hour = fact("raw", "fare station_id", table("lake", "HOURLY"), weight=100)
    both = stations(StorageTable(storage="lake"), StorageTable(storage="vault"))
    with opened(*CUBE, by_day, by_hour, both) as cubes, duckdb.connect() as db:
        days = partitions("DAILY", DAYS)
        cubes.add_partitions("daily", "lake", [*days, *partitions("MONTHLY", ["2015-01"])])
        cubes.add_partitions("daily", "vault", days)
        cubes.add_partitions("raw", "lake", partitions("HOURLY", HOURS))
        define(db)
        db.execute("CREATE SCHEMA shop")
        for name in ("lake_daily", "vault_daily", "lake_raw"):
            db.execute(f"CREATE TABLE shop.{name} (fare BIGINT, station_id INT, dt VARCHAR)")
        db.executemany("INSERT INTO shop.lake_daily VALUES (1, 5, ?)", [(day,) for day in DAYS])
        db.execute("INSERT INTO shop.lake_daily VALUES (90, 5, '2015-01'), (10, 9, '2015-01')")
        db.executemany("INSERT INTO shop.vault_daily VALUES (1000, 5, ?)", [(day,) for day in DAYS])
        db.executemany("INSERT INTO shop.lake_raw VALUES (7, 5, ?)", [(hour,) for hour in HOURS])
        db.execute("CREATE TABLE shop.lake_stations AS SELECT 5 AS id, 'in the lake' AS name")
        db.execute("CREATE TABLE shop.vault_stations AS SELECT 5 AS id, 'in the vault' AS name")
        yield cubes, db


def rows(world, text, options=None, **others):
    cubes, db = world
    return ordered(db.execute(in_duckdb(cubes.rewrite(text, options=options, **others).sql)).fetchall())


FARE = f"select fare from rides where {MONTH}"
FARE_OF_DAY = f"select fare from rides where {DAY}"
NAMES = f"select city.name, fare from rides where {MONTH}"
ANSWERS = [
    (FARE, {}, [(100,)]),
    (FARE, {"max_interval": "DAILY"}, [(31,)]),
    (FARE, {"max_interval": "quarterly"}, [(100,)]),
    (FARE, {f"{LENS}max.interval": "daily"}, [(31,)]),
    (FARE, {"storages": "vault"}, [(31_000,)]),
    (FARE, {f"{LENS}driver.supported.storages": "Vault, lake"}, [(100,)]),
    (FARE, {"tables.daily": "vault_daily"}, [(31_000,)]),
    (FARE, {f"{LENS}valid.fact.daily.storagetables": "vault_daily"}, [(31_000,)]),
    (FARE, {"periods.daily.lake": "DAILY", "tables.daily": "lake_daily"}, [(31,)]),
    (FARE, {f"{LENS}valid.fact.daily.storage.lake.updateperiods": "daily,monthly"}, [(100,)]),
    (FARE_OF_DAY, {"facts.rides": "raw"}, [(168,)]),
    (FARE_OF_DAY, {f"{LENS}valid.rides.facttables": "daily,raw", "storages": "lake"}, [(1,)]),
    (FARE_OF_DAY, {"facts.walks": "none", "tables.raw": "none", "storages": "lake"}, [(1,)]),
    (NAMES, {}, [("in the lake", 90), (None, 10)]),
    (NAMES, {"join_type": "inner"}, [("in the lake", 90)]),
    (NAMES, {f"{LENS}join.type": "LEFTOUTER"}, [("in the lake", 90), (None, 10)]),
    (NAMES, {"dimension_tables": "vault_stations"}, [("in the vault", 90), (None, 10)]),
    (NAMES, {f"{LENS}valid.dim.storgaetables": "vault_stations"}, [("in the vault", 90), (None, 10)]),
    (NAMES, {f"{LENS}valid.dim.storagetables": "vault_stations"}, [("in the vault", 90), (None, 10)]),
    (NAMES, {"storages": "vault"}, [("in the vault", 31_000)]),
    ("select name from station", {"storages": "vault"}, [("in the vault",)]),
    (f"{FARE} group by station_id", {}, [(10,), (90,)]),
    (f"{FARE} group by station_id", {"group_by_to_select": "true"}, [(5, 90), (9, 10)]),
    (f"{FARE} group by station_id % 2, station_id", {f"{LENS}promote.groupby.toselect": "true"},
     [(1, 5, 90), (1, 9, 10)]),
    (f"select station_id, fare from rides where {MONTH} group by station_id", {"group_by_to_select": "true"},
     [(5, 90), (9, 10)]),
    (f"{NAMES} group by city.name", {"select_to_group_by": "false"}, [("in the lake", 90), (None, 10)]),
    (f"select station_id from rides where {MONTH}", {"select_to_group_by": "false"}, [(5,), (9,)]),
    ("select fare from rides where time_range_in(start_time, 'now.day', 'now.day+1day')",
     {"now": "2015-01-10-06", "storages": "vault"}, [(1000,)]),
    ("select fare from rides where time_range_in(start_time, 'now.day-1month')",
     {"now": "now.month-1month"}, [(100,)]),
    ("select fare from rides where time_range_in(start_time, 'now.day', 'now.day+1day')",
     {"lens.query.current.time.millis": "1420869600000", "storages": "vault"}, [(1000,)]),
    ("select fare from rides where time_range_in(start_time, '2015-01', '2015-04')", {"partial": "true"}, [(100,)]),
    ("select fare from rides where time_range_in(start_time, '2015-01', '2015-04')",
     {f"{LENS}fail.if.data.partial": "false"}, [(100,)]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "expected"), ANSWERS)
def test_answers(world, text, options, expected):
    assert rows(world, text, options) == ordered(expected)
    said = ", ".join(f"{name} = '{value}'" for name, value in options.items())
    if said:
        assert rows(world, f"cube {text}\nOPTIONS ({said});") == ordered(expected)


def test_every_option_is_tried():
    elsewhere = ("join_chains", "flatten_bridges", "flatten_early")  # below, and in test_bridges.py
    tried = [name.lower() for _, options, _ in ANSWERS for name in options]
    for option in OPTIONS:
        if option.field is not None and option.field not in elsewhere:
            assert any(option.names_in(name) is not None for name in tried), option.names


def test_what_options_leave_out_has_its_cause(world):
    cubes, _ = world
    for options, cause, detail in (
        ({"storages": "vault"}, "UNSUPPORTED_STORAGE", "storages allows vault alone"),
        ({"facts.rides": "raw"}, "INVALID_STORAGE", "the option facts.rides allows raw alone"),
        ({"tables.daily": "none"}, "INVALID_STORAGE", "the option tables.daily allows none alone"),
        ({"max_interval": "hourly"}, "NO_CANDIDATE_UPDATE_PERIODS", "no update period that the options allow"),
        ({"periods.daily.lake": "yearly"}, "NO_CANDIDATE_UPDATE_PERIODS", "no update period that the options allow"),
    ):
        try:
            candidates = cubes.rewrite(FARE_OF_DAY, options=options).candidates
        except NoCandidate as error:
            candidates = error.candidates
        (one,) = (one for one in candidates if one.table == "lake_daily")
        assert (one.cause, detail in one.detail) == (cause, True)
    for options in ({"dimension_tables": "none"}, {"storages": "elsewhere"}):
        with pytest.raises(NoCandidate, match="alone"):
            cubes.rewrite("select name from station", options=options)


def test_join_chains_that_may_not_be_named(world):
    for name, value in (("join_chains", "false"), (f"{LENS}disable.auto.join", "true")):
        for text in (NAMES, f"select station_name from rides where {MONTH}"):
            with pytest.raises(UnsupportedQuery, match="may not") as caught:
                rows(world, text, {name: value})
            assert "join_chains = true" in str(caught.value)
        joined = f"select s.name, fare from rides join station s on rides.station_id = s.id where {MONTH}"
        assert rows(world, joined, {name: value}) == [("in the lake", 90)]


def test_without_promotion_what_is_selected_has_to_be_grouped_by(world):
    with pytest.raises(UnsupportedQuery, match="neither aggregated nor grouped by"):
        rows(world, NAMES, {f"{LENS}promote.select.togroupby": "false"})


def test_the_order_of_the_places(world, tmp_path):
    path = tmp_path / "some.properties"
    path.write_text("max_interval = daily\nstorages = vault\n")
    assert rows(world, FARE, str(path)) == rows(world, FARE, path) == [(31_000,)]
    in_session = QueryOptions.of(path, session={f"{LENS}driver.supported.storages": "lake"})
    assert rows(world, FARE, in_session) == [(31,)]
    assert rows(world, FARE, QueryOptions.of({"max_interval": "monthly"}, session={"max_interval": "daily"})) == [
        (100,)
    ]
    assert rows(world, f"{FARE} options (storages = vault)", in_session) == [(31_000,)]
    # Names of cubes are said one by one.
    facts = QueryOptions.of({"facts.rides": "raw"}).changed({"facts.walks": "daily"})
    assert rows(world, FARE_OF_DAY, facts) == [(168,)]


def test_now_of_the_query_of_the_call_and_of_the_clock(world):
    text = "select fare from rides where time_range_in(start_time, 'now.day', 'now.day+1day') options (storages = vault"
    day = dt.datetime(2015, 1, 10, 6, tzinfo=dt.UTC)
    late = {"now": "2016"}
    assert rows(world, f"{text})", late, now=day) == [(1000,)]
    assert rows(world, f"{text}, now = '2015-01-10')", late, now=dt.datetime(2017, 1, 1, tzinfo=dt.UTC)) == [(1000,)]
    with pytest.raises(NoCandidate):
        rows(world, f"{text})", late)
    with pytest.raises(InvalidTime):
        rows(world, f"{text})", now=dt.datetime(2015, 1, 10))  # noqa: DTZ001  it is to be refused


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("some.properties", "# all\nmax_interval: daily\nfacts.rides = daily\n"),
        ("some.conf", f"{LENS}max.interval daily\n{LENS}valid.rides.facttables=daily"),
        ("some.toml", "max_interval = 'daily'\npartial = false\n[facts]\nrides = ['daily']\n"),
        ("some.json", json.dumps({"max_interval": "daily", "facts": {"rides": "daily"}, "partial": False})),
        ("some.yaml", "max_interval: daily\nfacts: {rides: [daily]}\n"),
        (
            "lens-site.xml",
            f"<configuration><property><name>{LENS}max.interval</name><value>daily </value></property></configuration>",
        ),
    ],
)
def test_files(world, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    assert rows(world, FARE, {}) == [(100,)]
    assert rows(world, FARE, path)[0] in [(31,), (31_000,)]


@pytest.mark.parametrize(
    ("name", "text", "error", "says"),
    [
        ("some.ini", "", InvalidInput, "format of the file is unknown"),
        ("gone/some.json", None, InvalidInput, "cannot be read"),
        ("some.json", "[]x", InvalidModel, "not JSON"),
        ("some.json", "[1]", InvalidInput, "something that is not the name"),
        ("some.json", '{"partial": null}', InvalidInput, "at=partial"),
        ("some.json", '{"facts.rides": "a", "facts": {"rides": "b"}}', InvalidInput, "twice"),
        ("some.toml", "partial = 2015-01-01", InvalidInput, "at=partial"),
        ("some.toml", "partial =", InvalidInput, "not TOML"),
        ("some.properties", "a=1\na=2", InvalidInput, "twice"),
        ("some.xml", "<configuration><property><name>a</name></property></configuration>", InvalidInput, "line 1"),
        ("some.xml", "<conf><property><name>a</name><value>b</value></property></conf>", InvalidInput, "line 1"),
        ("some.xml", "<configuration>", InvalidModel, "not XML"),
        ("some.json", '{"joins_type": "inner"}', InvalidInput, "Did you mean join_type"),
    ],
)
def test_files_that_hold_no_options(world, tmp_path, name, text, error, says):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(error, match=says) as caught:
        rows(world, FARE, path)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"joins_type": "inner"}, "not an option of cube queries: option=joins_type. Did you mean join_type"),
        ({"nothing like it": "1"}, "not an option of cube queries: option=nothing like it. Use"),
        ({f"{LENS}fail.if.data.partail": "true"}, "Did you mean lens.cube.query.fail.if.data.partial"),
        ({"facts": "daily"}, "Did you mean facts.CUBE"),
        (
            {"join_type": "leftsemi"},
            "not a value of the option: option=join_type, value='leftsemi'. Give inner",
        ),
        ({"max_interval": "fortnightly"}, "the update period is unknown"),
        ({"periods.daily.lake": "daily,,"}, "update periods with commas"),
        ({"storages": " "}, "names with commas"),
        ({"now": "soon"}, "not a value of the option"),
        ({"now": "9" * 30}, "milliseconds"),
        ({"partial": "maybe"}, "Give true or false"),
        ({"partial": "true", "fail_if_partial": "true"}, "two options say the same thing differently"),
        ({"facts.rides": "a", f"{LENS}valid.RIDES.facttables": "b"}, "two options say the same thing differently"),
    ],
)
def test_what_is_no_option(world, options, says):
    with pytest.raises(InvalidInput, match=re.escape(says)) as caught:
        rows(world, FARE, options)
    assert caught.value.hint


def test_the_same_said_twice_is_one_thing(world):
    assert rows(world, FARE, {"partial": "false", "fail_if_partial": "true", f"{LENS}fail.if.data.partial": "true"})


@pytest.mark.parametrize("options", [5, ["join_type"], {"join_type": 5}, {5: "inner"}])
def test_other_things_than_options(world, options):
    with pytest.raises(InvalidInput):
        rows(world, FARE, options)


@pytest.mark.parametrize("option", [one for one in OPTIONS if one.field is None], ids=lambda one: one.names[0])
def test_options_of_lens_that_say_what_is_always_so_or_are_refused(world, option):
    name = option.names[0].replace("PERIOD", "daily")
    for value in filter(None, option.values.text.split(" or ")):
        assert rows(world, FARE, {name: value.upper()}) == [(100,)]
    with pytest.raises(InvalidInput) as caught:
        rows(world, FARE, {name: "something else"})
    assert caught.value.fields["reason"] == option.values.reason
    assert caught.value.hint == ", or give ".join(filter(None, ("Leave it out", option.values.text)))


@pytest.mark.parametrize(
    ("clause", "highlight"),
    [
        ("options ()", "options ()\n         ^"),
        ("options (partial)", "options (partial)\n         ^"),
        ("options (partial =)", "options (partial =)\n         ^"),
        ("options (partial = true,)", "options (partial = true,)\n                        ^"),
        ("options (now = '2015', now = '2016')", "options (now = '2015', now = '2016')\n                       ^"),
    ],
)
def test_a_clause_that_does_not_parse(world, clause, highlight):
    with pytest.raises(CubeSyntaxError) as caught:
        rows(world, f"{FARE}\n{clause}")
    assert caught.value.highlight == highlight


def test_the_word_elsewhere_is_a_name_or_a_text(world):
    text = (
        f"select fare as options from rides options where {MONTH} and station_id <> 4 and 'options (a = b)' is not null"
    )
    assert rows(world, text) == [(100,)]
    assert rows(world, f"{text} /* all */ options (`storages` = lake, \n max_interval=daily) -- of these") == [(31,)]


def test_errors_before_the_clause_stay_at_their_place(world):
    with pytest.raises(CubeSyntaxError) as caught:
        rows(world, "cube select fare frm rides options (\n partial = true)")
    assert caught.value.fields["line"] == 1


def test_all_options_are_described():
    section = PAGE.read_text().split("## Options")[1].split("\n## ")[0]
    described = set(re.findall("`([^`]+)`", section))
    shown = {name.removeprefix(LENS) for option in OPTIONS for name in option.names}
    assert shown <= described
