"""INSERTs by `hbstore.spark.sql` that leave out partition columns: Spark runs them, and all else is as it was."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException

from hbstore.spark import sql
from hbstore.spark.insert_partitions import insert_partitions, with_all_partition_columns


@pytest.fixture
def session(spark):
    """A session with the table views, which has three partition columns."""
    session = spark.newSession()
    session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    session.sql(
        "CREATE TABLE views (user STRING, cnt INT, date STRING, country STRING, `odd``name` INT) "
        "USING parquet PARTITIONED BY (date, country, `odd``name`)"
    )
    yield session
    session.sql("DROP TABLE views")


def rows(session):
    return [tuple(row) for row in session.sql("SELECT * FROM views ORDER BY user").collect()]


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO views PARTITION (date='x') SELECT 'a', 1, 'de', 5",
        "insert into table views partition (date = 'x', country) select 'a', 1, 'de', 5",
        "INSERT INTO views PARTITION (COUNTRY='de', `Date`='x') VALUES ('a', 1, 5)",
        "INSERT OVERWRITE TABLE default.views PARTITION (date='x') VALUES ('a', 1, 'de', 5)",
        "INSERT OVERWRITE spark_catalog.default.views PARTITION (date='x') TABLE source",
        "INSERT INTO views PARTITION (date='x') (cnt, user, country, `odd``name`) SELECT 1, 'a', 'de', 5",
        "INSERT INTO views PARTITION (date='x') BY NAME SELECT 5 `odd``name`, 'de' country, 1 cnt, 'a' user",
        "WITH s AS (SELECT * FROM source) INSERT INTO views PARTITION (date='x') SELECT * FROM s",
        (
            "FROM source INSERT INTO views PARTITION (date='x') SELECT * "
            "INSERT INTO views PARTITION (date='x') SELECT * WHERE cnt > 1"
        ),
        "/* /**/ INSERT INTO c PARTITION (d) */ INSERT -- '\nINTO /*)*/ views PARTITION (date='x' -- )\n) TABLE source",
    ],
)
def test_columns_without_a_value_come_from_the_query(session, text):
    session.sql("CREATE TEMPORARY VIEW source AS SELECT 'a' AS user, 1 AS cnt, 'de' AS country, 5 AS odd")
    sql(session, text)
    assert rows(session) == [("a", 1, "x", "de", 5)]


def test_overwriting_a_day_replaces_the_partitions_of_it_that_get_rows(session):
    sql(session, "INSERT INTO views VALUES ('a', 1, 'x', 'de', 5), ('b', 1, 'x', 'fr', 5), ('c', 1, 'y', 'de', 5)")
    sql(session, "INSERT OVERWRITE views PARTITION (date='x') SELECT 'd', 2, 'fr', 5")
    assert rows(session) == [("a", 1, "x", "de", 5), ("c", 1, "y", "de", 5), ("d", 2, "x", "fr", 5)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT INTO views PARTITION (day='x') SELECT 'a', 1, 'de', 5", "day"),
        ("INSERT INTO views PARTITION (country='x') SELECT 'a', 1, 'de', 5", "ordering of partition columns"),
        ("INSERT INTO nowhere PARTITION (date='x') SELECT 'a', 1, 'de', 5", "TABLE_OR_VIEW_NOT_FOUND"),
    ],
)
def test_what_spark_does_not_take_is_sparks_error(session, text, message):
    with pytest.raises(AnalysisException, match=message):
        sql(session, text)


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO views PARTITION (date, country, `odd``name`) TABLE source",
        "SELECT 'INSERT INTO views PARTITION (date=1)', \"INSERT INTO views PARTITION (date=1)\"",
        r"SELECT '\'INSERT INTO views PARTITION (date=1)', r'\', 'INSERT INTO views PARTITION (date=1)'",
        "SELECT $a$INSERT INTO views PARTITION (date=1)$a$",
        "SELECT `INSERT INTO views PARTITION (date=1)` -- INSERT INTO views PARTITION (date=1)",
        "SELECT 'not closed INSERT INTO views PARTITION (date=1)",
        "INSERT INTO views PARTITION () SELECT 1",
        "INSERT INTO views PARTITION (date='x'",
    ],
)
def test_other_texts_stay_as_they_are(session, text):
    assert with_all_partition_columns(session, text) == text


def test_options_stand_before_the_clause():
    (clause,) = insert_partitions("INSERT INTO a.b WITH ('x' = ')', 'y' = f(1)) PARTITION (c = 1, D) SELECT 1")
    assert (clause.table, clause.columns) == (("a", "b"), ("c", "D"))
