"""Partition values with quotes, percent signs, brackets, slashes, spaces and letters of all sorts."""

from tests.metastore.spark.statement import does, fails, folders, none, ordered, rows, topic

VALUES = (
    "it's",
    'say "hi"',
    "both ' and \"",
    "50%",
    "%41",
    "a_b",
    "[x]{y}(z)",
    "a/b",
    "back\\slash",
    "a b  c",
    " lead",
    "k=v",
    "a:b",
    "a#b?c*d",
    "a.b+c^d$|e",
    "ünï",
    "中文",
    "😀",
    "NULL",
    "null",
    "ABC",
    "abc",
    "-1",
    "0x1",
    "~",
    "tab\there",
)


def literal(value):
    """A Spark SQL literal."""
    text = value.replace("\\", "\\\\").replace("'", "\\'").replace("\t", "\\t")
    return f"'{text}'"


def equal(value):
    """Spark's client refuses to write a filter with a value that has both kinds of quotes."""
    sql = f"SELECT * FROM v WHERE p = {literal(value)}"
    refused = "'" in value and '"' in value
    return fails("INTERNAL_ERROR_INVALID_PARTITION_FILTER_VALUE", sql) if refused else rows(sql)


LIKES = (
    r"'it\'s%'",
    "'%\"%'",
    r"'50\%'",
    r"'%\%%'",
    r"'\%41'",
    r"'a\_b'",
    "'a_b'",
    "'[x]%'",
    "'%(z)'",
    "'a/%'",
    r"'back\\\\%'",
    "'%  %'",
    "'a.b+%'",
    "'%|e'",
    "'%+c^d$%'",
    "'ü%'",
    "'%文'",
    "'😀%'",
    "'ab%'",
    "'_'",
    "'a%c'",
)

STATEMENTS = topic(
    "strange",
    does("CREATE DATABASE strange"),
    does("USE strange"),
    does("CREATE TABLE v (id INT, p STRING) USING parquet PARTITIONED BY (p)"),
    does(f"INSERT INTO v VALUES {', '.join(f'({place}, {literal(one)})' for place, one in enumerate(VALUES))}"),
    does("INSERT INTO v VALUES (100, NULL), (101, '')"),
    ordered("SHOW PARTITIONS v"),
    rows("SELECT * FROM v"),
    folders("$WAREHOUSE/strange.db/v"),
    *(equal(one) for one in VALUES),
    *(rows(f"SELECT * FROM v WHERE p LIKE {one}") for one in LIKES),
    rows("SELECT * FROM v WHERE p LIKE '50!%' ESCAPE '!'"),
    rows("SELECT * FROM v WHERE p NOT LIKE '%b%' AND p NOT LIKE 'a%'"),
    rows(f"SELECT * FROM v WHERE p IN ({', '.join(map(literal, (*VALUES[:2], *VALUES[3:6])))})"),
    rows(f"SELECT * FROM v WHERE p IN ({', '.join(map(literal, VALUES[6:12]))})"),
    rows(f"SELECT * FROM v WHERE p NOT IN ({', '.join(map(literal, VALUES[4:]))})"),
    rows("SELECT * FROM v WHERE p < 'a'"),
    rows("SELECT * FROM v WHERE p >= 'ü'"),
    rows("SELECT * FROM v WHERE p BETWEEN '[' AND 'a0'"),
    rows("SELECT * FROM v WHERE p IS NULL"),
    none("SELECT * FROM v WHERE p = ''"),
    rows("SELECT * FROM v WHERE p = 'it\\'s' OR p = 'say \"hi\"' OR p > '中'"),
    ordered(f"SHOW PARTITIONS v PARTITION (p = {literal('a/b')})"),
    ordered(f"SHOW PARTITIONS v PARTITION (p = {literal('both ' + chr(39) + ' and ' + chr(34))})"),
    ordered("SHOW PARTITIONS v PARTITION (p = NULL)"),
    rows(f"DESCRIBE FORMATTED v PARTITION (p = {literal('中文')})"),
    rows(f"DESCRIBE FORMATTED v PARTITION (p = {literal('%41')})"),
    rows(f"SHOW TABLE EXTENDED LIKE 'v' PARTITION (p = {literal('a:b')})"),
    does(f"INSERT OVERWRITE v PARTITION (p = {literal('a/b')}) VALUES (200)"),
    does(f"INSERT OVERWRITE v PARTITION (p = {literal('50%')}) VALUES (201)"),
    rows("SELECT * FROM v WHERE id >= 200"),
    does(f"ALTER TABLE v PARTITION (p = {literal('k=v')}) RENAME TO PARTITION (p = {literal('v=k/%/ü')})"),
    rows(f"SELECT * FROM v WHERE p = {literal('v=k/%/ü')}"),
    does(f"ALTER TABLE v ADD PARTITION (p = {literal('new: [1] ' + chr(39))})"),
    does(f"ALTER TABLE v DROP PARTITION (p = {literal('back' + chr(92) + 'slash')}), PARTITION (p = {literal('😀')})"),
    does("ALTER TABLE v DROP PARTITION (p = NULL)"),
    ordered("SHOW PARTITIONS v"),
    folders("$WAREHOUSE/strange.db/v"),
    does("CREATE TABLE hive_v (id INT) PARTITIONED BY (p STRING) STORED AS TEXTFILE"),
    does("INSERT INTO hive_v SELECT id, p FROM v"),
    ordered("SHOW PARTITIONS hive_v"),
    rows("SELECT * FROM hive_v"),
    rows(f"SELECT * FROM hive_v WHERE p = {literal('a/b')} OR p = {literal(VALUES[1])}"),
    rows("SELECT * FROM hive_v WHERE p LIKE '%中%'"),
    does("DROP TABLE v"),
    does("USE default"),
    does("DROP DATABASE strange CASCADE"),
    folders("$WAREHOUSE"),
)
