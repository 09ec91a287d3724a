"""What all Sparks of these tests are set to."""

from __future__ import annotations

from tests.quick_java import OPTIONS

SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    # Many short jobs over a few rows: compiling costs more than it gains, a third of the processor's time.
    "spark.driver.extraJavaOptions": OPTIONS,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
