"""What Spark makes of queries: how it reads them, and what they are worth over a few rows."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger

ROWS = """
    (1, 2, 'ax', true, DATE'2020-01-31', TIMESTAMP'2020-01-02 03:04:05.678', 2.5D, array(1, 2, 3), map('k', 1),
     named_struct('a', 1, 'b', array(4, 5)), array(named_struct('a', 9)), X'1F', 3, 4, 5),
    (2, -1, 'o\\'b"%', false, DATE'2019-03-01', TIMESTAMP'2019-12-31 23:59:59', -0.5D, array(5, null), map('k', 3),
     named_struct('a', 2, 'b', array(6)), array(named_struct('a', 8)), X'', 6, 7, 8),
    (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null)
"""
COLUMNS = ("i", "j", "s", "b", "d", "ts", "x", "arr", "m", "st", "nest", "bin", "`my col`", "`tick``ed`", "`1st`")
_ERRORS = (PySparkException, Py4JJavaError)  # the second for what Spark did not think of, such as a MatchError
TIME_TYPE = "spark.sql.timeType.enabled"


class SparkValues:
    """A session with a table t of three rows, in which expressions are read and computed."""

    def __init__(self, spark):
        self.spark = spark
        PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True  # each error of Spark with its stack
        self.parser = spark._jsparkSession.sessionState().sqlParser()
        spark.conf.set(TIME_TYPE, "true")  # which Spark 4.3 has, and does not let people use yet
        spark.sql(f"SELECT * FROM VALUES {ROWS} AS t({', '.join(COLUMNS)})").createOrReplaceTempView("t")

    def close(self):
        """Leave the session as it was."""
        self.spark.catalog.dropTempView("t")
        self.spark.conf.unset(TIME_TYPE)
        PySparkLogger.getLogger("SQLQueryContextLogger").disabled = False

    def plan(self, query):
        """How Spark reads a query; an error is the name of its class."""
        try:
            return self.parser.parsePlan(query)
        except _ERRORS as error:
            return condition(error)

    def reads_alike(self, query, other):
        """Whether Spark reads two queries as the same tree, which then has the same values for any rows."""
        plan, second = self.plan(query), self.plan(other)
        return not isinstance(plan, str) and not isinstance(second, str) and plan.equals(second)

    def worth(self, query):
        """The types and the values of the columns of a query, or the class of the error that it ends with.

        Values are texts in base64, as Python has no class for some types, and no text is cut or joined with another.
        """
        try:
            frame = self.spark.sql(query)
            kinds = [field.dataType.simpleString() for field in frame.schema.fields]
            names = [f"c{at}" for at in range(len(kinds))]
            texts = [f"base64(CAST(CAST({name} AS STRING) AS BINARY))" for name in names]
            return kinds, [tuple(row) for row in frame.toDF(*names).selectExpr(*texts).collect()]
        except _ERRORS as error:
            return condition(error)

    def same_plan(self, query, other):
        """Whether Spark itself says that two queries mean the same."""
        try:
            return self.spark.sql(query).sameSemantics(self.spark.sql(other))
        except _ERRORS:
            return False


def condition(error):
    """The class of an error of Spark."""
    return (isinstance(error, PySparkException) and error.getCondition()) or type(error).__name__
