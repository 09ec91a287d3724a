"""Filters that plan a few point lookups are answered by the thread that waits for clients, all others elsewhere."""

from __future__ import annotations

import threading

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.endpoint import metastore
from hbstore.metastore.server import metastore_server
from hbstore.metastore.short_calls import FEW, SHORT_FILTER
from hbstore.warehouse.service import Service
from tests.metastore.client import client
from tests.pauses import SECONDS

DAYS = [f"2013-01-{day:02d}" for day in range(1, 32)]
POINT = "ds = '2013-01-05' and hour = 7"


def points(number):
    """A filter on so many partitions that do not stand side by side."""
    days = ", ".join(f"'{day}'" for day in DAYS[:number])
    return f"ds in ({days}) and hour = 7"


def padded(text, size):
    """The same filter in so many characters."""
    return text + " " * (size - len(text))


@pytest.fixture(scope="module")
def asked():
    """A function that asks for partitions: how many came, and from which thread."""
    with connect("memory://") as store:
        store.create_database("shop")
        columns = [Column("ds", "string"), Column("hour", "int")]
        store.create_table(Table("shop", "views", partition_columns=columns))
        store.add_partitions("shop", "views", [Partition((day, str(hour))) for day in DAYS for hour in range(24)])
        answered = []
        observe = lambda *_: answered.append(threading.current_thread().name)  # noqa: E731
        service = Service(store, Warehouse("/nowhere"))
        server = metastore_server(metastore(service, observe)).start()
        try:
            with client(server.port) as connection:

                def ask(method, argument):
                    answered.clear()
                    extra = (-1,) if method == "get_partitions_by_filter" else ()
                    found = getattr(connection, method)("shop", "views", argument, *extra)
                    (thread,) = answered
                    return found if isinstance(found, int) else len(found), thread

                yield ask
        finally:
            server.stop(SECONDS)


@pytest.mark.parametrize("method", ["get_partitions_by_filter", "get_num_partitions_by_filter"])
@pytest.mark.parametrize(
    ("text", "count", "short"),
    [
        (POINT, 1, True),
        ("ds = '2013-02-01' and hour = 7", 0, True),
        ("ds = '2013-01-05' and hour = 7 and hour = 8", 0, True),
        (points(FEW), FEW, True),
        (points(FEW + 1), FEW + 1, False),
        (padded(POINT, SHORT_FILTER), 1, True),
        (padded(POINT, SHORT_FILTER + 1), 1, False),
        ("ds = '2013-01-05'", 24, False),
        ("ds = '2013-01-05' and hour > 22", 1, False),
        ("hour = 7", 31, False),
        ("", 31 * 24, False),
    ],
)
def test_a_filter_is_short_if_its_plan_is_a_few_point_lookups(asked, method, text, count, short):
    assert asked(method, text) == (count, "hbstore-selector" if short else "hbstore-calls")


@pytest.mark.parametrize(("number", "short"), [(0, True), (1, True), (FEW, True), (FEW + 1, False)])
def test_a_few_partitions_by_their_names_are_short(asked, number, short):
    names = [f"ds={day}/hour=7" for day in DAYS[:number]]
    assert asked("get_partitions_by_names", names) == (number, "hbstore-selector" if short else "hbstore-calls")


def test_all_other_lists_go_to_other_threads(asked):
    assert asked("get_partitions", 5) == (5, "hbstore-calls")
