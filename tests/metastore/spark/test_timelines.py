"""Spark's own statements keep the timelines of a table whose properties declare them."""

from __future__ import annotations

import pytest

from hbstore import connect
from tests.metastore.serving import Serve
from tests.metastore.spark.process import tell, wait_for_word
from tests.store import timelines as tl

pytestmark = [pytest.mark.spark]
SALES = ("default", "sales")
STATEMENTS = (
    """CREATE TABLE sales (amount INT, dt STRING, pt STRING) USING parquet PARTITIONED BY (dt, pt) TBLPROPERTIES
    ('cube.storagetable.time.partcols'='dt,pt', 'cube.storagetable.update.periods'='HOURLY,DAILY')""",
    """INSERT INTO sales SELECT id, date_format(date_add(DATE'2015-01-01', CAST(id AS INT)), 'yyyy-MM-dd'),
    '2015-02-01' FROM range(6)""",
    "INSERT INTO sales VALUES (7, '2015-01-03-05', '2015-01-03-06'), (8, '2015-01-03', '2015-02-02')",
    "ALTER TABLE sales DROP PARTITION (dt = '2015-01-02'), PARTITION (dt = '2015-01-03', pt = '2015-02-01')",
    """ALTER TABLE sales PARTITION (dt = '2015-01-04', pt = '2015-02-01')
    RENAME TO PARTITION (dt = '2015-01-09', pt = '2015-02-01')""",
    "INSERT OVERWRITE sales PARTITION (dt = '2015-01-05', pt = '2015-02-01') VALUES (50)",
    "ALTER TABLE sales ADD PARTITION (dt = '2015-01-10', pt = '2015-02-03')",
    "ALTER TABLE sales SET TBLPROPERTIES ('note' = 'new')",
)


def test_dynamic_inserts_drops_and_renames(tmp_path, spark_process):
    url = f"sqlite://{tmp_path}/catalog.db"
    with connect(url) as store, Serve(url, tmp_path) as server:
        with spark_process.running(run, tmp_path / "spark", server.ready["uri"]) as done:
            for number, statement in enumerate(STATEMENTS):
                assert next(done) == number
                assert tl.kept(store, SALES) == tl.naive(store, SALES), statement
                spark_process.go_on()
        kept = tl.kept(store, SALES)
        assert kept["DAILY", "dt"] == {f"2015-01-{day:02}" for day in (1, 3, 5, 6, 9, 10)}
        assert kept["DAILY", "pt"] == {"2015-02-01", "2015-02-02", "2015-02-03"}
        assert kept["HOURLY", "pt"] == {"2015-01-03-06"}
        tl.assert_true(store, SALES)


def run(folder, uri):
    """In Spark's process: one statement after the other, each when the one before has been looked at."""
    from tests.metastore.spark.session import start_session

    session = start_session(folder, uri)
    session.sql("SET hive.exec.dynamic.partition.mode = nonstrict")
    for number, statement in enumerate(STATEMENTS):
        session.sql(statement)
        tell(number)
        wait_for_word()
    session.stop()
