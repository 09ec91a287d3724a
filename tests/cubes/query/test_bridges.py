"""Flattened bridge tables: sets in the place of rows, so that no measure counts twice."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from random import Random

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from hbstore.errors import InvalidInput, UnsupportedQuery

NOW = dt.datetime(2015, 3, 1, tzinfo=dt.UTC)
MODEL = """
kind: storage
name: lake
---
kind: cube
name: payments
time_dimensions: {paid_at: dt}
measures: [{name: revenue, type: bigint, default_aggregate: sum}]
dim_attributes:
  - {name: paid_at, type: timestamp}
  - {name: user_id, type: int}
  - {name: shop_id, type: int}
  - {name: sport_name, type: string, chain: [{chain: sport, field: name}]}
expressions:
  - name: dated
    type: string
    specs:
      - {expression: sport.name, end_time: 2015-01-01T12:00}
      - {expression: upper(sport.name), start_time: 2015-01-01T12:00}
join_chains:
  - name: sport
    paths: [["payments.user_id = interests.user_id (many)", "interests.sport_id = sports.id"]]
  - name: coach
    paths: [["payments.user_id = interests.user_id (many)", "interests.coach_id = coaches.id"]]
  - {name: tag, paths: [["payments.shop_id = tags.shop_id (many)"]]}
  - {name: payer, paths: [["payments.user_id = users.id"]]}
  - name: hobby
    paths: [["payments.user_id = users.id", "users.id = interests.user_id (many)", "interests.sport_id = sports.id"]]
---
kind: dimension
name: users
dim_attributes: [{name: id, type: int}, {name: name, type: string}]
join_chains:
  - {name: sport, paths: [["users.id = interests.user_id (many)", "interests.sport_id = sports.id"]]}
---
kind: dimension
name: interests
dim_attributes: [{name: user_id, type: int}, {name: sport_id, type: int}, {name: coach_id, type: int}]
---
kind: dimension
name: sports
dim_attributes: [{name: id, type: int}, {name: name, type: string}]
expressions: [{name: loud, type: string, specs: [{expression: "concat(name, '!')"}]}]
---
kind: dimension
name: coaches
dim_attributes: [{name: id, type: int}, {name: name, type: string}]
---
kind: dimension
name: tags
dim_attributes: [{name: shop_id, type: int}, {name: tag, type: string}]
---
kind: fact
name: payments
cube: payments
columns: [{name: user_id, type: int}, {name: shop_id, type: int}, {name: revenue, type: bigint}]
storage_tables:
  - storage: lake
    update_periods: [HOURLY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""
TABLES = {
    "users": "id INT, name STRING",
    "interests": "user_id INT, sport_id INT, coach_id INT",
    "sports": "id INT, name STRING",
    "coaches": "id INT, name STRING",
    "tags": "shop_id INT, tag STRING",
}
RANGE = "time_range_in(paid_at, '2015-01-01', '2015-01-02')"
FLAT = {"flatten_bridges": "true"}
HOUR = "2015-01-01-07"


@pytest.fixture(scope="module")
def cubes():
    with connect("memory://") as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop", lambda: NOW)
        cubes.create_all(parse_documents(MODEL, "yaml"))
        for name, columns in TABLES.items():
            fields = ", ".join(
                f"{{name: {one.split()[0]}, type: {one.split()[1].lower()}}}" for one in columns.split(", ")
            )
            text = f"kind: dimtable\nname: {name}\ndimension: {name}\ncolumns: [{fields}]\n"
            text += "storage_tables: [{storage: lake}]"
            cubes.create_all(parse_documents(text, "yaml"))
        hours = [PartitionDesc("HOURLY", {"dt": f"2015-01-01-{at:02}"}) for at in range(24)]
        cubes.add_partitions("payments", "lake", hours)
        yield cubes


def flattened(cubes, text):
    return cubes.rewrite(text, options=FLAT)


def words(sql):
    return " ".join(sql.split()).replace("`", "").replace("( ", "(").replace(" )", ")")


def joins(cubes, text):
    """What a flattened query has behind the rows of the fact."""
    return words(flattened(cubes, text).sql).partition(" AS payments ")[2]


def test_one_query_as_it_is_written(cubes):
    found = flattened(cubes, f"cube select sport.name, revenue from payments where {RANGE} and sport.name = 'Cricket'")
    hours = ", ".join(f"'2015-01-01-{at:02}'" for at in range(24))
    assert words(found.sql) == (
        "SELECT sport_0.set 0 AS name, SUM(payments.revenue) AS revenue FROM ("
        f"SELECT user_id, revenue FROM shop.lake_payments WHERE dt IN ({hours})) AS payments "
        "LEFT JOIN (SELECT sport_0.user_id AS key, SORT_ARRAY(COLLECT_SET(sport.name)) AS set 0, "
        "BOOL_OR(sport.name = 'Cricket') AS has 1 "
        "FROM (SELECT sport_id, user_id FROM shop.lake_interests) AS sport_0 "
        "LEFT JOIN (SELECT id, name FROM shop.lake_sports) AS sport ON sport_0.sport_id = sport.id "
        "GROUP BY sport_0.user_id) AS sport_0 ON payments.user_id = sport_0.key "
        "WHERE sport_0.has 1 GROUP BY sport_0.set 0"
    )
    assert found.warnings == ()
    assert found.reads.keys() == {"lake_payments", "lake_interests", "lake_sports"}


def test_chains_that_share_the_way_share_the_subquery(cubes):
    text = f"select sport.name, coach.name, tag.tag, revenue from payments where {RANGE} order by sport.name"
    found = joins(cubes, text)
    assert found.count("GROUP BY") == 3
    assert found.count("lake_interests") == 1
    assert "ORDER BY sport_0.set 0" in found


def test_a_bridge_behind_a_dimension(cubes):
    found = joins(cubes, f"select payer.name, hobby.loud, revenue from payments where {RANGE}")
    assert found.startswith("LEFT JOIN (SELECT id, name FROM shop.lake_users) AS payer ON payments.user_id = payer.id")
    assert "SORT_ARRAY(COLLECT_SET((CONCAT(hobby.name, '!')))) AS set 0" in found
    assert "AS hobby_1 ON payer.id = hobby_1.key" in found


def test_inner_joins_are_inner_in_bridges_too(cubes):
    text = f"select sport.name, revenue from payments where {RANGE}"
    found = cubes.rewrite(text, options={**FLAT, "join_type": "inner"}).sql
    assert (found.count("INNER JOIN"), found.count("LEFT JOIN")) == (2, 0)


def test_without_a_bridge_nothing_changes(cubes):
    text = f"select payer.name, revenue from payments where {RANGE}"
    assert flattened(cubes, text).sql == cubes.rewrite(text).sql


def test_a_filter_alone_multiplies_rows_with_a_warning_or_is_flattened(cubes):
    text = f"select revenue from payments where {RANGE} and sport.name in ('Cricket', 'Football')"
    (warning,) = cubes.rewrite(text).warnings
    assert warning.startswith("a row counts once for each match in sport_0")
    assert flattened(cubes, text).warnings == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("select count(distinct sport.name) from payments where {}", "an aggregate looks at a field behind"),
        ("select sum(case when sport.name = 'a' then revenue end) from payments where {}", "an aggregate looks"),
        ("select concat(payer.name, sport.name), revenue from payments where {}", "and others"),
        ("select concat(tag.tag, sport.name), revenue from payments where {}", "and others"),
        ("select revenue from payments where {} and sport.id = user_id", "and others"),
        ("select revenue from payments where {} and sport.name = tag.tag", "and others"),
        ("select dated, revenue from payments where {}", "and others"),
        ("select sport.name, revenue from payments where {} having sport.name = 'a'", "HAVING names a field"),
        ("select s.name, revenue from payments p join sports s on sport.id = s.id where {}", "ON names a field"),
    ],
)
def test_what_sets_cannot_answer_is_refused(cubes, text, says):
    with pytest.raises(UnsupportedQuery, match=says) as caught:
        flattened(cubes, text.format(RANGE))
    assert caught.value.hint
    assert caught.value.highlight
    assert cubes.rewrite(text.format(RANGE)).sql


def test_an_expression_that_is_not_grouped_by_is_named(cubes):
    text = f"select upper(sport.name), revenue from payments where {RANGE} group by sport.id"
    with pytest.raises(UnsupportedQuery, match="neither aggregated nor grouped by") as caught:
        flattened(cubes, text)
    assert caught.value.fields["field"] == "UPPER(`sport`.`name`)"


def test_options(cubes):
    text = f"select sport.name, revenue from payments where {RANGE}"
    for name in ("flatten_bridges", "lens.cube.query.enable.flattening.bridge.tables"):
        assert "COLLECT_SET" in cubes.rewrite(text, options={name: "true"}).sql
        assert "COLLECT_SET" not in cubes.rewrite(text, options={name: "false"}).sql
    allowed = {
        "lens.cube.query.bridge.table.field.aggregator": "collect_set",
    }
    assert cubes.rewrite(text, options={**allowed, **FLAT}).sql == flattened(cubes, text).sql
    upper = text.replace("sport.name", "upper(sport.name)")
    for name in ("flatten_early", "lens.cube.query.flatten.bridge.tables.early"):
        assert "TRANSFORM" in cubes.rewrite(upper, options={**FLAT, name: "true"}).sql
        assert cubes.rewrite(upper, options={**FLAT, name: "false"}).sql == flattened(cubes, upper).sql
        assert cubes.rewrite(upper, options={name: "true"}).sql == cubes.rewrite(upper).sql
    with pytest.raises(InvalidInput, match="become sets"):
        cubes.rewrite(text, options={"lens.cube.query.bridge.table.field.aggregator": "collect_list"})
    with pytest.raises(UnsupportedQuery, match="only by left and inner joins"):
        cubes.rewrite(text, options={**FLAT, "join_type": "full"})


EARLY = {**FLAT, "flatten_early": "true"}


def test_one_early_query_as_it_is_written(cubes):
    text = f"cube select upper(sport.name), revenue from payments where {RANGE} and sport.name like 'C%'"
    found = words(cubes.rewrite(text, options=EARLY).sql)
    assert found.startswith("SELECT TRANSFORM(sport_0.set 0, one value -> UPPER(one value)) AS UPPER(sport.name), SUM(")
    assert (
        "LEFT JOIN (SELECT sport_0.user_id AS key, SORT_ARRAY(COLLECT_SET(sport.name)) AS set 0 "
        "FROM (SELECT sport_id, user_id FROM shop.lake_interests) AS sport_0"
    ) in found
    assert (
        "WHERE CASE WHEN SIZE(FILTER(sport_0.set 0, one value -> one value LIKE 'C%')) > 0 THEN TRUE "
        "WHEN SIZE(FILTER(sport_0.set 0, one value -> NOT (one value LIKE 'C%'))) > 0 THEN FALSE END "
        "GROUP BY TRANSFORM(sport_0.set 0, one value -> UPPER(one value))"
    ) in found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("select count(distinct sport.name) from payments where {}", "an aggregate looks at a field behind"),
        ("select concat(coach.name, sport.name), revenue from payments where {}", "sets keep no pairs"),
        ("select revenue from payments where {} and coach.name = sport.name", "sets keep no pairs"),
        ("select sport.id + revenue from payments where {}", "and a measure"),
        ("select revenue from payments where {} and sport.id > revenue", "and a measure"),
        ("select concat(tag.tag, sport.name), revenue from payments where {}", "and others"),
        ("select revenue from payments where {} and sport.name = tag.tag", "and others"),
        ("select sport.name, revenue from payments where {} having sport.name = 'a'", "HAVING names a field"),
    ],
)
def test_what_sets_of_fields_cannot_answer_is_refused(cubes, text, says):
    with pytest.raises(UnsupportedQuery, match=says) as caught:
        cubes.rewrite(text.format(RANGE), options=EARLY)
    assert caught.value.hint
    assert caught.value.highlight


@pytest.mark.parametrize(
    "call",
    [
        *("size({})", "cardinality({})", "array_contains({}, 'a')", "array_join({}, ',')", "array_max({})"),
        *("array_min({})", "array_position({}, 'a')", "array_distinct({})", "sort_array({})", "slice({}, 1, 2)"),
        *("element_at({}, 1)", "filter({}, x -> x > 'a')", "transform({}, x -> upper(x))", "concat_ws(',', {})"),
        *("exists({}, x -> x > 'a')", "forall({}, x -> x > 'a')", "(size(({})) + 1)"),
    ],
)
def test_functions_of_arrays_get_the_whole_set(cubes, call):
    item = call.format("sport.name")
    text = f"select {item}, revenue from payments where {RANGE} and {item} = 'a'"
    found = words(cubes.rewrite(text, options=EARLY).sql)
    assert "one value" not in found
    assert found.count("sport_0.set 0") == 3
    each = words(cubes.rewrite(text.replace("sport.name", "upper(sport.name)"), options=EARLY).sql)
    assert each.count("UPPER(one value)") == each.count("TRANSFORM(sport_0.set 0, one value -> ") == 3


# Answers, beside a plain computation. A user's rows of the bridge are dicts; None in the place of a value is NULL.


def _shout(name):
    return None if name is None else f"{name}!"


ITEMS = {
    "sport.name": lambda row: row["sport"],
    "sport_name": lambda row: row["sport"],
    "sport.loud": lambda row: _shout(row["sport"]),
    "coach.name": lambda row: row["coach"],
    "concat(coach.name, sport.name)": lambda row: (
        None if None in (row["coach"], row["sport"]) else row["coach"] + row["sport"]
    ),
    "coalesce(sport.name, 'none')": lambda row: row["sport"] or "none",
    "hobby.name": lambda row: row["sport"],
}


def _has(holds, field="sport"):
    """Whether one of the values holds; None where there is no value."""

    def truth(rows):
        values = [row[field] for row in rows or () if row[field] is not None]
        return any(map(holds, values)) if values else None

    return truth


def _not(truth):
    def negated(rows):
        found = truth(rows)
        return None if found is None else not found

    return negated


def _both(one, other):
    return lambda rows: one(rows) is True and other(rows) is True


CONDITIONS = {
    "sport.name = 'a'": _has(lambda one: one == "a"),
    "sport.name != 'a'": _not(_has(lambda one: one == "a")),
    "not (sport.name != 'a')": _has(lambda one: one == "a"),
    "not sport.name = 'a'": _not(_has(lambda one: one == "a")),
    "sport.name in ('a', 'b')": _has(lambda one: one in ("a", "b")),
    "sport.name not in ('a', 'b')": _not(_has(lambda one: one in ("a", "b"))),
    "sport.name like 'a%'": _has(lambda one: one.startswith("a")),
    "sport.name not like 'a%'": _not(_has(lambda one: one.startswith("a"))),
    "sport.name > 'b'": _has(lambda one: one > "b"),
    "sport.name between 'b' and 'c'": _has(lambda one: "b" <= one <= "c"),
    "upper(sport.name) = 'B'": _has(lambda one: one == "b"),
    "sport.name is null": lambda rows: not any(row["sport"] for row in rows or ()),
    "sport.name is not null": lambda rows: any(row["sport"] for row in rows or ()),
    "sport.name = 'a' and sport.name = 'b'": _both(_has(lambda one: one == "a"), _has(lambda one: one == "b")),
    "sport.name = 'a' and coach.name <> 'x'": _both(
        _has(lambda one: one == "a"), _not(_has(lambda one: one == "x", "coach"))
    ),
    "true": lambda _: True,
}


def _names(rows, field="sport"):
    """The set of a field's values, sorted."""
    return None if rows is None else sorted({row[field] for row in rows} - {None})


def _of_each(function):
    """What early flattening makes of a function of one sport and of who pays, u0 or none."""

    def values(rows, user):
        return None if rows is None else tuple(function(one, user) for one in _names(rows))

    return values


EARLY_ITEMS = {
    "sport.name": _of_each(lambda one, _: one),
    "sport.loud": _of_each(lambda one, _: f"{one}!"),
    "left(sport.name, 1)": _of_each(lambda one, _: one[:1]),
    "nullif(sport.name, 'b')": _of_each(lambda one, _: None if one == "b" else one),
    "coalesce(sport.name, 'none')": _of_each(lambda one, _: one),
    "sport.name = 'a'": _of_each(lambda one, _: one == "a"),
    "concat(sport.name, coalesce(payer.name, '?'))": _of_each(lambda one, user: one + (user or "?")),
    "array_join(sport.name, '+')": lambda rows, _: None if rows is None else "+".join(_names(rows)),
    "upper(array_join(left(sport.name, 1), ''))": lambda rows, _: (
        None if rows is None else "".join(one[:1] for one in _names(rows)).upper()
    ),
    "array_max(sport.name)": lambda rows, _: (_names(rows) or [None])[-1] if rows else None,
    "hobby.name": _of_each(lambda one, _: one),
}
EARLY_CONDITIONS = {
    **CONDITIONS,
    "array_contains(sport.name, 'a')": lambda rows: rows is not None and "a" in _names(rows),
    "array_join(sport.name, '') = 'aab'": lambda rows: rows is not None and _names(rows) == ["a", "ab"],
    "not (nullif(sport.name, 'a') = 'b')": lambda rows: _not(_has(lambda one: one == "b"))(
        [row for row in rows or () if row["sport"] != "a"]
    ),
}


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_answers_are_those_of_the_sets(cubes, seed, early):
    random = Random(seed)
    data, payments = _data(random)
    items, conditions = (EARLY_ITEMS, EARLY_CONDITIONS) if early else (ITEMS, CONDITIONS)
    with duckdb.connect() as db:
        _fill(db, data, payments)
        for _ in range(12):
            item, condition = random.choice(list(items)), random.choice(list(conditions))
            inner = random.random() < 0.3
            # The item and the condition look at one bridge, but for that of the chain hobby.
            bridges = (item, condition) if item.startswith("hobby") else (item + condition,) * 2
            text = f"select {item}, revenue from payments where {RANGE} and ({condition})"
            expected = defaultdict(int)
            for user, revenue in payments:
                rows, others = (_rows(data, user, one, inner=inner) for one in bridges)
                payer = dict(data["users"]).get(user)
                if inner and (rows is None or (others is None and condition != "true")):
                    continue
                if inner and "payer" in item and payer is None:
                    continue
                if conditions[condition](others) is True:
                    values = items[item](rows, payer) if early else _late(rows, items[item])
                    expected[values] += revenue
            options = {**FLAT, "join_type": "inner" if inner else "left", "flatten_early": str(early)}
            found = cubes.rewrite(text, options=options)
            assert _run(db, found.sql) == dict(expected), (text, inner)


def _late(rows, value):
    return None if rows is None else tuple(sorted({value(row) for row in rows} - {None}))


def _data(random):
    names = [(1, "a"), (2, "b"), (3, "c"), (4, "ab"), (5, None)]
    users = [(at, f"u{at}") for at in range(4)]
    # Sport 6 and coach 9 have no row. Users 4 and 5 have none in the bridge and are none.
    interests = [
        (random.randrange(4), random.choice([1, 2, 3, 4, 5, 6, None]), random.choice([1, 2, 9, None]))
        for _ in range(random.randrange(10))
    ]
    data = {"users": users, "interests": interests, "sports": names, "coaches": [(1, "x"), (2, "y")], "tags": []}
    return data, [(random.choice([0, 1, 2, 3, 4, 5, None]), random.randrange(100)) for _ in range(20)]


def _rows(data, user, text, *, inner):
    """The rows of the bridge of some expressions that a payment meets; None where there is none."""
    if "hobby" in text and user not in dict(data["users"]):
        return None
    sports, coaches = dict(data["sports"]), dict(data["coaches"])
    found = [
        {"sport": sports.get(sport), "coach": coaches.get(coach)}
        for one, sport, coach in data["interests"]
        if user is not None
        and one == user
        and not (inner and ("sport" in text or "hobby" in text) and sport not in sports)
        and not (inner and "coach" in text and coach not in coaches)
    ]
    return found or None


def _fill(db, data, payments):
    db.execute("CREATE SCHEMA shop")
    db.execute("CREATE TABLE shop.lake_payments (user_id INT, revenue BIGINT, dt STRING)")
    db.executemany(f"INSERT INTO shop.lake_payments VALUES (?, ?, '{HOUR}')", payments)
    for name, columns in TABLES.items():
        db.execute(f"CREATE TABLE shop.lake_{name} ({columns})")
        if data[name]:
            places = ", ".join("?" for _ in data[name][0])
            db.executemany(f"INSERT INTO shop.lake_{name} VALUES ({places})", data[name])


def _run(db, spark_sql):
    """Revenue by set. A set without values is an empty one in Spark, and NULL in DuckDB."""

    def filled(node):
        if isinstance(node, exp.ArraySort):
            return exp.Coalesce(this=node.copy(), expressions=[exp.array()])
        return node

    tree = sqlglot.parse_one(spark_sql, dialect="spark").transform(filled)
    found = db.execute(tree.sql("duckdb")).fetchall()
    made = {tuple(one) if isinstance(one, list) else one: revenue for one, revenue in found}
    assert len(made) == len(found)
    return made
