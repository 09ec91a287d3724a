"""Processes that rename a table to and fro, exchange its partitions, and read it, until they are killed."""

from __future__ import annotations

from dataclasses import replace

from hbstore import Column, Partition, Table, TableNotFound, connect
from tests.processes import say

NAMES = ("here", "there")
TWIN = "twin"


def table(name):
    columns = [Column("ds", "string"), Column("hour", "int")]
    return Table("m", name, partition_columns=columns, location=f"s3://m/{name}", create_time=5)


def partitions(size):
    return [Partition((f"d{number % 7}", str(number)), create_time=7) for number in range(size)]


def rename_until_killed(url, at):
    """From wherever the table is: to the other name, and back; say each when it is acknowledged."""
    at = int(at)
    with connect(url) as store:
        while True:
            old, new = NAMES[at % 2], NAMES[(at + 1) % 2]
            say("begin", at)
            relocated = (f"s3://m/{old}", f"s3://m/{new}")
            try:
                store.rename_table("m", old, table(new), relocated=relocated)
            except TableNotFound:
                say("was", at + 1)  # a dead renamer had decided so, and this one finished it
            at += 1
            say("renamed", at)


def exchange_until_killed(url, name, size):
    """A third of the partitions to the twin, and back."""
    some = [one.values for one in partitions(int(size)) if int(one.values[1]) % 3 == 0]
    with connect(url) as store:
        places = ("m", name), ("m", TWIN)
        while True:
            store.exchange_partitions(*places, some)
            say("exchanged", places[1][1])
            places = places[::-1]


def cascade_until_killed(url, name):
    """Other columns again and again."""
    number = 0
    with connect(url) as store:
        while True:
            number += 1
            store.alter_table(replace(table(name), columns=[Column(f"c{number}", "int")]), cascade=True)
            say("altered", number)


def look(store, size):
    """Whole under the one name or the other, whatever is under way; under which."""
    while True:
        for name in NAMES:
            try:
                found = store.count_partitions("m", name)
            except TableNotFound:
                continue
            assert found == size, f"{found} partitions in {name}"
            return name
