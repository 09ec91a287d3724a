"""How a message becomes a reply: errors by their declared types, refusals, bugs, and what the log hears."""

from __future__ import annotations

import logging

import pytest
from thriftpy2.thrift import TApplicationException, TMessageType, TType

from hbstore import connect
from hbstore.errors import HbstoreError, StoreUnavailable, Uncoverable
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.calls import ClientSession, Handlers, endpoint
from hbstore.metastore.protocol import METHODS, THRIFT
from hbstore.warehouse.service import Service
from tests.metastore.client import message
from tests.metastore.direct import Direct


@pytest.fixture
def service(tmp_path):
    with connect("memory://") as store:
        yield Service(store, Warehouse(str(tmp_path / "warehouse")))


@pytest.fixture
def answering(service):
    """Makes an endpoint whose one handler is the function; the client, and the records that it observed."""

    def make(method, handler, *, read_only=False, writes=False):
        handlers = Handlers()
        handlers.answers(method, writes=writes)(handler)
        records = []
        made = Service(service.store, service.warehouse, read_only)
        return Direct(endpoint(made, {"one": handlers}, records.append)), records

    return make


def raising(error):
    def handler(_):
        raise error

    return handler


def test_a_handlers_value_is_the_result(answering):
    client, records = answering("getName", lambda _: "hbstore")
    assert client.getName() == "hbstore"
    (record,) = records
    assert (record.method, record.client, record.error) == ("getName", "test", None)
    assert record.size > len("hbstore")
    assert record.seconds > 0


def test_what_a_handler_notes_is_in_the_record(answering):
    def handler(call):
        call.note(table="shop.sales", partitions=3)
        return []

    client, records = answering("get_all_tables", handler)
    client.get_all_tables("shop")
    assert records[0].notes == {"table": "shop.sales", "partitions": 3}


def test_a_method_without_a_handler_is_named(answering):
    client, records = answering("getName", lambda _: "hbstore")
    with pytest.raises(TApplicationException) as refused:
        client.get_table("shop", "sales")
    assert refused.value.type == TApplicationException.UNKNOWN_METHOD
    assert "get_table" in refused.value.message
    assert records[0].error == "TApplicationException.UNKNOWN_METHOD"


def test_a_declared_exception_is_handed_on(answering):
    client, records = answering("get_table", raising(THRIFT.NoSuchObjectException("gone")))
    with pytest.raises(THRIFT.NoSuchObjectException) as told:
        client.get_table("shop", "sales")
    assert told.value.message == "gone"
    assert (records[0].error, records[0].message) == ("NoSuchObjectException", "gone")


def test_an_error_of_the_store_is_a_meta_exception(answering):
    error = StoreUnavailable("HBase does not answer", host="127.0.0.1", hint="Start it")
    client, _ = answering("get_table", raising(error))
    with pytest.raises(THRIFT.MetaException) as told:
        client.get_table("shop", "sales")
    assert told.value.message == "HBase does not answer: host=127.0.0.1. Start it"


def test_what_a_method_does_not_declare_is_an_internal_error(answering):
    client, _ = answering("show_locks", raising(StoreUnavailable("HBase does not answer")))
    with pytest.raises(TApplicationException) as refused:
        client.show_locks(THRIFT.ShowLocksRequest())
    assert refused.value.type == TApplicationException.INTERNAL_ERROR
    assert refused.value.message == "HBase does not answer"


def test_a_bug_is_told_logged_and_survived(answering, caplog):
    client, records = answering("getName", lambda _: 1 // 0)
    with caplog.at_level(logging.ERROR), pytest.raises(TApplicationException, match="ZeroDivisionError"):
        client.getName()
    assert "ZeroDivisionError" in caplog.text
    assert records[0].error == "TApplicationException.INTERNAL_ERROR"
    with pytest.raises(TApplicationException):
        client.getName()


def test_a_result_of_another_type_is_a_bug(answering, caplog):
    client, _ = answering("getName", lambda _: 5)
    with caplog.at_level(logging.CRITICAL), pytest.raises(TApplicationException, match="internal error"):
        client.getName()


def test_a_refusing_system_is_named(answering):
    client, _ = answering("get_table", raising(OSError(28, "No space left on device")))
    with pytest.raises(THRIFT.MetaException, match="No space left on device"):
        client.get_table("shop", "sales")


def test_a_read_only_server_refuses_what_writes(answering):
    client, _ = answering("drop_table", lambda _: None, read_only=True, writes=True)
    with pytest.raises(THRIFT.MetaException, match="read-only"):
        client.drop_table("shop", "sales", False)
    client, _ = answering("drop_table", lambda _: None, read_only=False, writes=True)
    client.drop_table("shop", "sales", False)
    client, _ = answering("getName", lambda _: "hbstore", read_only=True)
    assert client.getName() == "hbstore"


def test_arguments_that_cannot_be_are_refused_as_the_method_declares_it(answering):
    client, _ = answering("create_database", lambda _: None)
    with pytest.raises(THRIFT.InvalidObjectException, match="the database name is invalid"):
        client.create_database(THRIFT.hive_metastore.Database(name="no name"))


def test_bytes_that_are_no_arguments_are_a_protocol_error(answering):
    client, _ = answering("get_table", lambda _: b"")
    cut = message("get_table", "shop", "sales")[:-9]
    reply = client.endpoint.answer(ClientSession(), cut)
    with pytest.raises(TApplicationException) as refused:
        Direct.result("get_table", b"".join(reply.chunks()))
    assert refused.value.type == TApplicationException.PROTOCOL_ERROR


def test_replies_are_not_calls(answering):
    client, _ = answering("getName", lambda _: "hbstore")
    given = message("getName")
    reply = client.endpoint.answer(ClientSession(), given[:3] + bytes((TMessageType.REPLY,)) + given[4:])
    with pytest.raises(TApplicationException, match="not a call"):
        Direct.result("getName", b"".join(reply.chunks()))


def test_nobody_waits_for_a_oneway_method(answering):
    called = []
    client, _ = answering("shutdown", called.append)
    assert client.shutdown() is None
    assert len(called) == 1


def test_handlers_are_of_methods_that_there_are():
    with pytest.raises(ValueError, match="get_tabel"):
        Handlers().answers("get_tabel")


def test_two_modules_do_not_answer_one_method(service):
    one, other = Handlers(), Handlers()
    one.answers("getName")(lambda _: "one")
    other.answers("getName")(lambda _: "other")
    with pytest.raises(ValueError, match="getName"):
        endpoint(service, {"one": one, "other": other}, print)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_can_tell_every_error(name, service):
    """Each error of hbstore becomes an exception that the method declares, or a refusal with its text."""
    for error_class in all_errors(HbstoreError):
        if error_class is Uncoverable:  # it is made of ranges, and no call raises it
            continue
        handlers = Handlers()
        handlers.answers(name)(raising(error_class("it failed", hint="Try again")))
        reply = endpoint(service, {"one": handlers}, lambda _: None).answer(ClientSession(), empty_message(name))
        if METHODS[name].oneway:
            assert reply is None
            continue
        with pytest.raises(Exception, match="it failed") as told:
            Direct.result(name, b"".join(reply.chunks()))
        declared = {exception.__name__ for exception, _, _ in METHODS[name].exceptions}
        assert type(told.value).__name__ in declared | {"TApplicationException"}
        if "MetaException" in declared:
            assert not isinstance(told.value, TApplicationException)


def empty_message(name):
    """A call whose arguments are left out, but for structs, which have no field more than they need."""
    arguments = getattr(THRIFT.ThriftHiveMetastore, f"{name}_args").thrift_spec
    return message(
        name, *(smallest(spec[2]) if spec[0] == TType.STRUCT else None for _, spec in sorted(arguments.items()))
    )


def smallest(struct):
    needed = {"Database": {"name": "d"}, "Table": {"dbName": "d", "tableName": "t"}}
    needed["Function"] = {"dbName": "d", "functionName": "f"}
    needed["CreateDatabaseRequest"] = {"databaseName": "d"}
    return struct(**needed.get(struct.__name__, {}))


def all_errors(kind):
    return [kind, *(found for inner in kind.__subclasses__() for found in all_errors(inner))]
