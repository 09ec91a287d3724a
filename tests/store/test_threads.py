"""Threads share one store: nothing is lost, nothing is doubled, listings are whole."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random
from threading import Barrier

from hbstore import AlreadyExists, Column, ConcurrentChange, Partition, PartitionNotFound, Table, TableNotFound
from tests.store.conftest import hours, values

THREADS = 8


def run(jobs):
    """Run the jobs at once; their results."""
    barrier = Barrier(len(jobs))

    def started(job):
        barrier.wait(60)
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result(120) for future in [pool.submit(started, job) for job in jobs]]


def test_threads_that_add_drop_and_list(sales):
    """Each thread has days of its own, and knows what must be there; one batch is a whole day."""

    def work(thread):
        random = Random(thread)
        mine = {}
        for turn in range(12):
            day = f"20{10 + thread}-01-{turn + 1:02d}"
            batch = [(day, str(hour)) for hour in range(random.randint(1, 6))]
            sales.add_partitions("shop", "sales", map(Partition, batch))
            mine[day] = batch
            if random.random() < 0.4:
                gone = random.choice(sorted(mine))
                sales.drop_partitions("shop", "sales", mine.pop(gone))
            found = values(sales.get_partitions_by_filter("shop", "sales", f"ds like '20{10 + thread}%'"))
            assert found == [one for known in sorted(mine) for one in mine[known]]
            listed = sales.partition_names("shop", "sales")
            assert len(listed) == len(set(listed))
        return [one for batch in mine.values() for one in batch]

    expected = run([lambda thread=thread: work(thread) for thread in range(THREADS)])
    found = values(sales.get_partitions_by_filter("shop", "sales", None))
    assert found == sorted((one for mine in expected for one in mine), key=lambda one: (one[0], int(one[1])))
    assert list(sales.check("shop", "sales")) == [None] * len(found)
    assert sales.repair("shop", "sales").finished == 0


def test_of_all_threads_that_add_one_partition_exactly_one_succeeds(sales):
    def add(thread, turn):
        try:
            return sales.add_partitions(
                "shop", "sales", [Partition(("2013-01-01", str(turn)), parameters={"by": thread})]
            )
        except AlreadyExists:
            return 0

    for turn in range(6):
        won = run([lambda thread=thread, turn=turn: add(str(thread), turn) for thread in range(THREADS)])
        assert sum(won) == 1
        assert sales.get_partition("shop", "sales", ("2013-01-01", str(turn))).parameters["by"] == str(won.index(1))


def test_of_all_threads_that_drop_one_partition_exactly_one_succeeds(sales):
    def drop():
        try:
            return sales.drop_partitions("shop", "sales", [("2013-01-01", "1")])
        except PartitionNotFound:
            return 0

    for _ in range(6):
        sales.add_partitions("shop", "sales", hours(1, 1))
        assert sum(run([drop] * THREADS)) == 1
        assert sales.count_partitions("shop", "sales") == 0


def test_a_batch_is_never_listed_in_part_on_backends_with_snapshots(sales):
    if not sales.rows.atomic:
        return
    done = []

    def write():
        for _ in range(30):
            sales.add_partitions("shop", "sales", hours(1, *range(40)))
            sales.drop_partitions("shop", "sales", [("2013-01-01", str(hour)) for hour in range(40)])
        done.append(True)

    def read():
        while not done:
            assert sales.count_partitions("shop", "sales") in (0, 40)
            assert len(sales.get_partitions_by_filter("shop", "sales", "hour >= 0")) in (0, 40)

    run([write, read, read])


def test_a_renamed_partition_is_always_listed_once(sales):
    sales.add_partitions("shop", "sales", [one for day in (1, 2, 3) for one in hours(day, *range(20))])
    done = []

    def rename():
        here, there = ("2013-01-01", "99"), ("2013-01-03", "99")
        sales.add_partitions("shop", "sales", [Partition(here)])
        done.append(False)
        for _ in range(40):
            sales.rename_partition("shop", "sales", here, there)
            here, there = there, here
        done.append(True)

    def read():
        while not done:
            pass
        while done[-1] is False:
            listed = values(sales.get_partitions_by_filter("shop", "sales", "hour = 99"))
            assert len(listed) == 1, listed
            assert sum(name.endswith("=99") for name in sales.partition_names("shop", "sales")) == 1
            assert sales.count_partitions("shop", "sales") == 61

    run([rename, read, read])
    assert list(sales.check("shop", "sales")) == [None] * 61


def test_threads_that_create_and_drop_tables(store):
    store.create_database("d")
    table = Table("d", "t", partition_columns=[Column("a", "int")])

    def work(thread):
        random = Random(thread)
        for _ in range(25):
            choice = random.random()
            with suppress(TableNotFound, ConcurrentChange):
                if choice < 0.3:
                    store.create_table(table, if_not_exists=True)
                elif choice < 0.5:
                    store.drop_table("d", "t", if_exists=True)
                elif choice < 0.8:
                    store.add_partitions("d", "t", [Partition((str(random.randint(0, 9)),))], if_not_exists=True)
                else:
                    listed = store.partition_names("d", "t")
                    assert len(listed) == len(set(listed))

    run([lambda thread=thread: work(thread) for thread in range(THREADS)])
    store.drop_table("d", "t", if_exists=True)
    store.create_table(table)
    assert store.partition_names("d", "t") == []
    assert store.add_partitions("d", "t", [Partition(("1",))]) == 1
