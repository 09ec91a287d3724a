"""Bytes of Hive's expressions that were changed at random: each string is read, or refused by a named error."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

from hbstore.errors import FilterError
from hbstore.hive_expressions.meaning import meaning_of
from hbstore.hive_expressions.reading import read_expression
from hbstore.keys.row_key import table_prefix
from hbstore.keys.types import parse_type
from hbstore.plans.bind import bind
from hbstore.plans.schema import KeySchema
from hbstore.rows.predicate import matcher
from hbstore.times.clock import Now

GOLDEN = Path(__file__).parents[1] / "hive_expressions" / "golden.json"
COLUMNS = {
    "s": "string",
    "i": "int",
    "v": "string",
    "x": "int",
}
ODD = (0x00, 0x01, 0x7F, 0x80, 0x81, 0xFF)
"""Bytes that mean something at many places: nulls, markers, the longest numbers."""


def read_mutated(random, strings):
    """Read so many strings; what became of them, and the processor time that the slowest took, in seconds."""
    whole = [bytes.fromhex(one) for named in json.loads(GOLDEN.read_text()).values() for one in named.values()]
    schema = KeySchema(table_prefix("d", "t"), tuple(COLUMNS), tuple(map(parse_type, COLUMNS.values())))
    columns = dict(zip(schema.names, schema.types, strict=True))
    seen = Counter()
    slowest = 0.0
    for _ in range(strings):
        data = mutated(random, random.choice(whole), whole)
        began = time.process_time()
        seen[outcome(data, schema, columns)] += 1
        slowest = max(slowest, time.process_time() - began)
    return seen, slowest


def outcome(data, schema, columns):
    """How far a string gets; any other error than a filter's is a failure, and shows the string."""
    try:
        try:
            node = read_expression(data)
        except FilterError:
            return "refused"
        try:
            meaning = meaning_of(node, columns)
        except FilterError:
            return "not read"
        matcher(bind(meaning.tree, schema, Now()))([b"\x01"] * len(columns))
    except BaseException as error:
        error.add_note(f"expression: {data.hex()}")
        raise
    return "in part" if meaning.unread else "read"


def _place(random, data):
    """Where to change something: mostly outside of the long names of classes, in which any change is a refusal."""
    for _ in range(20):
        at = random.randrange(len(data) + 1)
        if not bytes(data[at - 3 : at + 3]).isalpha():
            break
    return at


def mutated(random, data, others):
    """A string with some bytes changed, left out, repeated, or taken from another."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        at = _place(random, changed)
        match random.randrange(6):
            case 0:
                changed[at : at + 1] = bytes((random.randrange(256),))
            case 1:
                changed[at : at + 1] = bytes((random.choice(ODD),))
            case 2:
                del changed[at : at + random.choice((1, 2, 10))]
            case 3:
                changed[at:at] = changed[at : at + random.choice((1, 5, 50))]
            case 4:
                other = random.choice(others)
                begin = random.randrange(len(other))
                changed[at : at + random.choice((0, 5, 50))] = other[begin : begin + random.choice((1, 5, 50))]
            case 5 if at < len(changed):
                changed[at] ^= 1 << random.randrange(8)
    return bytes(changed)
