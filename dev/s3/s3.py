"""Try what touches files on a second S3 server, and with Spark's own s3a. It takes Java 17 and, once, maven.

python dev/s3/s3.py tests            the tests of files in S3, on s3proxy (Java) in place of moto
python dev/s3/s3.py tests FILE …     other tests
python dev/s3/s3.py spark            Spark writes through s3a to moto; hbstore publishes and reads that
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from maven_jars import Missing, maven_jars
from processes import free, free_ports

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

TESTS = ("tests/publishing/test_object_stores.py", "tests/files", "-k", "s3 or object_stores")
_SECONDS = 60.0


def jars(name: str, *, megabytes: int, at_least: int) -> Path:
    """The folder of the jars of a pom.

    Raises:
        Missing: maven is not there, or could not get them.
    """
    return maven_jars(
        HERE / f"pom-{name}.xml",
        what=f"the jars of {name} ({megabytes} MB)",
        expected="*.jar",
        at_least=at_least,
        hint="Install maven",
    )


@contextmanager
def s3proxy() -> Iterator[str]:
    """The address of an s3proxy that keeps objects in memory and checks no signatures."""
    (port,) = free_ports(1)
    with tempfile.TemporaryDirectory(prefix="hbstore-s3proxy-") as folder:
        address = f"http://127.0.0.1:{port}"
        properties = Path(folder, "s3proxy.conf")
        properties.write_text(
            f"s3proxy.endpoint={address}\ns3proxy.authorization=none\n"
            "jclouds.provider=transient\njclouds.identity=key\njclouds.credential=secret\n"
        )
        Path(folder, "logback.xml").write_text('<configuration><root level="OFF"/></configuration>')
        path = f"{folder}:{jars('s3proxy', megabytes=43, at_least=100)}/*"
        command = ["java", "-Xmx512m", "-cp", path, "org.gaul.s3proxy.Main", "--properties", str(properties)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603
        try:
            deadline = time.monotonic() + _SECONDS
            while free(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise Missing("s3proxy did not start")
                time.sleep(0.1)
            yield address
        finally:
            process.kill()
            process.wait()


def run_tests(arguments: list[str]) -> int:
    """Run tests on s3proxy; pytest's exit code."""
    with s3proxy() as address:
        # Checksums behind the content, which AWS takes and newer clients send by themselves, s3proxy does not know.
        checksums = dict.fromkeys(
            ("AWS_REQUEST_CHECKSUM_CALCULATION", "AWS_RESPONSE_CHECKSUM_VALIDATION"), "when_required"
        )
        environment = {**os.environ, **checksums, "HBSTORE_TEST_S3": address}
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", *(arguments or TESTS)]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603


def run_spark() -> int:
    """Have Spark write through s3a into partitions, and hbstore publish, replace and read them."""
    sys.path.append(str(ROOT))
    from pyspark.sql import SparkSession

    from hbstore import Column, Table, connect
    from hbstore.repair import sync_partitions
    from hbstore.spark import read_table, write_table
    from tests.object_store import endpoint, new_bucket

    address, (bucket, _) = endpoint(), new_bucket()
    os.environ["AWS_ENDPOINT_URL"] = address
    classes = ",".join(map(str, jars("s3a", megabytes=20, at_least=30).glob("*.jar")))
    s3a = {"endpoint": address, "endpoint.region": "us-east-1", "path.style.access": "true"}
    s3a |= {"access.key": "key", "secret.key": "secret"}
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.jars", classes)
    for name, value in s3a.items():
        builder = builder.config(f"spark.hadoop.fs.s3a.{name}", value)
    spark = builder.getOrCreate()
    home, columns = f"s3a://{bucket}/sales", [Column("ds", "string")]
    rows = spark.range(10).selectExpr("id", "CAST(id % 2 AS string) AS ds")
    rows.write.partitionBy("ds").parquet(home)
    with connect("memory://") as store:
        store.create_database("shop")
        parameters = {"spark.sql.sources.provider": "parquet"}
        table = Table("shop", "sales", columns, [Column("id", "bigint")], location=home, parameters=parameters)
        store.create_table(table)
        added = sync_partitions(store, "shop.sales").added
        write_table(rows, store, "shop.sales")
        appended = read_table(spark, store, "shop.sales").count()
        write_table(rows.where("ds = '0'"), store, "shop.sales", mode="overwrite")
        replaced = read_table(spark, store, "shop.sales").groupBy("ds").count().collect()
    spark.stop()
    numbers = {row["ds"]: row["count"] for row in replaced}
    print(f"partitions of what Spark wrote: {added}; rows after an append: {appended}; after an overwrite: {numbers}")
    return 0 if (added, appended, numbers) == (2, 20, {"0": 5, "1": 10}) else 1


def main(arguments: list[str]) -> int:
    """Run one command."""
    if arguments[:1] == ["tests"]:
        return run_tests(arguments[1:])
    if arguments == ["spark"]:
        return run_spark()
    print(__doc__)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Missing as error:
        sys.exit(str(error))
