"""Tables whose partitions are spelled in all sorts of ways: what Spark shows of them on an endpoint, and on its own.

`differences` makes tables, asks for their rows with and without filters, on both, and compares what came of each
statement. Spark's own metastore, in Derby, is asked for all partitions: Spark alone decides which a filter selects.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from hbstore.keys.partition_names import escape_name
from hbstore.keys.types import IntegerType, StringType, parse_type, read_value
from tests.metastore.serving import Serve
from tests.metastore.spark.process import tell
from tests.metastore.spark.session import start_session
from tests.spellings import SPELLINGS, spelling
from tests.strategies import TYPE_TEXTS

TEXTS = 12
"""Of a table at most."""
FILTERS = 6
_FAR_YEAR = re.compile(r"\W*0*[1-9][0-9]{4}[0-9]*-|[\x00-\x20\x7f]*(-|\+?0+-)")
"""Years above 9999 and below 1, which hbstore does not have."""
OWN_METASTORE = (("spark.sql.hive.metastorePartitionPruning", "false"),)


def statements(seed, folder):
    """The statements about the table of a seed. Its type goes round; all else is decided by the seed.

    Args:
        seed: the seed.
        folder: a folder of the run; the table's is made below it.
    """
    random, kind = Random(seed), TYPE_TEXTS[seed % len(TYPE_TEXTS)]
    ansi = random.random() < 0.3
    texts = _texts(random, kind, ansi=ansi)
    root = folder / f"t{seed}"
    for row, text in enumerate(texts):
        at = root / f"p={escape_name(text)}"
        at.mkdir(parents=True)
        pq.write_table(pa.table({"row": pa.array([row], pa.int64())}), at / "part.parquet")
    yield f"SET spark.sql.ansi.enabled={str(ansi).lower()}"
    made = random.choice((_BY_SPARK, _BY_SPARK, _AS_HIVE)).format(seed, kind)
    yield f"CREATE {made} LOCATION 'file:{root}'"
    yield f"MSCK REPAIR TABLE t{seed}"
    shown = f"SELECT row, hex(cast(p AS STRING)) FROM t{seed}"
    yield shown
    column_type = parse_type(kind)
    read = {text: value for text in texts if (value := read_value(column_type, text)) is not None}
    written = [column_type.text(value) for value in read.values()] or ["1"]
    blanks_behind = {text.rstrip(" ") for text in texts if text.endswith(" ")}  # Derby takes `5` for its `5 ` and fails
    added = [text for text in written if text not in blanks_behind]
    if read and added and not isinstance(column_type, StringType):  # rows of a value that is there in another spelling
        yield f"INSERT INTO t{seed} SELECT 100, CAST({_literal(random.choice(added))} AS {kind})"
        yield f"INSERT INTO t{seed} PARTITION (p = {_literal(random.choice(added))}) VALUES (101)"
        yield shown
    yield from (f"{shown} WHERE {_condition(random, kind, written)}" for _ in range(FILTERS))
    yield f"DROP TABLE t{seed}"


_BY_SPARK = "TABLE t{} (row BIGINT, p {}) USING parquet PARTITIONED BY (p)"
_AS_HIVE = "EXTERNAL TABLE t{} (row BIGINT) PARTITIONED BY (p {}) STORED AS PARQUET"


def _texts(random, kind, *, ansi):
    """Texts that are partitions of their own, on both metastores: Derby takes blanks at the end for nothing."""
    column_type = parse_type(kind)
    texts = {}
    for _ in range(random.randint(3, TEXTS)):
        text = random.choice((random.choice(SPELLINGS), spelling(random), spelling(random)))
        if "\0" in text or not text.strip(" ") or _FAR_YEAR.match(text):
            continue
        if not ansi or _is_read_in_ansi_mode(column_type, text):
            texts[text.rstrip(" ")] = text
    return list(texts.values())


def _is_read_in_ansi_mode(column_type, text):
    """One text that is not read ends every query of the table on its own metastore."""
    return read_value(column_type, text) is not None and not (isinstance(column_type, IntegerType) and "." in text)


def _condition(random, kind, texts):
    some = [f"CAST({_literal(text)} AS {kind})" for text in random.choices(texts, k=3)]
    if isinstance(parse_type(kind), StringType):
        some = [_literal(text) for text in random.choices(texts, k=3)]
    one, two, three = some
    return random.choice(
        (
            *[f"p {operator} {one}" for operator in ("=", "=", "=", "<", "<=", ">", ">=", "<>", "<=>")],
            *(f"p IN ({one}, {two}, {three})", f"p NOT IN ({one}, {two})", f"p BETWEEN {one} AND {two}"),
            *("p IS NULL", "p IS NOT NULL", f"p = {one} OR p >= {two}", f"NOT (p = {one}) OR p IS NULL"),
            *(f"p = {one} AND row > 1", f"p >= {one} AND p <> {two}"),
        )
    )


def _literal(text):
    return "'" + "".join(f"\\u{ord(one):04x}" if ord(one) < 0x10000 else one for one in text) + "'"


def outcome(session, statement):
    """What a statement gives: rows in their order, or why it fails."""
    try:
        return sorted(map(list, session.sql(statement).collect()), key=str)
    except PySparkException as error:
        return f"fails: {error.getCondition() or type(error).__name__}"
    except Py4JJavaError as error:
        return f"fails: {error.java_exception.getClass().getName()}"  # its text names one partition of several


def run_tables(root, uri, *seeds):
    """In Spark's process: tell what came of each statement about some tables; without a URI on its own metastore."""
    logging.disable(logging.CRITICAL)
    root = Path(root).resolve()
    session = start_session(root, uri or None, () if uri else OWN_METASTORE)
    try:
        for seed in map(int, seeds):
            for statement in statements(seed, root / "outside"):
                tell([seed, statement.replace(str(root), "$ROOT"), outcome(session, statement)])
    finally:
        logging.disable(logging.NOTSET)
        session.stop()


def differences(process, folder, seeds):
    """Run tables on an endpoint and on Spark's own metastore: how many statements, and those that differ.

    Args:
        process: a `SparkProcess`.
        folder: for both runs.
        seeds: of the tables.
    """
    with Serve(f"sqlite://{folder}/catalog.db", folder, "--also-under", f"{folder}/hbstore/outside") as server:
        ours = process.run(run_tables, folder / "hbstore", server.ready["uri"], *seeds)
    own = process.run(run_tables, folder / "derby", "", *seeds)
    differing = [(one, other) for one, other in zip_longest(ours, own) if one != other]
    return Counter(_kind_of(one[1]) for one in ours), differing


def _kind_of(statement):
    return "filters" if " WHERE " in statement else statement.split()[0]
