"""SQLAlchemy on PyHive, as Superset uses it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
import sqlalchemy as sa
from sqlalchemy import exc

from tests.hiveserver2.clients.conftest import CUBE_QUERY

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module", params=["", "?auth=NOSASL"])
def engine(request, place):
    """An engine on the database shop."""
    made = sa.create_engine(f"hive://ann@127.0.0.1:{place.port}/shop{request.param}")
    yield made
    made.dispose()


def test_the_catalog(engine):
    inspector = sa.inspect(engine)
    assert {"default", "shop"} <= set(inspector.get_schema_names())
    for names in (inspector.get_table_names(), inspector.get_table_names(schema="shop")):
        assert {"sales", "empty", "seen"} <= set(names)
        assert not {"shop", "default"} & set(names)
    columns = inspector.get_columns("sales")
    assert [column["name"] for column in columns] == ["id", "amount", "ds"]
    assert isinstance(columns[0]["type"], sa.types.Integer)
    assert (inspector.has_table("sales"), inspector.has_table("missing")) == (True, False)
    assert (inspector.has_table("sales", schema="shop"), inspector.has_table("missing", schema="shop")) == (True, False)
    (index,) = inspector.get_indexes("sales")
    assert index["column_names"] == ["ds"]
    assert inspector.get_indexes("empty") == []


def test_rows(engine):
    with engine.connect() as connection:
        assert connection.execute(sa.text(CUBE_QUERY)).fetchall() == [("a", 1), ("b", 2)]
        (row,) = connection.execute(sa.text("SELECT 1, 1.50, 'ü', TIMESTAMP '2024-01-01 01:02:03', NULL, array(1)"))
        assert tuple(row) == (1, Decimal("1.50"), "ü", dt.datetime(2024, 1, 1, 1, 2, 3), None, "[1]")  # noqa: DTZ001
        with pytest.raises(exc.OperationalError, match="DIVIDE_BY_ZERO"):
            connection.execute(sa.text("SELECT 1 / 0"))


def test_a_table_as_an_object(engine):
    sales = sa.Table("sales", sa.MetaData(), autoload_with=engine)
    asked = sa.select(sales.c.id, sales.c.amount).where(sales.c.ds == "2015-01-01").order_by(sales.c.id)
    with engine.connect() as connection:
        assert connection.execute(asked).fetchall() == [(1, Decimal("1.50")), (2, None)]
        count = sa.select(sa.func.count()).select_from(sales)
        assert connection.execute(count).scalar() == 3
