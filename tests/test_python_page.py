"""What docs/python.md shows is so."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import hbstore

PAGE = Path(__file__).parents[1] / "docs" / "python.md"


def test_the_examples_are_real():
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 25
    assert not result.failed


def test_methods_that_the_page_names_are_there():
    text = PAGE.read_text()
    for owner, cls in (("store", hbstore.PartitionStore), ("sales", hbstore.TableHandle)):
        for name in re.findall(rf"`{owner}\.(\w+)\(", text):
            assert hasattr(cls, name), name
    for name in re.findall(r"`(between|like|startswith|is_null|in_time_range)`", text):
        assert hasattr(hbstore.col("ds"), name), name
