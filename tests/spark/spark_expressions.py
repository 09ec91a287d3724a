"""Random expressions in the spellings of Spark SQL, over the table t of tests/spark/spark_values.py.

They need no types that fit: Spark reads an expression before it looks at types, and how it reads it decides its value.
Names of functions are in capitals, as hbstore writes them.
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
    *("struct<a int>", "ARRAY<STRUCT<a: DATE>>", "STRING COLLATE UTF8_LCASE"),
)
BINARY = (
    *("+", "-", "*", "/", "%", "DIV", "div", "||", "&", "|", "^", "<<", ">>", ">>>"),
    *("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>", "AND", "and", "OR"),
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
    *("STRING({})", "INT({})", "TIMESTAMP({})", "LEFT({}, {})", "REPLACE({}, {}, {})", "LIKE({}, {})", "MOD({}, {})"),
)
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
SPACES = (" ", " ", " ", "  ", "\n", " /* a */ ", " -- a\n")


def expression(random, depth=4):  # noqa: PLR0911  a kind of expression, a branch
    """A random expression."""
    kind = random.random()
    if depth <= 0 or kind < 0.1:
        return atom(random)
    one = depth - random.choice((1, 1, 2))
    if kind < 0.35:
        operator, space = random.choice(BINARY), random.choice(SPACES)
        return f"{expression(random, one)}{space}{operator} {expression(random, one)}"
    if kind < 0.45:
        return f"({expression(random, one)})"
    if kind < 0.55:
        return f"{random.choice(('-', '- ', '+', '~', 'NOT ', '! ', '- '))}{expression(random, one)}"
    if kind < 0.65:
        return filled(random, random.choice(PREDICATES), one)
    if kind < 0.78:
        return filled(random, random.choice(CALLS), one)
    if kind < 0.86:
        return filled(random, random.choice(ELEMENTS), one)
    if kind < 0.92:
        form = random.choice(("CAST({} AS {type})", "cast({} as {type})", "TRY_CAST({} AS {type})", "{}::{type}"))
        return filled(random, form, one)
    forms = (
        "CASE WHEN {} THEN {} END",
        "CASE WHEN {} THEN {} WHEN {} THEN {} ELSE {} END",
        "CASE {} WHEN {} THEN {} END",
    )
    return filled(random, random.choice((*forms, "case {} when {} then {} else {} end", "{} COLLATE UTF8_LCASE")), one)


def filled(random, form, depth):
    """A form with expressions in its places."""
    form = form.replace("{array}", "\0").replace("{type}", random.choice(TYPES))
    while "\0" in form:
        form = form.replace("\0", random.choice(ARRAYS), 1)
    parts = form.split("{}")
    return "".join(f"{part}{expression(random, depth)}" for part in parts[:-1]) + parts[-1]


def atom(random):
    """A name or a literal."""
    kind = random.randrange(10)
    if kind < 3:
        return random.choice(COLUMNS)
    if kind < 6:
        return text(random)
    if kind == 6:
        return random.choice((*TYPED, "TRUE", "false", "NULL"))
    if kind == 7:
        span = random.choice(SPANS)
        if random.random() < 0.5:
            value = random.choice(("1", "-1", "1.5", "'1'", "'-1'", "'1.5'"))
            span = f"{value} {random.choice(UNITS)}"
        return f"{random.choice(('INTERVAL', 'interval'))} {span}"
    return random.choice(NUMBERS)


def text(random):
    """A text in quotes, or several in a row."""
    some = random.choice((1, 1, 1, 1, 1, 2, 3))
    return "".join(f"{quoted(random)}{random.choice(('', ' ', chr(10)))}" for _ in range(some)).strip()


def quoted(random):
    """A text in quotes of a kind."""
    quote = random.choice("''\"")
    pieces = "".join(random.choice(PIECES) for _ in range(random.randrange(4)))
    other = '"' if quote == "'" else "'"
    if random.random() < 0.15:
        return f"{random.choice('rR')}{quote}{pieces.replace(quote, other)}{quote}"
    return f"{quote}{_escaped(pieces, quote)}{quote}"


def _escaped(pieces, quote):
    """Pieces in which no quote ends the text: those that stand alone are doubled."""
    made, at = [], 0
    while at < len(pieces):
        if pieces[at] == "\\":
            made.append(pieces[at : at + 2])
            at += 2
        else:
            made.append(quote * 2 if pieces[at] == quote else pieces[at])
            at += 2 if pieces[at : at + 2] == quote * 2 else 1
    return "".join(made)
