"""A Spark that works on and on, in a process of its own, while its metastores die and come back.

    python -m tests.metastore.spark.goes_on FOLDER URI,URI

For each line that it reads it does one round: an INSERT that makes a partition, and queries over all partitions so far.
It prints what they say, as one line of JSON.
"""

from __future__ import annotations

import json
import sys

from tests.metastore.spark.session import start_session


def main(folder, uris):
    session = start_session(folder, uris)
    session.sql("CREATE TABLE rounds (x INT, round INT) USING parquet PARTITIONED BY (round)")
    tell("ready")
    for number, _ in enumerate(sys.stdin):
        session.sql(f"INSERT INTO rounds VALUES ({number * 10}, {number}), ({number * 10 + 1}, {number})")
        last = [row.x for row in session.sql(f"SELECT x FROM rounds WHERE round = {number}").collect()]
        names = [row.partition for row in session.sql("SHOW PARTITIONS rounds").collect()]
        every = session.sql("SELECT count(*) AS n FROM rounds WHERE round >= 0").first().n
        tell({"last": sorted(last), "partitions": names, "rows": every})
    session.stop()


def tell(words):
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
