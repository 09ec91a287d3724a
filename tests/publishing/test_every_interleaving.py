"""Every change that touches files, beside every other one, at each of its steps; and what is left where it dies there.

What is read afterwards is what the changes that were acknowledged mean, one after the other: `operations` says so
without a store. A new change is one more line there.
"""

from __future__ import annotations

from itertools import product

import pytest

from hbstore import connect
from tests.amounts import amount
from tests.files.warehouses import world
from tests.object_store import endpoint, s3_at
from tests.pauses import without_patience, without_pauses
from tests.publishing.dying import recover_later
from tests.publishing.interrupted import STEPS, Process, at_each_step, attempt, meanings
from tests.publishing.operations import OPERATIONS, prepare, seen


def interrupted(kind, folder, name, at, other, *, dies):
    """How a change ends that is interrupted at a step by another one, or dies there before it; None: no such step."""
    ended = []
    with connect("memory://", patience=0) as store, pytest.MonkeyPatch.context() as patch:
        here = world(kind, folder)
        prepare(store, here)

        def come():
            ended.append((other, attempt(other, store, here)))

        process = Process(at, lambda: process.die() if dies else come())
        for owner, method in STEPS:
            patch.setattr(owner, method, process.around(getattr(owner, method)))
        ended.append((name, attempt(name, store, here)))
        patch.undo()
        if process.left >= 0:
            return None
        if dies and other is not None:
            come()
        for _ in range(2):  # the second one finds nothing to do
            recover_later(store, *(("shop", table) for table in store.table_names("shop")), seconds=5_000)
        rows, allowed = seen(store, here), list(meanings(ended))
        assert rows in allowed, f"at step {at} of {name}, {ended}: {rows} is none of {allowed}"
        for table in store.table_names("shop"):
            assert store.publications.of(store.table_row("shop", table)) == [], "nothing is left to be done"
    return ended


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    without_pauses(monkeypatch)
    without_patience(monkeypatch)
    with s3_at(endpoint()):
        yield


def every_step(kind, tmp_path, name, other=None, *, dies=False):
    """How it ends at each step; in S3 at each third one, as memory, where no folder is renamed either, takes each."""
    every = amount(3, 1) if kind == "s3" else 1
    return at_each_step(tmp_path, lambda folder, at: interrupted(kind, folder, name, at, other, dies=dies), every)


BOTH_IN_MEMORY = amount(
    [
        *product(("rename a partition", "exchange"), ("append", "rename a partition", "exchange", "truncate")),
        *product(("publish", "append", "drop a partition", "drop the table"), ("rename the table", "exchange")),
    ],
    list(product(OPERATIONS, repeat=2)),
)
"""Which take part in memory, where no folder is renamed: the gate tries those that differ there."""
IN_S3 = amount(["publish"], list(OPERATIONS))
BOTH_IN_S3 = amount([("drop a partition", "publish")], list(product(OPERATIONS, repeat=2)))
"""Which take part in S3, where each of them takes seconds."""


@pytest.mark.parametrize(
    ("name", "kind"), [*product(OPERATIONS, ("local", "memory")), *((name, "s3") for name in IN_S3)]
)
def test_what_dies_at_any_step_is_done_or_not_begun(tmp_path, name, kind):
    ends = every_step(kind, tmp_path, name, dies=True)
    assert len(ends) > 1
    assert {end for ended in ends for _, end in ended} == {None}


@pytest.mark.parametrize("dies", [False, True], ids=["", "the first one dies"])
@pytest.mark.parametrize(
    ("name", "other", "kind"),
    [
        *((name, other, "local") for name, other in product(OPERATIONS, repeat=2)),
        *((name, other, "memory") for name, other in BOTH_IN_MEMORY),
        *((name, other, "s3") for name, other in BOTH_IN_S3),
    ],
)
def test_two_at_once_are_as_one_after_the_other(tmp_path, name, other, kind, dies):
    ends = every_step(kind, tmp_path, name, other, dies=dies)
    assert any(end for ended in ends for _, end in ended)
