"""The scanner and the grammar say the same."""

from __future__ import annotations

import re

from hypothesis import given

from hbstore.filters.compiler import language
from hbstore.filters.scanner import KEYWORDS, TokenKind, _Kinds
from hbstore.filters.tree import RESERVED
from hbstore.texts.grammars import grammar_text
from tests.filters.strategies import garbage

FAULTS = {TokenKind.UNCLOSED, TokenKind.GLUED, TokenKind.STRAY}


def test_every_kind_is_a_terminal_of_the_grammar():
    terminals = {terminal.name for terminal in language().parser.terminals} | {"LITERALS"}
    assert terminals == {kind.name for kind in TokenKind if kind not in FAULTS}


def test_letters_of_kinds_are_single_and_distinct():
    letters = [kind.value for kind in TokenKind]
    assert all(len(letter) == 1 for letter in letters)
    assert len(set(letters)) == len(letters)


def test_reserved_words_are_the_grammars():
    words = set()
    for name in (kind.name for kind in KEYWORDS):
        found = re.search(rf"^{name}: /\(\?ai:([a-z|]+)\)\\b/$", grammar_text("filter.lark"), re.MULTILINE)
        assert found
        words |= set(found[1].split("|"))
    assert words == RESERVED


@given(garbage)
def test_every_text_can_be_cut(text):
    scanner = language().scanner
    kinds, texts = scanner.cut(text)
    spans = scanner.spans(text)
    assert len(kinds) == len(texts) == len(spans)
    rest = text
    for start, stop in reversed(spans):
        rest = rest[:start] + rest[stop:]
    assert not rest.strip()


@given(garbage)
def test_a_token_has_the_same_kind_alone_as_in_its_filter(text):
    scanner = language().scanner
    for kind, (start, stop) in zip(scanner.cut(text)[0], scanner.spans(text), strict=True):
        assert scanner.cut(text[start:stop])[0] == kind


def test_remembered_words_are_bounded():
    kinds = _Kinds(re.compile("(.+)"), [TokenKind.NAME.value])
    for number in range(10_000):
        assert kinds[f"column{number}"] == TokenKind.NAME
    assert len(kinds) <= 4_096
    assert kinds["x" * 1_000] == TokenKind.NAME
    assert "x" * 1_000 not in kinds


def test_literals_are_not_remembered():
    scanner = language().scanner
    scanner.cut("a = 'only here' and b = 918273645")
    assert "a" in scanner._kinds
    assert "'only here'" not in scanner._kinds
    assert "918273645" not in scanner._kinds
