"""What a search finds of a model, without a browser."""

from __future__ import annotations

import pytest

from hbstore.console.model_search import model_lines
from hbstore.cubes.concepts import DerivedCube
from tests.cubes.small_cube import CUBE, opened

SOME = DerivedCube(name="some", parent="rides", measures=["fare"], dim_attributes=["bike"])


@pytest.mark.parametrize(
    ("words", "fields"),
    [(["some", "bike"], ["bike"]), (["some", "fare"], ["fare"]), (["some"], ["fare"])],
)
def test_derived_cubes_are_found_by_their_measures_and_attributes(words, fields):
    with opened(*CUBE, SOME) as cubes:
        (line,) = model_lines(cubes.store, "shop", words)
        assert (line.name, line.kind, list(line.fields)) == ("some", "derived cube", fields)
