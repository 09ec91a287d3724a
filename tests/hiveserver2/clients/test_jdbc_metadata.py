"""What JDBC drivers tell of the catalog: every method of java.sql.DatabaseMetaData, and cubes as views."""

from __future__ import annotations

import pyspark
import pytest
from py4j.protocol import Py4JJavaError

from tests.hiveserver2.clients.jdbc import plain, rows

pytestmark = [pytest.mark.spark, pytest.mark.slow]

NOT_SUPPORTED = "SQLFeatureNotSupportedException"
SALES = (None, "shop", "sales")
ARGUMENTS = {
    "getAttributes": (None, None, None, None),
    "getBestRowIdentifier": (*SALES, 0, True),
    "getColumnPrivileges": (*SALES, "%"),
    "getColumns": (*SALES, "%"),
    "getCrossReference": SALES * 2,
    "getExportedKeys": SALES,
    "getFunctionColumns": (None, None, "abs", "%"),
    "getFunctions": (None, None, "ab%"),
    "getImportedKeys": SALES,
    "getIndexInfo": (*SALES, False, True),
    "getPrimaryKeys": SALES,
    "getProcedureColumns": (None, None, "%", "%"),
    "getProcedures": (None, None, "%"),
    "getPseudoColumns": (*SALES, "%"),
    "getSuperTables": (None, "shop", "%"),
    "getSuperTypes": (None, None, "%"),
    "getTablePrivileges": (None, "shop", "%"),
    "getTables": (None, "shop", "s%", None),
    "getUDTs": (None, None, "%", None),
    "getVersionColumns": SALES,
}
"""Of methods that have some; of the others those that `sensible` makes."""

ALONE = ("getConnection", "getDriverVersion", "getDriverMajorVersion", "getDriverMinorVersion")
"""Methods whose answers are about the driver."""

LARGEST = 2147483647
ANSWERS = {
    "getCatalogs": [],
    "getSchemas": [("default", ""), ("shop", "")],
    "getTableTypes": [("TABLE",), ("VIEW",)],
    "getTables": [
        ("", "shop", "sales", "TABLE", "", *[None] * 5),
        ("", "shop", "seen", "VIEW", "", *[None] * 5),
        ("", "shop", "station", "VIEW", "A dimension. Ask it by CUBE SELECT … FROM station", *[None] * 5),
    ],
    "getPrimaryKeys": [("", "shop", "sales", "id", 1, "sales_key")],
    "getCrossReference": [("", "shop", "sales", "id", "", "shop", "sales", "id", 1, 0, 0, "itself", "sales_key", 0)],
    "getImportedKeys": [],
    "getDatabaseProductName": "Spark SQL",
    "getDatabaseProductVersion": pyspark.__version__,
    "getDatabaseMajorVersion": int(pyspark.__version__.split(".")[0]),
    "getDatabaseMinorVersion": int(pyspark.__version__.split(".")[1]),
    "getIdentifierQuoteString": {"4.0": "`", "else": " "},
    "getSchemaTerm": "database",
    "getSearchStringEscape": "\\",
    # Only the driver 4.0.1 knows, and asks the server.
    "nullsAreSortedHigh": {"4.0": False, "else": NOT_SUPPORTED},
    "nullsAreSortedLow": {"4.0": True, "else": NOT_SUPPORTED},
    "storesLowerCaseIdentifiers": {"4.0": True, "else": NOT_SUPPORTED},
    # Only 2.3.10 does not.
    "getSQLKeywords": {"2.3": NOT_SUPPORTED},
    "getClientInfoProperties": {"2.3": NOT_SUPPORTED},
}
"""What methods answer; where drivers differ, by the release of each, or else. Unlisted are constants of drivers."""

TYPES = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "STRING", "VARCHAR", "CHAR"),
    *("BINARY", "DATE", "TIMESTAMP", "ARRAY", "MAP", "STRUCT"),
)


def sensible(kind):
    """An argument of a type."""
    return {"int": 1, "boolean": True}.get(kind)


def labels(result):
    """The names of the columns; drivers write the types of some in a way that they do not read themselves."""
    described = result.getMetaData()
    return [described.getColumnLabel(at) for at in range(1, described.getColumnCount() + 1)]


def told(asking, name, *arguments, of_rows=True):
    """What a method says: a value, its rows, or the class of what it throws."""
    try:
        result = getattr(asking.connection.getMetaData(), name)(*arguments)
    except Py4JJavaError as error:
        return error.java_exception.getClass().getSimpleName()
    return rows(result) if of_rows and result is not None else plain(result)


@pytest.mark.every_driver
def test_every_method(asking):
    answers = {}
    for method in asking.driver.named("java.sql.DatabaseMetaData").getMethods():
        name = method.getName()
        kinds = [kind.getSimpleName() for kind in method.getParameterTypes()]
        arguments = ARGUMENTS.get(name, [*map(sensible, kinds)])
        if name == "getSchemas":
            arguments = [None] * len(kinds)
        of_rows = method.getReturnType().getSimpleName() == "ResultSet"
        answers[name] = told(asking, name, *arguments, of_rows=of_rows)
    assert len(answers) > 170
    threw = {name: answer for name, answer in answers.items() if str(answer).endswith(("Exception", "Error"))}
    assert set(threw.values()) == {NOT_SUPPORTED}
    for name, answer in ANSWERS.items():
        wanted = answer
        if isinstance(answer, dict):
            if asking.release not in answer and "else" not in answer:
                assert answers[name] != NOT_SUPPORTED, name
                continue
            wanted = answer.get(asking.release, answer.get("else"))
        assert answers[name] == wanted, name


@pytest.mark.every_driver
def test_columns(asking):
    meta = asking.connection.getMetaData()
    result = meta.getColumns(None, "shop", "sales", "%")
    names = labels(result)
    described = [dict(zip(names, row, strict=True)) for row in rows(result)]
    wanted = ("COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "REMARKS", "ORDINAL_POSITION")
    assert [tuple(one[name] for name in wanted) for one in described] == [
        ("id", 4, "INT", 10, 0, "of the sale", 1),
        ("amount", 3, "DECIMAL(10,2)", 10, 2, "", 2),
        ("ds", 12, "STRING", LARGEST, None, "", 3),
    ]
    assert [(one["IS_NULLABLE"], one["COLUMN_DEF"]) for one in described] == [
        *(("NO", None), ("YES", "0"), ("YES", None)),
    ]
    some = [row[3] for row in rows(meta.getColumns(None, "sh%", "sale_", "%d%"))]
    assert some == ["id", "ds"]
    assert rows(meta.getColumns(None, "shop", "missing", "%")) == []


@pytest.mark.parametrize(
    ("schema", "pattern", "kinds", "names"),
    [
        (None, "sal%", None, ["sales"]),
        ("shop", "%", ["TABLE"], ["empty", "lake_rides_daily", "sales"]),
        ("shop", "r%", ["VIEW"], ["rides", "rides_daily"]),
        ("%", "SALES", ["TABLE", "VIEW"], ["sales"]),
        ("shop", "lake\\_rides%", None, ["lake_rides_daily"]),
        ("shop", "s\\_les", None, []),
        ("nowhere", "%", None, []),
        ("shop", "%", ["NOTHING"], []),
    ],
)
def test_patterns_of_tables(asking, schema, pattern, kinds, names):
    of_kinds = None
    if kinds is not None:
        of_kinds = asking.driver.texts(*kinds)
    result = asking.connection.getMetaData().getTables(None, schema, pattern, of_kinds)
    assert [row[2] for row in rows(result)] == names


def test_a_cube_is_a_view_with_its_fields(asking):
    meta = asking.connection.getMetaData()
    ((*_, database, name, kind, remarks),) = [row[:5] for row in rows(meta.getTables(None, "shop", "rides", None))]
    assert (database, name, kind) == ("shop", "rides", "VIEW")
    assert "CUBE SELECT" in remarks
    fields = {row[3]: row[5] for row in rows(meta.getColumns(None, "shop", "rides", "%"))}
    expected = {"minutes": "BIGINT", "fare": "DOUBLE", "start_time": "TIMESTAMP", "bike": "STRING", "pace": "DOUBLE"}
    assert expected.items() <= fields.items()


def test_types_and_functions(asking):
    meta = asking.connection.getMetaData()
    assert set(TYPES) <= {row[0] for row in rows(meta.getTypeInfo())}
    functions = {row[2] for row in rows(meta.getFunctions(None, None, "ab%"))}
    assert "abs" in functions
    assert all(name.startswith("ab") for name in functions)
