"""A process that comes late: others have finished its change and taken it back, so that all looks as it did before.

A look at the catalog or at a folder, however shortly before the next step, then says nothing: what is moved once more
is moved from under the catalog. It is seen at each step of a change, and where the late process dies soon after.
"""

from __future__ import annotations

import errno
import fcntl
from contextlib import ExitStack, suppress
from random import Random

import pytest

from hbstore import HbstoreError, connect
from hbstore.publishing.dropped_files import finish_drops
from tests.amounts import amount
from tests.files.warehouses import world
from tests.pauses import without_patience, without_pauses
from tests.publishing.dying import much_later, recover_later
from tests.publishing.interrupted import AND_HOLDING, Process, at_each_step, attempt, meanings
from tests.publishing.operations import BACK, OPERATIONS, prepare, seen

RECOVER = "recover"
LONG_AFTER = "long after"
"""The process has been halted: its leases have ended."""
CHAINS = {
    "drop a partition": ["append"],
    "drop the table": ["create the table again", "append"],
    "publish": ["append"],
    "truncate": ["publish"],
    "exchange": ["exchange back", "append"],
    "rename a partition": ["rename a partition", "rename the partition back", "append"],
    "rename the table": ["rename the table", "rename the table back", "append"],
}
"""What others do meanwhile, when they have finished the change or given it up."""
AND_MADE_ANEW = {
    "drop a partition": ["append", "publish"],
    "drop the table": ["create the table again", "append"],
    "exchange": ["append"],
    "rename a partition": ["publish"],
    "rename the table": ["create the table again", "append"],
}
"""What makes anew what a change is about, after others have made that change themselves."""


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    without_pauses(monkeypatch)
    without_patience(monkeypatch)


def recover(store, seconds=5_000):
    recover_later(store, *(("shop", table) for table in store.table_names("shop")), seconds=seconds)
    with much_later(seconds):
        finish_drops(store)


def orders(numbers):
    """The first change at any time, the others as they came."""
    others = [number for number in numbers if number]
    return [others] if 0 not in numbers else [[*others[:at], 0, *others[at:]] for at in range(len(numbers))]


def in_turn(numbers):
    """The first change first."""
    return [sorted(numbers)]


def interrupted(folder, name, at, chain, lives_for=None, later=5_000, kind="local"):
    """How a change ends at one of whose steps others come; None: it has no such step."""
    ended = []
    with connect("memory://", patience=0) as store, pytest.MonkeyPatch.context() as patch:
        here = world(kind, folder)
        prepare(store, here)

        def come():
            with ExitStack() as stack:
                for other in chain:
                    if other == LONG_AFTER:
                        stack.enter_context(much_later())
                    elif other == RECOVER:
                        with suppress(HbstoreError):  # of the others, not of the process that they interrupt
                            recover(store, later)
                    else:
                        ended.append((other, attempt(other, store, here)))

        process = Process(at, come, lives_for)
        for owner, method in AND_HOLDING:
            patch.setattr(owner, method, process.around(getattr(owner, method)))
        ended.insert(0, (name, attempt(name, store, here)))
        patch.undo()
        if process.left >= 0:
            return None
        recover(store)
        recover(store)
        # A truncation that is refused may have deleted files before that: of the table that it read, so before others.
        rows, allowed = seen(store, here), list(meanings(ended, orders if ended[0][1] is not False else in_turn))
        assert rows in allowed, f"at step {at} of {name}, {lives_for} left, {chain}: {ended}: {rows} not in {allowed}"
    return ended


@pytest.mark.parametrize("lives_for", amount([None, 0, 1], [None, *range(12)]))
@pytest.mark.parametrize(
    ("name", "chain"),
    [
        *((name, [RECOVER, *chain]) for name, chain in CHAINS.items()),
        *((name, [name, *chain]) for name, chain in AND_MADE_ANEW.items()),
    ],
    ids=[*(f"{name}, taken back" for name in CHAINS), *(f"{name}, made anew" for name in AND_MADE_ANEW)],
)
def test_what_others_have_finished_is_not_done_again(tmp_path, name, chain, lives_for):
    ends = at_each_step(tmp_path, lambda folder, at: interrupted(folder, name, at, chain, lives_for))
    assert any(all(end for _, end in ended[1:]) for ended in ends), "others do all of it"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "local") for name in OPERATIONS),
        *((name, "memory") for name in amount(["drop a partition", "rename a partition", "truncate"], OPERATIONS)),
    ],
)
def test_what_comes_to_the_place_of_a_dropped_table_stays(tmp_path, name, kind):
    """With the table its record is gone, and where no folder is held nothing but the record says who deletes files."""
    chain = ["drop the table", "create the table again", "append", "publish"]
    at_each_step(tmp_path, lambda folder, at: interrupted(folder, name, at, chain, kind=kind))


@pytest.mark.parametrize("name", ["drop a partition", "truncate"])
def test_a_database_is_not_dropped_while_a_process_deletes_files(tmp_path, name):
    chain = ["make the database anew", "publish"]
    ends = at_each_step(tmp_path, lambda folder, at: interrupted(folder, name, at, chain, kind="memory"))
    assert {all(end for _, end in ended[1:]) for ended in ends} == {True, False}


@pytest.mark.parametrize("name", ["drop a partition", "expire", "truncate"])
def test_a_process_that_was_halted_deletes_the_folder_that_it_holds_and_no_other(tmp_path, name):
    chain = [LONG_AFTER, "make the database anew", "publish"]
    ends = at_each_step(tmp_path, lambda folder, at: interrupted(folder, name, at, chain))
    assert any(all(end for _, end in ended[1:]) for ended in ends[3:]), "others do all of it"


@pytest.fixture
def no_locks(monkeypatch):
    """Folders that cannot be held, as on HDFS."""

    def flock(*_):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize("name", AND_MADE_ANEW)
def test_where_there_are_no_locks_it_is_not_made_again_either(tmp_path, name):
    chain = [name, *AND_MADE_ANEW[name]]
    at_each_step(tmp_path, lambda folder, at: interrupted(folder, name, at, chain))


@pytest.mark.usefixtures("no_locks")
def test_where_there_are_no_locks_others_wait_for_the_process(tmp_path):
    """A process that lives is left alone with its exchange."""
    chain = [RECOVER, *CHAINS["exchange"]]
    ends = at_each_step(tmp_path, lambda folder, at: interrupted(folder, "exchange", at, chain, later=0))
    assert len(ends) > 4


def test_others_do_anything_meanwhile(tmp_path):
    random = Random(7)
    for number in range(amount(150, 20_000)):
        name = random.choice(list(CHAINS))
        others = [RECOVER, RECOVER, *CHAINS, *BACK, "append", *random.choices(list(OPERATIONS), k=3)]
        folder = tmp_path / str(number)
        folder.mkdir()
        chain = random.choices(others, k=random.randint(1, 5))
        interrupted(folder, name, random.randint(0, 12), chain, random.choice([None, None, 0, 1, 2, 5]))


@pytest.mark.parametrize("what", ["drop the table", "drop a partition"])
def test_files_of_a_drop_whose_folder_another_process_holds_are_deleted_later(tmp_path, what):
    with connect("memory://", patience=0) as store:
        here = world("local", tmp_path)
        prepare(store, here)
        home = store.get_table("shop", "sales").location
        with here.warehouse.held(home), here.warehouse.held(f"{home}/ds=a"):
            assert attempt(what, store, here)
        assert here.warehouse.exists(f"{home}/ds=a")
        recover(store)
        assert not here.warehouse.exists(f"{home}/ds=a")
