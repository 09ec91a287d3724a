"""A change does the same by each door of a server: it has the same bounds and the same trash, and leaves the same.

`hbstore sql` has the rights of who typed the statement, which have no trash and no other folders than the warehouse.
"""

from __future__ import annotations

import shutil
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyhive import hive
from typer.testing import CliRunner

import hbstore.client
from hbstore import Column, Database, Partition, Table, connect
from hbstore.cli import app
from tests.metastore.client import client
from tests.metastore.serving import Serve
from tests.quick_java import quick_java

pytestmark = [pytest.mark.spark, pytest.mark.slow]
OUTSIDE = "the location is outside"
READ_ONLY = "this server is read-only"
PARAMETERS = {
    "spark.sql.sources.provider": "parquet",
    "spark.sql.sources.schema": '{"type": "struct", "fields": ['
    '{"name": "amount", "type": "long", "nullable": true, "metadata": {}},'
    '{"name": "ds", "type": "string", "nullable": true, "metadata": {}}]}',
    "spark.sql.sources.schema.numPartCols": "1",
    "spark.sql.sources.schema.partCol.0": "ds",
}


@dataclass(frozen=True)
class Change:
    """A change of the table shop.t as each door takes it.

    Attributes:
        statement: of SQL.
        request: method, path behind the table's, and body over HTTP; None: there is none like it.
        call: a method of the metastore and what it needs besides the table's names; None: likewise.
        refused: what is said of it; None: it is done.
        typed: whether `hbstore sql` does the same; it drops partitions anywhere, and leaves files outside, with a note.
    """

    statement: str
    request: tuple | None = None
    call: tuple | None = None
    refused: str | None = None
    typed: bool = True


def drop(value, **more):
    request = ("POST", "/partitions/drop", {"partitions": [{"values": [value]}]})
    return Change(f"ALTER TABLE t DROP PARTITION (ds = '{value}')", request, ("drop_partition", [value], True), **more)


CHANGES = {
    "add": Change(
        "ALTER TABLE t ADD PARTITION (ds = 'new')",
        ("POST", "/partitions", {"partitions": [{"values": ["new"]}]}),
        ("append_partition", ["new"]),
    ),
    "drop": drop("a"),
    "drop-several": Change("ALTER TABLE t DROP PARTITION (ds <= 'also')", typed=False),
    "drop-outside": drop("outside", refused=OUTSIDE, typed=False),
    "drop-also-under": drop("also", typed=False),
    "purge": Change("ALTER TABLE t DROP PARTITION (ds = 'a') PURGE", ("DELETE", "/partitions/ds=a?purge=true", None)),
    "rename": Change(
        "ALTER TABLE t PARTITION (ds = 'a') RENAME TO PARTITION (ds = 'z')",
        ("PATCH", "/partitions/ds=a", {"values": ["z"]}),
        ("rename_partition", ["a"], ["z"]),
    ),
    "exchange": Change(
        "ALTER TABLE t EXCHANGE PARTITION (ds = 'other') WITH TABLE s", call=("exchange_partitions", {"ds": "other"})
    ),
    "truncate": Change("TRUNCATE TABLE t PARTITION (ds = 'a')", call=("truncate_table", ["ds=a"])),
    "truncate-outside": Change(
        "TRUNCATE TABLE t PARTITION (ds = 'outside')", call=("truncate_table", ["ds=outside"]), refused=OUTSIDE
    ),
    "repair": Change("MSCK REPAIR TABLE t", ("POST", "/repair?mode=add", None)),
    "properties": Change(
        "ALTER TABLE t SET TBLPROPERTIES ('team' = 'web')", ("PATCH", "", {"parameters": {"team": "web"}})
    ),
    "drop-not": Change("ALTER TABLE t DROP PARTITION (ds NOT LIKE '%s%', ds NOT IN ('b', 'c'))", typed=False),
    "set-location": Change(
        "ALTER TABLE t SET LOCATION 'file:/elsewhere/t'",
        ("PATCH", "", {"location": "file:/elsewhere/t"}),
        ("alter_table", "file:/elsewhere/t"),
    ),
    "count": Change("ANALYZE TABLE t PARTITION (ds = 'a') COMPUTE STATISTICS NOSCAN"),
    "analyze": Change("ANALYZE TABLE t COMPUTE STATISTICS", typed=False),
}


class Place:
    """A store with the tables t and s, and the folders of their files."""

    def __init__(self, folder):
        self.folder = folder
        self.url = f"sqlite://{folder}/store.db"
        self.warehouse = folder / "warehouse"
        with connect(self.url) as store:
            store.create_database(Database("default", location=f"file:{self.warehouse}"))  # as a first server does
            store.create_database(Database("shop", location=f"file:{self.warehouse}/shop.db"))

    @contextmanager
    def serving(self, *options):
        """A server, and a client of its HTTP door."""
        folders = [word for name in ("also-under", "trash", "results") for word in (f"--{name}", self.folder / name)]
        doors = ("--http-port", "0", "--sql-port", "0", "--spark-master", "local[2]")
        with (
            quick_java(),
            Serve(self.url, self.folder, *folders, *doors, *options) as server,
            hbstore.client.connect(server.ready["http"]) as connection,
        ):
            yield server, connection

    def make(self):
        """Begin anew: each partition of the tables has a file, and so has a folder of t that is none's."""
        for folder in (
            self.warehouse / "shop.db",
            *(self.folder / name for name in ("also-under", "outside", "trash")),
        ):
            shutil.rmtree(folder, ignore_errors=True)
        with connect(self.url) as store:
            for name, values in (("t", ["a", "also", "outside"]), ("s", ["other"])):
                home = self.warehouse / "shop.db" / name
                columns = [Column("ds", "string")], [Column("amount", "bigint")]
                store.drop_table("shop", name, if_exists=True)
                store.create_table(Table("shop", name, *columns, location=f"file:{home}", parameters=PARAMETERS))
                elsewhere = {"also": self.folder / "also-under" / "also", "outside": self.folder / "outside" / "out"}
                folders = {value: elsewhere.get(value, home / f"ds={value}") for value in values}
                for folder in (*folders.values(), home / "ds=new"):
                    folder.mkdir(parents=True)
                    parquet.write_table(pa.table({"amount": [1]}), folder / "rows.parquet")
                partitions = [Partition((value,), location=f"file:{folder}") for value, folder in folders.items()]
                store.add_partitions("shop", name, partitions)

    def left(self):
        """What there is of partitions, of properties and locations, of files, and in the trash."""
        with connect(self.url) as store:
            tables = [store.table(f"shop.{name}") for name in ("t", "s")]
            partitions = [
                (partition.values, partition.location, *map(partition.parameters.get, ("numRows", "totalSize")))
                for table in tables
                for partition in table.partitions()
            ]
            properties = [(one.definition.parameters.get("team"), one.definition.location) for one in tables]
        files = [str(path) for name in ("warehouse", "also-under", "outside") for path in self._files(name)]
        return partitions, properties, files, list(map(str, self._files("trash")))

    def _files(self, name):
        return sorted((self.folder / name).rglob("*"))


def by_query(change, _, connection):
    connection.query(change.statement, database="shop").wait()


def by_driver(change, server, _):
    port = int(server.ready["sql"].rpartition(":")[2])
    with closing(hive.connect("127.0.0.1", port, username="ann", database="shop")) as driver:
        driver.cursor().execute(change.statement)


def by_request(change, _, connection):
    method, path, body = change.request
    connection._transport.document(method, f"/databases/shop/tables/t{path}", body=body, is_change=True)


def by_call(change, server, _):
    method, *words = change.call
    with client(server.port) as metastore:
        if method == "exchange_partitions":
            metastore.exchange_partitions(*words, "shop", "s", "shop", "t")
            return
        if method == "alter_table":
            moved = metastore.get_table("shop", "t")
            (moved.sd.location,) = words
            words = [moved]
        if method == "rename_partition":
            old, values = words
            renamed = metastore.get_partition("shop", "t", old)
            renamed.values = values
            words = [old, renamed]
        getattr(metastore, method)("shop", "t", *words)


def doors(change):
    """The doors that take a change."""
    yield from (by_query, by_driver)
    if change.request is not None:
        yield by_request
    if change.call is not None:
        yield by_call


def answer(ask, *asked):
    """What is said against a change; None: it is done."""
    try:
        ask(*asked)
    except Exception as error:  # noqa: BLE001  each client has errors of its own
        return str(error)
    return None


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("every_door"))


@pytest.fixture(scope="module")
def server(place):
    with place.serving() as server:
        yield server


@pytest.fixture(scope="module")
def read_only(place):
    with place.serving("--read-only") as server:
        yield server


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_leaves_the_same_by_each_door(place, server, change):
    place.make()
    before = place.left()
    outcomes = {}
    for ask in doors(change):
        place.make()
        said = answer(ask, change, *server)
        assert (said is None) == (change.refused is None), said
        assert change.refused is None or change.refused in said
        outcomes[ask.__name__] = place.left()
    first = outcomes["by_query"]
    assert outcomes == dict.fromkeys(outcomes, first)
    assert (first == before) == (change.refused is not None)
    if change.typed:
        place.make()
        words = (
            "--store",
            place.url,
            "sql",
            "--database",
            "shop",
            "--warehouse",
            str(place.warehouse),
            change.statement,
        )
        said = CliRunner().invoke(app, words)
        assert (said.exit_code == 0) == (change.refused is None), said.output
        assert change.refused is None or change.refused in said.output
        assert place.left()[:3] == first[:3]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_server_that_is_read_only_changes_nothing_by_any_door(place, read_only, change):
    place.make()
    before = place.left()
    for ask in doors(change):
        assert READ_ONLY in str(answer(ask, change, *read_only))
        assert place.left() == before


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t VALUES (2, 'a')",
        "INSERT OVERWRITE s SELECT * FROM t",
        "WITH few AS (SELECT 1 AS amount, 'a' AS ds) INSERT INTO t SELECT * FROM few",
        "FROM s INSERT INTO t SELECT amount, 'b' INSERT INTO t SELECT amount, 'c'",
        "INSERT OVERWRITE LOCAL DIRECTORY '{outside}' USING csv SELECT 1",
        "CREATE TABLE copy USING parquet AS SELECT 1 AS amount",
        "CREATE TABLE copy (amount INT) USING parquet LOCATION '{outside}'",
        "CREATE DATABASE other",
        "CREATE VIEW copy AS SELECT 1 AS amount",
        "ALTER TABLE t ADD COLUMNS (more INT)",
        "LOAD DATA LOCAL INPATH '{outside}/out/rows.parquet' INTO TABLE t PARTITION (ds = 'a')",
        "TRUNCATE TABLE s",
        "DROP TABLE s",
        "MERGE INTO t USING s ON t.ds = s.ds WHEN MATCHED THEN DELETE",
        "BEGIN INSERT INTO t VALUES (2, 'a'); END",
        "EXECUTE IMMEDIATE 'INSERT INTO t VALUES (2, ''a'')'",
        "CALL system.expire(before => 1)",
    ],
)
def test_a_server_that_is_read_only_runs_nothing_of_sparks_that_writes(place, read_only, statement):
    place.make()
    before = place.left()
    _, connection = read_only
    said = answer(connection.query(statement.format(outside=place.folder / "outside"), database="shop").wait)
    assert READ_ONLY in str(said)
    assert place.left() == before


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT sum(amount) FROM (SELECT * FROM t UNION ALL SELECT * FROM s)",
        "WITH few AS (SELECT 1) SELECT * FROM few",
        "TABLE t",
        "VALUES (1)",
        "SHOW TABLES",
        "SHOW DATABASES",
        "SHOW CATALOGS",
        "SHOW COLUMNS IN t",
        "SHOW CREATE TABLE t",
        "SHOW FUNCTIONS LIKE 'sum'",
        "SHOW TBLPROPERTIES t",
        "SHOW PARTITIONS t",
        "SHOW VIEWS",
        "DESCRIBE t",
        "DESCRIBE DATABASE shop",
        "DESCRIBE FUNCTION sum",
        "DESCRIBE QUERY SELECT 1",
        "EXPLAIN INSERT INTO t VALUES (2, 'a')",
        "EXPLAIN PARTITIONS t",
        "SET spark.sql.ansi.enabled = true",
        "SET TIME ZONE 'UTC'",
        "RESET spark.sql.ansi.enabled",
        "USE shop",
        "USE spark_catalog",
        "CREATE TEMPORARY VIEW few AS SELECT 1 AS amount",
        "CACHE TABLE t",
        "UNCACHE TABLE IF EXISTS t",
        "CLEAR CACHE",
        "REFRESH TABLE t",
        "DECLARE OR REPLACE VARIABLE day = 'a'",
    ],
)
def test_a_server_that_is_read_only_runs_what_only_reads(place, read_only, statement):
    place.make()
    before = place.left()
    _, connection = read_only
    connection.query(statement, database="shop").wait()
    assert place.left() == before
