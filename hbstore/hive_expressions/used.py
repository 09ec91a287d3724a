"""What the functions of Hive 4 hold once Hive has used them, as it has before it sends SHOW PARTITIONS … WHERE.

It says nothing that the function's arguments do not say, and is read to find where it ends: inspectors of values, each
with its type, those of constants with a value, and the objects that hold values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

Fields: TypeAlias = tuple[tuple[str, str], ...]
"""Names and kinds: an ``object`` has its class before it, all others are known without; what is ``absent`` is null."""

INSPECTORS: Final = "org.apache.hadoop.hive.serde2.objectinspector.primitive.Writable"
ARRAY: Final = "[Lorg.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;"
TEXT: Final = "org.apache.hadoop.io.Text"
_HIVE: Final = "org.apache.hadoop.hive.serde2.io."
_HADOOP: Final = "org.apache.hadoop.io."
DECIMAL: Final = _HIVE + "HiveDecimalWritable"
_CONVERTERS: Final = "org.apache.hadoop.hive.serde2.objectinspector."
_TYPED: Final[Fields] = (("typeInfo", "object"),)
_SIZED: Final[Fields] = (("charLength", "integer"), ("value", "object"))

_KINDS: Final = (
    "Boolean",
    "Byte",
    "Short",
    "Int",
    "Long",
    "Float",
    "Double",
    "String",
    "Date",
    "Timestamp",
    "HiveChar",
    "HiveVarchar",
)
"""The values that partition columns and constants have, as inspectors call them; decimals are read apart."""

_TEXT: Final[Fields] = (("bytes", "bytes"), ("length", "integer"))

USED: Final[Mapping[str, Fields]] = {
    **{f"{INSPECTORS}{kind}ObjectInspector": _TYPED for kind in (*_KINDS, "HiveDecimal", "Void")},
    **{f"{INSPECTORS}Constant{kind}ObjectInspector": (*_TYPED, ("value", "object")) for kind in _KINDS},
    INSPECTORS + "ConstantHiveDecimalObjectInspector": (*_TYPED, ("value", "decimal writable")),
    _CONVERTERS + "ObjectInspectorConverters$IdentityConverter": (),
    _HIVE + "ByteWritable": (("value", "tiny"),),
    _HIVE + "ShortWritable": (("value", "short"),),
    _HADOOP + "IntWritable": (("value", "integer"),),
    _HADOOP + "LongWritable": (("value", "long"),),
    _HADOOP + "FloatWritable": (("value", "single"),),
    _HIVE + "DoubleWritable": (("value", "double"),),
    _HIVE + "DateWritableV2": (("date", "object"),),
    _HIVE + "HiveCharWritable": _SIZED,
    _HIVE + "HiveVarcharWritable": _SIZED,
    DECIMAL: (
        ("fast0", "long"),
        ("fast1", "long"),
        ("fast2", "long"),
        ("fastIntegerDigitCount", "integer"),
        ("fastScale", "integer"),
        ("fastSerializationScale", "integer"),
        ("fastSignum", "integer"),
        ("internalScratchBuffer", "bytes"),
        ("internalScratchLongs", "absent"),
        ("isSet", "boolean"),
    ),
    _HIVE + "TimestampWritableV2": (
        ("bytesEmpty", "boolean"),
        ("currentBytes", "bytes"),
        ("externalBytes", "bytes"),
        ("internalBytes", "bytes"),
        ("offset", "integer"),
        ("timestamp", "object"),
        ("timestampEmpty", "boolean"),
    ),
    TEXT: _TEXT,
}
"""Fields, with a Hadoop up to 3.3."""

LATER_TEXT: Final[Mapping[str, Fields]] = {TEXT: (*_TEXT, ("textLength", "integer"))}
"""Those of Hadoop 3.4, in which a text also has its length in characters."""
