"""Tables that keep timelines: what these are by a naive look at all partitions, and what is stored of them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from functools import cache

from hbstore import NULL_PARTITION, Column, Partition, Table, TableNotFound
from hbstore.keys.row_key import successor
from hbstore.model.structs import partition_from_payload
from hbstore.store.check import repair_catalog
from hbstore.store.table_row import DEFINITION, prefix_of, table_key
from hbstore.timelines.declaration import LATEST, PARTITION_UPDATE_PERIOD, TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions.unpacked_rows import unpacked

FACT = ("shop", "s1_sales")
TWIN = ("shop", "s2_sales")
COLUMNS = (Column("dt", "string"), Column("region", "string"), Column("pt", "string"))
FORMATS = {
    "HOURLY": ("%Y-%m-%d-%H", 13),
    "DAILY": ("%Y-%m-%d", 10),
    "MONTHLY": ("%Y-%m", 7),
    "QUARTERLY": ("%Y-%m", 7),
    "YEARLY": ("%Y", 4),
}
"""Periods of these tests: how their times are written, in how many characters."""


def declared(periods="HOURLY,DAILY", columns="dt,pt"):
    """Parameters of a table that keeps timelines."""
    return {TIME_PARTITION_COLUMNS: columns, UPDATE_PERIODS: periods}


def table(name=FACT, parameters=None, **fields):
    """A table with two time partition columns, and one that holds no times between them."""
    given = declared() if parameters is None else parameters
    return Table(*name, partition_columns=COLUMNS, parameters=given, location=f"s3://{name[1]}", **fields)


def partition(dt, pt=None, region="eu", period=None, **parameters):
    """A partition; without another time both of its times are one."""
    if period is not None:
        parameters[PARTITION_UPDATE_PERIOD] = period
    return Partition((dt, region, dt if pt is None else pt), parameters=parameters)


def days(*numbers, **fields):
    """Partitions of days of January 2015."""
    return [partition(f"2015-01-{number:02}", **fields) for number in numbers]


def prepared(store, *names, parameters=None):
    """Tables of these names that keep timelines, which are there already."""
    store.create_database("shop", if_not_exists=True)
    for name in names or (FACT,):
        store.create_table(table(name, parameters))
        store.timelines.read(".".join(name))
    return store


def stored(store, name=FACT):
    """The partitions of a table as they stand in its rows; nothing that is open is finished."""
    key = table_key(*name)
    cells = store.rows.get(key)
    prefix = prefix_of(key, cells[DEFINITION])
    rows = unpacked(store.rows, key, cells).whole_rows(prefix, successor(prefix))
    return [partition_from_payload(row.payload) for row in rows]


def naive(store, name=FACT, partitions=None):
    """The times of all partitions by timeline, as texts: by a loop, and by nothing that keeps timelines."""
    partitions = store.get_partitions_by_filter(*name, None) if partitions is None else partitions
    found = store.get_table(*name)
    periods = found.parameters[UPDATE_PERIODS].replace(" ", "").upper().split(",")
    columns = found.parameters[TIME_PARTITION_COLUMNS].replace(" ", "").lower().split(",")
    times = {(period, column): set() for period in periods for column in columns}
    for one in partitions:
        values = dict(zip(found.partition_column_names, one.values, strict=True))
        held = {column: values[column] for column in columns if values[column] not in (NULL_PARTITION, LATEST)}
        named = one.parameters.get(PARTITION_UPDATE_PERIOD)
        fitting = [period for period in periods if all(_is_time(text, period) for text in held.values())]
        if named is not None:
            fitting = [period for period in fitting if period == named.upper()]
        if len(fitting) == 1:
            for column, text in held.items():
                times[fitting[0], column].add(text)
    return times


@cache
def _is_time(text, period):
    form, length = FORMATS[period]
    with suppress(ValueError):
        time = datetime.strptime(text, form).replace(tzinfo=UTC)
        return len(text) == length and (period != "QUARTERLY" or time.month % 3 == 1)
    return False


def kept(store, name=FACT):
    """The times that the store's timelines have."""
    return texts(store.timelines.read(".".join(name)))


def texts(timelines):
    """Timelines as sets of texts."""
    return {
        (period.name, column): {
            period.format_index(index)
            for start, stop in one.index_ranges(0, UpdatePeriod[period.name].limit)
            for index in range(start, stop)
        }
        for (period, column), one in timelines.items()
    }


def assert_true(store, *names):
    """Once all is finished, timelines are what the partitions are; they are sound, and nothing is left open."""
    for name in names or (FACT,):
        assert kept(store, name) == naive(store, name), name
        untold = "cannot be determined", "… and the times of"
        problems = [one for one in store.timelines.check(".".join(name)) if not any(text in one for text in untold)]
        assert not problems, (name, problems)
        for one in store.timelines.read(".".join(name)).values():
            one._check()
        assert store._tables.open(*name).log.commits == ()


def repair(store):
    """What `hbstore repair` does for all tables."""
    repair_catalog(store._tables.transactions)
    for database in store.database_names():
        for name in store.table_names(database):
            with suppress(TableNotFound):  # it has another name by now
                assert not store.repair(database, name).miscounted
    repair_catalog(store._tables.transactions)


def keeping(store):
    """The tables of the database that keep timelines."""
    return [(one.database, one.name) for one in store.tables("shop") if UPDATE_PERIODS in one.parameters]
