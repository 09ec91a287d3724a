"""The spellings of Spark SQL, and those of others, of which tests/spark/spark_expressions.py makes random expressions.

`{}` stands for an expression, `{array}` for an array, `{type}` and `{foreign}` for types.
"""

from __future__ import annotations

COLUMNS = (
    "i",
    "j",
    "s",
    "b",
    "d",
    "ts",
    "x",
    "t.i",
    "`i`",
    "`my col`",
    "`tick``ed`",
    "`1st`",
    "t.st.a",
    "`t`.`st`.`a`",
)
PIECES = (
    *("a", "b c", "%", "_", "''", '""', "\\'", '\\"', "\\\\", "\\n", "\\t", "\\0", "\\Z", "\\%", "\\_", "\\q", "\\x41"),
    *("\\u0041", "\\u00e9", "\\uD83D\\uDE00", "\\U0001F600", "\\101", "\\177", "\\7", "\\u004", "é", "😀", "\n", "\t"),
    *("--", "/*", "*/", "`", ";", "$1", "{", ":p", "?", "(", "]", "x'", 'r"', "#", "@", "yyyy-MM-dd"),
)
NUMBERS = (
    *("0", "1", "7", "128", "2147483648", "9223372036854775808", "1.5", "1.", ".5", "1e3", "1.5e-3", "0.10", "007"),
    *("1L", "2S", "3Y", "128Y", "32768S", "9223372036854775808L", "1.5D", "1.5F", "1.5BD", "100bd", "1E3BD", "1e3f"),
    *("12345678901234567890123456789012345678", "0.1e400D", ".5BD", "1.e2", "0X1F", "1_0"),
)
TYPED = (
    *("DATE'2020-01-31'", "date '2020'", "DATE 'epoch'", "TIMESTAMP'2020-01-31 01:02:03.456'", 'timestamp "2020-01"'),
    *("TIMESTAMP_NTZ'2020-01-31 01:02:03'", "TIMESTAMP_LTZ '2020-01-31 01:02:03+01:00'", "TIME'12:34:56.789'"),
    *("X'1F'", "x'00ff'", 'X"1f"', "X'F'", "X''", "DATE'2020-' '01-31'"),
)
UNITS = ("YEAR", "month", "WEEKS", "day", "DAYS", "hours", "MINUTE", "SECOND", "seconds", "MILLISECONDS", "MICROSECOND")
SPANS = (
    *("'1-2' YEAR TO MONTH", "'1 02' DAY TO HOUR", "'-1 02:03' DAY TO MINUTE", "'1 02:03:04.5' DAY TO SECOND"),
    *("'02:03' HOUR TO MINUTE", "'02:03:04' hour to second", "'03:04.5' MINUTE TO SECOND", "-'1-2' YEAR TO MONTH"),
    *("'1 day'", "'1 day 2 hours'", "'-3 months 2 days'", "' 1  year '", "'1 day -2 hours'", "'1.5 seconds'"),
    *("'interval 1 day'", "1 MONTH 2 DAYS", "'1' DAY '2' HOURS", "1 DAY -2 HOURS 3.5 SECONDS", "- 1 DAY", "+1 DAY"),
    *("-'1' DAY", "- '-1' DAY", "1 DAYS 1 DAYS"),
)
TYPES = (
    *("INT", "integer", "BIGINT", "long", "SMALLINT", "short", "TINYINT", "byte", "FLOAT", "real", "DOUBLE", "STRING"),
    *("DECIMAL", "DECIMAL(10, 2)", "dec(3)", "numeric(5,1)", "BOOLEAN", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ"),
    *(
        "TIMESTAMP_LTZ",
        "TIME",
        "TIME(3)",
        "CHAR(3)",
        "VARCHAR(10)",
        "VARIANT",
        "INTERVAL DAY",
        "INTERVAL DAY TO SECOND",
    ),
    *("INTERVAL YEAR TO MONTH", "INTERVAL HOUR", "ARRAY<INT>", "map<string, array<int>>", "STRUCT<a: INT, b: STRING>"),
    *("struct<a int>", "ARRAY<STRUCT<a: DATE>>", "STRING COLLATE UTF8_LCASE", "TIMESTAMP WITHOUT TIME ZONE", "VOID"),
    *(
        "TIMESTAMP WITH LOCAL TIME ZONE",
        "TIME WITHOUT TIME ZONE",
        "time(3) without time zone",
        "CHARACTER(3)",
        "INTERVAL",
    ),
    *(
        "STRUCT<a: INT NOT NULL, `b c` STRING COMMENT 'x'>",
        "ARRAY<ARRAY<INT>>",
        "INTERVAL MINUTE TO SECOND",
    ),
    *("STRUCT<date: date, 1a: int, int int>", "array<string>", "DECIMAL(3)", "MAP<STRING COLLATE UTF8_LCASE, TIME(0)>"),
)
BINARY = (
    *("+", "-", "*", "/", "%", "DIV", "div", "||", "&", "|", "^", "<<", ">>", ">>>"),
    *("=", "==", "<>", "!=", "<", "<=", ">", ">=", "!<", "!>", "<=>", "AND", "and", "OR"),
)
PREDICATES = (
    *("{} IS NULL", "{} IS NOT NULL", "{} IS TRUE", "{} IS NOT FALSE", "{} is not true", "{} IS UNKNOWN"),
    *("{} IS DISTINCT FROM {}", "{} IS NOT DISTINCT FROM {}", "{} BETWEEN {} AND {}", "{} NOT BETWEEN {} AND {}"),
    *("{} IN ({}, {})", "{} NOT IN ({})", "({}, {}) IN (({}, {}))", "{} LIKE {}", "{} NOT LIKE {}", "{} ILIKE {}"),
    *("{} LIKE {} ESCAPE '!'", "{} NOT LIKE {} ESCAPE '!'", "{} RLIKE {}", "{} NOT RLIKE {}", "{} REGEXP {}"),
    *("{} LIKE ALL ({}, {})", "{} LIKE ANY ({}, {})", "{} NOT LIKE SOME ({})", "{} NOT ILIKE ALL ({}, {})"),
)
CALLS = (
    *("CONCAT({}, {})", "COALESCE({}, {})", "IF({}, {}, {})", "UPPER({})", "DATE_FORMAT({}, {})", "DATE_TRUNC({}, {})"),
    *("TRANSFORM({}, y -> {})", "TRANSFORM({}, (y, z) -> y + {})", "FILTER({}, y -> y > {})", "EXISTS({}, y -> {})"),
    *(
        "AGGREGATE({}, {}, (y, z) -> y + z, y -> {})",
        "ARRAY_SORT({}, (l, r) -> {})",
        "MAP_FILTER({}, (k, v) -> k = {})",
    ),
    *(
        "SUM({})",
        "SUM(DISTINCT {})",
        "COUNT(*)",
        "COUNT({}, {})",
        "COUNT(DISTINCT {}, {})",
        "MAX({})",
        "GREATEST({}, {})",
    ),
    *("SUM({}) FILTER (WHERE {})", "FIRST({}) IGNORE NULLS", "ANY_VALUE({}, TRUE)", "COUNT({}) FILTER (WHERE {})"),
    *("PERCENTILE_CONT({}) WITHIN GROUP (ORDER BY {} DESC)", "LISTAGG({}, {}) WITHIN GROUP (ORDER BY {})", "ANY({})"),
    *("SUBSTRING({} FROM {} FOR {})", "SUBSTR({}, {})", "TRIM({})", "TRIM(BOTH {} FROM {})", "TRIM(LEADING FROM {})"),
    *("TRIM({} FROM {})", "trim(trailing {} from {})", "POSITION({} IN {})", "OVERLAY({} PLACING {} FROM {} FOR {})"),
    *(
        "EXTRACT(YEAR FROM {})",
        "EXTRACT(dow FROM {})",
        "DATEDIFF(DAY, {}, {})",
        "DATEADD(MONTH, {}, {})",
        "MASK({}, {})",
    ),
    *("CURRENT_DATE", "CURRENT_DATE()", "CURRENT_USER", "NOW()", "MAKE_DATE({}, {}, {})", "MASK({}, otherChar => {})"),
    *("ARRAY()", "MAP()", "NAMED_STRUCT('a', {}, 'b', {})", "STRUCT({} AS a, {} AS `b c`)", "({}, {})", "DATE({})"),
    *("UPPER(TRIM(SUBSTR({}, {})))", "DATE(TRIM(STRING(DATE({}))))", "IF({}, IF({}, {}, {}), IF({}, {}, {}))"),
    *("POSITION(TRIM({}), SUBSTR({}, 1))", "MAX(MAX({}, {}), MIN({}, {}))", "ARRAY(ARRAY({}), ARRAY({}))[{}][{}]"),
    *("STRING({})", "INT({})", "TIMESTAMP({})", "LEFT({}, {})", "REPLACE({}, {}, {})", "LIKE({}, {})", "MOD({}, {})"),
)
CASTS = ("CAST({} AS {type})", "cast({} as {type})", "TRY_CAST({} AS {type})", "{}::{type}", "{array}::{type}[{}]")
ARRAYS = ("ARRAY({}, {})", "arr", "t.arr", "SPLIT({}, {})", "ARRAY(ARRAY({}), ARRAY({}))", "(ARRAY({}, {}))", "st.b")
ELEMENTS = (
    *(
        "{array}[{}]",
        "{array}[0]",
        "{array}[1]",
        "m['k']",
        "MAP({}, {})[{}]",
        "MAP('a', {array})['a'][{}]",
        "nest[{}].a",
    ),
    *("NAMED_STRUCT('a', {}).a", "STRUCT({} AS `b c`).`b c`", "({}, {}).col2", "ARRAY(NAMED_STRUCT('a', {}))[0].a"),
    *("st.a", "st.b[{}]", "t.st.b[1]", "NAMED_STRUCT('a', {array}).a[0]", "nest.a", "TRANSFORM({array}, y -> y)[{}]"),
)
SPACES = (
    *(
        " ",
        " ",
        " ",
        " ",
        " ",
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        " /* a */ ",
        " /* -- \\ */ ",
        " /**/ ",
        " -- a\n",
        " --\n",
    ),
    *(
        " -- a \\\n b\n",
        " --\\\n\\\n'\n",
        " -- a \\\\\n ) b\n",
        " -- \\ \n",
        " -- /* \n",
        " -- a\r",
        " -- a \\\r\n b\r\n",
        " -- \\n\n",
    ),
)
"""What may stand around an operator. A comment goes on in the next line if its line ends in a backslash."""

FOREIGN_TYPES = (
    *("INT8", "int2", "INT4", "INT64", "int16", "HUGEINT", "UINT", "MEDIUMINT", "FLOAT4", "FLOAT8", "NUMBER", "FIXED"),
    *("BIT", "BOOL", "BLOB", "BYTEA", "VARBINARY", "TEXT", "STR", "CLOB", "NCHAR(3)", "VARCHAR2(3)", "VARCHAR", "CHAR"),
    *("DATETIME", "TIMESTAMPTZ", "TIMETZ", "TIMESTAMPNTZ", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP(3)", "DATE(3)"),
    *("DOUBLE PRECISION", "INT UNSIGNED", "INT(3)", "FLOAT(24)", "STRING(3)", "DECIMAL(3, -1)", "DECIMAL(1, 2, 3)"),
    *(
        "INT[]",
        "INT ARRAY",
        "ARRAY",
        "ARRAY(INT)",
        "ARRAY<>",
        "MAP<INT>",
        "MAP(INT, INT)",
        "STRUCT",
        "STRUCT<INT>",
        "STRUCT<>",
    ),
    *(
        "INTERVAL WEEK",
        "INTERVAL MONTH TO YEAR",
        "INTERVAL DAY TO DAY",
        "JSON",
        "UUID",
        "`int`",
        "t.i",
        "no_such",
        "NULL",
    ),
    *("STRUCT<a INT b INT>", "ARRAY<INT8>", "DECIMAL(i)", "'INT'", "INT COLLATE UTF8_LCASE", "CHARACTER VARYING(3)"),
)
"""What is no type of Spark."""

FOREIGN = (
    *("{} GLOB {}", "{} OVERLAPS {}", "{} SIMILAR TO {}", "{} IS JSON", "{} ? {}", "{} ?? {}", "{} && {}", "{} XOR {}"),
    *("{} @> {}", "{} <@ {}", "{} -> {}", "{} ->> {}", "{} #> {}", "{} ~~ {}", "{} ~* {}", "{} ** {}", "{} // {}"),
    *(
        "{} := {}",
        "{} ISNULL",
        "{} NOTNULL",
        "{} NOT NULL",
        "{} IS {}",
        "{} MOD {}",
        "{} IN {}",
        "{} IN ()",
        "{} =! {}",
    ),
    *("{} BETWEEN SYMMETRIC {} AND {}", "{} BETWEEN {} {}", "{} LIKE {} ESCAPE {}", "{} LIKE {} ESCAPE 'ab'"),
    *(
        "{} RLIKE {} ESCAPE '!'",
        "{} ESCAPE '!'",
        "{} = ANY ({}, {})",
        "{} LIKE ANY ()",
        "{} RLIKE ANY ({})",
        "{} = = {}",
    ),
    *("{array}[{}:{}]", "{array}[:{}]", "{array}[{}, {}]", "{array}[]", "{array}[{} AS a]", "[{}, {}]", "{'a': {}}"),
    *(
        "{fn UPPER({})}",
        "{d '2020-01-31'}",
        "{{ {} }}",
        "?",
        ":p",
        "@p",
        "$1",
        "${p}",
        "#{}",
        "{}!",
        "{} AT TIME ZONE 'UTC'",
    ),
    *(
        "{}::{foreign}",
        "CAST({} AS {foreign})",
        "TRY_CAST({} AS {foreign})",
        "CAST({}, INT)",
        "CAST({} INT)",
        "CAST({})",
    ),
    *(
        "CAST({} AS DATE FORMAT 'yyyy')",
        "CONVERT({}, INT)",
        "SAFE_CAST({} AS INT)",
        "INT {}",
        "DATE {}",
        "TIMESTAMP {}",
    ),
    *("N'a'", "b'01'", "U&'a'", "E'a'", "_utf8'a'", "$$a$$", "0b01", "0x1F", "1__0", "1.2.3", "1..2", "1e", "1LL"),
    *(
        "UPPER({} AS a)",
        "UPPER({},)",
        "UPPER(, {})",
        "UPPER(DISTINCT {})",
        "UPPER(ALL {})",
        "({} AS a)",
        "({} a)",
        "()",
    ),
    *("COUNT({} ORDER BY {})", "MAX({} HAVING MAX {})", "FIRST({} IGNORE NULLS)", "SUM({} LIMIT 1)", "UPPER(a := {})"),
    *("EXTRACT({} FROM {})", "EXTRACT(YEAR, {})", "TRIM({}, {} FROM {})", "SUBSTRING({} FOR {})", "POSITION({} {})"),
    *(
        "CASE {} THEN {} END",
        "CASE WHEN {} {} END",
        "CASE WHEN {} THEN {}",
        "CASE END",
        "IF {} THEN {} END",
        "CASE ELSE {} END",
    ),
    *(
        "INTERVAL {}",
        "INTERVAL {} DAY",
        "INTERVAL '1'",
        "INTERVAL 1",
        "INTERVAL '1 fortnight'",
        "INTERVAL 1 DAY TO SECOND",
    ),
    *(
        "{} COLLATE 'de'",
        "{} COLLATE",
        "- ",
        "NOT",
        "{} {}",
        "{}, {}",
        "{}.*",
        "*",
        "{}.1",
        "{}.{}",
        "SELECT {}",
        "{};",
    ),
    *("(SELECT {})", "EXISTS (SELECT {})", "{} IN (SELECT {})", "SUM({}) OVER ()", "{} FILTER (WHERE {})", "ARRAY[{}]"),
    *(
        "VALUES ({})",
        "ROW({}, {})",
        "TRANSFORM({}, y, z -> {})",
        "TRANSFORM({}, (y z) -> {})",
        "TRANSFORM({}, 1 -> {})",
    ),
    *(
        "PRIOR {}",
        "NEXT VALUE FOR a",
        "LAMBDA y: {}",
        "{} FOR y IN {}",
        "DISTINCT {}",
        "UNIQUE {}",
        "CURRENT_TIME",
        "USER",
    ),
    *("{} IS DISTINCT {}", "{} IS NOT DISTINCT {}", "{} NOT = {}", "{} IS NOT {}", "NOT NOT {}", "! ! {}", "{} <>= {}"),
)
"""What other engines read, or what sqlglot reads in its leniency; Spark reads some of it, too."""
