"""The commands that register what a cover lacks."""

from __future__ import annotations

import datetime as dt

from hbstore.console.registering import MOST, missing_ranges
from hbstore.cubes.logical_tables import Column, StorageTable
from tests.cubes.small_cube import fact, table


def day(number):
    return dt.datetime(2015, 1, number, tzinfo=dt.UTC)


def test_the_commands_are_few_and_the_others_are_counted():
    daily = fact("daily", "fare", table("lake", "DAILY"))
    short, long = missing_ranges("shop", daily, "dt", (None, None), [(day(1), day(3)), (day(5), day(25))])
    words = "hbstore fact partitions add shop.daily --storage-name lake --update-period DAILY --time dt=2015-01-0"
    assert (short.commands, short.more, short.is_open) == ([f"{words}1", f"{words}2"], 0, False)
    assert (len(long.commands), long.more) == (MOST, 20 - MOST)


def test_values_of_other_columns_are_to_be_put_in():
    columns = [Column(name=name, type="string") for name in ("dt", "loaded", "region")]
    on = StorageTable(
        storage="lake", update_periods=["DAILY"], partition_columns=columns, time_partition_columns=["dt", "loaded"]
    )
    (missing,) = missing_ranges("shop", fact("daily", "fare", on), "dt", (None, None), [(day(1), day(2))])
    assert missing.is_open
    assert missing.commands[0].endswith("--time dt=2015-01-01 --time loaded=TIME --spec region=VALUE")
