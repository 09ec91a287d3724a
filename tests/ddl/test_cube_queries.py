"""Cube queries among other statements: where each ends, in which order they are run, and places of errors."""

from __future__ import annotations

import pytest

from hbstore import connect
from hbstore.cubes import Cubes
from hbstore.ddl import Result, Session, execute, parse_statements
from hbstore.ddl.parser import parse_script
from hbstore.ddl.statements import CubeQuery, ShowDatabases, UseDatabase
from hbstore.errors import (
    CubeSyntaxError,
    DdlSyntaxError,
    HbstoreError,
    NeedsSpark,
    TimeRangeSyntaxError,
    UnknownField,
    UnsupportedQuery,
)
from tests.cubes.small_cube import MODEL

JANUARY = "time_range_in(start_time, '2015-01-10', '2015-01-12')"


@pytest.fixture
def store():
    with connect("memory://") as store:
        store.create_database("shop")
        store.create_database("default")
        Cubes(store, "shop").create_all(MODEL)
        yield store


def asked(store):
    """A session whose queries are rewritten, and what it was asked."""
    seen = []

    def ask(query, database):
        seen.append((database, query.text))
        return Result(query, ("sql",), ((Cubes(store, database).rewrite(query.text, partial=True).sql,),))

    return Session(store, ask=ask), seen


@pytest.mark.parametrize(
    "query",
    [
        "cube select a from b",
        "CUBE  SELECT a FROM b",
        "cube\n-- it's; not the end\nselect a from b",
        "cube /* it's; not the end */ select/**/a from b",
        "cube select ';' || \";\" || 'it\\'s;' || \"\\\";\" from b",
        "cube select r'\\' || R\"\\\" from b",
        "cube select `a;b` from b -- it's; not the end",
        "cube select a - b / c from b /* ; ' */ where d = 1",
        "cube select bar from b where bar = 'x;'",
    ],
)
def test_a_query_ends_at_the_semicolon_behind_it(query):
    text = f" use a ;; {query}\n; show databases"
    assert parse_statements(text) == [UseDatabase("a"), CubeQuery(query), ShowDatabases(None)]
    assert parse_script(text) == [
        (UseDatabase("a"), "use a"),
        (CubeQuery(query), query),
        (ShowDatabases(None), "show databases"),
    ]
    (statement,) = parse_statements(f"-- first\n{query}\n;")
    assert statement.text == query


@pytest.mark.parametrize("text", ["cube", "cubeselect a from b", "cube selected", "cube -- select a from b", "cube;"])
def test_what_only_looks_like_a_query_is_none(text):
    with pytest.raises(DdlSyntaxError, match="CUBE SELECT") as caught:
        parse_statements(text)
    assert caught.value.fields["line"] == 1


def test_statements_before_a_query_take_effect_first(store):
    session, seen = asked(store)
    query = f"cube select minutes from rides where {JANUARY}"
    results = list(session.run(f"use shop; {query} ; show tables; use default"))
    assert seen == [("shop", query)]
    assert [str(one.statement) for one in results] == ["USE shop", query, "SHOW TABLES", "USE default"]
    assert "lake_daily" in results[1].rows[0][0]
    with pytest.raises(HbstoreError, match="no such cube or dimension"):
        list(session.run(query))  # of the database default again


def test_nothing_is_done_of_a_text_whose_query_does_not_parse(store):
    session, seen = asked(store)
    for wrong, error in (("frm rides", CubeSyntaxError), ("from (select 1)", UnsupportedQuery)):
        with pytest.raises(error):
            list(session.run(f"use shop; cube select minutes {wrong}; show tables"))
    assert session.database == "default"
    assert seen == []


@pytest.mark.parametrize(
    ("query", "error", "at"),
    [
        (f"cube select minutes,\n  nope from rides where {JANUARY}", UnknownField, "nope"),
        (f"cube select minutes, nope from rides where {JANUARY}", UnknownField, "nope"),
        (f"cube select minutes frm rides where {JANUARY}", CubeSyntaxError, "rides"),
        (f"cube select minutes + sum(max(fare)) from rides where {JANUARY}", UnsupportedQuery, "max"),
        (f"cube select fare from rides where {JANUARY} options (a b)", CubeSyntaxError, "a b"),
        ("cube select fare\n from rides where bike = 'a", CubeSyntaxError, "'a"),
        ("cube select fare from rides\nwhere time_range_in(start_time, 'soon')", TimeRangeSyntaxError, "soon"),
    ],
)
@pytest.mark.parametrize("before", ["", "use shop;", "use shop; -- größe\n\tshow tables; "])
def test_errors_of_queries_have_their_places_in_the_whole_text(store, query, error, at, before):
    session, _ = asked(store)
    session.database = "shop"
    text = f"{before}{query}; use default"
    with pytest.raises(error) as caught:
        list(session.run(text))
    offset = text.index(at)
    line = text.count("\n", 0, offset) + 1
    assert (caught.value.fields["line"], caught.value.fields["column"]) == (line, offset - text.rfind("\n", 0, offset))
    shown, caret = caught.value.highlight.split("\n")
    assert shown.strip("…") in text.split("\n")[line - 1].replace("\t", " ")  # long lines are cut
    assert shown[caret.index("^") :].startswith(at)


def test_an_error_says_that_the_statements_before_were_run(store):
    session, _ = asked(store)
    with pytest.raises(UnknownField) as caught:
        list(session.run(f"use shop; cube select nope from rides where {JANUARY}"))
    assert caught.value.__notes__ == ["statement 2 of 2: hbstore ran the statements before it"]
    assert session.database == "shop"


def test_without_spark_a_query_is_refused_by_name(store):
    with pytest.raises(NeedsSpark, match="only Spark can answer a cube query") as caught:
        execute(store, f"use shop; cube select minutes from rides where {JANUARY}")
    assert "hbstore query run" in caught.value.hint
