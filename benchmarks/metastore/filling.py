"""The reference's table filled by SQL: adding 100,000 partitions by its API takes it a quarter of an hour and more.

The rows are copies of those that the Hive Metastore wrote itself for a partition that was added by its API, with other
ids, values, names and locations; its sequences are moved on. Readers see no difference.
"""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.metastore.sales import TABLE, Spec

_MODEL = "org.apache.hadoop.hive.metastore.model"

_BEGIN = f"""
BEGIN;
CREATE TEMP TABLE fill (at bigint, name text, location text, ds text, hour text, region text) ON COMMIT DROP;
CREATE TEMP TABLE model ON COMMIT DROP AS
  SELECT p."PART_ID" AS part, p."SD_ID" AS sd, s."SERDE_ID" AS serde,
    (SELECT "NEXT_VAL" FROM "SEQUENCE_TABLE" WHERE "SEQUENCE_NAME" = '{_MODEL}.MPartition') AS next_part,
    (SELECT "NEXT_VAL" FROM "SEQUENCE_TABLE" WHERE "SEQUENCE_NAME" = '{_MODEL}.MStorageDescriptor') AS next_sd,
    (SELECT "NEXT_VAL" FROM "SEQUENCE_TABLE" WHERE "SEQUENCE_NAME" = '{_MODEL}.MSerDeInfo') AS next_serde
  FROM "PARTITIONS" p JOIN "SDS" s USING ("SD_ID") JOIN "TBLS" t USING ("TBL_ID")
  WHERE t."TBL_NAME" = '{TABLE}' ORDER BY p."PART_ID" LIMIT 1;
COPY fill FROM STDIN;
"""

_END = rf"""\.
INSERT INTO "SERDES" ("SERDE_ID", "NAME", "SLIB")
  SELECT next_serde + at, "NAME", "SLIB" FROM fill, model JOIN "SERDES" ON "SERDE_ID" = serde;
INSERT INTO "SERDE_PARAMS" ("SERDE_ID", "PARAM_KEY", "PARAM_VALUE")
  SELECT next_serde + at, "PARAM_KEY", "PARAM_VALUE" FROM fill, model JOIN "SERDE_PARAMS" ON "SERDE_ID" = serde;
INSERT INTO "SDS" ("SD_ID", "CD_ID", "INPUT_FORMAT", "IS_COMPRESSED", "IS_STOREDASSUBDIRECTORIES", "LOCATION",
    "NUM_BUCKETS", "OUTPUT_FORMAT", "SERDE_ID")
  SELECT next_sd + at, "CD_ID", "INPUT_FORMAT", "IS_COMPRESSED", "IS_STOREDASSUBDIRECTORIES", location,
    "NUM_BUCKETS", "OUTPUT_FORMAT", next_serde + at FROM fill, model JOIN "SDS" ON "SD_ID" = sd;
INSERT INTO "PARTITIONS" ("PART_ID", "CREATE_TIME", "LAST_ACCESS_TIME", "PART_NAME", "SD_ID", "TBL_ID")
  SELECT next_part + at, "CREATE_TIME", "LAST_ACCESS_TIME", name, next_sd + at, "TBL_ID"
  FROM fill, model JOIN "PARTITIONS" ON "PART_ID" = part;
INSERT INTO "PARTITION_PARAMS" ("PART_ID", "PARAM_KEY", "PARAM_VALUE")
  SELECT next_part + at, "PARAM_KEY", "PARAM_VALUE" FROM fill, model JOIN "PARTITION_PARAMS" ON "PART_ID" = part;
INSERT INTO "PARTITION_KEY_VALS" ("PART_ID", "PART_KEY_VAL", "INTEGER_IDX")
  SELECT next_part + at, value, number - 1
  FROM fill CROSS JOIN model CROSS JOIN LATERAL unnest(ARRAY[ds, hour, region]) WITH ORDINALITY AS v (value, number);
UPDATE "SEQUENCE_TABLE" SET "NEXT_VAL" = "NEXT_VAL" + (SELECT count(*) FROM fill)
  WHERE "SEQUENCE_NAME" IN ('{_MODEL}.MPartition', '{_MODEL}.MStorageDescriptor', '{_MODEL}.MSerDeInfo');
COMMIT;
VACUUM ANALYZE;
"""


def fill_sql(rest: Iterable[Spec], folder: str) -> str:
    """SQL for psql that adds these partitions, in folders of their names inside a folder (a URI)."""
    rows = (
        "\t".join((str(at), one.name, f"{folder}/{one.name}", one.ds, str(one.hour), one.region))
        for at, one in enumerate(rest)
    )
    return _BEGIN + "\n".join(rows) + "\n" + _END
