"""Predicates against an evaluation that is written down once more, as simply as can be."""

from hypothesis import given
from hypothesis import strategies as st

from hbstore.rows.predicate import (
    ALWAYS,
    NEVER,
    AllOf,
    AnyOf,
    CellIn,
    CellLike,
    all_of,
    any_of,
    columns_of,
    fold,
    has_like,
    matcher,
)
from tests.rows.strategies import predicates, rows_of_cells


def holds(predicate, cells):
    if isinstance(predicate, CellIn):
        return any(start <= cells[predicate.column] < stop for start, stop in predicate.ranges)
    if isinstance(predicate, CellLike):
        return predicate.matches(cells[predicate.column])
    parts = [holds(child, cells) for child in predicate.children]
    return all(parts) if isinstance(predicate, AllOf) else any(parts)


@given(predicates, rows_of_cells)
def test_matcher(predicate, cells):
    assert matcher(predicate)(cells) == holds(predicate, cells)


@given(st.lists(predicates, max_size=4), rows_of_cells)
def test_all_of_is_the_conjunction(parts, cells):
    assert holds(all_of(parts), cells) == all(holds(part, cells) for part in parts)


@given(st.lists(predicates, max_size=4), rows_of_cells)
def test_any_of_is_the_disjunction(parts, cells):
    assert holds(any_of(parts), cells) == any(holds(part, cells) for part in parts)


@given(st.lists(predicates, max_size=4))
def test_normal_form(parts):
    for found, kind in ((all_of(parts), AllOf), (any_of(parts), AnyOf)):
        if isinstance(found, kind) and found not in (ALWAYS, NEVER):
            assert len(found.children) > 1
            assert not any(isinstance(child, kind) for child in found.children)
            columns = [child.column for child in found.children if isinstance(child, CellIn)]
            assert len(columns) == len(set(columns))


def test_a_leaf_that_is_alone_on_its_column_stays_the_object_that_it_is():
    """Long lists are known by their id: what is below one is planned once, however often it is joined with others."""
    one, other = (CellIn(column, tuple((b"%03d" % at, b"%03d\0" % at) for at in range(100))) for column in (0, 1))
    for join, kind in ((all_of, AllOf), (any_of, AnyOf)):
        assert join([other]) is other
        joined = join([other, one])
        assert isinstance(joined, kind)
        assert [id(child) for child in joined.children] == [id(one), id(other)]


def test_nothing_is_always_and_never():
    assert all_of([]) == ALWAYS
    assert any_of([]) == NEVER
    assert all_of([ALWAYS, NEVER]) == NEVER
    assert any_of([ALWAYS, NEVER]) == ALWAYS
    assert matcher(ALWAYS)([])
    assert not matcher(NEVER)([])


@given(predicates)
def test_columns_and_patterns(predicate):
    leaves = []
    fold(predicate, leaves.append, lambda _: None, lambda _: None)
    assert columns_of(predicate) == {leaf.column for leaf in leaves}
    assert has_like(predicate) == any(isinstance(leaf, CellLike) for leaf in leaves)


def test_deep_trees_need_no_deep_stack():
    predicate = CellIn(0, ((b"a", b"b"),))
    for level in range(50_000):
        leaf = CellIn(1, ((b"c", b"d"),))
        predicate = AnyOf((predicate, leaf)) if level % 2 else AllOf((leaf, predicate))
    assert matcher(predicate)([b"a", b"c"])
    assert not matcher(predicate)([b"a", b"d"])
    assert columns_of(predicate) == {0, 1}
    while not isinstance(predicate, CellIn):  # taking it apart: deallocation of so deep a tree is recursive, too
        predicate = next(
            (child for child in predicate.children if not isinstance(child, CellIn)), predicate.children[0]
        )
