"""The text of a cube query: the word CUBE, and where mistakes are."""

from __future__ import annotations

import pytest

from hbstore.cubes.query.text import parse_query
from hbstore.errors import CubeSyntaxError


@pytest.mark.parametrize("before", ["", "\n", "-- why\n ", "/* why */ "])
def test_the_place_of_a_mistake_counts_what_stands_before_cube(before):
    with pytest.raises(CubeSyntaxError) as caught:
        parse_query(f"{before}cube select fare\nfrom rides\nwhere a b")
    assert caught.value.fields["line"] == before.count("\n") + 3
    line, caret = caught.value.highlight.splitlines()
    assert line[caret.index("^")] == "b"
