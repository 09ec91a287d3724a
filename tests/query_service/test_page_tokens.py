"""Page tokens: opaque, and only those of a result lead into it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import InvalidInput
from hbstore.query_service.page_tokens import Position

ID = "5f" * 16
POSITIONS = st.builds(Position, st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))


@given(POSITIONS)
def test_tokens_lead_back(position):
    token = position.token(ID)
    assert Position.of_token(token, ID) == position
    assert set(token) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


@given(st.text())
def test_other_texts_are_no_tokens(text):
    with pytest.raises(InvalidInput, match="page token"):
        Position.of_token(text, ID)


@given(POSITIONS, st.integers(0, 27), st.sampled_from("aZ0-_=+ /.\né"))
def test_changed_tokens_are_none(position, at, letter):
    token = position.token(ID)
    for changed in (token[:at] + letter + token[at + 1 :], token[:at] + letter + token[at:], token[:at]):
        if changed != token:
            with pytest.raises(InvalidInput):
                Position.of_token(changed, ID)


def test_a_token_of_another_result_is_none():
    with pytest.raises(InvalidInput):
        Position.of_token(Position(1, 2).token("5e" * 16), ID)
