"""What a client stores comes back field for field, whoever wrote its bytes: hbstore's own code has no part in them."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metastore.wire_trees import (
    BOOL,
    BYTE,
    DOUBLE,
    I16,
    I32,
    I64,
    LIST,
    MAP,
    SET,
    STRING,
    STRUCT,
    call,
    result,
    strings,
    structs,
    texts,
)
from tests.metastore.writing import opened

DDL_TIME = "transient_lastDdlTime"


def column(name, kind="string", comment=None):
    return {1: (STRING, name), 2: (STRING, kind)} | ({} if comment is None else {3: (STRING, comment)})


def grant(name):
    return {1: (STRING, name), 2: (I32, 5), 3: (STRING, "root"), 4: (I32, 2), 5: (BOOL, True)}


def grants(*names):
    """Privileges of users, groups or roles."""
    return MAP, (STRING, (LIST, STRUCT), {name: [grant("SELECT"), grant("INSERT")] for name in names})


PRIVILEGES = {1: grants("ann", "bob"), 2: grants("staff"), 3: grants("owner")}
STORAGE = {
    1: structs(column("amount", "decimal(10,2)", "what was paid"), column("items", "array<struct<a:int,b:string>>")),
    2: (STRING, "file:/somewhere/else"),
    3: (STRING, "in"),
    4: (STRING, "out"),
    5: (BOOL, True),
    6: (I32, 16),
    7: (STRUCT, {1: (STRING, "serde"), 2: (STRING, "org.serde"), 3: texts(format="1", empty="")}),
    8: strings("amount", "Items"),
    9: structs({1: (STRING, "amount"), 2: (I32, 1)}, {1: (STRING, "items"), 2: (I32, 0)}),
    10: texts(key="value", ünïcode="日本語"),
    11: (
        STRUCT,
        {
            1: strings("amount", "items"),
            2: (LIST, ((LIST, STRING), [["1", "a"], ["2", "b"]])),
            3: (MAP, ((LIST, STRING), STRING, {("1", "a"): "file:/one", ("2", "b"): "file:/two"})),
        },
    ),
    12: (BOOL, True),
}
TABLE = {
    1: (STRING, "sales"),
    2: (STRING, "shop"),
    3: (STRING, "ann"),
    4: (I32, 1_500_000_000),
    5: (I32, 1_600_000_000),
    6: (I32, -7),
    7: (STRUCT, STORAGE),
    8: structs(column("ds", "date", "day"), column("hour", "int")),
    9: texts(**{DDL_TIME: "5", "comment": "tab\there", "EXTERNAL": "TRUE", "empty": ""}),
    10: (STRING, "select * from a"),
    11: (STRING, "select `a`.`x` from `a`"),
    12: (STRING, "EXTERNAL_TABLE"),
    13: (STRUCT, PRIVILEGES),
    14: (BOOL, True),
    15: (BOOL, True),
}
PARTITION = {
    1: strings("2013-01-01", "5"),
    2: (STRING, "shop"),
    3: (STRING, "sales"),
    4: (I32, 1_500_000_000),
    5: (I32, 1_600_000_000),
    6: (STRUCT, STORAGE),
    7: texts(**{DDL_TIME: "5", "numRows": "10", "numFiles": "1", "totalSize": "2"}),
    8: (STRUCT, PRIVILEGES),
}
DATABASE = {
    1: (STRING, "attic"),
    2: (STRING, "what is old"),
    3: (STRING, "file:/attic"),
    4: texts(a="b", ünïcode="日本語"),
    5: (STRUCT, PRIVILEGES),
    6: (STRING, "ann"),
    7: (I32, 3),
}
LATER = {
    101: (STRING, "hive"),
    102: (I64, 1 << 40),
    103: (DOUBLE, 0.5),
    104: (I16, 5),
    105: (BYTE, 5),
    106: (SET, (STRING, ["a"])),
    107: (STRUCT, {1: (STRUCT, {1: strings("deep")})}),
    108: (MAP, (STRING, I64, {"a": 1})),
    -1: (BOOL, True),
}
"""Fields of every type that no struct of Hive 2.3 has."""


def ask(shop, method, arguments):
    """What a method returns, or None where it returns nothing; it raises nothing here."""
    reply = shop.endpoint.answer(shop.session, call(method, arguments))
    found = result(method, b"".join(reply.chunks()))
    assert not found.keys() - {0}, found
    return found[0][1] if found else None


def at(folder, tree, *path):
    """A tree with the location somewhere in it below a folder that a test may write to."""
    made = copy.deepcopy(tree)
    inner = made
    for number in path[:-1]:
        inner = inner[number][1]
    inner[path[-1]] = STRING, f"file:{folder}/{path[-1]}"
    return made


def without_create_time(tree):
    return {number: value for number, value in tree.items() if number != 4}


def returned(table):
    """A table as it comes back: its privileges (13) are granted, not kept in it, as by HMS."""
    return {number: value for number, value in without_create_time(table).items() if number != 13}


def stored_table(shop, table):
    ask(shop, "create_table", {1: (STRUCT, table)})
    return ask(shop, "get_table", {1: (STRING, "shop"), 2: (STRING, "sales")})


def stored_partition(shop, partition):
    added = ask(shop, "add_partition", {1: (STRUCT, partition)})
    found = ask(shop, "get_partition", {1: (STRING, "shop"), 2: (STRING, "sales"), 3: partition[1]})
    assert found == added
    return found


def test_a_table_with_every_field(shop, tmp_path):
    given = at(tmp_path, TABLE, 7, 2)
    found = stored_table(shop, given)
    assert without_create_time(found) == returned(given)
    assert found[4][1] > given[4][1]


def test_a_table_with_every_field_after_it_was_altered(shop, tmp_path):
    plain = {1: TABLE[1], 2: TABLE[2], 7: (STRUCT, {1: structs(column("a"))}), 8: TABLE[8]}
    before = stored_table(shop, plain)
    given = at(tmp_path, TABLE, 7, 2)
    ask(shop, "alter_table", {1: (STRING, "shop"), 2: (STRING, "sales"), 3: (STRUCT, given)})
    found = ask(shop, "get_table", {1: (STRING, "shop"), 2: (STRING, "sales")})
    assert without_create_time(found) == returned(given)
    assert found[4] == before[4]


def test_a_table_with_every_field_after_it_was_renamed(shop, tmp_path):
    given = at(tmp_path, TABLE, 7, 2)
    stored_table(shop, given)
    renamed = {**given, 1: (STRING, "sold")}
    ask(shop, "alter_table", {1: (STRING, "shop"), 2: (STRING, "sales"), 3: (STRUCT, renamed)})
    found = ask(shop, "get_table", {1: (STRING, "shop"), 2: (STRING, "sold")})
    # The table is external, so its files stay, and are not counted, as it is partitioned.
    assert without_create_time(found) == returned(renamed)


def test_a_partition_with_every_field(shop, tmp_path):
    stored_table(shop, at(tmp_path, TABLE, 7, 2))
    given = at(tmp_path, PARTITION, 6, 2)
    found = stored_partition(shop, given)
    assert without_create_time(found) == without_create_time(given)
    assert found[4][1] > given[4][1]
    altered = {**given, 7: texts(**{DDL_TIME: "6", "numFiles": "1", "totalSize": "2", "k": "v"})}
    ask(shop, "alter_partition", {1: (STRING, "shop"), 2: (STRING, "sales"), 3: (STRUCT, altered)})
    asked = {1: (STRING, "shop"), 2: (STRING, "sales"), 3: given[1]}
    assert ask(shop, "get_partition", asked) == altered
    renamed = {**altered, 1: strings("2013-01-02", "6")}
    ask(shop, "rename_partition", {**asked, 4: (STRUCT, renamed)})
    assert ask(shop, "get_partition", {**asked, 3: renamed[1]}) == renamed


def test_a_database_with_every_field(shop, tmp_path):
    given = at(tmp_path, DATABASE, 3)
    ask(shop, "create_database", {1: (STRUCT, given)})
    assert ask(shop, "get_database", {1: (STRING, "attic")}) == given
    altered = {**given, 2: (STRING, "older"), 4: texts(c="d"), 7: (I32, 1)}
    ask(shop, "alter_database", {1: (STRING, "attic"), 2: (STRUCT, altered)})
    assert ask(shop, "get_database", {1: (STRING, "attic")}) == altered


def with_later_fields(tree, storage):
    """A table or partition in which it, its storage and its serde have fields of later versions."""
    described = tree[storage][1]
    serde = STRUCT, {**LATER, **described[7][1]}
    return {**LATER, **tree, storage: (STRUCT, {**described, 7: serde, **LATER})}


def test_fields_of_later_versions_come_back_too(shop, tmp_path):
    """Other than from HMS 2.3, which drops what it does not know."""
    table = with_later_fields(at(tmp_path, TABLE, 7, 2), 7)
    assert without_create_time(stored_table(shop, table)) == returned(table)
    partition = with_later_fields(at(tmp_path, PARTITION, 6, 2), 6)
    assert without_create_time(stored_partition(shop, partition)) == without_create_time(partition)
    database = {**at(tmp_path, DATABASE, 3), **LATER}
    ask(shop, "create_database", {1: (STRUCT, database)})
    assert ask(shop, "get_database", {1: (STRING, "attic")}) == database
    function = {1: (STRING, "tax"), 2: (STRING, "shop"), 3: (STRING, "org.Tax"), 7: (I32, 1), **LATER}
    ask(shop, "create_function", {1: (STRUCT, function)})
    found = ask(shop, "get_function", {1: (STRING, "shop"), 2: (STRING, "tax")})
    assert function.items() <= found.items()


def test_a_client_that_does_not_know_later_fields_does_not_remove_them(shop, tmp_path):
    plain, table = TABLE, with_later_fields(TABLE, 7)
    stored_table(shop, at(tmp_path, table, 7, 2))
    named = {1: (STRING, "shop"), 2: (STRING, "sales")}
    ask(shop, "alter_table", {**named, 3: (STRUCT, at(tmp_path, plain, 7, 2))})
    assert LATER.items() <= ask(shop, "get_table", named).items()
    partition = at(tmp_path, PARTITION, 6, 2)
    stored_partition(shop, with_later_fields(partition, 6))
    ask(shop, "alter_partition", {**named, 3: (STRUCT, partition)})
    found = ask(shop, "get_partition", {**named, 3: partition[1]})
    assert LATER.items() <= found.items()
    database = at(tmp_path, DATABASE, 3)
    ask(shop, "create_database", {1: (STRUCT, {**database, **LATER})})
    ask(shop, "alter_database", {1: (STRING, "attic"), 2: (STRUCT, database)})
    assert LATER.items() <= ask(shop, "get_database", {1: (STRING, "attic")}).items()
    newer = {101: (STRING, "spark")}
    ask(shop, "alter_table", {**named, 3: (STRUCT, {**at(tmp_path, plain, 7, 2), **newer})})
    found = ask(shop, "get_table", named)
    assert [found.get(number) for number in (101, 102)] == [newer[101], None]


def test_what_is_not_set_comes_back_empty_or_not_at_all(shop):
    """Lists, maps and numbers that were not sent come back empty or 0, as from HMS; texts and structs not at all."""
    found = stored_table(shop, {1: (STRING, "sales"), 2: (STRING, "shop"), 7: (STRUCT, {})})
    assert found.keys() == {1, 2, 4, 5, 6, 7, 8, 9, 12, 14}
    assert [found[number][1] for number in (5, 6, 12, 14)] == [0, 0, "MANAGED_TABLE", False]
    storage = found[7][1]
    assert storage.keys() == {1, 2, 5, 6, 7, 8, 9, 10, 12}
    assert [storage[number][1] for number in (5, 6, 12)] == [False, -1, False]
    assert [len(storage[number][1][-1]) for number in (1, 8, 9, 10)] == [0, 0, 0, 0]
    assert storage[7][1].keys() == {3}


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    with opened(SimpleNamespace(param="memory"), tmp_path_factory.mktemp("fidelity")) as shop:
        yield shop


# Thrift's texts are any Unicode but lone surrogates; values of partitions and locations have rules of their own.
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
numbers = st.integers(-(2**31), 2**31 - 1)
any_strings = st.lists(any_text, max_size=3).map(lambda items: (LIST, (STRING, items)))
any_texts = st.dictionaries(any_text, any_text, max_size=3).map(lambda items: (MAP, (STRING, STRING, items)))
any_grant = st.fixed_dictionaries(
    {1: st.tuples(st.just(STRING), any_text), 2: st.tuples(st.just(I32), numbers), 5: st.just((BOOL, True))},
    optional={3: st.tuples(st.just(STRING), any_text), 4: st.tuples(st.just(I32), numbers)},
)
any_grants = st.dictionaries(any_text, st.lists(any_grant, min_size=1, max_size=2), max_size=2).map(
    lambda items: (MAP, (STRING, (LIST, STRUCT), items))
)
any_privileges = st.fixed_dictionaries({1: any_grants, 2: any_grants, 3: any_grants}).map(lambda one: (STRUCT, one))
any_storage = st.fixed_dictionaries(
    {
        1: st.just(STORAGE[1]),
        5: st.tuples(st.just(BOOL), st.booleans()),
        6: st.tuples(st.just(I32), numbers),
        7: st.just(STORAGE[7]),
        8: any_strings,
        9: st.just(STORAGE[9]),
        10: any_texts,
        12: st.tuples(st.just(BOOL), st.booleans()),
    },
    optional={
        3: st.tuples(st.just(STRING), any_text),
        4: st.tuples(st.just(STRING), any_text),
        11: st.just(STORAGE[11]),
    },
)


@given(
    fields=st.fixed_dictionaries({5: st.tuples(st.just(I32), numbers), 7: any_texts}, optional={8: any_privileges}),
    storage=any_storage,
    ds=any_text.filter(bool),
)
def test_partitions_of_all_sorts(memory, fields, storage, ds):
    memory.store.drop_database("shop", cascade=True)
    ask(memory, "create_database", {1: (STRUCT, {1: (STRING, "shop")})})
    stored_table(memory, {**TABLE, 7: (STRUCT, {k: v for k, v in STORAGE.items() if k != 2}), 8: structs(column("ds"))})
    parameters = {"transient_lastDdlTime": "5", **fields[7][1][2], "numFiles": "0", "totalSize": "0"}
    given = {
        **fields,
        1: strings(ds),
        2: (STRING, "shop"),
        3: (STRING, "sales"),
        6: (STRUCT, storage),
        7: (MAP, (STRING, STRING, parameters)),
    }
    found = stored_partition(memory, given)
    location = found[6][1].pop(2)
    assert location[1].startswith(f"file:{memory.root}/shop.db/sales/ds=")
    assert without_create_time(found) == given
