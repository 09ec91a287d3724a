"""The contract of `Rows` on every backend."""

from itertools import count

import pytest

from hbstore import rows as ordered_rows
from hbstore.keys.row_key import successor
from tests.rows.contract import ReadingContract, make_table
from tests.rows.contract_of_writing import WritingContract

_numbers = count(1)
BACKENDS = ["memory://", "memory://?atomic=false", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]


@pytest.fixture(scope="module", params=BACKENDS)
def url(request, tmp_path_factory):
    if request.param == "sqlite":
        return f"sqlite://{tmp_path_factory.mktemp('contract')}/store.db"
    if request.param == "hbase":
        return request.getfixturevalue("hbase_url")
    return request.param


@pytest.fixture(scope="module")
def rows(url):
    found = ordered_rows.connect(url)
    yield found
    found.close()


@pytest.fixture
def fresh_rows(url):
    found = ordered_rows.connect(url)
    yield found
    found.close()


@pytest.fixture
def prefix():
    return b"test %06d\0" % next(_numbers)


@pytest.fixture(scope="module")
def table(rows):
    written = make_table(b"table %06d\0" % next(_numbers))
    rows.write(written, [], 1)
    return written


@pytest.fixture
def span(table):
    """Where the table's keys begin and end."""
    start = table[0].key[: table[0].key.index(b"\0") + 1]
    return start, successor(start)


class TestReading(ReadingContract):
    pass


class TestWriting(WritingContract):
    pass


def test_the_url_is_kept(rows, url):
    assert rows.url == url
