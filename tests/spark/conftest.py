"""A local Spark for the tests of this folder, and tables: to register partitions in, to read, and to analyze."""

from __future__ import annotations

import shutil

import pytest

import hbstore
from benchmarks.spark_session import spark_session
from hbstore.spark import register_source
from tests.spark import every_type as every_type_table
from tests.spark.analyzing import COLUMNS, DATA, VALUES, rows_of
from tests.spark.settings import SMALL
from tests.spark.warm_python import use_warm_python

ATTEMPTS = 3
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
WRITTEN = pytest.StashKey()
SETTINGS = {
    **SMALL,
    "spark.driver.memory": "1g",
    # What a test leaves behind is collected at once, not copied ten times first.
    "spark.driver.extraJavaOptions": f"{SMALL['spark.driver.extraJavaOptions']} -Xms768m -Xmn320m",
    # With two partitions there is nothing to adapt; Sparks of other folders do.
    "spark.sql.adaptive.enabled": "false",
}


@pytest.fixture(scope="package")
def spark(tmp_path_factory):
    """Spark on two cores, which runs a failed task up to three times.

    A process has one Java: it ends with these tests, before others of the same process start or end theirs.
    """
    place = tmp_path_factory.mktemp("spark")
    settings = {**SETTINGS, "spark.sql.warehouse.dir": str(place / "warehouse")}
    with spark_session(f"local[2,{ATTEMPTS}]", place, settings) as session:
        use_warm_python(session, place)
        yield session


@pytest.fixture(scope="module")
def source(spark):
    """Reads shop.sales of a store as the format ``hbstore``, with options."""
    register_source(spark)
    spark.conf.set(PUSHDOWN, "true")
    yield lambda url, **options: spark.read.format("hbstore").options(url=url, table="shop.sales", **options).load()
    spark.conf.unset(PUSHDOWN)


@pytest.fixture(scope="session")
def every_type(tmp_path_factory):
    """The URL of a store whose shop.sales has partitions of every type; it is only read."""
    url = f"sqlite://{tmp_path_factory.mktemp('source')}/catalog.db"
    every_type_table.fill(url)
    return url


@pytest.fixture
def url(tmp_path):
    """The URL of a new SQLite store."""
    return f"sqlite://{tmp_path / 'catalog.db'}"


@pytest.fixture
def make_table(url):
    """Creates shop.sales with partition columns given as name="type"; gives the open store."""
    opened = []

    def make(at=url, **columns):
        store = hbstore.connect(at)
        opened.append(store)
        store.create_database("shop", if_not_exists=True)
        store.drop_table("shop", "sales", if_exists=True)
        partitioned = [hbstore.Column(name, kind) for name, kind in columns.items()]
        store.create_table(hbstore.Table("shop", "sales", partition_columns=partitioned, location="/warehouse/sales"))
        return store

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store():
    """A store in memory with an empty database shop."""
    with hbstore.connect("memory://") as store:
        store.create_database("shop")
        yield store


def write_partitions(spark, folder, form, names, values):
    """30 rows in the first partition, 60 in the second, and so on: two files in each, by one job."""
    stops = [15 * number * (number + 1) for number in range(1, len(values) + 1)]

    def key(texts):
        said = ("NULL" if text is None else f"'{text}'" for text in texts)
        return f"CASE {' '.join(f'WHEN id < {stop} THEN {text}' for stop, text in zip(stops, said, strict=True))} END"

    ds, region = map(key, zip(*values, strict=True))
    frame = rows_of(spark, 0, stops[-1]).repartition(2).selectExpr(*names, f"{ds} AS ds", f"{region} AS region")
    frame.write.mode("append").partitionBy("ds", "region").format(form).save(str(folder))
    (folder / "_SUCCESS").unlink()
    (folder / "._SUCCESS.crc").unlink()


@pytest.fixture
def filled(spark, store, tmp_path, tmp_path_factory, request):
    """Makes shop.sales with 30 rows in the first partition, 60 in the second, and so on; nothing is known of them."""
    written = request.config.stash.setdefault(WRITTEN, {})

    def fill(form="parquet", data=DATA, values=VALUES, into=store):
        key = form, tuple(data), len(values)
        if key not in written:
            written[key] = tmp_path_factory.mktemp("written")
            if values:
                write_partitions(spark, written[key], form, [column.name for column in data], values)
        root = tmp_path / "sales"
        shutil.copytree(written[key], root)
        provider = {"spark.sql.sources.provider": form}
        into.create_table(hbstore.Table("shop", "sales", COLUMNS, data, location=f"file:{root}", parameters=provider))
        into.add_partitions("shop", "sales", map(hbstore.Partition, values))
        return root

    return fill
