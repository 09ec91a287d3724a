"""What all Sparks of these tests are set to."""

from __future__ import annotations

SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    # Many short jobs: compiling well costs more than it gains, a third of the processor's time.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
