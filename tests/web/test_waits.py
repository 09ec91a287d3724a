"""Waiting over HTTP: told soon after a commit of any process; limits; facts that change; waiters that go away."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc
from hbstore.cubes.fact_times import FactTimes
from hbstore.errors import ModelNotFound, NoStorageTables, TooManyWaiters
from hbstore.query_service.access import Access
from hbstore.times.clock import utc_now
from hbstore.web.app import application
from hbstore.web.cubes.waits import Waits, WaitSource, Wanted
from hbstore.web.serving import http_served
from tests.pauses import SECONDS, idle, until, until_in_loop
from tests.timelines.strategies import utc
from tests.web.cubes import FACT, days, modelled

RANGE = (utc(2015, 1, 29), utc(2015, 2, 1))
WAIT = f"{FACT}/wait?from=2015-01-29&to=2015-02-01"
REGISTER = """
import sys
from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc
with connect(sys.argv[1]) as store:
    Cubes(store, "shop").add_partitions("rides_daily", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-31"})])
"""


@pytest.fixture
def cubes(catalog):
    return modelled(catalog.store)


@pytest.fixture
def port(served, catalog, cubes):  # noqa: ARG001  they are what is served
    app = application(served[0], Access(), catalog=catalog)
    with http_served(app, "127.0.0.1", 0) as port:
        yield port


@contextmanager
def waiting(port, path=f"{WAIT}&seconds=60", **headers):
    """A request that has been sent; inside, its connection, from which the reply is read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    connection.request("GET", path, headers=headers)
    try:
        yield connection
    finally:
        connection.close()


def answer(connection):
    return json.loads(connection.getresponse().read())


def wanted(*, start=RANGE[0], end=RANGE[1], fact="rides_daily", time_dimension=None):
    return Wanted(WaitSource("shop", fact, time_dimension), start, end)


def test_a_complete_range_is_answered_at_once(port):
    with waiting(port, f"{FACT}/wait?from=2015-01-29&to=2015-01-31&seconds=3600") as connection:
        assert answer(connection) == {"fact": "rides_daily", "complete": True, "missing": [], "ranges_missing": 0}


def test_when_the_time_is_over_the_answer_says_what_is_missing(port):
    for seconds in (0, 0.2):
        with waiting(port, f"{WAIT}&seconds={seconds}") as connection:
            found = answer(connection)
        assert not found["complete"]
        assert found["missing"] == [{"from": "2015-01-31T01:00:00Z", "to": "2015-02-01T00:00:00Z"}]


@pytest.mark.parametrize("how", ["in the process", "over HTTP", "by another process"])
def test_a_commit_is_told_whoever_makes_it(port, cubes, how):
    with waiting(port) as connection, waiting(port) as other:
        if how == "in the process":
            cubes.add_partitions("rides_daily", "lake", days("2015-01-31"))
        elif how == "over HTTP":
            writer = http.client.HTTPConnection("127.0.0.1", port)
            body = json.dumps([{"update_period": "DAILY", "time": {"dt": "2015-01-31"}}])
            writer.request("POST", f"{FACT}/partitions?storage=archive", body, {"Content-Type": "application/json"})
            assert writer.getresponse().status == 200
            writer.close()
        else:
            subprocess.run([sys.executable, "-c", REGISTER, cubes.store.rows.url], check=True)
        assert answer(connection)["complete"]
        assert answer(other)["complete"]


def test_a_stream_of_events(port, cubes):
    with waiting(port, Accept="text/event-stream") as connection:
        reply = connection.getresponse()
        assert reply.headers["Content-Type"].startswith("text/event-stream")
        assert reply.readline() == b"event: waiting\n"
        assert json.loads(reply.readline().removeprefix(b"data: "))["ranges_missing"] == 1
        cubes.add_partitions("rides_daily", "lake", days("2015-01-31"))
        lines = reply.read().splitlines()
        assert lines[1] == b"event: complete"
        assert json.loads(lines[2].removeprefix(b"data: "))["complete"]
    with waiting(port, f"{FACT}/wait?from=2015-02-01&to=2015-02-02&seconds=0.1&format=events") as connection:
        events = [line for line in connection.getresponse().read().splitlines() if line.startswith(b"event")]
        assert events == [b"event: waiting", b"event: over"]


def test_a_fact_that_is_dropped_meanwhile_is_told(port, cubes):
    with waiting(port) as connection, waiting(port, Accept="text/event-stream") as stream:
        reply = stream.getresponse()
        assert reply.readline() == b"event: waiting\n"
        cubes.drop("fact", "rides_daily")
        found = connection.getresponse()
        assert (found.status, json.loads(found.read())["error"]) == (404, "ModelNotFound")
        *_, name, data, _ = reply.read().splitlines()
        assert (name, json.loads(data.removeprefix(b"data: "))["error"]) == (b"event: error", "ModelNotFound")


@pytest.mark.parametrize(
    "ask",
    [
        lambda cubes: WaitSource("shop", "rides_daily", None).look(cubes.store, utc_now),
        lambda cubes: cubes.cover("rides_daily", *RANGE, partial=True),
    ],
    ids=["a wait", "a cover"],
)
def test_a_fact_that_is_dropped_in_the_middle_of_a_look(cubes, monkeypatch, ask):
    """Its tables are gone before it is, and a look may have read it already."""
    read = FactTimes.of

    def dropped_behind(catalog, name):
        times = read(catalog, name)
        monkeypatch.setattr(FactTimes, "of", staticmethod(read))
        cubes.drop("fact", name)
        return times

    monkeypatch.setattr(FactTimes, "of", staticmethod(dropped_behind))
    with pytest.raises(ModelNotFound):
        ask(cubes)


def test_a_fact_that_is_not_there_is_no_stream(port):
    with waiting(port, WAIT.replace("rides_daily", "none"), Accept="text/event-stream") as connection:
        assert connection.getresponse().status == 404


def test_a_fact_may_be_altered_meanwhile(cubes):
    """What it is then counts: it has lost a storage, begins later, or is on none any more."""
    fact = cubes.fact("rides_daily")
    asyncio.run(_altered(Waits(cubes.store), cubes, fact))


async def _altered(waits, cubes, fact):
    waiter = asyncio.ensure_future(waits.cover(wanted(), SECONDS))
    await until_in_loop(lambda: waits.number)
    await asyncio.to_thread(cubes.alter, fact.changed(start_time="2015-01-30"))
    await asyncio.to_thread(cubes.add_partitions, "rides_daily", "archive", days("2015-01-31"))
    await asyncio.to_thread(idle, 0.2)
    assert not waiter.done()  # the day before the start counts as missing
    await asyncio.to_thread(cubes.alter, fact)
    assert not (await waiter).missing
    later = asyncio.ensure_future(waits.cover(wanted(end=utc(2015, 3, 1)), SECONDS))
    await until_in_loop(lambda: waits.number)
    await asyncio.to_thread(cubes.alter, fact.changed(storage_tables=[]))
    with pytest.raises(NoStorageTables):
        await later


def test_a_commit_between_a_look_and_another_wait_is_told(cubes):
    """The new one's first look is older than the last look of those who wait for another range of the fact."""
    asyncio.run(_late(cubes))


async def _late(cubes):
    waits = Waits(cubes.store)
    other = asyncio.ensure_future(waits.cover(wanted(end=utc(2015, 3, 1)), SECONDS))
    await until_in_loop(lambda: waits._looked)
    stale = wanted().cover(await asyncio.to_thread(wanted().source.look, cubes.store, waits.clock))
    assert stale.missing
    before = waits._looked[wanted(end=utc(2015, 3, 1))]
    await asyncio.to_thread(cubes.add_partitions, "rides_daily", "lake", days("2015-01-31"))
    await until_in_loop(lambda: waits._looked[wanted(end=utc(2015, 3, 1))] is not before)
    waits._latest[wanted()] = stale
    assert not (await waits.cover(wanted(), SECONDS)).missing
    other.cancel()
    await asyncio.gather(other, return_exceptions=True)
    assert (waits.number, waits._waiters, waits._latest) == (0, {}, {})


def test_who_waits_anew_right_after_others_were_told_is_told(cubes):
    """Its first look was made before the commit that told them, and nothing changes any more."""
    asyncio.run(_anew(cubes))


async def _anew(cubes):
    waits = Waits(cubes.store)
    stale = wanted().cover(await asyncio.to_thread(wanted().source.look, cubes.store, waits.clock))
    first = asyncio.ensure_future(waits.cover(wanted(), SECONDS))
    await until_in_loop(lambda: waits.number)
    await asyncio.to_thread(cubes.add_partitions, "rides_daily", "lake", days("2015-01-31"))
    assert not (await first).missing
    waits._latest[wanted()] = stale
    assert not (await waits.cover(wanted(), SECONDS)).missing


def test_who_comes_while_others_are_being_told_is_told(cubes):
    """A thousand replies take a while, and no look tells again what the last one told."""
    asyncio.run(_meanwhile(cubes))


async def _meanwhile(cubes):
    waits = Waits(cubes.store)
    cubes.add_partitions("rides_daily", "lake", days("2015-01-31"))
    waits._latest[wanted()] = complete = wanted().cover(wanted().source.look(cubes.store, waits.clock))
    waits._waiters[wanted()] = {asyncio.get_running_loop().create_future()}  # told, and not gone yet
    assert await waits.cover(wanted(), SECONDS) is complete


def test_there_are_only_so_many_waiters(cubes):
    asyncio.run(_limited(Waits(cubes.store, most=3)))


async def _limited(waits):
    waiters = [asyncio.ensure_future(waits.cover(wanted(), SECONDS)) for _ in range(3)]
    await until_in_loop(lambda: waits.number == 3)
    for end in (RANGE[1], utc(2015, 4, 1)):
        with pytest.raises(TooManyWaiters) as caught:
            await waits.cover(wanted(end=end), SECONDS)
        assert caught.value.fields["limit"] == 3
    assert len(waits._latest) == 1
    assert not (await waits.cover(wanted(end=utc(2015, 1, 31)), SECONDS)).missing  # needs no waiting
    waiters[0].cancel()
    await asyncio.gather(waiters[0], return_exceptions=True)
    assert (await waits.cover(wanted(), 0.05)).missing
    for one in waiters:
        one.cancel()
    await asyncio.gather(*waiters, return_exceptions=True)
    assert (waits.number, waits._latest) == (0, {})


def test_too_many_waiters_is_a_status_of_its_own():
    from hbstore.web.problems import problem

    reply = problem({}, TooManyWaiters("the server holds as many waiting requests as it may", hint="Later"))
    assert (reply.status_code, reply.headers["Retry-After"]) == (429, "1")


@pytest.mark.usefixtures("cubes")
def test_waiters_that_go_away_are_forgotten(served, catalog, monkeypatch):
    made = []

    def noted(store):
        made.append(Waits(store))
        return made[0]

    monkeypatch.setattr("hbstore.web.app.Waits", noted)
    with http_served(application(served[0], Access(), catalog=catalog), "127.0.0.1", 0) as port:
        (waits,) = made
        sockets = []
        for accept in ("application/json", "text/event-stream"):
            one = socket.create_connection(("127.0.0.1", port))
            one.sendall(f"GET {WAIT}&seconds=60 HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n".encode())
            sockets.append(one)
        until(lambda: waits.number == 2)
        for one in sockets:
            one.close()
        until(lambda: waits.number == 0 and waits._reader is None)
        looks = []
        monkeypatch.setattr(WaitSource, "look", lambda *_: looks.append(1))
        idle(0.3)
        assert looks == []  # nobody waits, so nothing is read


def test_waiters_for_one_range_share_its_looks_and_hold_no_thread(cubes, monkeypatch):
    asyncio.run(_shared(cubes, monkeypatch))


async def _shared(cubes, monkeypatch):
    waits, look, looks = Waits(cubes.store), WaitSource.look, []

    def noted(self, *arguments):
        looks.append(threading.current_thread().name)
        return look(self, *arguments)

    monkeypatch.setattr(WaitSource, "look", noted)
    first = asyncio.ensure_future(waits.cover(wanted(), SECONDS))
    await until_in_loop(lambda: waits.number)
    threads = threading.active_count()
    rest = [asyncio.ensure_future(waits.cover(wanted(), SECONDS)) for _ in range(1_000)]
    await until_in_loop(lambda: waits.number == 1_001)
    assert threading.active_count() <= threads + 1
    looked = len(looks)
    await until_in_loop(lambda: len(looks) >= looked + 3)
    assert len(looks) < 1_000  # one for all, each time
    covers, cover = [], Wanted.cover
    monkeypatch.setattr(Wanted, "cover", lambda *given: covers.append(1) or cover(*given))
    await asyncio.to_thread(cubes.add_partitions, "rides_daily", "lake", days("2015-01-31"))
    answers = await asyncio.gather(first, *rest)
    assert {id(one) for one in answers} == {id(answers[0])}
    assert len(covers) == 1  # made again as the timelines changed, and for all at once
    assert waits._looked is not None


def test_looking_that_fails_as_it_should_not_ends_all_waits(cubes, monkeypatch):
    asyncio.run(_broken(Waits(cubes.store), monkeypatch))


async def _broken(waits, monkeypatch):
    waiters = [asyncio.ensure_future(waits.cover(wanted(), SECONDS)) for _ in range(2)]
    await until_in_loop(lambda: waits.number == 2)
    monkeypatch.setattr(WaitSource, "look", lambda *_: 1 / 0)
    assert all(isinstance(one, ZeroDivisionError) for one in await asyncio.gather(*waiters, return_exceptions=True))


def test_one_fact_that_is_gone_harms_no_other(cubes):
    asyncio.run(_apart(Waits(cubes.store), cubes))


async def _apart(waits, cubes):
    other = cubes.fact("rides_daily").changed(name="other")
    await asyncio.to_thread(cubes.create, other)
    one, two = (asyncio.ensure_future(waits.cover(wanted(fact=name), SECONDS)) for name in ("rides_daily", "other"))
    await until_in_loop(lambda: waits.number == 2)
    await asyncio.to_thread(cubes.drop, "fact", "rides_daily")
    with pytest.raises(ModelNotFound):
        await one
    period = [PartitionDesc("DAILY", {"dt": f"2015-01-{day}"}) for day in (29, 30, 31)]
    await asyncio.to_thread(cubes.add_partitions, "other", "lake", period)
    assert not (await two).missing


def test_another_server_of_the_store_tells_as_well(cubes):
    """Its store is opened by itself, as in a process of its own."""
    with connect(cubes.store.rows.url) as store:
        asyncio.run(_elsewhere(Waits(store), cubes))


async def _elsewhere(waits, cubes):
    waiter = asyncio.ensure_future(waits.cover(wanted(time_dimension="start_time"), SECONDS))
    await until_in_loop(lambda: waits.number)
    await asyncio.to_thread(Cubes(cubes.store, "shop").add_partitions, "rides_daily", "lake", days("2015-01-31"))
    assert not (await waiter).missing
