"""Constraints through a client: every field comes back, keys of several columns stay together, wrong ones are refused.

`tests.metastore.clients` compares all of that with a real Hive Metastore; here is what its clients cannot say.
"""

from __future__ import annotations

import re

import pytest

from tests.metastore.client import TYPES
from tests.metastore.writing import DATABASE, STORED, column, storage, table_of

T = "sales"
FLAGS = {"enable_cstr": True, "validate_cstr": False, "rely_cstr": True}
OF_SALES = {"table_db": DATABASE, "table_name": T}


def later(kind, field, **fields):
    """A constraint of a kind that Hive 3 added, in the list of a request that creates a table."""
    return {field: [getattr(TYPES, f"SQL{kind}Constraint")("hive", DATABASE, T, **fields, **FLAGS)]}


GIVEN = {
    "primaryKeys": [
        TYPES.SQLPrimaryKey(**OF_SALES, column_name="amount", key_seq=1, pk_name="pk", **FLAGS, catName="hive"),
        TYPES.SQLPrimaryKey(**OF_SALES, column_name="ds", key_seq=2, pk_name="pk", **FLAGS, catName="hive"),
    ],
    **later("Unique", "uniqueConstraints", column_name="hour", key_seq=1, uk_name="uk"),
    **later("NotNull", "notNullConstraints", column_name="amount", nn_name="nn"),
    **later("Default", "defaultConstraints", column_name="amount", default_value="1.5", dc_name="dc"),
    **later("Check", "checkConstraints", column_name="amount", check_expression="amount > 0", dc_name="cc"),
}


def foreign(column_name, to, seq=1, name="fk", child="child"):
    return TYPES.SQLForeignKey(
        DATABASE, T, to, DATABASE, child, column_name, seq, 1, 2, name, "pk", **FLAGS, catName="hive"
    )


KEYS = (foreign("amount", "amount"), foreign("ds", "ds", 2))


def all_of(shop, table=T):
    found = shop.get_all_table_constraints(TYPES.AllTableConstraintsRequest(DATABASE, table)).allTableConstraints
    return {spec[1]: getattr(found, spec[1]) for spec in found.thrift_spec.values()}


@pytest.fixture
def related(shop):
    shop.create_table_req(TYPES.CreateTableRequest(table_of(), **GIVEN))
    shop.create_table_with_constraints(table_of("child"), [], list(KEYS))
    return shop


def test_every_field_comes_back(related):
    assert all_of(related) == {**GIVEN, "foreignKeys": []}
    place = ("hive", DATABASE, "SALES")
    assert related.get_primary_keys(TYPES.PrimaryKeysRequest(DATABASE, T)).primaryKeys == GIVEN["primaryKeys"]
    for kind in ("unique", "not_null", "default", "check"):
        reply = getattr(related, f"get_{kind}_constraints")(TYPES.LaterConstraintsRequest(*place))
        ((name, found),) = vars(reply).items()
        assert found == GIVEN[name]
    assert all_of(related, "child") == {**{field: [] for field in GIVEN}, "foreignKeys": list(KEYS)}


def test_foreign_keys_by_either_table_or_both(related):
    def found(*names):
        return related.get_foreign_keys(TYPES.ForeignKeysRequest(*names)).foreignKeys

    here, there = (DATABASE, T), (DATABASE, "child")
    for names in (here, (None, None, *there), (*here, *there), (), (DATABASE,), (None, None, DATABASE)):
        assert found(*names) == list(KEYS), names
    for names in (there, (None, None, *here), (*there, *here), ("nope", T), (DATABASE, "nope"), ("nope",)):
        assert found(*names) == [], names


def test_names_are_made_as_hive_makes_them(shop):
    shop.create_table(table_of())
    shop.add_primary_key(TYPES.AddPrimaryKeyRequest([TYPES.SQLPrimaryKey(DATABASE, T, "amount", 1)]))
    # {shop,sales,amount,pk} as Java's String.hashCode, of which 28 bits count.
    (key,) = all_of(shop)["primaryKeys"]
    assert re.fullmatch(r"pk_[0-9]+_[0-9]{13}_0", key.pk_name)
    hashed = 0
    for code in b"{shop,sales,amount,pk}":
        hashed = (31 * hashed + code) % 2**32
    assert key.pk_name.split("_")[1] == str(hashed % 2**28)


def test_unnamed_keys_are_told_apart_by_the_numbers_of_their_columns(shop):
    shop.create_table(table_of())
    columns = [("amount", 1), ("ds", 2), ("hour", 1), ("ds", 1)]
    given = [TYPES.SQLUniqueConstraint("hive", DATABASE, T, name, at) for name, at in columns]
    shop.add_unique_constraint(TYPES.AddUniqueConstraintRequest(given))
    found = all_of(shop)["uniqueConstraints"]
    assert [(one.column_name, one.key_seq) for one in found] == columns
    assert len({one.uk_name for one in found}) == 3


@pytest.mark.parametrize(
    ("given", "refused", "words"),
    [
        ({"primaryKeys": [TYPES.SQLPrimaryKey(DATABASE, "other", "amount", 1)]}, "InvalidObject", "of another table"),
        ({"primaryKeys": [TYPES.SQLPrimaryKey(DATABASE, "new", "nope", 1)]}, "InvalidObject", "column=nope"),
        ({"primaryKeys": [TYPES.SQLPrimaryKey(DATABASE, "new")]}, "InvalidObject", "names no column"),
        ({"foreignKeys": [foreign("amount", "nope", child="new")]}, "InvalidObject", "column=nope"),
        ({"foreignKeys": [foreign("amount", "amount", child="new")]}, "Meta", "no primary key or unique"),
        ({"foreignKeys": [foreign("ds", "hour", child="new")]}, "Meta", "columns of the same types"),
        (
            {"primaryKeys": [TYPES.SQLPrimaryKey(DATABASE, "new", "amount", 1, name) for name in ("a", "b")]},
            "Meta",
            "primary key already",
        ),
        (
            {"notNullConstraints": [TYPES.SQLNotNullConstraint("hive", DATABASE, "new", "amount", "A")] * 2},
            "InvalidObject",
            "of this name already: .*constraint=a",
        ),
        ({"primaryKeys": [TYPES.SQLPrimaryKey(DATABASE, "new", "amount", 1, "n" * 401)]}, "InvalidObject", "limit=400"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(related, given, refused, words):
    with pytest.raises(getattr(TYPES, f"{refused}Exception"), match=words):
        related.create_table_req(TYPES.CreateTableRequest(table_of("new"), **given))
    assert related.get_all_tables(DATABASE) == ["child", T]
    assert "shop.db/new/" not in related.tree()


def test_what_cannot_be_added(related):
    for call, request, kind in (
        ("primary_key", TYPES.AddPrimaryKeyRequest([TYPES.SQLPrimaryKey(DATABASE, "nope", "amount")]), "NoSuchObject"),
        ("primary_key", TYPES.AddPrimaryKeyRequest([TYPES.SQLPrimaryKey(DATABASE, T, "amount")]), "Meta"),
        ("foreign_key", TYPES.AddForeignKeyRequest([*KEYS, foreign("hour", "hour", child=T, name="x")]), "Meta"),
        ("foreign_key", TYPES.AddForeignKeyRequest([*KEYS]), "Meta"),
    ):
        with pytest.raises(getattr(TYPES, f"{kind}Exception")):
            getattr(related, f"add_{call}")(request)
    related.add_foreign_key(TYPES.AddForeignKeyRequest([]))
    with pytest.raises(TYPES.NoSuchObjectException, match="no such constraint"):
        related.drop_constraint(TYPES.DropConstraintRequest(DATABASE, T, "nope"))
    assert related.get_foreign_keys(TYPES.ForeignKeysRequest()).foreignKeys == list(KEYS)


def test_they_go_with_columns_tables_and_databases(related):
    related.alter_table(DATABASE, T, table_of("sold"))
    (_, second) = related.get_foreign_keys(TYPES.ForeignKeysRequest(DATABASE, "sold")).foreignKeys
    assert (second.pktable_name, second.fktable_name, second.fkcolumn_name) == ("sold", "child", "ds")
    assert all_of(related)["primaryKeys"] == []
    related.alter_table(DATABASE, "sold", table_of("sold", sd=storage(cols=[column("amounts", "double")])))
    kept = {name: one for name, one in all_of(related, "sold").items() if one}
    assert [*kept] == ["uniqueConstraints"]  # of a partition column
    assert all_of(related, "child")["foreignKeys"] == []
    related.create_database(STORED.Database(name="other"))
    related.add_foreign_key(
        TYPES.AddForeignKeyRequest([TYPES.SQLForeignKey(DATABASE, "sold", "hour", DATABASE, "child", "hour", 1)])
    )
    related.alter_table(DATABASE, "child", table_of("child", dbName="other"))
    assert len(all_of(related, "sold")["uniqueConstraints"]) == 1
    (one,) = related.get_foreign_keys(TYPES.ForeignKeysRequest(DATABASE, "sold")).foreignKeys
    assert one.fktable_db == "other"
    related.drop_database(DATABASE, True, True)
    assert related.get_foreign_keys(TYPES.ForeignKeysRequest()).foreignKeys == []
