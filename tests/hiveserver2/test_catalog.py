"""Listings of the catalog: what drivers show of databases, tables, columns and the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hbstore
from hbstore import Column, Database, Table
from hbstore.cubes import Cube, Cubes, DerivedCube, Dimension, DimTable, Fact, Storage
from hbstore.hiveserver2.catalog import JdbcCatalog
from hbstore.hiveserver2.row_sets import row_set, table_schema
from hbstore.model.constraints import Constraint, ConstraintKind, References
from hbstore.store.partition_store import PartitionStore
from tests.hiveserver2.reading import row_set_of, schema_of

STORAGE_TABLE = {
    "storage": "lake",
    "update_periods": ["DAILY"],
    "partition_columns": [{"name": "dt", "type": "string"}],
    "time_partition_columns": ["dt"],
}
MODEL = [
    Storage(name="lake"),
    Cube(
        name="rides",
        description="Rides of bikes",
        measures=[{"name": "fare", "type": "decimal(10,2)", "description": "in euros"}],
        dim_attributes=[{"name": "at", "type": "timestamp"}, {"name": "city_id", "type": "int", "display": "City"}],
        expressions=[{"name": "pace", "type": "double", "specs": [{"expression": "fare / 2"}]}],
        time_dimensions={"at": "dt"},
    ),
    DerivedCube(name="fares", parent="rides", measures=["fare", "pace"], dim_attributes=["at"]),
    Dimension(name="city", dim_attributes=[{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]),
    Fact(name="daily", cube="rides", columns=[{"name": "fare", "type": "double"}], storage_tables=[STORAGE_TABLE]),
    Fact(name="rides", cube="rides", columns=[{"name": "fare", "type": "double"}]),
    DimTable(name="cities", dimension="city", columns=[{"name": "id", "type": "int"}]),
]


def table(name, type_="MANAGED_TABLE", **parameters):
    return Table("shop", name, table_type=type_, columns=[Column("n", "int")], parameters=parameters)


@pytest.fixture
def store():
    with hbstore.connect("memory://") as store:
        for name in ("zoo", "shop", "cubes"):
            store.create_database(name)
        for one in (table("sales", comment="Sold goods"), table("returns", "EXTERNAL_TABLE", EXTERNAL="TRUE")):
            store.create_table(one)
        store.create_table(table("best", "VIRTUAL_VIEW"))
        store.create_table(Table("zoo", "animals", [Column("ds", "date", "of birth")], [Column("Name", "varchar(7)")]))
        yield store


@pytest.fixture
def catalog(store):
    return JdbcCatalog(store)


def rows(listing, *names):
    picked = listing.batch.select(list(names)) if names else listing.batch
    return [tuple(row.values()) for row in picked.to_pylist()]


def tables(catalog, schema=None, name=None, types=None):
    return rows(catalog.tables(schema, name, types), "TABLE_TYPE", "TABLE_SCHEM", "TABLE_NAME")


EVERYTHING = [
    ("TABLE", "shop", "returns"),
    ("TABLE", "shop", "sales"),
    ("TABLE", "zoo", "animals"),
    ("VIEW", "shop", "best"),
]


def test_schemas(catalog):
    assert rows(catalog.schemas(None)) == [("cubes", ""), ("shop", ""), ("zoo", "")]
    assert rows(catalog.schemas("%O%")) == [("shop", ""), ("zoo", "")]
    assert rows(catalog.schemas("none")) == []


@pytest.mark.parametrize(
    ("schema", "name", "expected"),
    [
        (None, None, EVERYTHING),
        ("", "", EVERYTHING),
        ("%", "%", EVERYTHING),
        ("shop", "S%", [("TABLE", "shop", "sales")]),
        ("SHOP", "best|sales", [("TABLE", "shop", "sales"), ("VIEW", "shop", "best")]),
        ("z__", None, [("TABLE", "zoo", "animals")]),
        ("none", None, []),
        (None, "animals", [("TABLE", "zoo", "animals")]),
        (None, "no table", []),
        (None, "x" * 200, []),
    ],
)
def test_tables_by_patterns(catalog, schema, name, expected):
    assert tables(catalog, schema, name) == expected


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (None, EVERYTHING),
        ([], EVERYTHING),
        (["TABLE", "VIEW"], EVERYTHING),
        (["TABLE"], EVERYTHING[:3]),
        (["table"], EVERYTHING[:3]),
        (["view"], EVERYTHING[3:]),
        (["VIRTUAL_VIEW"], EVERYTHING[3:]),
        (["MANAGED_TABLE"], EVERYTHING[1:3]),
        (["external table"], EVERYTHING[:1]),
        (["SYSTEM TABLE", "ALIAS"], []),
        (["SYSTEM TABLE", "View"], EVERYTHING[3:]),
    ],
)
def test_tables_by_types(catalog, types, expected):
    assert tables(catalog, None, None, types) == expected


def test_remarks_and_what_is_null(catalog):
    [row] = rows(catalog.tables("shop", "sales", None))
    assert row == ("", "shop", "sales", "TABLE", "Sold goods", None, None, None, None, None)
    assert rows(catalog.tables("shop", "returns", None), "REMARKS") == [("",)]


def test_columns(catalog):
    found = catalog.columns("zoo", None, None)
    first = ("", "zoo", "animals", "Name", 12, "VARCHAR(7)", 7, None, None, None, 1, "", None, None, None, None)
    assert rows(found)[0] == (*first, 1, "YES", None, None, None, None, "NO")
    assert rows(found, "COLUMN_NAME", "TYPE_NAME", "REMARKS", "ORDINAL_POSITION")[1] == ("ds", "DATE", "of birth", 2)
    assert rows(catalog.columns(None, None, "N"), "TABLE_NAME") == [("best",), ("returns",), ("sales",)]
    assert rows(catalog.columns("zoo", "%", "D_"), "ORDINAL_POSITION") == [(2,)]


def test_types_of_columns(store, catalog):
    kinds = ["decimal(12,4)", "array<struct<In:int>>", "string", "timestamp", "double", "uniontype<int,string>"]
    store.create_table(Table("zoo", "kinds", columns=[Column(f"c{at}", kind) for at, kind in enumerate(kinds)]))
    names = ("DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NUM_PREC_RADIX")
    assert rows(catalog.columns(None, "kinds", None), *names) == [
        (3, "DECIMAL(12,4)", 12, 4, 10),
        (2003, "ARRAY<struct<In:int>>", None, None, None),
        (12, "STRING", 2**31 - 1, None, None),
        (93, "TIMESTAMP", 29, 9, None),
        (8, "DOUBLE", 15, 15, 10),
        (12, "UNIONTYPE<int,string>", 2**31 - 1, None, None),
    ]


@pytest.fixture
def model(store):
    Cubes(store, "cubes").create_all(MODEL)


VIEWS = [("VIEW", "cubes", name) for name in ("city", "daily", "fares", "rides")]


@pytest.mark.usefixtures("model")
def test_the_model_is_views(catalog):
    assert tables(catalog, "cubes") == [("TABLE", "cubes", "lake_daily"), *VIEWS]
    assert tables(catalog, "cubes", None, ["view"]) == VIEWS
    assert tables(catalog, "cubes", "RIDES") == VIEWS[3:]
    assert rows(catalog.tables("cubes", None, ["VIEW"]), "REMARKS") == [
        ("A dimension. Ask it by CUBE SELECT … FROM city",),
        ("A fact of the cube rides. Ask it by CUBE SELECT … FROM rides",),
        ("A derived cube of rides. Ask it by CUBE SELECT … FROM fares",),
        ("Rides of bikes\nA cube. Ask it by CUBE SELECT … FROM rides",),
    ]


@pytest.mark.usefixtures("model")
def test_fields_of_the_model_are_columns(catalog):
    names = ("TABLE_NAME", "COLUMN_NAME", "TYPE_NAME", "REMARKS", "ORDINAL_POSITION")
    assert rows(catalog.columns("cubes", "%", None), *names) == [
        ("city", "id", "INT", "", 1),
        ("city", "name", "STRING", "", 2),
        ("daily", "fare", "DOUBLE", "", 1),
        ("fares", "fare", "DECIMAL(10,2)", "in euros", 1),
        ("fares", "at", "TIMESTAMP", "", 2),
        ("fares", "pace", "DOUBLE", "", 3),
        ("lake_daily", "fare", "DOUBLE", "", 1),
        ("lake_daily", "dt", "STRING", "", 2),
        ("rides", "fare", "DECIMAL(10,2)", "in euros", 1),
        ("rides", "at", "TIMESTAMP", "", 2),
        ("rides", "city_id", "INT", "City", 3),
        ("rides", "pace", "DOUBLE", "", 4),
    ]


@pytest.mark.usefixtures("model")
def test_a_table_hides_a_view_of_its_name(store, catalog):
    store.create_table(Table("cubes", "rides", columns=[Column("own", "int")]))
    assert ("TABLE", "cubes", "rides") in tables(catalog)
    assert ("VIEW", "cubes", "rides") not in tables(catalog)
    assert rows(catalog.columns("cubes", "rides", None), "COLUMN_NAME") == [("own",)]


SOLD = Table(
    "shop", "Sold", [Column("ds", "date")], [Column("Id", "int"), Column("price", "double"), Column("by", "int")]
)


def kept(kind, *columns, name="", **more):
    return Constraint(ConstraintKind(kind), columns, name, **more)


@pytest.fixture
def related(store):
    """A table with constraints, and another one that refers to it."""
    store.create_table(
        SOLD,
        constraints=[
            kept("primary key", "id", "ds", name="sold_key"),
            kept("not null", "by"),
            kept("default", "price", text="1.5"),
            kept("check", "price", text="price > 0"),
        ],
    )
    store.hive.constraints.add(
        "zoo", "animals", [kept("unique", "name", name="uk"), kept("default", "ds", text="current_date()")]
    )
    columns = [Column("of", "int"), Column("at", "date")]
    to = References("shop", "sold", ["id", "ds"], update_rule=1, delete_rule=2)
    store.create_table(
        Table("zoo", "bought", columns=columns),
        constraints=[kept("foreign key", "of", "at", name="bought_key", references=to)],
    )


@pytest.mark.usefixtures("related")
def test_primary_keys(catalog):
    key = [("", "shop", "sold", "id", 1, "sold_key"), ("", "shop", "sold", "ds", 2, "sold_key")]
    for schema, name in (("shop", "sold"), ("SHOP", "SOLD"), (None, "sold"), ("", "sold")):
        assert rows(catalog.primary_keys(schema, name)) == key, schema
    for schema, name in (("zoo", "animals"), ("zoo", "sold"), ("none", "sold"), ("shop", "s%"), (None, None)):
        assert rows(catalog.primary_keys(schema, name)) == [], name


@pytest.mark.usefixtures("related")
def test_cross_reference(catalog):
    here, there, nothing = ("shop", "sold"), ("ZOO", "bought"), (None, None)
    key = [
        ("", "shop", "sold", to, "", "zoo", "bought", column, place, 1, 2, "bought_key", "sold_key", 0)
        for place, (column, to) in enumerate([("of", "id"), ("at", "ds")], 1)
    ]
    for parent, foreign in ((here, there), (here, nothing), (nothing, there), (nothing, nothing), (here, ("", ""))):
        assert rows(catalog.cross_reference(parent, foreign)) == key, (parent, foreign)
    for parent, foreign in ((there, here), (nothing, here), (there, nothing), (("none", "x"), nothing)):
        assert rows(catalog.cross_reference(parent, foreign)) == [], (parent, foreign)


@pytest.mark.usefixtures("related")
def test_columns_say_what_constraints_do(catalog, store):
    wanted = ("COLUMN_NAME", "NULLABLE", "IS_NULLABLE", "COLUMN_DEF")
    said = [("Id", 0, "NO", None), ("price", 1, "YES", "1.5"), ("by", 0, "NO", None), ("ds", 0, "NO", None)]
    animals = [("Name", 1, "YES", None), ("ds", 1, "YES", "current_date()")]
    assert rows(catalog.columns("shop", "sold", None), *wanted) == said
    assert rows(catalog.columns("zoo", "animals", None), *wanted) == animals
    for number in range(6):  # so many that they are scanned
        store.create_table(table(f"soldier{number}"))
    assert rows(catalog.columns("shop", "sold%", None), *wanted) == [*said, *[("n", 1, "YES", None)] * 6]


def test_small_listings(catalog):
    assert rows(catalog.catalogs()) == []
    assert rows(catalog.table_types()) == [("TABLE",), ("VIEW",)]


def test_functions(catalog):
    found = catalog.functions(["sum", "!", "spark_catalog.shop.discount", "shop.tax", "sum"])
    assert rows(found) == [
        ("", "", "!", "", 0, "!"),
        ("", "", "sum", "", 0, "sum"),
        ("", "shop", "discount", "", 0, "discount"),
        ("", "shop", "tax", "", 0, "tax"),
    ]
    assert rows(catalog.functions(["sum", "avg"], "S%"), "FUNCTION_NAME") == [("sum",)]


def test_type_info(catalog):
    found = {row[0]: row for row in rows(catalog.type_info())}
    assert found["INT"] == (
        *("INT", 4, 10, None, None, None, 1, False, 3, False, False, False, None, 0, 0, None, None, 10),
    )
    assert found["DECIMAL"][2:6] == (38, None, None, "precision,scale")
    assert found["DECIMAL"][13:15] == (0, 38)
    assert found["STRING"][7:10] == (True, 3, True)
    assert found["MAP"][8] == 0
    order = [row[1] for row in rows(catalog.type_info())]
    assert order == sorted(order)


def every_listing(catalog):
    return [
        *(catalog.catalogs(), catalog.schemas(None), catalog.table_types(), catalog.tables(None, None, None)),
        *(catalog.columns(None, None, None), catalog.type_info(), catalog.functions(["sum"])),
        *(catalog.primary_keys("shop", "sold"), catalog.cross_reference((None, None), (None, None))),
    ]


@pytest.mark.usefixtures("model", "related")
def test_clients_can_read_every_listing(catalog):
    for listing in every_listing(catalog):
        told = schema_of(table_schema(listing.columns))
        _, columns = row_set_of(row_set(0, listing.columns, listing.batch.columns, "UTC"))
        assert [name for name, *_ in told] == listing.batch.schema.names
        assert [values for _, values, _ in columns] == [column.to_pylist() for column in listing.batch.columns]


HOSTILE = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    ["'; DROP TABLE x; --", "\0", "%", "é\n"]
)


@given(HOSTILE, HOSTILE, st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=9))
def test_comments_and_names_are_data(remark, comment, name):
    with hbstore.connect("memory://") as store:
        store.create_database(Database("shop"))
        try:
            store.create_table(
                Table("shop", "t", columns=[Column(name, "int", comment)], parameters={"comment": remark})
            )
        except hbstore.InvalidName:
            return
        listings = JdbcCatalog(store).tables(None, None, None), JdbcCatalog(store).columns("shop", "t", None)
        for listing, at, expected in zip(listings, ("REMARKS", "REMARKS"), (remark, comment), strict=True):
            names = [column.name for column in listing.columns]
            _, columns = row_set_of(row_set(0, listing.columns, listing.batch.columns, "UTC"))
            assert columns[names.index(at)][1] == [expected]
        assert columns[names.index("COLUMN_NAME")][1] == [name]


@pytest.mark.parametrize("pattern", ["t_1%", "t_%", "t_007", r"t\_007", "%7", None])
def test_many_tables_are_read_alone_or_together(pattern):
    with hbstore.connect("memory://") as store:
        store.create_database("shop")
        names = [f"t_{number:03}" for number in range(200)]
        for name in names:
            store.create_table(Table("shop", name))
        found = [name for _, _, name in tables(JdbcCatalog(store), "shop", pattern)]
        wanted = {"t_1%": names[100:], "t_007": [names[7]], r"t\_007": [names[7]], "%7": names[7::10]}
        assert found == wanted.get(pattern, names)


def test_tables_and_databases_that_are_dropped_meanwhile(store, monkeypatch):
    names = PartitionStore.table_names

    def dropping(self, database):
        before = names(self, database)
        self.drop_database(database, cascade=True)
        return before

    monkeypatch.setattr(PartitionStore, "table_names", dropping)
    assert tables(JdbcCatalog(store)) == []
    store.create_database("shop")
    for number in range(9):
        store.create_table(table(f"t{number}"))
    assert tables(JdbcCatalog(store), "shop", "t_") == []
    store.create_database("shop")
    for number in range(9):
        store.create_table(table(f"t{number}"))
    assert tables(JdbcCatalog(store), "shop", "%1") == []
