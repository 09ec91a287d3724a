"""What a job that publishes is told is true: an error that says that nothing was changed comes with nothing changed."""

from __future__ import annotations

from itertools import count

import pytest

from hbstore import PartitionStore
from hbstore.errors import CommitStateUnknown, FileOperationFailed, HbstoreError
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Publisher
from hbstore.rows import connect as connect_rows
from tests.publishing.jobs import AFTER, BEFORE, job, prepare, seen
from tests.store.faults import Fault, FaultyRows


def ended(store, root):
    """The error with which a job ended; None if it came back."""
    try:
        Publisher(store).publish("shop.sales", *job(root))
    except HbstoreError as error:
        return error
    return None


@pytest.mark.parametrize("fault", [one for one in Fault if one not in (Fault.LATE, Fault.CRASH, Fault.CRASH_AFTER)])
@pytest.mark.parametrize("url", ["memory://", "memory://?atomic=false"])
def test_of_a_store_that_fails(url, fault, tmp_path):
    said = set()
    for at in count():
        root = tmp_path / str(at)
        store = PartitionStore(connect_rows(url))
        prepare(store, root)
        faulty = FaultyRows(store.rows, fault, at)
        error = ended(PartitionStore(faulty), root)
        said.add(type(error))
        found = seen(store, root)
        if error is None:
            assert found == AFTER, at
        elif isinstance(error, CommitStateUnknown):
            assert found in (BEFORE, AFTER), at
        else:
            assert found == BEFORE, (at, error)
        if not faulty.struck:
            break
    assert CommitStateUnknown in said
    assert at > 3


def test_of_files_that_cannot_be_moved(tmp_path, monkeypatch):
    """Each of its file operations in turn fails, those before the decision and those after it."""
    said = []
    for at in count():
        root = tmp_path / str(at)
        store = PartitionStore(connect_rows("memory://"))
        prepare(store, root)
        left = [at]
        with monkeypatch.context() as patch:
            for name in ("move", "delete"):
                real = getattr(Warehouse, name)

                def failing(*given, _real=real, _left=left, **options):
                    _left[0] -= 1
                    if _left[0] == -1:
                        raise FileOperationFailed("the file system refuses")
                    return _real(*given, **options)

                patch.setattr(Warehouse, name, failing)
            error = ended(store, root)
        said.append(type(error))
        expected = BEFORE if isinstance(error, FileOperationFailed) else AFTER
        assert seen(store, root) == expected, at
        assert store.publications.of(store.publications.row("shop", "sales")) == []
        if error is None:
            break
        if isinstance(error, CommitStateUnknown):
            assert "Do not repeat the write" in error.hint
    first = said.index(CommitStateUnknown)
    assert set(said[:first]) == {FileOperationFailed}
    assert set(said[first:-1]) == {CommitStateUnknown}
