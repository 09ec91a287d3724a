"""Two who change the catalog at once: whatever the order of their calls, the tables are as the documents say."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from itertools import product

import pytest

from hbstore import AlreadyExists, ConcurrentChange, connect
from hbstore.cubes import Column as Field
from hbstore.cubes import TableDescription
from hbstore.cubes.entries import Entry, State
from hbstore.errors import InvalidModel, ModelInUse, ModelNotFound
from hbstore.store.partition_store import PartitionStore
from tests.cubes.conftest import cubes_of, days, on, sample, without_storage
from tests.store.copies import copies_of
from tests.store.stepping import FOREVER, play, schedules

FACT = sample("rides_daily")
MODEL = [sample(name) for name in ("lake", "archive", "rides")]
"""What the fact names."""


@cache
def stores_with(documents):
    """Makes stores without transactions in which a database has these cubes."""

    def prepared():
        store = connect("memory://?atomic=false")
        store.create_database("shop")
        cubes_of(store).create_all(documents)
        return store

    return copies_of(prepared)


@contextmanager
def shop(*documents):
    """The cubes of a new database, in a store without transactions."""
    with stores_with(documents)() as store:
        yield cubes_of(store)


def overtakings(calls):
    """Each actor makes some calls, then the other all of its own, then the first the rest."""
    for number in (0, 1):
        for some in range(calls[number] + 1):
            yield [(number, some), (1 - number, FOREVER)]


def altered(periods, colour):
    description = TableDescription(table_properties={"colour": colour})
    return on(FACT, "archive", update_periods=periods, description=description)


@pytest.mark.slow
@pytest.mark.parametrize(
    "second",
    [
        altered(["HOURLY", "DAILY"], "blue"),
        altered(["DAILY"], "blue"),
        without_storage(FACT, "archive"),
    ],
    ids=["other periods", "another colour", "one storage less"],
)
def test_of_two_who_alter_a_fact_one_is_told(second):
    """Whatever the order of their calls, the tables are as the document says, which is that of who was told so."""
    first = altered(["DAILY", "MONTHLY"], "red")
    calls = _altered_together(first, second, [])
    for schedule in (*overtakings(calls), *schedules(calls, step=29)):
        _altered_together(first, second, schedule)


def _altered_together(first, second, schedule):
    with shop(*MODEL, FACT) as cubes:
        store = cubes.store
        acts = [lambda store, one=one: cubes_of(store).alter(one) for one in (first, second)]
        results, calls = play(store.rows, acts, schedule)
        assert set(results) <= {None, ConcurrentChange.__name__}, (schedule, results)
        assert None in results
        found = cubes.fact("rides_daily")
        assert found in [one for one, result in zip((first, second), results, strict=True) if result is None]
        for table in found.storage_tables:
            parameters = store.get_table("shop", found.table_name(table.storage)).parameters
            periods = ",".join(period.name for period in table.update_periods)
            assert parameters["cube.storagetable.update.periods"] == periods, schedule
            assert parameters.get("colour") == table.description.table_properties.get("colour"), schedule
        assert set(store.table_names("shop")) == {found.table_name(one.storage) for one in found.storage_tables}, (
            schedule
        )
        return calls


def test_a_fact_that_is_created_again_while_it_is_dropped_has_its_tables():
    """Whatever the order of their calls: whoever comes late to a drop that others finished mends what it broke."""

    def drop(store):
        with suppress(ModelNotFound):
            cubes_of(store).drop("fact", "rides_daily")

    def create_again(store):
        drop(store)
        cubes_of(store).create(FACT, if_not_exists=True)

    def together(schedule):
        with shop(*MODEL, FACT) as cubes:
            store = cubes.store
            results, calls = play(store.rows, [drop, create_again], schedule)
            assert set(results) <= {None, ConcurrentChange.__name__, ModelNotFound.__name__}, (schedule, results)
            with suppress(ModelNotFound):
                cubes.timelines("rides_daily")
            fact = cubes.names("fact")
            assert bool(store.table_names("shop")) == bool(fact), (schedule, results)
            if fact:
                assert store.table_names("shop") == ["archive_rides_daily", "lake_rides_daily"], (schedule, results)
            return calls

    for schedule in overtakings(together([])):
        together(schedule)


def test_a_storage_is_not_dropped_under_a_fact():
    """Whatever the order of their calls, of who drops a storage and who puts a fact on it one is told."""
    for schedule in (*overtakings((20, 20)), *schedules((12, 20), step=2)):
        with shop(*MODEL) as cubes:
            acts = [
                lambda store: cubes_of(store).drop("storage", "archive"),
                lambda store: cubes_of(store).create(FACT),
            ]
            results, _ = play(cubes.store.rows, acts, schedule)
            there = "archive" in cubes.names("storage"), "rides_daily" in cubes.names("fact")
            assert there != (False, True), (schedule, results)
            assert (results[0] is None) == (not there[0]), (schedule, results)
            assert (results[1] is None) == there[1], (schedule, results)


def test_a_measure_is_not_taken_from_a_cube_under_a_derived_one():
    """Whatever the order of their calls, no derived cube is left with a measure that its parent has not."""
    rides = sample("rides")
    fewer = rides.changed(measures=rides.measures[:1], expressions=[])
    for schedule in schedules((14, 14)):
        with shop(rides) as cubes:
            acts = [lambda store: cubes_of(store).alter(fewer), lambda store: cubes_of(store).create(sample("fares"))]
            results, _ = play(cubes.store.rows, acts, schedule)
            assert (cubes.cube("rides") == fewer, "fares" in cubes.names("derived_cube")) != (True, True), schedule
            assert (results[0] is None) == (cubes.cube("rides") == fewer), (schedule, results)
            assert (results[1] is None) == ("fares" in cubes.names("derived_cube")), (schedule, results)


class StallingRows:
    """`Rows` before whose n-th call, from 0, somebody else acts; never inside a transaction, which keeps others out."""

    def __init__(self, rows, at, act):
        self._rows, self._at, self._act = rows, at, act
        self._inside = False
        self.calls = 0
        self.url, self.atomic, self.costs = rows.url, rows.atomic, rows.costs

    def __getattr__(self, name):
        found = getattr(self._rows, name)

        def call(*arguments, **named):
            self._stall()
            return found(*arguments, **named)

        return call

    @contextmanager
    def transaction(self):
        self._stall()
        with self._rows.transaction():
            self._inside = True
            try:
                yield
            finally:
                self._inside = False

    def _stall(self):
        if not self._inside:
            self.calls += 1
            if self.calls == self._at + 1:
                with ThreadPoolExecutor(1) as another:  # this thread may be within a snapshot
                    another.submit(self._act).result()


def stalling(store, act, others):
    """Cubes of a fresh database in which one acts, and before each of its calls in turn others do as well.

    Before which call it was is yielded, with what ``others`` returned.
    """
    at = 0
    while True:
        store.drop_database("shop", cascade=True)
        store.create_database("shop")
        cubes = cubes_of(store)
        cubes.create_all(MODEL)
        results = []
        rows = StallingRows(store.rows, at, lambda cubes=cubes, results=results: results.append(others(cubes)))
        with suppress(ConcurrentChange, ModelNotFound, AlreadyExists):
            act(cubes, cubes_of(PartitionStore(rows)))
        if not results:
            assert at
            return
        yield cubes, results[0], at
        at += 1


def test_who_drops_a_fact_late_leaves_what_was_created_again(store):
    """The tables that others made meanwhile are not theirs to drop, nor are their partitions."""

    def drop(cubes, slow):
        cubes.create(FACT)
        slow.drop("fact", "rides_daily")

    def create_again(cubes):
        with suppress(ModelNotFound):
            cubes.drop("fact", "rides_daily")
        cubes.create(FACT)
        for storage in ("lake", "archive"):
            cubes.add_partitions("rides_daily", storage, days("2015-03-01"))

    kept = set()
    for cubes, _, at in stalling(store, drop, create_again):
        kept.add(bool(cubes.names("fact")))
        if cubes.names("fact"):
            cubes.timelines("rides_daily")
            assert [len(cubes.partitions("rides_daily", storage)) for storage in ("lake", "archive")] == [1, 1], at
        else:
            assert store.table_names("shop") == [], at
    assert kept == {True, False}


def test_who_takes_a_storage_out_late_leaves_what_was_put_back(store):
    """A change that turns out to be impossible is taken back: the tables stay that it would have dropped."""
    fewer = Entry(without_storage(FACT, "archive"), State.PENDING, FACT)

    def finish(cubes, slow):
        cubes.create(FACT)
        cubes.add_partitions("rides_daily", "archive", days("2015-02-01"))
        known = store.documents.get("shop", "fact", "rides_daily")
        store.documents.replace("shop", "fact", "rides_daily", known, fewer.text)
        slow.timelines("rides_daily")

    def put_back(cubes):
        back = Entry(FACT, State.PENDING, fewer.document)
        try:
            store.documents.replace("shop", "fact", "rides_daily", fewer.text, back.text)
        except ConcurrentChange:
            return None
        cubes.add_partitions("rides_daily", "archive", days("2015-03-01"))
        return [one.values for one in cubes.partitions("rides_daily", "archive")]

    found = []
    for cubes, acknowledged, at in stalling(store, finish, put_back):
        cubes.timelines("rides_daily")
        if acknowledged is not None:
            found.append(len(acknowledged))
            assert [one.values for one in cubes.partitions("rides_daily", "archive")] == acknowledged, at
        else:
            assert store.table_names("shop") == ["lake_rides_daily"], at
    assert set(found) == {1, 2}  # as it was, and made anew


def test_who_creates_a_fact_late_leaves_no_tables_of_one_that_is_gone(store):
    def drop(cubes):
        with suppress(ModelNotFound):
            cubes.drop("fact", "rides_daily")

    for cubes, _, at in stalling(store, lambda _, slow: slow.create(FACT), drop):
        wanted = ["archive_rides_daily", "lake_rides_daily"] if cubes.names("fact") else []
        assert store.table_names("shop") == wanted, at


def told_beside_a_third(together, most):
    """What the first two actors are told where a third one comes by, who finishes what they have put.

    Args:
        together: has all act by a schedule; their results, and the calls they made.
        most: how many calls the first one makes between the other two.
    """
    told = set()
    finish = 2, FOREVER
    first, second = together([])[1][0], together([(1, FOREVER)])[1][1]
    for some, more in product(range(first + 1), range(most)):
        told.add(tuple(together([(0, some), (1, FOREVER), (0, more), finish])[0][:2]))
    for others, some, more in product(range(second + 1), range(first // 2), (1, 2)):
        told.add(tuple(together([(1, others), (0, some), finish, (1, more), (0, FOREVER)])[0][:2]))
    return told


def test_an_alteration_that_is_refused_has_dropped_nothing():
    """Others who come by finish what a writer has put, and so only what is sure to stay."""
    rides = sample("rides")
    fewer = rides.changed(dim_attributes=rides.dim_attributes[:-1], join_chains=[])
    column = Field(name=rides.dim_attributes[-1].name, type="string")
    moved = without_storage(FACT, "archive").changed(columns=[*FACT.columns, column])

    def together(schedule):
        with shop(*MODEL, FACT) as cubes:
            store = cubes.store
            cubes.add_partitions("rides_daily", "archive", days("2015-01-01"))
            acts = [
                lambda store: cubes_of(store).alter(moved),
                lambda store: cubes_of(store).alter(fewer),
                lambda store: len(cubes_of(store).timelines("rides_daily")),
            ]
            results, calls = play(store.rows, acts, schedule)
            refused = InvalidModel.__name__, ModelInUse.__name__, ConcurrentChange.__name__
            assert {*results[:2]} <= {None, *refused}, (schedule, results)
            assert (cubes.fact("rides_daily") == moved) == (results[0] is None), (schedule, results)
            assert (cubes.cube("rides") == fewer) == (results[1] is None), (schedule, results)
            assert results[:2] != [None, None], schedule
            there = "archive_rides_daily" in store.table_names("shop")
            assert there == (results[0] is not None), (schedule, results)
            if there:
                assert len(cubes.partitions("rides_daily", "archive")) == 1, (schedule, results)
            return results, calls

    assert ("InvalidModel", None) in told_beside_a_third(together, 8)


def test_a_fact_that_is_refused_while_others_ask_for_it_is_not_there():
    """Nor is one left on a storage that is gone, whoever finishes what a writer has put."""

    def together(schedule):
        with shop(*MODEL) as cubes:
            store = cubes.store
            acts = [
                lambda store: cubes_of(store).create(FACT),
                lambda store: cubes_of(store).drop("storage", "archive"),
                lambda store: len(cubes_of(store).timelines("rides_daily")),
            ]
            results, calls = play(store.rows, acts, schedule)
            there = "rides_daily" in cubes.names("fact")
            assert there == (results[0] is None), (schedule, results)
            assert ("archive" not in cubes.names("storage")) == (results[1] is None), (schedule, results)
            assert results[:2] != [None, None], schedule
            assert store.table_names("shop") == (["archive_rides_daily", "lake_rides_daily"] if there else []), schedule
            return results, calls

    assert {("InvalidModel", None), (None, "ModelInUse")} <= told_beside_a_third(together, 6)
