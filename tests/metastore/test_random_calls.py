"""Calls that make no sense: whatever is asked of a store that has something, the answer is no bug."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thriftpy2.thrift import TApplicationException

from hbstore import Column, Database, Partition, Table, connect
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.calls import ClientSession
from hbstore.metastore.endpoint import metastore
from hbstore.metastore.protocol import METHODS
from hbstore.warehouse.service import Service
from tests.metastore.direct import Direct
from tests.metastore.wire_strategies import calls

TEXTS = st.text(max_size=3) | st.sampled_from(
    [
        *("default", "shop", "@hive#shop", "sales", "sa*|shop", "view", "*", ""),
        *("ds", "hour", "date", "int", "2013-01-01", "5", "__HIVE_DEFAULT_PARTITION__"),
        *("ds=2013-01-01/hour=5", "hour = 5", "ds >= '2013-01-01'"),
    ]
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("random")


def new_store(root):
    """A database with a table that has some partitions."""
    store = connect("memory://")
    store.create_database(Database("default", location=f"file:{root}"))
    store.create_database(Database("shop", location=f"file:{root}/shop.db"))
    columns = [Column("ds", "date"), Column("hour", "int")]
    location = f"file:{root}/shop.db/sales"
    store.create_table(
        Table("shop", "sales", partition_columns=columns, columns=[Column("a", "int")], location=location)
    )
    store.add_partitions("shop", "sales", [Partition(("2013-01-01", str(hour))) for hour in range(6)])
    return store


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(calls(TEXTS), min_size=1, max_size=6))
def test_no_call_meets_a_bug(root, sent):
    records = []
    endpoint = metastore(Service(new_store(root), Warehouse(str(root))), records.append)
    for name, data in sent:
        reply = endpoint.answer(ClientSession("test"), data)
        if reply is not None:
            assert sum(map(len, reply.chunks())) == reply.size
            reply.close()
        assert records[-1].method == name
        assert (
            records[-1].error != "TApplicationException.INTERNAL_ERROR" or "internal error" not in records[-1].message
        )


@pytest.mark.parametrize("name", sorted(name for name, method in METHODS.items() if method.needed))
def test_a_call_that_leaves_out_what_it_is_about(name, root):
    answered = Direct(metastore(Service(connect("memory://"), Warehouse(str(root))), lambda _: None))
    with pytest.raises(TApplicationException, match=f"{name}: no {METHODS[name].needed[0]} was sent"):
        getattr(answered, name)()
