"""Expressions that Hive's own classes write select here what Hive's own evaluation says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from hbstore import connect
from hbstore.errors import ExpressionUnreadable
from hbstore.hive_expressions.meaning import meaning_of
from hbstore.hive_expressions.nodes import CallNode, ColumnNode
from hbstore.hive_expressions.reading import read_expression
from hbstore.model.objects import Column, Partition, Table
from tests.hive_expressions.hive import RELEASES, compiled, named_expressions, random_world

EXPRESSIONS = 3_000
GOLDEN = Path(__file__).parent / "golden.json"
SEND_USED = ("4.0", "4.1")
"""Releases whose SHOW PARTITIONS … WHERE sends functions with what they hold once they were used."""

READ = 0.5
"""So much of what is random can be read as a whole at least: some casts, and Hive 2.3's timestamps, cannot."""


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Class paths by release, each made when it is asked for."""
    known = {}

    def path(release):
        if release not in known:
            known[release] = compiled(release, tmp_path_factory.mktemp("classes"))
        return known[release]

    return path


@pytest.mark.parametrize("release", RELEASES)
def test_they_select_what_hive_says(release, paths, tmp_path):
    world = random_world(paths(release), 20261124, EXPRESSIONS, tmp_path)
    assert len(world.expressions) == EXPRESSIONS
    store, table = stored(world)
    columns = dict(zip(table.partition_column_names, table.key_types, strict=True))
    names = {tuple(values): at for at, values in enumerate(world.partitions)}
    seen = Counter()
    wrong = []
    for written in world.expressions:
        if release in SEND_USED:
            assert shape(read_expression(written.used)) == shape(read_expression(written.data)), written.text
        try:
            meaning = meaning_of(read_expression(written.data), columns)
        except ExpressionUnreadable as error:
            seen["class" if "of a class that is not part" in str(error) else "refused"] += 1
            continue
        found = {names[one.values] for one in store.get_partitions_by_filter("d", "t", meaning.tree)}
        expected = {at for at, result in enumerate(written.results) if result == "T"}
        if meaning.unread:
            seen["in parts"] += 1
            if not found >= expected:
                wrong.append(shown(world, written, meaning, found, expected))
            continue
        seen["whole"] += 1
        if "E" not in written.results and found != expected:
            wrong.append(shown(world, written, meaning, found, expected))
    assert not seen["class"]
    assert not wrong, f"{len(wrong)} differ; " + "\n".join(wrong[:20])
    assert seen["whole"] > READ * EXPRESSIONS, seen


@pytest.mark.parametrize("release", RELEASES)
def test_golden_bytes_are_what_hive_writes(release, paths, tmp_path, request):
    named = named_expressions(paths(release), tmp_path)
    golden = json.loads(GOLDEN.read_text())
    if request.config.getoption("--update-golden"):
        golden[release] = named
        GOLDEN.write_text(json.dumps(golden, indent=1) + "\n")
    assert golden[release] == named


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Asia/Tokyo", "x = date '2026-01-02'"),
        ("Asia/Kolkata", "x = date '2026-01-02'"),
        ("America/Los_Angeles", "x = date '2026-01-02'"),
        ("Pacific/Auckland", "x = ?"),
        ("Pacific/Honolulu", "x = ?"),
    ],
)
def test_dates_of_clients_in_other_zones(zone, day, paths, tmp_path):
    written = named_expressions(paths("2.3"), tmp_path, zone)["date 2026-01-02"]
    assert str(read_expression(bytes.fromhex(written))) == day


def shape(node):
    """A node with all that is in it, to compare."""
    if isinstance(node, CallNode):
        return node.function, node.type, tuple(map(shape, node.children))
    return type(node), node.type, node.name if isinstance(node, ColumnNode) else node.value


def stored(world):
    """The partitions in a store; of equal ones, the first."""
    store = connect("memory://")
    store.create_database("d")
    table = Table("d", "t", partition_columns=tuple(Column(*one) for one in world.columns))
    store.create_table(table)
    distinct = {}
    for values in world.partitions:
        distinct.setdefault(tuple(values), Partition(tuple(values)))
    store.add_partitions("d", "t", list(distinct.values()))
    return store, table


def shown(world, written, meaning, found, expected):
    """What differs, for people."""
    at = min(found ^ expected)
    values = ", ".join(f"{name}={one}" for (name, _), one in zip(world.columns, world.partitions[at], strict=True))
    said = f"Hive says {written.results[at]} for {values}"
    return "\n   ".join((written.text, f"as {meaning.tree}", said, written.data.hex()))
