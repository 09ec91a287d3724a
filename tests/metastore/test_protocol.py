"""The methods of service.thrift: our reading and writing compared with thriftpy2's own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TType
from thriftpy2.transport.memory import TCyMemoryBuffer

from hbstore.metastore.protocol import METHODS, THRIFT
from hbstore.model.structs import encode_database, encode_partition, encode_table
from tests.strategies import databases, full_partitions, full_tables, unicode_text

STORED = {"Database", "Table", "Partition", "FieldSchema", "StorageDescriptor", "PrincipalPrivilegeSet"}
STORED |= {"PrivilegeGrantInfo", "Function"}
NUMBERS = {TType.I16: 15, TType.I32: 31, TType.I64: 63}


def is_plain(made, seen=()):
    """Whether a struct holds no stored struct, which arrive as hbstore's own values."""
    return made.__name__ not in STORED and all(plain_spec(spec, seen) for spec in made.thrift_spec.values())


def plain_spec(spec, seen=()):
    inner = [part for part in spec if isinstance(part, tuple | type)]
    flat = []
    while inner:
        part = inner.pop()
        if isinstance(part, tuple):
            inner += [one for one in part if isinstance(one, tuple | type)]
        else:
            flat.append(part)
    return all(one in seen or is_plain(one, (*seen, one)) for one in flat)


def values(code, inner):
    """Values of a type as thriftpy2 gives it."""
    if code == TType.STRUCT:
        return structs(inner)
    if code in (TType.LIST, TType.SET):
        return st.lists(item(inner), max_size=3, unique=code == TType.SET)
    if code == TType.MAP:
        return st.dictionaries(item(inner[0]), item(inner[1]), max_size=3)
    if code in NUMBERS:
        return st.integers(-(2 ** NUMBERS[code]), 2 ** NUMBERS[code] - 1)
    return {
        TType.STRING: unicode_text,
        TType.BINARY: st.binary(max_size=20),
        TType.BOOL: st.booleans(),
        TType.DOUBLE: st.floats(allow_nan=False),
    }[code]


def item(given):
    return values(*given) if isinstance(given, tuple) else values(given, None)


def structs(made):
    fields = {
        spec[1]: st.none() | values(spec[0], spec[2] if len(spec) > 3 else None) for spec in made.thrift_spec.values()
    }
    return st.fixed_dictionaries(fields).map(lambda given: made(**given))


def theirs(value):
    buffer = TCyMemoryBuffer()
    TCyBinaryProtocol(buffer).write_struct(value)
    return buffer.getvalue()


def plain(value):
    """Tuples as lists, structs as dicts: what both ways of reading have in common. Sets are lists here and there."""
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if hasattr(value, "thrift_spec"):
        return {name: plain(one) for name, one in vars(value).items()}
    return value


PLAIN = [name for name in METHODS if is_plain(getattr(THRIFT.ThriftHiveMetastore, f"{name}_args"))]


def test_most_methods_have_arguments_that_are_not_stored():
    assert len(METHODS) == 189
    assert len(PLAIN) > 100


@pytest.mark.parametrize("name", PLAIN)
@settings(max_examples=8)
@given(data=st.data())
def test_arguments_are_read_as_thriftpy2_writes_them(name, data):
    arguments = data.draw(structs(getattr(THRIFT.ThriftHiveMetastore, f"{name}_args")))
    written = theirs(arguments)
    read, end = METHODS[name].arguments.read(written, 0)
    assert end == len(written)
    assert without_defaults(plain(read), arguments) == plain(arguments)


def without_defaults(read, sent):
    """What was read, with None where a client sent nothing and the IDL has a default."""
    for name, value in vars(sent).items():
        if value is None:
            read[name] = None
        elif hasattr(value, "thrift_spec"):
            without_defaults(read[name], value)
        elif isinstance(value, list):
            for one, inner in zip(read[name], value, strict=True):
                if hasattr(inner, "thrift_spec"):
                    without_defaults(one, inner)
    return read


def result_types():
    for name in METHODS:
        spec = getattr(THRIFT.ThriftHiveMetastore, f"{name}_result").thrift_spec.get(0)
        if spec is not None and plain_spec(spec):
            yield name


@pytest.mark.parametrize("name", list(result_types()))
@settings(max_examples=8)
@given(data=st.data())
def test_results_are_written_as_thriftpy2_reads_them(name, data):
    made = getattr(THRIFT.ThriftHiveMetastore, f"{name}_result")
    spec = made.thrift_spec[0]
    value = data.draw(values(spec[0], spec[2] if len(spec) > 3 else None))
    buffer = TCyMemoryBuffer(METHODS[name].result(value))
    read = made()
    TCyBinaryProtocol(buffer).read_struct(read)
    back = plain(read.success)
    assert (without_defaults(back, value) if hasattr(value, "thrift_spec") else back) == plain(value)


def test_a_method_tells_the_exceptions_that_it_declares():
    method = METHODS["get_table"]
    error = THRIFT.NoSuchObjectException("no such table")
    read = THRIFT.ThriftHiveMetastore.get_table_result()
    TCyBinaryProtocol(TCyMemoryBuffer(method.failure(error))).read_struct(read)
    assert vars(read.o2) == vars(error)
    assert read.o1 is None
    assert method.failure(THRIFT.AlreadyExistsException("x")) is None


def test_every_exception_of_every_method_is_written():
    for method in METHODS.values():
        for exception, _, _ in method.exceptions:
            assert b"because" in method.failure(exception("because"))


@given(table=full_tables())
def test_tables_arrive_as_they_were_sent(table):
    sent = THRIFT.ThriftHiveMetastore.create_table_args().thrift_spec
    assert sent[1][1] == "tbl"
    message = b"\x0c\x00\x01" + encode_table(table) + b"\0"
    assert METHODS["create_table"].arguments.read(message, 0)[0].tbl == table


@given(database=databases)
def test_databases_arrive_as_they_were_sent(database):
    message = b"\x0c\x00\x01" + encode_database(database) + b"\0"
    assert METHODS["create_database"].arguments.read(message, 0)[0].database == database


@given(data=st.data(), table=full_tables())
def test_partitions_arrive_as_they_were_sent(data, table):
    partition = data.draw(full_partitions(table))
    message = b"\x0c\x00\x01" + encode_partition(table, partition) + b"\0"
    found = METHODS["add_partition"].arguments.read(message, 0)[0].new_part
    assert (found.database, found.table) == (table.database, table.name)
    assert found.partition.values == partition.values
    assert encode_partition(table, found.partition) == encode_partition(table, partition)


def test_stored_bytes_are_results_as_they_are():
    assert METHODS["get_table"].result(b"stored") == b"\x0c\x00\x00stored\x00"
