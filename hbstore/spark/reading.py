"""Which of Spark's own statements only read: a server that is read only runs no others."""

from __future__ import annotations

from typing import Any, Final

from py4j.java_gateway import is_instance_of
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from hbstore.errors import StoreReadOnly

_PLANS: Final = "org.apache.spark.sql.catalyst.plans.logical"
_DOING: Final = tuple(f"{_PLANS}.{name}" for name in ("Command", "ParsedStatement", "InsertIntoDir"))
"""What does something."""

_CALLING: Final = frozenset({"Call", "ExecuteImmediateQuery", "UnresolvedExecuteImmediate"})
"""Likewise, by the names of classes: a procedure, and a statement in a text. All other plans are queries."""

_READING: Final = frozenset(
    {
        *("ShowCatalogsCommand", "ShowColumns", "ShowColumnsCommand", "ShowCreateTable", "ShowCurrentNamespaceCommand"),
        *("ShowFunctions", "ShowFunctionsCommand", "ShowNamespaces", "ShowNamespacesCommand", "ShowPartitions"),
        *("ShowTableExtended", "ShowTableProperties", "ShowTables", "ShowTablesCommand", "ShowViews"),
        *("DescribeColumn", "DescribeFunction", "DescribeFunctionCommand", "DescribeNamespace", "DescribeQueryCommand"),
        *("DescribeRelation", "ExplainCommand"),
        *("SetCommand", "ResetCommand", "SetCatalogAndNamespace", "SetCatalogCommand", "SetNamespaceCommand"),
        *("CreateVariable", "DropVariable", "SetVariable"),
        *("CreateViewCommand", "CreateTempViewUsing"),  # of temporary views; that of others is CreateView
        *("CacheTable", "CacheTableAsSelect", "UncacheTable", "ClearCacheCommand", "RefreshTable"),
    }
)
"""Those that change no more than the session, by their classes' names. What a later Spark adds is not among them."""


def check_reads(spark: SparkSession, text: str) -> None:
    """See that a statement of Spark's only reads; one that does not parse is left to Spark, which says why.

    Raises:
        StoreReadOnly: it may do more.

    >>> check_reads(spark, "WITH few AS (SELECT 1) SELECT * FROM few")
    >>> check_reads(spark, "DROP TABLE sales")
    Traceback (most recent call last):
    hbstore.errors.StoreReadOnly: this server is read-only: statement=DropTable. Connect to a server that may write
    """
    try:
        plan: Any = spark._jsparkSession.sessionState().sqlParser().parsePlan(text)  # noqa: SLF001  as in sql.py
    except ParseException:
        return
    gateway = spark.sparkContext._gateway  # noqa: SLF001  Python has no other way to a class of Java's
    plans = [plan]  # below WITH and UNION there may be INSERTs
    while plans:
        plan = plans.pop()
        name = plan.getClass().getSimpleName().removesuffix("$")  # which Scala adds to objects
        acts = name in _CALLING or any(is_instance_of(gateway, plan, kind) for kind in _DOING)
        if acts and name not in _READING:
            raise StoreReadOnly("this server is read-only", statement=name, hint="Connect to a server that may write")
        plans += [plan.children().apply(number) for number in range(plan.children().size())]
