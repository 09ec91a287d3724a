"""A table over HTTP answers as the handle of a store does: by the same tests, and beside the store itself."""

from dataclasses import fields, replace

import pytest

import hbstore.client
from hbstore import Column, Database, Partition, Table, col
from hbstore.errors import (
    AlreadyExists,
    CommitStateUnknown,
    DatabaseNotEmpty,
    DatabaseNotFound,
    FilterTooLarge,
    FilterTypeError,
    InvalidInput,
    InvalidName,
    InvalidPartitionValue,
    InvalidType,
    PartitionNotFound,
    ServerUnavailable,
    StoreReadOnly,
    TableNotFound,
)
from hbstore.files.warehouse import Warehouse
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import And, Holds, IsNull, Not, Or, SpecValue
from hbstore.hive_expressions.computing import condition
from hbstore.hive_expressions.nodes import CallNode, ColumnNode, ConstantNode
from hbstore.keys.types import parse_type
from hbstore.model.objects import Order, SerDe, StorageDescriptor
from hbstore.query_service.access import Access
from hbstore.warehouse.service import Service
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.query_service.test_service import serving
from tests.store.test_table_handle import (
    test_a_partial_spec_names_texts_and_a_filter_compares_values,
    test_a_partial_spec_that_names_nothing_is_refused,
    test_a_spec_that_names_no_whole_partition_is_refused,
    test_filters_that_do_not_parse_are_errors_at_every_question,
    test_it_answers_as_the_store_does_whatever_the_filter_is_written_in,
    test_its_schema_says_names_types_and_comments,
    test_partitions_are_added_and_dropped_in_any_form,
    test_partitions_that_are_no_collection_are_named,
    test_values_are_given_as_python_has_them,
    test_what_it_lists_is_a_list_of_partitions,
)

__all__ = [
    "test_a_partial_spec_names_texts_and_a_filter_compares_values",
    "test_a_partial_spec_that_names_nothing_is_refused",
    "test_a_spec_that_names_no_whole_partition_is_refused",
    "test_filters_that_do_not_parse_are_errors_at_every_question",
    "test_it_answers_as_the_store_does_whatever_the_filter_is_written_in",
    "test_its_schema_says_names_types_and_comments",
    "test_partitions_are_added_and_dropped_in_any_form",
    "test_partitions_that_are_no_collection_are_named",
    "test_values_are_given_as_python_has_them",
    "test_what_it_lists_is_a_list_of_partitions",
]


@pytest.fixture
def server(serve):
    with hbstore.client.connect(serve) as connection:
        connection.create_database("shop")
        columns = [Column("amount", "double", "in euros")]
        connection.create_table(Table("shop", "sales", [Column("ds", "string"), Column("hour", "int")], columns))
        yield connection


@pytest.fixture
def sales(server):
    sales = server.table("shop.sales")
    sales.add([(ds, str(hour)) for ds in ("2015-01-01", "2015-01-02", "2015-01-04") for hour in range(4)])
    return sales


@pytest.mark.parametrize("filter", [None, "hour > 1", col("hour") > 1, "ds like '2015-.*-0[12]'", "hour = 99"])
@pytest.mark.parametrize("spec", [None, {}, {"ds": "2015-01-02"}, {"HOUR": "02"}, {"hour": None}])
@pytest.mark.parametrize("dialect", ["sql", "hive2"])
def test_names_are_selected_by_filters_and_specs(store, sales, filter, spec, dialect):
    local = store.table("shop.sales")
    for most in (-1, 0, 2):
        asked = {"spec": spec, "max_parts": most, "like_dialect": dialect}
        assert sales.names(filter, **asked) == local.names(filter, **asked)
    asked = {"max_parts": 3, "like_dialect": dialect}
    assert sales.partitions(filter, **asked) == local.partitions(filter, **asked)
    assert sales.count(filter, like_dialect=dialect) == local.count(filter, like_dialect=dialect)


def test_all_that_is_stored_comes_over(store, sales):
    local = store.table("shop.sales")
    assert sales.definition == local.definition
    assert sales.partition(("2015-01-01", "2")) == local.partition(("2015-01-01", "2"))
    store.alter_partitions("shop", "sales", [Partition(("2015-01-01", "2"), later_fields=b"\x0b\x00\x63\0\0\0\1a")])
    assert sales.partition(("2015-01-01", "2")).later_fields == local.partition(("2015-01-01", "2")).later_fields != b""
    explained, there = sales.explain("hour = 2", analyze=True), local.explain("hour = 2", analyze=True)
    assert (explained.kept, explained.totals, explained.to_dict()["scans"][0]["range"]) == (
        there.kept,
        there.totals,
        there.to_dict()["scans"][0]["range"],
    )
    assert sales.totals() == local.totals()


@pytest.mark.parametrize("value", ["a/b", "50%", "é ü", "a=b:c", "x.json", "a?b#c", " ", "+", "\u2028", "a\nb", None])
def test_any_value_finds_its_partition(sales, value):
    assert sales.add([(value, "1")]) == 1
    found = sales.partition((value, "1"))
    assert found.values[0] == (value or "__HIVE_DEFAULT_PARTITION__")
    (name,) = sales.names(spec={"ds": value})
    assert name in sales.partitions().names
    assert sales.drop([found]) == 1


def test_partitions_are_added_wholly_as_they_are(store, sales):
    inherited = store.table("shop.sales").partition(("2015-01-01", "1")).storage
    storage = replace(inherited, input_format="X", num_buckets=3)
    new = Partition(("2016-01-01", "1"), parameters={"numRows": "5"}, storage=storage, last_access_time=9)
    assert sales.add([new]) == 1
    found = store.table("shop.sales").partition(("2016-01-01", "1"))
    assert (found.parameters["numRows"], found.storage, found.last_access_time) == ("5", storage, 9)
    assert sales.add([("someday", "x")], invalid_values="keep") == 1
    with pytest.raises(InvalidPartitionValue):
        sales.add([("2016-01-02", "1"), ("2016-01-02", "x")])
    assert sales.count("ds = '2016-01-02'") == 0


def test_errors_are_those_of_the_store(server, sales):
    for call in (lambda: server.table("shop.none"), lambda: server.get_table("shop", "none")):
        with pytest.raises(TableNotFound):
            call()
    with pytest.raises(DatabaseNotFound):
        server.table_names("none")
    with pytest.raises(InvalidInput, match="not a table name"):
        server.table("sales")
    with pytest.raises(PartitionNotFound):
        sales.partition(("2015-01-01", "99"))
    for few in (("2015-01-01",), ("2015-01-01", "1", "2")):
        with pytest.raises(InvalidPartitionValue):
            sales.partition(few)
    with pytest.raises(FilterTooLarge):
        sales.count("hour in (" + ", ".join(map(str, range(20_000))) + ")")
    server.drop_table("shop", "sales")
    with pytest.raises(TableNotFound):
        sales.count()


LIKE_HIVE = condition(
    CallNode("like", (ColumnNode("ds", "string"), ConstantNode("1", "string")), "boolean"), parse_type("string")
)


@pytest.mark.parametrize("leaf", [SpecValue("hour", "2"), IsNull("hour", as_hive=True), Holds("ds", LIKE_HIVE)])
def test_what_no_filter_text_says_is_not_sent(store, sales, leaf):
    """Its text, which is for people, selects other partitions."""
    tree = And((Or((Not(leaf), parse_filter("hour = 9"))), parse_filter("hour > 1")))
    local = store.table("shop.sales")
    for ask in ("names", "partitions", "count", "explain"):
        for where in (leaf, tree):
            getattr(local, ask)(where)
            with pytest.raises(FilterTypeError, match="cannot be written as text: part=") as refused:
                getattr(sales, ask)(where)
            assert "spec" in refused.value.hint


def test_databases_and_tables_are_created_listed_and_dropped(server, store):
    server.create_database("attic")
    with pytest.raises(AlreadyExists):
        server.create_database("attic")
    server.create_database("attic", if_not_exists=True)
    assert server.database_names() == store.database_names() == ["attic", "shop"]
    assert server.get_database("ATTIC") == store.get_database("attic") == server.databases()[0]
    table = Table("attic", "old", [Column("ds", "date")], [Column("n", "int", "a number")], parameters={"a": "b"})
    server.create_table(table)
    with pytest.raises(AlreadyExists):
        server.create_table(table)
    server.create_table(table, if_not_exists=True)
    with pytest.raises(InvalidType):
        server.create_table(replace(table, name="t", columns=[Column("n", "number")]))
    with pytest.raises(InvalidName):
        server.create_database("a b")
    found = server.get_table("attic", "old")
    assert found == store.get_table("attic", "old")
    assert (found.columns, found.partition_columns, found.parameters["a"]) == (
        table.columns,
        table.partition_columns,
        "b",
    )
    assert server.table_names("attic") == ["old"]
    with pytest.raises(DatabaseNotEmpty):
        server.drop_database("attic")
    server.drop_table("attic", "old")
    server.drop_table("attic", "old", if_exists=True)
    server.drop_database("attic", cascade=True)
    server.drop_database("attic", if_exists=True)
    with pytest.raises(DatabaseNotFound):
        server.drop_database("attic")


@pytest.mark.parametrize("name", ["..", ".", "a?b", "a#b", "é", "%2e%2e"])
@pytest.mark.usefixtures("sales")
def test_a_name_leads_to_nothing_but_what_has_it(server, store, name):
    before = list(store.database_names())
    with pytest.raises((TableNotFound, InvalidName)):
        server.drop_table("shop", name)
    with pytest.raises((TableNotFound, InvalidName)):
        server.get_table("shop", name)
    with pytest.raises((DatabaseNotFound, InvalidName)):
        server.drop_database(name, cascade=True)
    with pytest.raises((DatabaseNotFound, InvalidName)):
        server.get_table(name, "sales")
    assert store.database_names() == before
    assert store.table_names("shop") == ["sales"]


def test_a_change_whose_answer_is_lost_says_so(serve, sales, monkeypatch):
    """It is not sent twice; what only reads is."""
    sent = []
    transport = sales._transport
    connections = transport._pool.connection_from_url(serve)
    send = connections.ConnectionCls.getresponse

    def lose(connection):
        send(connection).read()
        sent.append(1)
        raise ConnectionResetError("gone")

    monkeypatch.setattr(connections.ConnectionCls, "getresponse", lose)
    with pytest.raises(CommitStateUnknown):
        sales.drop([("2015-01-01", "1")])
    assert len(sent) == 1
    with pytest.raises(ServerUnavailable):
        sales.count()
    assert len(sent) == 5
    monkeypatch.undo()
    assert sales.count() == 11


def test_a_server_that_is_not_there_changed_nothing(free_port):
    with hbstore.client.connect(f"http://127.0.0.1:{free_port}") as nowhere, pytest.raises(ServerUnavailable):
        nowhere.create_database("shop")


FULL = StorageDescriptor(
    input_format="in",
    output_format="out",
    compressed=True,
    num_buckets=4,
    serde=SerDe("line", "a.b.Serde", {"field.delim": ","}),
    bucket_columns=["n"],
    sort_columns=[Order("n", 1)],
    parameters={"c": "d"},
    stored_as_sub_directories=True,
)
"""A storage each of whose fields has another value than the default."""


def test_all_that_the_model_says_arrives(server, store):
    """A field that the client sends and the server does not know is refused; one that it leaves out is lost."""
    database = Database("attic", "old things", None, {"a": "b"}, "ann", 1)
    table = Table(
        "attic",
        "old",
        [Column("ds", "date", "the day")],
        [Column("n", "int", "a number")],
        None,
        {"c": "d"},
        "bob",
        "EXTERNAL_TABLE",
        FULL,
        retention=7,
        view_original_text="select 1",
        view_expanded_text="select 1 as n",
    )
    own = replace(FULL, columns=[Column("n", "bigint")])
    partition = Partition(["2013-01-01"], parameters={"numRows": "5"}, last_access_time=9, storage=own)
    server.create_database(database)
    server.create_table(table)
    server.table("attic.old").add([partition])
    for sent, stored, made in (
        (database, store.get_database("attic"), ("location",)),
        (table, store.get_table("attic", "old"), ("location", "create_time", "parameters")),
        (partition, store.get_partition("attic", "old", ["2013-01-01"]), ("location", "create_time", "parameters")),
    ):
        unlike = [one.name for one in fields(sent) if getattr(sent, one.name) != getattr(stored, one.name)]
        assert set(unlike) <= {*made, "payload"}
        assert sent.parameters.items() <= stored.parameters.items()


@pytest.fixture
def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_read_only_server_says_so(store, tmp_path):
    with serving(store, tmp_path) as (service, _):
        catalog = Service(store, Warehouse(str(tmp_path / "warehouse")), read_only=True)
        with (
            http_served(application(service, Access(), catalog=catalog), "127.0.0.1", 0) as port,
            hbstore.client.connect(f"http://127.0.0.1:{port}") as server,
            pytest.raises(StoreReadOnly),
        ):
            server.create_database("shop")


def test_a_reply_that_is_not_read_to_its_end_harms_no_other(sales):
    """Arrow's readers stop at Arrow's end of a stream, before that of the reply."""
    for _ in range(3):
        with sales._transport.reply("GET", "/databases/shop/tables/sales/partitions") as reply:
            reply.read(10)
        assert sales.count() == 12
        assert len(sales.partitions()) == 12
        assert sales.drop([("2015-01-01", "99")], if_exists=True) == 0
