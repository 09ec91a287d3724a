"""`hbstore sql`: statements as an argument, on stdin, and at a prompt."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.cli import printing, sql_prompt
from hbstore.cli.opening import Settings
from hbstore.cubes import Cubes
from hbstore.ddl import CubeQuery, Result, Session, ShowTables, UseDatabase
from hbstore.errors import StoreUnavailable

ADD = "ALTER TABLE returns ADD PARTITION (region = 'eu')"


@pytest.fixture
def warehouse(shop, tmp_path):
    """A folder with shop.visits and the partitions a and b, a file in each."""
    root = tmp_path / "warehouse"
    with connect(shop) as store:
        home = f"file:{root}/shop.db/visits"
        store.create_table(Table("shop", "visits", partition_columns=[Column("ds", "string")], location=home))
        store.add_partitions("shop", "visits", [Partition(("a",)), Partition(("b",))])
    for name in ("ds=a", "ds=b"):
        folder = root / "shop.db" / "visits" / name
        folder.mkdir(parents=True)
        (folder / "file").write_text("data")
    return str(root)


def on_a_terminal(monkeypatch):
    monkeypatch.setattr(printing, "on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")


def test_properties_need_no_warehouse(run, run_json, shop):
    assert shop
    text = "alter table shop.sales set tblproperties ('comment' = 'ours'); use shop; alter table sales unset"
    result = run("sql", f"{text} tblproperties ('comment')")
    assert result.stdout == "table shop.sales: properties set\ndatabase shop\ntable sales: properties unset\n"
    run("sql", "alter table shop.sales set tblproperties ('comment' = 'ours')")
    assert run_json("describe", "shop.sales")["parameters"]["comment"] == "ours"


def test_a_line_for_each_row_in_a_pipe(run, shop):
    assert shop
    shown = run("sql", "show partitions shop.sales where ds = '2013-01-02' and hour > 21; use shop; describe returns")
    assert shown.stdout.splitlines() == [
        "ds=2013-01-02/hour=22",
        "ds=2013-01-02/hour=23",
        "database shop",
        "region\tstring\t",
        "# Partition Information\t\t",
        "# col_name\tdata_type\tcomment",
        "region\tstring\t",
    ]
    assert run("sql", "").stdout == ""
    assert run("sql", "--", "-- a comment\nuse shop").stdout == "database shop\n"


def test_a_table_on_a_terminal(run, shop, monkeypatch):
    assert shop
    on_a_terminal(monkeypatch)
    shown = run("sql", "--database", "shop", "SHOW TABLES").stdout
    assert [line.split() for line in shown.splitlines()] == [
        ["database", "table"],
        ["shop", "returns"],
        ["shop", "sales"],
    ]
    monkeypatch.setattr(printing, "TABLE_ROWS", 1)
    assert run("sql", "--database", "shop", "SHOW TABLES").stdout == "shop\treturns\nshop\tsales\n"


def test_json(run_json, warehouse):
    text = "SHOW PARTITIONS visits; ALTER TABLE visits DROP PARTITION (ds < 'b')"
    assert run_json("sql", "--database", "shop", "--warehouse", warehouse, text) == [
        {
            "statement": "SHOW PARTITIONS visits",
            "columns": ["partition"],
            "rows": [["ds=a"], ["ds=b"]],
            "changed": None,
            "notes": [],
        },
        {
            "statement": "ALTER TABLE visits DROP PARTITION (ds < 'b')",
            "columns": [],
            "rows": [],
            "changed": 1,
            "notes": [],
        },
    ]
    assert not (Path(warehouse) / "shop.db" / "visits" / "ds=a").exists()


def test_what_was_done_is_said(run, warehouse):
    text = """
        ALTER TABLE visits ADD PARTITION (ds = 'c') PARTITION (ds = 'd');
        ALTER TABLE visits PARTITION (ds = 'c') RENAME TO PARTITION (ds = 'e');
        TRUNCATE TABLE visits PARTITION (ds = 'a'); -- one
        ALTER TABLE visits DROP IF EXISTS PARTITION (ds >= 'a'), PARTITION (ds = 'z')
    """
    shown = run("sql", "--database", "shop", env={"HBSTORE_WAREHOUSE": warehouse}, input=text).stdout
    assert shown.splitlines() == [
        "2 partitions added",
        "1 partition renamed",
        "1 partition emptied",
        "4 partitions dropped",
    ]
    assert list((Path(warehouse) / "shop.db").rglob("*")) == [Path(warehouse) / "shop.db" / "visits"]


def test_an_exchange_and_a_whole_table(run, warehouse, open_shop):
    for name, columns in (("attic", [Column("ds", "string")]), ("flat", [])):
        location = f"file:{warehouse}/shop.db/{name}"
        open_shop.create_table(Table("shop", name, partition_columns=columns, location=location))
    text = "ALTER TABLE attic EXCHANGE PARTITION (ds = 'a') WITH TABLE visits; TRUNCATE TABLE flat"
    shown = run("sql", "--database", "shop", "--warehouse", warehouse, text).stdout
    assert shown.splitlines() == ["1 partition moved", "table flat: emptied"]
    assert (Path(warehouse) / "shop.db" / "attic" / "ds=a" / "file").exists()


def test_files_that_stay_are_noted_on_stderr(run, warehouse, open_shop, tmp_path):
    place = tmp_path / "elsewhere"
    place.mkdir()
    open_shop.add_partitions("shop", "visits", [Partition(("x",), location=f"file:{place}")])
    shown = run("sql", "--warehouse", warehouse, "ALTER TABLE shop.visits DROP PARTITION (ds = 'x')")
    assert shown.stdout == "1 partition dropped\n"
    assert f"Note: files that belong to no partition remain, such as those in file:{place}" in shown.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("show partition t", "Error: the statement does not parse: line=1, column=6, found=partition"),
        ("show partitions shop.sales where hours = 5", "Error: "),
        ("show partitions shop.nothing", "Error: the table does not exist"),
        (f"use shop; {ADD}", "Error: the statement changes partitions and their files, but no warehouse is named"),
        (
            "analyze table shop.sales compute statistics",
            "Error: only Spark can run this statement",
        ),
    ],
)
def test_mistakes(run, shop, text, said):
    assert shop
    shown = run("sql", text, code=2)
    assert said in shown.stderr
    assert shown.stdout in ("", "database shop\n")


def test_a_mistakes_place_is_shown(run, shop):
    assert shop
    shown = run("sql", "use shop;\nshow partitions sales wher hour = 5", code=2).stderr
    assert "    show partitions sales wher hour = 5\n                          ^\n" in shown


def test_rows_of_statements_before_a_failing_one_are_printed(run, shop):
    assert shop
    shown = run("sql", "show tables in shop; use nothing", code=2)
    assert shown.stdout == "shop\treturns\nshop\tsales\n"
    assert "Note: statement 2 of 2: hbstore ran the statements before it" in shown.stderr


def test_a_store_that_is_not_there(run, path):
    run("sql", "show databases", code=3)
    assert not path.exists()


def test_jobs_publications_are_shown_first(run, warehouse, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "hbstore.publishing.publisher.Publisher.roll_forward_before_use", lambda _, row: asked.append(row)
    )
    run("sql", "describe shop.visits")
    assert not asked
    run("sql", "--warehouse", warehouse, "describe shop.visits")
    assert [str(row.table) for row in asked] == ["shop.visits"]


class Person:
    """Answers the prompt with lines, and raises what is an exception."""

    def __init__(self, *lines):
        self.lines = list(lines)
        self.prompts = []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        line = self.lines.pop(0)
        if not isinstance(line, str):
            raise line
        return line


def talk(store, person):
    shown = []
    session = Session(store, database="shop")
    sql_prompt.converse(session, shown.extend, Settings(None, with_traceback=False), person)
    return [str(one.statement) for one in shown]


def test_the_prompt_collects_lines_up_to_a_semicolon(open_shop):
    open_shop.create_database("attic")
    person = Person("show tables;", "", "show", "partitions sales", "where hour = 5; use attic; ", "exit")
    assert talk(open_shop, person) == ["SHOW TABLES", "SHOW PARTITIONS sales WHERE hour = 5", "USE attic"]
    assert person.prompts == ["shop> ", "shop> ", "shop> ", "....> ", "....> ", "attic> "]


def test_the_prompt_answers_cube_queries_and_goes_on_after_mistakes_in_them(open_shop, cubes, capsys):
    assert cubes
    asked, shown = [], []

    def ask(query, database):
        found = Cubes(open_shop, database).rewrite(query.text)
        asked.append(list(found.partitions))
        return Result(query, ("price",), ((1.5,),))

    where = "from sales_cube where time_range_in(order_time, '2015-01-30', '2015-01-31')"
    person = Person("use shop; cube select price", f"{where};", "cube select", f"nope {where};", "show tables;", "exit")
    session = Session(open_shop, ask=ask)
    sql_prompt.converse(session, shown.extend, Settings(None, with_traceback=False), person)
    assert asked == [["s1_sales"]]
    assert [type(one.statement) for one in shown] == [UseDatabase, CubeQuery, ShowTables]
    assert shown[1].rows == ((1.5,),)
    message, line, caret = capsys.readouterr().err.splitlines()[:3]
    assert "line=2, column=1" in message
    assert line[caret.index("^") :].startswith("nope from sales_cube")


def test_the_prompt_goes_on_after_mistakes(open_shop, capsys):
    person = Person("show table;", "show partitions x;", "show", KeyboardInterrupt(), "show databases;", EOFError())
    assert talk(open_shop, person) == ["SHOW DATABASES"]
    told = capsys.readouterr().err
    assert "the statement does not parse" in told
    assert "the table does not exist" in told


def test_the_prompt_goes_on_when_a_statement_is_interrupted(open_shop, monkeypatch, capsys):
    failures = [KeyboardInterrupt(), StoreUnavailable("the store does not answer")]

    def run(_, __):
        if failures:
            raise failures.pop(0)
        return []

    monkeypatch.setattr(Session, "run", run)
    assert talk(open_shop, Person("show tables;", "show tables;", "show tables;", "quit;")) == []
    told = capsys.readouterr().err
    assert "Interrupted" in told
    assert "the store does not answer" in told


@pytest.mark.parametrize("last", ["exit\n", "\x04"])
def test_a_terminal_gets_a_prompt_and_its_lines_are_remembered(shop, tmp_path, last):
    state = tmp_path / "state"
    shown = typed(shop, state, "show tables\n", "in shop;\n", last)
    assert "shop      returns" in shown
    history = state / "hbstore" / "sql_history"
    assert history.read_text().splitlines()[:2] == ["show tables", "in shop;"]
    assert history.stat().st_mode & 0o077 == 0
    back = "\x10" * (2 if last == "exit\n" else 1)  # Ctrl-P: the line before
    assert "in shop;" in typed(shop, state, f"{back}\n", "exit\n")


def typed(url, state, *keys):
    """What a terminal shows when somebody types at its prompts."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "HBSTORE_URL": url, "XDG_STATE_HOME": str(state), "TERM": "dumb", "COLUMNS": "60"}
    command = [sys.executable, "-m", "hbstore", "sql"]
    running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    waiting = list(keys)
    shown = b""
    try:
        while some := _read(ours):
            shown += some
            if shown.endswith(b"> ") and waiting:
                os.write(ours, waiting.pop(0).encode())
        assert running.wait(60) == 0, shown
    finally:
        running.kill()
        running.wait()
        os.close(ours)
    return shown.decode()


def _read(terminal):
    """What comes next; nothing when nobody is at the other end any more."""
    ready, _, _ = select.select([terminal], [], [], 60)
    assert ready, "nothing comes"
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux's way to say so
        return b""
