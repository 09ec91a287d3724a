"""service.thrift says what Hive's own classes say: methods, exceptions, structs, field numbers, types, defaults.

Of Hive 2.3's structs all fields are there; of later ones those that somebody looks at.
"""

from __future__ import annotations

import pytest
from py4j.java_gateway import JavaObject, get_field
from py4j.protocol import Py4JJavaError
from thriftpy2.thrift import TException, TType

from tests.amounts import amount
from tests.metastore.client import STORED, TYPES
from tests.metastore.clients.later_java import RELEASES, client_machine
from tests.metastore.method_table import METHODS_OF

pytestmark = pytest.mark.spark
SERVICE = TYPES.ThriftHiveMetastore
BINARY, ENUM = TType.BINARY, 16
SAME = {BINARY: TType.STRING, ENUM: TType.I32, -1: TType.I32}
"""Types that are one on the wire."""

HIVES = "org.apache.hadoop.hive.metastore.api.ThriftHiveMetastore"
INHERITED = "com.facebook.fb303.FacebookService"
OF_EVERY_SERVICE = {"aliveSince", "getName", "getStatus", "getStatusDetails", "getVersion", "shutdown"}
API = "org.apache.hadoop.hive.metastore.api"
OLDEST, NEWEST = "2.3", "4.1"
_KINDS = ("Unique", "NotNull", "Default", "Check")
UNTOLD = (TType.STRUCT, None)
"""An exception in classes that Thrift 0.9 made: which one, they do not tell."""
ONE_HERE = {"LaterConstraintsRequest": tuple(f"{kind}ConstraintsRequest" for kind in _KINDS)}
"""Structs of Hive's that have the same fields, as far as somebody looks at them."""
CHANGED = {
    ("LockComponent", 7),  # another name
    ("GetOpenTxnsResponse", 2),  # a list, which is written, too
    *(("AddDynamicPartitions", field) for field in (2, 3, 4, 5)),  # nobody looks at them
    ("InsertEventRequestData", 1),  # nobody listens to these
    ("InsertEventRequestData", 2),
    ("get_partition_names_result", 1),  # another exception, with the same text
}
"""Fields that later versions have otherwise."""
NOT_TAKEN = {("DropPartitionsRequest", 5): True}
"""Defaults of Hive's that its server does not take: it looks whether the field was sent."""
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
        known = java.is_a(value, "org.apache.thrift.meta_data.StructMetaData")
        return kind, get_field(value, "structClass").getSimpleName() if known else value.getTypedefName()
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
        default = defaults.get(name) or NOT_TAKEN.get((struct.__name__, number))
        found[number] = name, declared(kind, inside), default
    return found


def structs():
    for module in (TYPES, STORED):
        for name, one in vars(module).items():
            if isinstance(one, type) and hasattr(one, "thrift_spec"):
                yield name, one


def class_of(java, name):
    """Hive's class of a name, or of one of the names that are one here; None where the release has none."""
    for candidate in ONE_HERE.get(name, (name,)):
        try:
            java.jvm.java.lang.Class.forName(f"{API}.{candidate}")
        except Py4JJavaError:
            continue
        return java.api(candidate)
    return None


def one_here(shape):
    """A type with the names of structs as they are here."""
    if isinstance(shape, tuple):
        return tuple(map(one_here, shape))
    return next((name for name, theirs in ONE_HERE.items() if shape in theirs), shape)


def compared(java, release, name, theirs, ours):
    """Where a struct's fields are others than Hive's, a line for each."""
    expected, found = fields_of_java(java, theirs), fields_of(ours)
    for number in sorted(expected.keys() | found.keys()):
        here, there = found.get(number), expected.get(number)
        if (name, number) in CHANGED and release != OLDEST:
            continue
        if here is not None and here[0] in LEFT_OUT:
            continue
        if there is None:
            wrong = release == NEWEST
        elif here is None:
            wrong = release == OLDEST and there[0] not in LEFT_OUT
        else:
            shape = here[1] if there[1] == UNTOLD else one_here(there[1])
            wrong = (here[0], here[1]) != (there[0], shape)
            wrong = wrong or (here[2] != there[2] and not issubclass(ours, TException))
        if wrong:
            yield f"{name} {number}: {here} is not {there}"


def wrong_methods(java, release):
    for method in sorted(SERVICE.thrift_services):
        if method not in {*METHODS_OF[release], *OF_EVERY_SERVICE}:
            continue
        for kind in ("args", "result"):
            if (method, kind) == ("shutdown", "result"):
                continue  # nobody waits for it
            name = f"{method}_{kind}"
            service = INHERITED if method in OF_EVERY_SERVICE else HIVES
            yield from compared(java, release, name, java.named(f"{service}${name}"), getattr(SERVICE, name))


def wrong_structs(java, release):
    for name, struct in structs():
        theirs = class_of(java, name)
        if theirs is not None:
            yield from compared(java, release, name, theirs, struct)


def methods_in(java):
    service = java.jvm.java.lang.Class.forName(f"{HIVES}$Iface")
    return {one.getName() for one in service.getDeclaredMethods()}


def test_methods_and_structs_are_those_of_hive_2_3(java):
    assert "\n".join([*wrong_methods(java, OLDEST), *wrong_structs(java, OLDEST)]) == ""
    assert methods_in(java) == set(METHODS_OF[OLDEST])


@pytest.mark.slow
@pytest.mark.parametrize("release", amount([NEWEST], RELEASES))
def test_methods_and_structs_are_those_of_later_versions(release, tmp_path):
    with client_machine(release, tmp_path) as java:
        assert "\n".join([*wrong_methods(java, release), *wrong_structs(java, release)]) == ""
        assert methods_in(java) == set(METHODS_OF[release])


def test_every_struct_is_one_of_hives(java, tmp_path):
    names = {name for name, _ in structs() if class_of(java, name) is None}
    with client_machine(NEWEST, tmp_path) as later:
        assert {name for name in names if class_of(later, name) is None} == set()
