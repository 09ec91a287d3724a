r"""The patterns of Hive's LIKE and RLIKE.

RLIKE takes Java's regular expressions. The part of them that is read here is regular, so that a text is matched in one
pass over it, with the set of all places in the pattern that may be reached: no text makes a pattern slow. What it is
made of: characters, ``.``, ``[…]``, ``\d \w \s`` and their negations, escaped punctuation, groups, ``|``, ``? * +``,
``{m,n}`` and the anchors ``^`` and ``$``. A pattern with anything else is refused.

>>> parse_rlike("^2013-0[1-3]").matches("2013-02-28")
True
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from hbstore.hive_expressions.refusal import unreadable
from hbstore.like import ONE, RUN, LikePattern, Wildcard
from hbstore.wording import clipped

_ENDS: Final = frozenset("\n\r\x85\u2028\u2029")
"""What Java's ``.`` does not match, and ``$`` may stand before at the end."""

_MAX_STATES: Final = 2_000
_MAX_STEPS: Final = 20_000
"""Parts that are built, with all their repetitions; an empty part takes no place."""

_MAX_GROUPS: Final = 50
_DIGITS: Final = frozenset("0123456789")
_WORD: Final = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_SPACES: Final = frozenset(" \t\n\x0b\f\r")
_CLASSES: Final = {"d": _DIGITS, "w": _WORD, "s": _SPACES}
_COUNTS: Final = {"?": (0, 1), "*": (0, -1), "+": (1, -1)}
_PUNCTUATION: Final = frozenset(r"\.[]{}(*+-?^$|)/_,:;=!<>#%&~@'" + '"' + " ")
_SPECIAL: Final = frozenset("[]{}(*+?^$|)\\.")

Accepts: TypeAlias = Callable[[str], bool]
Part: TypeAlias = "Accepts | _Sequence | _Alternatives | _Repeated"
State: TypeAlias = "tuple[Accepts | None, tuple[int, ...]]"
"""What a place takes (None: nothing), and where it goes on."""


def like_pattern(text: str) -> LikePattern:
    r"""What a LIKE pattern of Hive's means: a backslash takes ``%`` or ``_`` behind it as it is.

    Raises:
        ExpressionUnreadable: two backslashes stand together, which Hive's versions read in different ways.

    >>> like_pattern("a\\_b%").parts
    ('a_b', <Wildcard.RUN: '%'>)
    """
    if "\\\\" in text:
        raise unreadable("a pattern of LIKE has two backslashes one behind the other", pattern=text)
    parts: list[str | Wildcard] = []
    at = 0
    while at < len(text):
        character = text[at]
        if character == "\\" and text[at + 1 : at + 2] in ("%", "_"):
            at += 1
            _append(parts, text[at])
        elif character == "%":
            if not parts or parts[-1] is not RUN:
                parts.append(RUN)
        elif character == "_":
            parts.append(ONE)
        else:
            _append(parts, character)
        at += 1
    return LikePattern(tuple(parts))


def _append(parts: list[str | Wildcard], character: str) -> None:
    if parts and isinstance(parts[-1], str):
        parts[-1] += character
    else:
        parts.append(character)


@dataclass(frozen=True, slots=True, eq=False)
class RegularPattern:
    """A pattern of RLIKE: does any part of a text match it?

    Attributes:
        states: places in the pattern.
        first: where it begins.
    """

    states: tuple[State, ...]
    first: int

    def matches(self, text: str) -> bool:
        """Whether it is found in a text. O(text × pattern)."""
        stops = _dollar_places(text)
        reached: set[int] = set()
        for at in range(len(text) + 1):
            reached.add(self.first)
            places = self._closure(reached, begins=at == 0, ends=at in stops)
            if _END in places:
                return True
            if at == len(text):
                return False
            character = text[at]
            reached = set()
            for place in places:
                accepts, targets = self.states[place]
                if accepts is not None and accepts(character):
                    reached.update(targets)
        return False

    def _closure(self, reached: set[int], *, begins: bool, ends: bool) -> set[int]:
        """All places that can be reached without a character."""
        closure: set[int] = set()
        pending = list(reached)
        while pending:
            place = pending.pop()
            if place in closure:
                continue
            if place == _END:
                closure.add(place)
                continue
            accepts, targets = self.states[place]
            if accepts is _BEGINS or accepts is _ENDS_HERE:
                if begins if accepts is _BEGINS else ends:
                    pending += targets
                continue
            closure.add(place)
            if accepts is None:
                pending += targets
        return closure


_END: Final = -1


def _never(_: str) -> bool:
    return False


def _begins(_: str) -> bool:
    return False


_ENDS_HERE: Final[Accepts] = _never
_BEGINS: Final[Accepts] = _begins


def _any_but_ends(found: str) -> bool:
    return found not in _ENDS


def _dollar_places(text: str) -> frozenset[int]:
    """Where ``$`` holds: at the end, and before what ends the last line."""
    size = len(text)
    if text.endswith("\r\n"):
        return frozenset((size, size - 2))
    return frozenset((size, size - 1)) if text[-1:] in _ENDS and text else frozenset((size,))


def parse_rlike(text: str) -> RegularPattern:
    """The pattern that a text of RLIKE means.

    Raises:
        ExpressionUnreadable: it uses more of Java's patterns than is read here.
    """
    if any("\ud800" <= character <= "\udfff" or character > "\uffff" for character in text):
        raise unreadable("a pattern of RLIKE has characters beyond U+FFFF", pattern=ascii(text))
    parser = _Parser(text)
    part = parser.alternatives()
    if parser.at < len(text):
        raise parser.refused()
    builder = _Builder(text)
    first = builder.build(part, _END)
    return RegularPattern(tuple(builder.states), first)


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class _Alternatives:
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class _Repeated:
    """So many times; a ``high`` of -1 is without end."""

    part: Part
    low: int
    high: int


@dataclass(slots=True)
class _Builder:
    """Makes places of parts, from the end backwards: each part is told where it goes on."""

    text: str
    states: list[State] = field(default_factory=list)
    steps: int = 0

    def build(self, part: Part, end: int) -> int:
        """Where a part begins that goes on at ``end``."""
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise unreadable("a pattern of RLIKE is too long", pattern=clipped(self.text, 80))
        if isinstance(part, _Sequence):
            for one in reversed(part.parts):
                end = self.build(one, end)
            return end
        if isinstance(part, _Alternatives):
            return self._add(None, *[self.build(one, end) for one in part.parts])
        if isinstance(part, _Repeated):
            return self._repeated(part, end)
        return self._add(part, end)

    def _repeated(self, part: _Repeated, end: int) -> int:
        if part.high < 0:
            loop = self._add(None)
            self.states[loop] = (None, (self.build(part.part, loop), end))
            end = loop
        else:
            behind = end
            for _ in range(part.high - part.low):
                end = self._add(None, self.build(part.part, end), behind)
        for _ in range(part.low):
            end = self.build(part.part, end)
        return end

    def _add(self, accepts: Accepts | None, *targets: int) -> int:
        if len(self.states) >= _MAX_STATES:
            raise unreadable("a pattern of RLIKE is too long", pattern=clipped(self.text, 80))
        self.states.append((accepts, targets))
        return len(self.states) - 1


@dataclass(slots=True)
class _Parser:
    """Reads a pattern."""

    text: str
    at: int = 0
    depth: int = 0

    def refused(self) -> Exception:
        """The error of a pattern that uses more."""
        return unreadable("a pattern of RLIKE has a form that hbstore does not read", pattern=self.text, at=self.at)

    def alternatives(self) -> Part:
        """What ``|`` separates."""
        parts = [self.sequence()]
        while self.text[self.at : self.at + 1] == "|":
            self.at += 1
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else _Alternatives(tuple(parts))

    def sequence(self) -> Part:
        """Parts one behind the other."""
        parts: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            is_anchor = self.text[self.at] in "^$"
            part = self.part()
            low, high = self.count()
            if is_anchor and (low, high) != (1, 1):
                raise self.refused()
            parts.append(part if (low, high) == (1, 1) else _Repeated(part, low, high))
        return parts[0] if len(parts) == 1 else _Sequence(tuple(parts))

    def count(self) -> tuple[int, int]:
        """How often the part before may occur."""
        text = self.text
        mark = text[self.at : self.at + 1]
        if mark == "{":
            close = text.find("}", self.at)
            lower, comma, upper = text[self.at + 1 : max(close, 0)].partition(",")
            numbers = [one for one in (lower, upper) if one]
            if not lower or not all(one.isascii() and one.isdigit() and len(one) <= 3 for one in numbers):  # noqa: PLR2004
                raise self.refused()
            low = int(lower)
            high = int(upper) if upper else -1 if comma else low
            if low > high >= 0:
                raise self.refused()
            self.at = close + 1
        elif mark and mark in _COUNTS:
            low, high = _COUNTS[mark]
            self.at += 1
        else:
            return 1, 1
        if text[self.at : self.at + 1] in ("?", "+", "*", "{"):  # lazy, possessive, or twice
            raise self.refused()
        return low, high

    def part(self) -> Part:
        """A character, a class, an anchor or a group."""
        character = self.text[self.at]
        self.at += 1
        if character == "(":
            return self.group()
        if character == "[":
            return self.bracket()
        if character == ".":
            return _any_but_ends
        if character in "^$":
            return _BEGINS if character == "^" else _ENDS_HERE
        if character == "\\":
            return self.escaped()
        if character in _SPECIAL:
            self.at -= 1
            raise self.refused()
        return character.__eq__

    def group(self) -> Part:
        """What stands in parentheses."""
        if self.text[self.at : self.at + 1] == "?":
            if self.text[self.at : self.at + 2] != "?:":
                raise self.refused()
            self.at += 2
        self.depth += 1
        if self.depth > _MAX_GROUPS:
            raise self.refused()
        part = self.alternatives()
        self.depth -= 1
        if self.text[self.at : self.at + 1] != ")":
            raise self.refused()
        self.at += 1
        return part

    def escaped(self) -> Accepts:
        """What a backslash introduces."""
        character = self.text[self.at : self.at + 1]
        self.at += 1
        kind = _CLASSES.get(character.lower()) if character else None
        if kind is not None:
            return kind.__contains__ if character.islower() else lambda found: found not in kind
        if character not in _PUNCTUATION or not character:
            self.at -= 1
            raise self.refused()
        return character.__eq__

    def bracket(self) -> Accepts:
        """A class of characters."""
        text = self.text
        negated = text[self.at : self.at + 1] == "^"
        self.at += negated
        single: set[str] = set()
        ranges: list[tuple[str, str]] = []
        kinds: list[Accepts] = []
        begin = self.at
        while True:
            character = text[self.at : self.at + 1]
            if not character or character in "[&^" or (character == "]" and self.at == begin):
                raise self.refused()
            self.at += 1
            if character == "]":
                break
            if character == "\\":
                following = text[self.at : self.at + 1]
                accepts = self.escaped()
                if following.lower() in _CLASSES:
                    kinds.append(accepts)
                    continue
                character = following
            elif character == "-" and self.at - 1 != begin and text[self.at : self.at + 1] != "]":
                raise self.refused()
            if text[self.at : self.at + 1] == "-" and text[self.at + 1 : self.at + 2] not in ("]", ""):
                last = text[self.at + 1]
                if last in "[&\\^-" or last < character:
                    raise self.refused()
                self.at += 2
                ranges.append((character, last))
            else:
                single.add(character)

        def accepts_one(found: str) -> bool:
            hit = (
                found in single
                or any(low <= found <= high for low, high in ranges)
                or any(kind(found) for kind in kinds)
            )
            return hit is not negated

        return accepts_one
