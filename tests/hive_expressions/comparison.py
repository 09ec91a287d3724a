"""What random expressions of Hive's classes select here, beside Hive's own evaluation."""

from __future__ import annotations

from collections import Counter

from hbstore import connect
from hbstore.errors import ExpressionUnreadable
from hbstore.hive_expressions.meaning import meaning_of
from hbstore.hive_expressions.nodes import CallNode, ColumnNode
from hbstore.hive_expressions.reading import read_expression
from hbstore.model.objects import Column, Partition, Table
from tests.hive_expressions.hive import random_world

SEND_USED = ("4.0", "4.1")
"""Releases whose SHOW PARTITIONS … WHERE sends functions with what they hold once they were used."""


def compare(release, path, seed, count, folder):
    """Compare expressions of a release.

    Args:
        release: of Hive.
        path: its class path.
        seed: what decides the expressions and the partitions.
        count: how many expressions.
        folder: where Hive writes them.

    Returns:
        How many were read and how; what differs, as text for people.
    """
    world = random_world(path, seed, count, folder)
    assert len(world.expressions) == count
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
    return seen, wrong


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
