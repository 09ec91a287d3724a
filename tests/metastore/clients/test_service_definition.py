"""service.thrift says what Hive 2.3's own classes say: methods, exceptions, structs, field numbers, types, defaults."""

from __future__ import annotations

import pytest
from py4j.java_gateway import JavaObject, get_field
from thriftpy2.thrift import TException, TType

from tests.metastore.client import STORED, TYPES

pytestmark = pytest.mark.spark
SERVICE = TYPES.ThriftHiveMetastore
BINARY, ENUM = TType.BINARY, 16
SAME = {BINARY: TType.STRING, ENUM: TType.I32, -1: TType.I32}
"""Types that are one on the wire."""

HIVES = "org.apache.hadoop.hive.metastore.api.ThriftHiveMetastore"
INHERITED = "com.facebook.fb303.FacebookService"
OF_EVERY_SERVICE = {"aliveSince", "getName", "getStatus", "getStatusDetails", "getVersion", "shutdown"}
LATER = {"truncate_table", *(f"get_{kind}_constraints" for kind in ("check", "default", "not_null", "unique"))}
"""Methods that later versions brought."""
LEFT_OUT = {
    *("catName", "catalogName"),  # there is one catalog
    "hadoopJobId",  # nothing is compacted, so that nobody sees its default
}


def described(java, value):
    """A type of Java's metadata: a number, or a tuple with the types inside."""
    kind = get_field(value, "type")
    kind = SAME.get(kind, kind)
    if kind in {TType.LIST, TType.SET}:
        return kind, described(java, get_field(value, "elemMetaData"))
    if kind == TType.MAP:
        return kind, *(described(java, get_field(value, f"{part}MetaData")) for part in ("key", "value"))
    if kind == TType.STRUCT:
        return kind, get_field(value, "structClass").getSimpleName()
    return kind


def declared(kind, inside):
    """The same of a type of thriftpy2's."""
    kind = SAME.get(kind, kind)
    if kind in {TType.LIST, TType.SET}:
        return kind, declared(*_pair(inside))
    if kind == TType.MAP:
        return kind, *(declared(*_pair(one)) for one in inside)
    if kind == TType.STRUCT:
        return kind, inside.__name__
    return kind


def _pair(kind):
    return kind if isinstance(kind, tuple) else (kind, None)


def fields_of_java(java, struct):
    """A struct's fields by number: name, type, default."""
    made = struct()
    plain = not made.getClass().getName().endswith("_result") and not java.is_a(made, "org.apache.thrift.TUnion")
    found = {}
    for field, about in struct.metaDataMap.items():
        default = made.getFieldValue(field) if plain else None
        if isinstance(default, JavaObject):
            default = default.getValue()  # of an enumeration
        shape = described(java, get_field(about, "valueMetaData"))
        found[field.getThriftFieldId()] = field.getFieldName(), shape, default or None
    return found


def fields_of(struct):
    """The same of a struct of thriftpy2's."""
    defaults = dict(struct.default_spec)
    found = {}
    for number, spec in struct.thrift_spec.items():
        kind, name, *rest = spec
        inside = rest[0] if len(rest) == 2 else None
        found[number] = name, declared(kind, inside), defaults.get(name) or None
    return found


def structs():
    for module in (TYPES, STORED):
        for name, one in vars(module).items():
            if isinstance(one, type) and hasattr(one, "thrift_spec"):
                yield name, one


def test_every_method_is_hives(java):
    wrong = []
    for method in sorted(set(SERVICE.thrift_services) - LATER):
        for kind in ("args", "result"):
            if (method, kind) == ("shutdown", "result"):
                continue  # nobody waits for it
            name = f"{method}_{kind}"
            service = INHERITED if method in OF_EVERY_SERVICE else HIVES
            expected = fields_of_java(java, java.named(f"{service}${name}"))
            found = fields_of(getattr(SERVICE, name))
            if found != expected:
                wrong.append(f"{name}: {found} is not {expected}")
    assert not wrong, "\n".join(wrong)


def test_every_struct_is_hives(java):
    wrong = []
    named = {name: struct for name, struct in structs() if not name.startswith("LaterConstraint")}
    assert {"Table", "Partition", "Database", "StorageDescriptor", "LockRequest", "MetaException"} <= named.keys()
    for name, struct in named.items():
        expected, found = fields_of_java(java, java.api(name)), fields_of(struct)
        expected = {number: field for number, field in expected.items() if field[0] not in LEFT_OUT}
        found = {number: field for number, field in found.items() if field[0] not in LEFT_OUT}
        if issubclass(struct, TException):
            found = {number: (field, kind, None) for number, (field, kind, _) in found.items()}
        if found != expected:
            wrong.append(f"{name}: {found} is not {expected}")
    assert not wrong, "\n".join(wrong)
