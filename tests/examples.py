"""Which examples in docstrings need Spark: those that use the name `spark`. tests/spark/test_examples.py defines it."""

from __future__ import annotations

import doctest
import re

_SPARK = re.compile(r"(?<![.\w])spark\b")


def needs_spark(examples: list[doctest.Example]) -> bool:
    """Whether one of some examples uses Spark.

    >>> needs_spark(doctest.DocTestParser().get_examples(">>> spark.range(5)"))
    True
    >>> needs_spark(doctest.DocTestParser().get_examples(">>> from hbstore.spark import PrunedRead"))
    False
    """
    return any(_SPARK.search(example.source) for example in examples)
