"""Clients of Hive 3.1 and later write the database as ``@hive#shop``: in every call that names one.

What is stored names the database alone, as these clients send it: a table, a partition, a function has a field for the
catalog, which is kept and not looked at.
"""

from __future__ import annotations

import pytest

from hbstore.metastore.endpoint import MODULES
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
from tests.metastore.writing import opened

DB = f"@hive#{DATABASE}"
READS = reads(DB)


@pytest.fixture
def shop(request, tmp_path):
    request.param = "memory"
    with opened(request, tmp_path) as writing:
        fill(writing)
        yield writing


def test_every_method_is_here():
    answered = {method for handlers in MODULES.values() for method in handlers.by_method}
    in_order = [*writes(DB), *NAMELESS_WRITES, *OF_A_LOCK, *REFUSED]
    here = [*READS, *NAMELESS_READS, *(method for method, *_ in in_order)]
    assert answered - set(here) == set()
    assert len(here) == len(set(here))


@pytest.mark.parametrize("method", READS)
def test_a_question_is_answered_as_without_the_prefix(shop, method):
    expected = getattr(shop, method)(*reads(DATABASE)[method])
    assert getattr(shop, method)(*READS[method]) == expected
    assert expected or method in {"isPartitionMarkedForEvent", "get_materialized_views_for_rewriting"}


def test_all_databases_are_asked_for_by_a_prefix_alone(shop):
    assert shop.get_databases("@hive#") == ["default", "shop"]


def test_changes_are_made_as_without_the_prefix(shop):
    for method, *arguments in writes(DB):
        getattr(shop, method)(*arguments)
    assert shop.get_all_databases() == ["default", "shop"]
    assert shop.get_all_tables("shop") == ["sales", "two"]
    assert shop.names() == ["ds=a/hour=1", "ds=a/hour=2"]
    assert shop.names("two") == [f"ds=c/hour={hour}" for hour in range(1, 5)]
    assert shop.get_functions("shop", "*") == ["f"]
    assert {one.dbName for one in shop.get_partitions("shop", "two", -1)} == {"shop"}
    assert (shop.root / "shop.db" / "two" / "ds=c" / "hour=1").is_dir()
    assert [one.dbname for one in shop.show_locks(TYPES.ShowLocksRequest()).locks] == ["shop"]
    granted = shop.list_privileges("ann", None, TYPES.HiveObjectRef())
    assert [(one.hiveObject.dbName, one.grantInfo.privilege) for one in granted] == [
        ("shop", "SELECT"),
        ("shop", "INSERT"),
    ]
