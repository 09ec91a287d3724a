"""The columns that Hive 2.3's own class makes of an Avro schema, beside those that `get_fields` answers."""

from __future__ import annotations

import json

import pytest
from py4j.protocol import Py4JJavaError

from tests.metastore.avro_schemas import BUT_HERE, RECORDS, WRONG

pytestmark = pytest.mark.spark


def columns_in_hive(spark, text):
    properties = spark._jvm.java.util.Properties()
    properties.setProperty("avro.schema.literal", text)
    serde = spark._jvm.org.apache.hadoop.hive.serde2.avro.AvroSerDe()
    serde.initialize(spark._jsc.hadoopConfiguration(), properties)
    if serde.getConfigurationErrors():
        return serde.getConfigurationErrors()
    fields = serde.getObjectInspector().getAllStructFieldRefs()
    return [(one.getFieldName(), one.getFieldObjectInspector().getTypeName(), one.getFieldComment()) for one in fields]


def test_hive_makes_the_same_columns(spark):
    assert {name: columns_in_hive(spark, json.dumps(schema)) for name, (schema, _) in RECORDS.items()} == {
        name: columns for name, (_, columns) in RECORDS.items()
    }


@pytest.mark.parametrize("name", sorted(WRONG.keys() - BUT_HERE))
def test_hive_makes_no_columns_either(spark, name):
    schema = WRONG[name][0]
    try:
        answer = columns_in_hive(spark, schema if isinstance(schema, str) else json.dumps(schema))
    except Py4JJavaError:
        return
    assert isinstance(answer, str)
