"""Flattened bridge tables: sets in the place of rows, so that no measure counts twice."""

from __future__ import annotations

import pytest

from hbstore.errors import UnsupportedQuery
from tests.cubes.query.payments import FLAT, RANGE, payments

EARLY = {**FLAT, "flatten_early": "true"}


@pytest.fixture(scope="module")
def cubes():
    with payments() as cubes:
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
    assert "SORT_ARRAY(COLLECT_SET(CONCAT(hobby.name, '!'))) AS set 0" in found
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
    ("text", "warned"),
    [
        ("select name, sport.name from users", "a row comes once for each match in sport_0; flatten_bridges gives"),
        ("select name from users where sport.name like 'C%'", "a row comes once for each match in sport_0"),
        ("select count(*) from users where sport.name like 'C%'", "a row counts once for each match in sport_0, so"),
        ("select name, count(sport.name) from users", "a row counts once for each match in sport_0, so"),
        ("select distinct name, sport.name from users", None),
        ("select name from users where sport.name like 'C%' group by name", None),
        ("select count(distinct name) from users where sport.name like 'C%'", None),
        ("select name from users", None),
    ],
)
def test_a_warning_where_rows_of_dimensions_are_multiplied(cubes, text, warned):
    warnings = cubes.rewrite(text).warnings
    assert len(warnings) == (warned is not None)
    assert all(one.startswith(warned) for one in warnings)
    assert flattened(cubes, text.replace("count(sport.name)", "count(*)")).warnings == ()


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
    upper = text.replace("sport.name", "upper(sport.name)")
    for name in ("flatten_early", "lens.cube.query.flatten.bridge.tables.early"):
        assert "TRANSFORM" in cubes.rewrite(upper, options={**FLAT, name: "true"}).sql
        assert cubes.rewrite(upper, options={**FLAT, name: "false"}).sql == flattened(cubes, upper).sql
        assert cubes.rewrite(upper, options={name: "true"}).sql == cubes.rewrite(upper).sql
    with pytest.raises(UnsupportedQuery, match="only by left and inner joins"):
        cubes.rewrite(text, options={**FLAT, "join_type": "full"})


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
