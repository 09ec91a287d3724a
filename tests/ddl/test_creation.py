"""SHOW CREATE TABLE: Hive's and Spark's form, which Spark's own grammar reads."""

from __future__ import annotations

import json

import pytest

from hbstore import Column, Table, connect
from hbstore.ddl import execute
from hbstore.model.constraints import Constraint, ConstraintKind, References
from hbstore.model.objects import Order, SerDe, Skew, StorageDescriptor
from tests.spark.conftest import spark  # noqa: F401  a fixture

DAYS = [Column("ds", "date", "the day")]
LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": "Amount", "type": "long", "nullable": False, "metadata": {"comment": "it's"}},
        {
            "name": "items",
            "type": {
                "type": "array",
                "elementType": {
                    "type": "struct",
                    "fields": [{"name": "a b", "type": "decimal(10,2)", "nullable": True, "metadata": {}}],
                },
            },
            "nullable": True,
            "metadata": {},
        },
        {
            "name": "byName",
            "type": {"type": "map", "keyType": "string", "valueType": "timestamp_ntz"},
            "nullable": True,
            "metadata": {},
        },
        {"name": "ds", "type": "date", "nullable": True, "metadata": {}},
    ],
}
TABLES = {
    "hive": Table(
        "shop",
        "sales",
        DAYS,
        [Column("amount", "double"), Column("a b", "array<int>", "it's")],
        location="s3://shop/sales",
        parameters={"comment": "what\nis sold", "EXTERNAL": "TRUE", "numRows": "5", "team": "web"},
        table_type="EXTERNAL_TABLE",
        storage=StorageDescriptor(
            input_format="In",
            output_format="Out",
            num_buckets=4,
            serde=SerDe(None, LAZY, {"field.delim": "\t"}),
            bucket_columns=["amount"],
            sort_columns=[Order("amount", 1)],
        ),
    ),
    "skewed": Table(
        "shop",
        "skewed",
        columns=[Column("a", "int")],
        storage=StorageDescriptor(skew=Skew(["a"], [["1"], ["2"]], {}), stored_as_sub_directories=True),
    ),
    "spark": Table(
        "shop",
        "of_spark",
        DAYS,
        [Column("col", "array<string>", "from deserializer")],
        location="file:/data/of_spark",
        parameters={
            "spark.sql.sources.provider": "parquet",
            "spark.sql.sources.schema.numParts": "2",
            "spark.sql.sources.schema.part.0": json.dumps(SCHEMA)[:50],
            "spark.sql.sources.schema.part.1": json.dumps(SCHEMA)[50:],
            "spark.sql.statistics.totalSize": "5",
            "spark.sql.create.version": "4.0.1",
            "team": "web",
        },
        storage=StorageDescriptor(serde=SerDe(None, LAZY, {"path": "file:/data/of_spark", "mergeSchema": "true"})),
    ),
    "view": Table(
        "shop",
        "looking",
        columns=[Column("amount", "double")],
        table_type="VIRTUAL_VIEW",
        view_original_text="SELECT amount FROM shop.sales",
    ),
}
EXPECTED = {
    "hive": f"""\
CREATE EXTERNAL TABLE shop.sales (
  amount double,
  `a b` array<int> COMMENT 'it\\'s')
COMMENT 'what\\nis sold'
PARTITIONED BY (ds date COMMENT 'the day')
CLUSTERED BY (amount) SORTED BY (amount) INTO 4 BUCKETS
ROW FORMAT SERDE '{LAZY}'
WITH SERDEPROPERTIES ('field.delim' = '\\t')
STORED AS INPUTFORMAT 'In'
OUTPUTFORMAT 'Out'
LOCATION 's3://shop/sales'
TBLPROPERTIES ('team' = 'web')""",
    "skewed": """\
CREATE TABLE shop.skewed (
  a int)
SKEWED BY (a) ON (('1'), ('2')) STORED AS DIRECTORIES""",
    "spark": """\
CREATE TABLE shop.of_spark (
  Amount BIGINT NOT NULL COMMENT 'it\\'s',
  items ARRAY<STRUCT<`a b`: DECIMAL(10,2)>>,
  byName MAP<STRING, TIMESTAMP_NTZ>,
  ds DATE)
USING parquet
OPTIONS ('mergeSchema' = 'true')
PARTITIONED BY (ds)
TBLPROPERTIES ('team' = 'web')""",
    "view": """\
CREATE VIEW shop.looking (amount)
AS SELECT amount FROM shop.sales""",
}


PRICED = [
    Constraint(ConstraintKind.PRIMARY_KEY, ["amount", "ds"], "pk", relied=True),
    Constraint(ConstraintKind.UNIQUE, ["a b"], "uk", enabled=True, validated=True),
    Constraint(ConstraintKind.NOT_NULL, ["amount"], "nn"),
    Constraint(ConstraintKind.DEFAULT, ["a b"], "df", "array(1)"),
    Constraint(ConstraintKind.CHECK, [], "positive", "amount > 0"),
    Constraint(
        ConstraintKind.FOREIGN_KEY, ["amount", "ds"], "fk", references=References("shop", "sales", ["amount", "ds"])
    ),
]
SAID = {
    "pk": "PRIMARY KEY (amount, ds) DISABLE NOVALIDATE RELY",
    "uk": "UNIQUE (`a b`) ENABLE VALIDATE NORELY",
    "nn": "amount NOT NULL DISABLE NOVALIDATE NORELY",
    "df": "`a b` DEFAULT array(1) DISABLE NOVALIDATE NORELY",
    "positive": "CHECK (amount > 0) DISABLE NOVALIDATE NORELY",
    "fk": "FOREIGN KEY (amount, ds) REFERENCES shop.sales (amount, ds) DISABLE NOVALIDATE NORELY",
}
ADDED = [
    *(f"ALTER TABLE shop.sales ADD CONSTRAINT {name} {SAID[name]}" for name in ("pk", "uk")),
    "ALTER TABLE shop.sales CHANGE COLUMN amount amount double CONSTRAINT nn NOT NULL DISABLE NOVALIDATE NORELY",
    f"ALTER TABLE shop.sales CHANGE COLUMN `a b` `a b` array<int> CONSTRAINT df {SAID['df'].removeprefix('`a b` ')}",
    *(f"ALTER TABLE shop.sales ADD CONSTRAINT {name} {SAID[name]}" for name in ("positive", "fk")),
]


def shown(table, constraints=()):
    with connect("memory://") as store:
        store.create_database("shop")
        store.create_table(table, constraints=constraints)
        (result,) = execute(store, f"SHOW CREATE TABLE {table.name}", "shop")
    ((text,),) = result.rows
    assert result.columns == ("createtab_stmt",)
    return text


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_shown_as_its_engine_writes_it(kind):
    assert shown(TABLES[kind]) == EXPECTED[kind]


def test_constraints_follow_as_hive_4_adds_them():
    assert shown(TABLES["hive"], PRICED) == ";\n".join([EXPECTED["hive"], *ADDED])
    assert shown(TABLES["spark"], [Constraint(ConstraintKind.NOT_NULL, ["col"])]) == EXPECTED["spark"]


def test_descriptions_have_constraints():
    with connect("memory://") as store:
        store.create_database("shop")
        store.create_table(TABLES["hive"], constraints=PRICED)
        store.create_table(TABLES["spark"])
        described, without = (
            next(iter(execute(store, f"DESCRIBE EXTENDED {name}", "shop"))).rows for name in ("sales", "of_spark")
        )
    at = described.index(("# Constraints", "", ""))
    assert described[at - 1 :] == (("", "", ""), described[at], *((name, text, "") for name, text in SAID.items()))
    assert ("# Constraints", "", "") not in without


@pytest.mark.parametrize(
    "written",
    [
        {"schema.numParts": "x"},
        {"schema.numParts": "99999999999999"},  # which went on until no memory was left
        {"schema": '{"fields": [{"name": "a"}]}'},
        {"schema": "[]"},
        {"schema": '{"fields": [{"name": "\\ud800", "type": "long"}]}'},
        {"schema": "[" * 100_000},
    ],
)
def test_a_schema_of_spark_that_cannot_be_read_is_passed_over(written):
    parameters = {f"spark.sql.sources.{name}": text for name, text in {"provider": "orc", **written}.items()}
    table = Table("shop", "sales", columns=[Column("amount", "double")], parameters=parameters)
    assert shown(table) == "CREATE TABLE shop.sales (\n  amount double)\nUSING orc"


@pytest.mark.spark
@pytest.mark.parametrize("kind", TABLES)
def test_sparks_grammar_reads_it(spark, kind):  # noqa: F811
    if kind == "skewed":
        pytest.skip("Spark refuses SKEWED BY, which is Hive's alone")
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(shown(TABLES[kind]))
    assert plan.nodeName().startswith("Create")
