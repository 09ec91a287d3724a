"""A read-only server answers every question and changes nothing: neither rows nor files."""

from __future__ import annotations

import pytest
from thriftpy2.thrift import TApplicationException

from hbstore.store.partition_store import PartitionStore
from tests.metastore.client import TYPES
from tests.metastore.every_method import (
    DATABASE,
    NAMELESS_READS,
    NAMELESS_WRITES,
    OF_A_LOCK,
    REFUSED,
    fill,
    reads,
    writes,
)
from tests.metastore.writing import Writing, opened
from tests.store.faults import FaultyRows

READS = reads(DATABASE) | NAMELESS_READS
WRITES = {method: given for method, *given in [*writes(DATABASE), *NAMELESS_WRITES, *OF_A_LOCK, *REFUSED]}


class UnchangingRows(FaultyRows):
    """Rows that nobody may write."""

    def _write(self, _):
        raise AssertionError("a write")


@pytest.fixture
def shop(request, tmp_path):
    request.param = "memory"
    with opened(request, tmp_path) as writing:
        fill(writing)
        yield writing


@pytest.fixture
def read_only(shop):
    """The same rows and files behind a read-only server."""
    return Writing(PartitionStore(UnchangingRows(shop.store.rows)), shop.root, read_only=True)


@pytest.mark.parametrize("method", READS)
def test_questions_are_answered(shop, read_only, method):
    expected = getattr(shop, method)(*READS[method])
    assert getattr(read_only, method)(*READS[method]) == expected


@pytest.mark.parametrize("method", WRITES)
def test_changes_are_refused_before_anything_is_done(shop, read_only, method):
    files = shop.tree()
    with pytest.raises((TYPES.MetaException, TApplicationException)) as refused:
        getattr(read_only, method)(*WRITES[method])
    assert f"this server is read-only: method={method}" in refused.value.message
    assert shop.tree() == files
