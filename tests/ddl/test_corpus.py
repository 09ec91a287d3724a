"""The statements about partitions that the tests on Spark run: ours does, lists and refuses the same."""

from __future__ import annotations

import pytest

from hbstore import Column, Database, Table, connect
from hbstore.ddl import Session, parse_statements
from hbstore.errors import AlreadyExists, DdlSyntaxError, InvalidPartitionValue, PartitionNotFound, TableNotPartitioned
from hbstore.files.warehouse import Warehouse
from tests.metastore.spark.partitions import ADDING, DROPPING, RENAMING, SHOWING
from tests.metastore.spark.statement import Kind

ERRORS = {
    "PARTITIONS_ALREADY_EXIST": (AlreadyExists,),
    "PARTITIONS_NOT_FOUND": (PartitionNotFound, InvalidPartitionValue),  # also that of an unknown column
    "INVALID_PARTITION_SPEC": (InvalidPartitionValue,),
    "_LEGACY_ERROR_TEMP_1232": (InvalidPartitionValue,),
    "CAST_INVALID_INPUT": (InvalidPartitionValue,),
    "INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY": (TableNotPartitioned,),
}
NOT_OURS = ("CREATE ", "SELECT ", "INSERT ", "DROP ")
OURS = [
    one
    for one in (*ADDING, *SHOWING, *RENAMING, *DROPPING)
    if one.kind is not Kind.FOLDERS and not one.text.startswith(NOT_OURS)
]
SHOWN = [
    [
        "ds=2020-01-01/hr=10",
        "ds=2020-01-01/hr=9",
        "ds=2020-01-02/hr=10",
    ],
    [
        "ds=2020-01-01/hr=10",
        "ds=2020-01-01/hr=9",
        "ds=2020-01-02/hr=10",
        "ds=2020-01-03/hr=1",
        "ds=2020-01-03/hr=2",
        "ds=2020-01-03/hr=3",
        "ds=2020-01-04/hr=1",
        "ds=2020-01-04/hr=2",
        "ds=2020-01-04/hr=3",
        "ds=__HIVE_DEFAULT_PARTITION__/hr=1",
    ],
    [
        "ds=2020-01-01/hr=10",
        "ds=2020-01-02/hr=10",
        "ds=2020-01-03/hr=1",
        "ds=2020-01-03/hr=22",
        "ds=2020-01-03/hr=3",
        "ds=2020-01-04/hr=1",
        "ds=2020-01-04/hr=2",
        "ds=2021-12-31/hr=23",
        "ds=__HIVE_DEFAULT_PARTITION__/hr=1",
        "ds=a b%2Fc%3Dd%25e/hr=-3",
    ],
    [
        "ds=2020-01-02/hr=10",
        "ds=2021-12-31/hr=23",
        "ds=a b%2Fc%3Dd%25e/hr=-3",
    ],
]
"""What SHOW PARTITIONS p lists each time that it comes in the corpus."""


@pytest.mark.parametrize("url", ["memory://", "sqlite"])
def test_the_corpus(url, tmp_path):
    root = tmp_path / "wh"
    with connect(f"sqlite://{tmp_path}/store.db" if url == "sqlite" else url) as store:
        store.create_database(Database("partitions", location=f"file:{root}/partitions.db"))
        columns = [Column("ds", "string"), Column("hr", "int")]
        location = f"file:{root}/partitions.db/p"
        store.create_table(Table("partitions", "p", columns, [Column("x", "int")], location=location))
        session = Session(store, Warehouse(str(root)))
        shown = []
        for one in OURS:
            text = one.text.replace("$WAREHOUSE", str(root))
            if one.kind is Kind.FAILS:
                with pytest.raises(ERRORS[one.condition]):
                    list(session.run(text))
                continue
            (result,) = session.run(text)
            assert bool(result.rows) is (one.kind in (Kind.ROWS, Kind.ORDERED)), text
            if text == "SHOW PARTITIONS p":
                shown.append([name for (name,) in result.rows])
        assert shown == SHOWN


def test_what_is_sparks_is_refused_at_once():
    for text in ("SELECT 1", "INSERT INTO p VALUES (1)", "CREATE TABLE t (x INT)", "DROP TABLE t"):
        with pytest.raises(DdlSyntaxError):
            parse_statements(text)
