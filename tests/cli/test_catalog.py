from __future__ import annotations

import pytest

import hbstore
from hbstore.model.stored_as import stored_as


def test_init_creates_the_store_and_says_which(run, path, url):
    result = run("init")
    assert path.exists()
    assert result.stdout == f"store {url}\n"
    assert result.stderr == f"Created the store {path}\n"


def test_init_opens_a_store_that_is_there(run, run_json, shop):
    assert run("init").stderr == ""
    assert run_json("init", "--database", "Shop") == {"store": shop, "created": False, "database": "shop"}


def test_init_with_a_database(run, run_json, url):
    assert run_json("init", "--database", "Shop") == {"store": url, "created": True, "database": "shop"}
    assert run("databases").stdout == "default\nshop\n"


def test_init_makes_the_database_that_clients_of_hive_expect_and_no_store_of_others_gets_it(run, run_json, url, shop):
    run("init", store=f"{url}2")
    (made,) = run_json("databases", store=f"{url}2")
    assert (made["database"], made["owner"], made["location"]) == ("default", "public", None)
    run("init")
    assert run("databases").stdout == "shop\n"
    assert shop


def test_init_checks_the_database_before_it_creates_anything(run, path):
    run("init", "--database", "a-b", code=2)
    assert not path.exists()


@pytest.mark.parametrize("command", ["init", "create-database"])
def test_the_default_store_is_in_the_users_folder(run, tmp_path, command):
    arguments = [command] if command == "init" else [command, "shop"]
    result = run(*arguments, store=None)
    assert (tmp_path / "home" / ".config" / "hbstore" / "hbstore.db").exists()
    assert "home/.config/hbstore/hbstore.db" in result.stderr


@pytest.mark.usefixtures("shop")
def test_databases(run, run_json):
    assert run("databases").stdout == "shop\n"
    assert run_json("databases") == [
        {"database": "shop", "description": "All shops", "location": "s3://shop", "owner": None, "parameters": {}}
    ]


def test_no_databases(run, run_json, url):
    hbstore.connect(url).close()
    assert run("databases").stdout == ""
    assert run_json("databases") == []


@pytest.mark.usefixtures("shop")
def test_tables(run, run_json):
    assert run("tables", "shop").stdout == "shop.returns\nshop.sales\n"
    assert run("tables").stdout == "shop.returns\nshop.sales\n"
    assert run_json("tables", "shop")[1] == {
        "database": "shop",
        "table": "sales",
        "partition_columns": [
            {"name": "ds", "type": "date", "comment": None},
            {"name": "hour", "type": "int", "comment": None},
        ],
        "location": "s3://shop/sales",
    }


@pytest.mark.usefixtures("shop")
def test_describe(run, run_json):
    lines = dict(line.split("  ", 1) for line in run("describe", "shop.sales").stdout.splitlines())
    assert {name: value.strip() for name, value in lines.items() if name != "created"} == {
        "table": "shop.sales",
        "partition column ds": "date",
        "partition column hour": "int",
        "column amount": "double",
        "location": "s3://shop/sales",
        "type": "MANAGED_TABLE",
        "partitions": "48",
        "rows": "0 (unknown of 48 partitions)",
        "files": "0 (unknown of 48 partitions)",
        "size": "0 bytes (unknown of 48 partitions)",
        "parameter team": "web",
    }
    found = run_json("describe", "shop.sales")
    assert (found["totals"]["partitions"], found["totals"]["without_rows"]) == (48, 48)
    assert found["parameters"] == {"team": "web"}
    assert found["columns"] == [{"name": "amount", "type": "double", "comment": None}]
    assert found["create_time"] > 0


def test_create_database(run, run_json, open_shop):
    assert run("create-database", "Other", "--location", "s3://other", "--parameter", "a=b=c").stdout == (
        "database other: created\n"
    )
    made = open_shop.get_database("other")
    assert (made.location, made.parameters) == ("s3://other", {"a": "b=c"})
    assert "the database already exists" in run("create-database", "other", code=2).stderr
    assert run("create-database", "other", "--if-not-exists").stdout == "database other: already exists\n"
    assert run_json("create-database", "other", "--if-not-exists") == {"database": "other", "created": False}
    assert run_json("create-database", "third") == {"database": "third", "created": True}


def test_create_table(run, run_json, open_shop):
    arguments = (
        *("create-table", "Shop.Clicks", "--partition", "ds date", "--partition", "price  decimal(10, 2)"),
        *("--column", "Amount double", "--column", "tags array<string>"),
        *("--location", "s3://shop/clicks", "--parameter", "x=1"),
    )
    assert run(*arguments).stdout == "table shop.clicks: created\n"
    made = open_shop.get_table("shop", "clicks")
    assert made.partition_columns == (hbstore.Column("ds", "date"), hbstore.Column("price", "decimal(10, 2)"))
    assert [one.type for one in made.columns] == ["double", "array<string>"]
    assert (made.location, made.parameters) == ("s3://shop/clicks", {"x": "1"})
    assert "the table already exists" in run(*arguments, code=2).stderr
    assert run(*arguments, "--if-not-exists").stdout == "table shop.clicks: already exists\n"
    assert run_json(*arguments, "--if-not-exists") == {"table": "shop.clicks", "created": False}


def test_a_new_table_has_a_format_and_a_place_in_the_warehouse(run, open_shop):
    run("create-table", "shop.lines", "--column", "a int")
    assert open_shop.get_table("shop", "lines").storage == stored_as("text")
    assert open_shop.get_table("shop", "lines").location is None
    run("create-table", "shop.files", "--column", "a int", "--format", "parquet", "--warehouse", "/data/warehouse")
    found = open_shop.get_table("shop", "files")
    assert (found.storage, found.location) == (stored_as("parquet"), "s3://shop/files")
    run("create-database", "lake")
    run("create-table", "lake.Files", "--warehouse", "/data/warehouse")
    assert open_shop.get_table("lake", "files").location == "file:/data/warehouse/lake.db/files"
    run("create-table", "lake.other", "--warehouse", "/data/warehouse", "--location", "s3://other")
    assert open_shop.get_table("lake", "other").location == "s3://other"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--partition", "ds"], "a column needs a name and a type"),
        (["--partition", ""], "a column needs a name and a type"),
        (["--partition", "ds nonsense"], "nonsense"),
        (["--partition", "ds date", "--column", "DS int"], "two columns have the same name"),
        (["--column", "a array<intt>"], "expected=int\n    array<intt>\n          ^\nHint: Did you mean int"),
        (["--parameter", "x"], "a parameter needs a name and a value"),
        (["--parameter", "=x"], "a parameter needs a name and a value"),
        (["--parameter", "x=1", "--parameter", "x=2"], "the command names a parameter twice"),
    ],
)
def test_mistakes_in_a_new_table(run, open_shop, options, message):
    assert message in run("create-table", "shop.new", *options, code=2).stderr
    assert len(open_shop.tables("shop")) == 2


@pytest.mark.usefixtures("shop")
def test_create_table_without_its_database(run):
    assert "the database does not exist: database=nowhere" in run("create-table", "nowhere.t", code=2).stderr


def test_drop_table(run, run_json, open_shop):
    assert run("drop-table", "Shop.sales").stdout == "table shop.sales: dropped\n"
    assert [one.name for one in open_shop.tables("shop")] == ["returns"]
    assert "the table does not exist: table=shop.sales" in run("drop-table", "shop.sales", code=2).stderr
    assert run("drop-table", "shop.sales", "--if-exists").stdout == "table shop.sales: was not there\n"
    assert run_json("drop-table", "no.sales", "--if-exists") == {"table": "no.sales", "dropped": False}
    assert run_json("drop-table", "shop.returns") == {"table": "shop.returns", "dropped": True}


def test_drop_database(run, run_json, open_shop):
    assert "the database has tables: database=shop, tables=2" in run("drop-database", "shop", code=2).stderr
    assert run("drop-database", "shop", "--cascade").stdout == "database shop: dropped\n"
    assert open_shop.databases() == []
    assert "the database does not exist" in run("drop-database", "shop", code=2).stderr
    assert run_json("drop-database", "shop", "--if-exists") == {"database": "shop", "dropped": False}


@pytest.mark.parametrize("name", ["sales", "shop.", ".sales", "a.b.c", ""])
@pytest.mark.parametrize("command", ["describe", "create-table", "drop-table", "partitions", "count", "explain"])
@pytest.mark.usefixtures("shop")
def test_a_table_is_named_with_its_database(run, command, name):
    assert "the text is not a table name" in run(command, name, code=2).stderr
