"""The service about itself: who calls, how it is set, whether it lives."""

from __future__ import annotations

import time
from importlib.metadata import version

import pytest

from hbstore.metastore.calls import ClientSession
from tests.metastore.client import TYPES
from tests.metastore.writing import opened

ALIVE = 2
"""fb303's word for it."""
DIRECT_SQL = "hive.metastore.try.direct.sql"


@pytest.fixture
def shop(request, tmp_path):
    request.param = "memory"
    with opened(request, tmp_path) as writing:
        yield writing


def test_it_says_what_it_is_and_that_it_lives(shop):
    assert shop.getName() == "hbstore"
    assert shop.getVersion() == version("hbstore")
    assert shop.getStatus() == ALIVE
    assert shop.getStatusDetails() == "OK"
    assert shop.aliveSince() == shop.aliveSince() <= time.time()
    assert shop.flushCache() is None
    assert shop.shutdown() is None
    assert shop.getStatus() == ALIVE


def test_what_a_hive_server_asks_for_by_itself(shop):
    assert shop.get_runtime_stats(TYPES.GetRuntimeStatsRequest(maxWeight=-1, maxCreateTime=-1)) == []
    due = shop.scheduled_query_poll(TYPES.ScheduledQueryPollRequest("hive"))
    assert due == TYPES.ScheduledQueryPollResponse()
    assert due.query is None


def test_who_calls_is_remembered_and_the_groups_come_back(shop):
    assert shop.set_ugi("ann", ["staff", "clerks"]) == ["staff", "clerks"]
    assert shop.set_ugi("bob", None) == []
    assert shop.session.user == "bob"


def test_settings_are_those_of_the_connection(shop):
    assert shop.getMetaConf(DIRECT_SQL) == "true"
    shop.setMetaConf(DIRECT_SQL, "false")
    assert shop.getMetaConf(DIRECT_SQL) == "false"
    shop.session = ClientSession("another")
    assert shop.getMetaConf(DIRECT_SQL) == "true"


@pytest.mark.parametrize("key", ["metastore.expression.proxy", "hive.metastore.expression.proxy"])
def test_msck_of_hive_4_sets_its_evaluator(shop, key):
    assert shop.getMetaConf(key) == ""
    shop.setMetaConf(key, "a.b.C")
    assert shop.getMetaConf(key) == "a.b.C"


@pytest.mark.parametrize("key", ["hive.nothing.of.the.kind", "", None])
def test_what_cannot_be_set(shop, key):
    with pytest.raises(TYPES.MetaException, match="Invalid configuration key"):
        shop.getMetaConf(key)
    with pytest.raises(TYPES.MetaException, match="Invalid configuration key"):
        shop.setMetaConf(key, "1")


@pytest.mark.parametrize(
    ("name", "default", "expected"),
    [
        ("hive.exec.default.partition.name", "mine", "__HIVE_DEFAULT_PARTITION__"),
        ("metastore.batch.retrieve.max", "7", "300"),
        ("hive.nothing.of.the.kind", "mine", "mine"),
        ("hive.txn.timeout", None, "300s"),
        ("mapred.reduce.tasks", None, ""),
        (None, "mine", "mine"),
    ],
)
def test_settings_of_the_server(shop, name, default, expected):
    assert shop.get_config_value(name, default) == expected


def test_clients_learn_where_the_warehouse_is(shop):
    for name in ("hive.metastore.warehouse.dir", "metastore.warehouse.dir"):
        assert shop.get_config_value(name, "/user/hive/warehouse") == f"file:{shop.root}"


def test_what_might_be_a_secret_is_not_told(shop):
    with pytest.raises(TYPES.ConfigValSecurityException):
        shop.get_config_value("javax.jdo.option.ConnectionPassword", "none")
