"""Avro schemas, and the columns that Hive 2.3's AvroSerDe makes of them."""

from __future__ import annotations


def record(*fields, name="r", **more):
    """A record of pairs of names and types."""
    return {"type": "record", "name": name, "fields": [{"name": one, "type": kind} for one, kind in fields], **more}


def logical(kind, name, **more):
    return {"type": kind, "logicalType": name, **more}


POINT = record(("X", "int"), ("y", ["null", "int"]), name="Point")
RECORDS = {
    "plain types": (
        record(*((f"c{at}", kind) for at, kind in enumerate(("boolean", "int", "long", "float", "double"))))
        | {"doc": "not of a column"},
        [(f"c{at}", kind, "") for at, kind in enumerate(("boolean", "int", "bigint", "float", "double"))],
    ),
    "texts and bytes": (
        record(
            ("s", "string"),
            ("b", "bytes"),
            ("f", {"type": "fixed", "name": "md5", "size": 16}),
            ("e", {"type": "enum", "name": "suit", "symbols": ["A", "B"]}),
        ),
        [("s", "string", ""), ("b", "binary", ""), ("f", "binary", ""), ("e", "string", "")],
    ),
    "names and documentation": (
        {
            "type": "record",
            "name": "r",
            "fields": [{"name": "Id", "type": "long", "doc": "its number"}, {"name": "n", "type": {"type": "null"}}],
        },
        [("id", "bigint", "its number"), ("n", "void", "")],
    ),
    "logical types": (
        record(
            ("d", logical("bytes", "decimal", precision=9, scale=2)),
            ("day", logical("int", "date")),
            ("at", logical("long", "timestamp-millis")),
            ("c", logical("string", "char", maxLength=3)),
            ("v", logical("string", "varchar", maxLength=30)),
            ("micros", logical("long", "timestamp-micros")),
            ("u", logical("string", "uuid")),
        ),
        [
            ("d", "decimal(9,2)", ""),
            ("day", "date", ""),
            ("at", "timestamp", ""),
            ("c", "char(3)", ""),
            ("v", "varchar(30)", ""),
            ("micros", "bigint", ""),
            ("u", "string", ""),
        ],
    ),
    "unions, what is left out, names that differ in case": (
        record(
            ("a", ["null", "string"]),
            ("b", ["int", "null"]),
            ("c", ["int", "string"]),
            ("e", ["null", logical("bytes", "decimal", precision=4, scale=0)]),
            ("f", ["string"]),
            ("g", ["int", "null", "string"]),
            ("h", logical("bytes", "decimal", precision=4)),
            ("H", []),
        ),
        [
            ("a", "string", ""),
            ("b", "int", ""),
            ("c", "uniontype<int,string>", ""),
            ("e", "decimal(4,0)", ""),
            ("f", "uniontype<string>", ""),
            ("g", "uniontype<int,string>", ""),
            ("h", "decimal(4,0)", ""),
            ("h", "uniontype<>", ""),
        ],
    ),
    "nested types": (
        record(
            ("l", {"type": "array", "items": ["null", "long"]}),
            ("m", {"type": "map", "values": {"type": "array", "items": "string"}}),
            ("p", POINT),
            ("q", {"type": "array", "items": "Point"}),
        ),
        [
            ("l", "array<bigint>", ""),
            ("m", "map<string,array<string>>", ""),
            ("p", "struct<x:int,y:int>", ""),
            ("q", "array<struct<x:int,y:int>>", ""),
        ],
    ),
    "namespaces": (
        record(
            ("a", {"type": "fixed", "name": "F", "size": 1}),
            ("b", "F"),
            ("c", "shop.F"),
            ("d", record(("g", "shop.F"), ("h", {"type": "enum", "name": "E", "symbols": ["A"]}), name="other.R")),
            ("e", "other.E"),
            name="Sale",
            namespace="shop",
        ),
        [
            ("a", "binary", ""),
            ("b", "binary", ""),
            ("c", "binary", ""),
            ("d", "struct<g:binary,h:string>", ""),
            ("e", "string", ""),
        ],
    ),
}
"""Schemas of records, and the columns: name, type, comment."""


def _doubling(depth):
    kind = "int"
    for at in range(depth):
        kind = record(("a", kind), ("b", "int" if at == 0 else f"r{at - 1}"), name=f"r{at}")
    return record(("a", kind))


_DEEP = "[" * 100_000
WRONG = {
    "no JSON": ("{", "Expecting"),
    "nothing": ("", "Expecting"),
    "too deep": (_DEEP, "nested too deeply"),
    "deep arrays": (
        '{"type":"record","name":"r","fields":[{"name":"a","type":'
        + '{"type":"array","items":' * 5_000
        + '"int"'
        + "}" * 5_000
        + "}]}",
        "nested too deeply",
    ),
    "no record": ({"type": "array", "items": "int"}, "not the schema of a record"),
    "a plain type": ('"string"', "not the schema of a record"),
    "no name": ({"type": "record", "fields": []}, "has no name"),
    "no fields": ({"type": "record", "name": "r"}, "no list of fields"),
    "a field without a name": ({"type": "record", "name": "r", "fields": [{"type": "int"}]}, "no field with a name"),
    "a field that is a text": ({"type": "record", "name": "r", "fields": ["a"]}, "no field with a name"),
    "a field without a type": ({"type": "record", "name": "r", "fields": [{"name": "a"}]}, "no type"),
    "an odd name": (record(("a:b", "int")), "no field with a name"),
    "an unknown type": (record(("a", "text")), "no type 'text'"),
    "an unknown type in an object": (record(("a", {"type": "text"})), "no type 'text'"),
    "a type in a type": (record(("a", {"type": {"type": "int"}})), "no type"),
    "a record in itself": (record(("a", ["null", "r"])), "in itself"),
    "one name twice": (record(("a", POINT), ("b", record(("z", "int"), name="Point"))), "two types are called 'Point'"),
    "a decimal without precision": (record(("a", logical("bytes", "decimal"))), "precision is None"),
    "a decimal with a long scale": (record(("a", logical("bytes", "decimal", precision=4, scale=5))), "from 0 to 4"),
    "a union in a union": (record(("a", ["null", ["int", "string"]])), "union"),
    "a map of nothing": (record(("a", {"type": "map"})), "no type"),
    "one field twice": (record(("a", "int"), ("a", "int")), "twice"),
    "a long char": (record(("a", logical("string", "char", maxLength=256))), "from 1 to 255"),
    "types that double": (_doubling(60), "too long"),
}
"""Schemas that are none, and a part of what is said of them."""
BUT_HERE = {"types that double"}
"""Of these Hive makes columns, if its memory is large enough."""
