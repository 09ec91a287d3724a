"""One statement of the corpus, what becomes of it, and the words in which the topics write theirs down."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

SLUG = 60


class Kind(Enum):
    """What is compared of a statement, and what it has to be on the embedded metastore for the statement to count."""

    DOES = "succeeds; its rows, if any, in any order"
    ROWS = "at least one row, in any order"
    ORDERED = "at least one row, in this order"
    NONE = "succeeds without a row"
    FAILS = "fails, with the error condition that stands beside it"
    FOLDERS = "the folders below a path, and how many data files are in each"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, not yet part of a topic.

    Attributes:
        kind: what is compared.
        text: SQL, or a path for FOLDERS. ``$WAREHOUSE`` and ``$OUTSIDE`` are two folders of the run.
        condition: Spark's name of the error, for FAILS.
        topic: what it belongs to.
        name: the test's name: topic, place in the topic, and the first words.
    """

    kind: Kind
    text: str
    condition: str | None = None
    topic: str = ""
    name: str = ""


def does(sql):
    return Statement(Kind.DOES, sql)


def rows(sql):
    return Statement(Kind.ROWS, sql)


def ordered(sql):
    return Statement(Kind.ORDERED, sql)


def none(sql):
    return Statement(Kind.NONE, sql)


def fails(condition, sql):
    return Statement(Kind.FAILS, sql, condition)


def folders(path):
    return Statement(Kind.FOLDERS, path)


def topic(name, *statements):
    """The statements of a topic, each with its name."""
    named = []
    for place, one in enumerate(statements, 1):
        words = re.sub(r"[^0-9A-Za-z_$]+", "-", one.text)[:SLUG].strip("-").replace("$", "")
        if one.kind is Kind.FOLDERS:
            words = f"folders-{words}"
        named.append(replace(one, topic=name, name=f"{name}-{place:03d}-{words}"))
    return named
