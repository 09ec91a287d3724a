"""Random expressions, each written twice: as a cube is asked, and what it means of its rows, in DuckDB's SQL.

The text has no brackets but those that Spark needs, and a few more. The meaning has brackets around everything, and
calls the functions of `spark_in_duckdb`. An alias is a name in the text, and all of what it stands for in the meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

TEXT, NUMBER, FLOAT, TRUTH, TIME, DATE = "text", "number", "float", "truth", "time", "date"
OR, AND, NOT, TEST, PIPE, SUM, PRODUCT, UNARY, ATOM = range(9)
"""How strongly the parts of a text hold together."""

WORDS = ("eu", "us", "o'brien", '"x"', "a", "b", "nan", "o'neil", "a\\b", "", 'it\'s "so"', "50%", "--", "`q`")
UNITS = ("year", "quarter", "month", "week", "day", "hour")
FORMATS = ("yyyy", "yyyy-MM", "yyyy-MM-dd", "MM", "yyyy-MM-dd HH:00:00", "E", "MMM yyyy", "dd", "HH")
PARTS = ("year", "quarter", "month", "week", "day", "dow", "doy", "hour")
DAYS = ("MON", "TU", "Sunday", "FRI")


@dataclass(frozen=True, slots=True)
class Term:
    """An expression.

    Attributes:
        text: as a cube is asked.
        meaning: in DuckDB's SQL, of rows or groups.
        kind: of its values.
        level: how strongly the parts of its text hold together.
        constant: whether it names no column.
    """

    text: str
    meaning: str
    kind: str
    level: int = ATOM
    constant: bool = False

    def at(self, level: int) -> str:
        """The text as an operand: in brackets if its parts hold together more weakly."""
        return self.text if self.level >= level else f"({self.text})"


def said(text: str) -> str:
    """A text in DuckDB's SQL."""
    return "'{}'".format(text.replace("'", "''"))


def call(name: str, kind: str, *arguments: Term | str) -> Term:
    """A call of a function of Spark; arguments that are no terms are constant texts."""
    texts = ", ".join(one.text if isinstance(one, Term) else f"'{one}'" for one in arguments)
    meanings = ", ".join(one.meaning if isinstance(one, Term) else f"'{one}'" for one in arguments)
    constant = all(one.constant for one in arguments if isinstance(one, Term))
    return Term(f"{name}({texts})", f"spark_{name}({meanings})", kind, constant=constant)


@dataclass(slots=True)
class Terms:
    """Random terms over some leaves.

    Attributes:
        random: decides all.
        leaves: by kind, the names that terms are made of.
    """

    random: Random
    leaves: Mapping[str, Sequence[Term]] = field(default_factory=dict)

    def of(self, kind: str, depth: int) -> Term:
        """A term of some levels."""
        leaves = self.leaves.get(kind, ())
        if leaves and self.random.random() < (0.15 if depth else 1 if kind not in (TIME, DATE) else 0.3):
            return self.random.choice(leaves)
        made = getattr(self, f"_{kind}")(max(depth, 0))
        return self._bracketed(made) if self.random.random() < 0.08 else made

    def kinds(self) -> list[str]:
        """Kinds of which there can be terms that are not constant."""
        made = {kind for kind, leaves in self.leaves.items() if leaves}
        if made & {TIME, DATE}:
            made |= {TIME, DATE, NUMBER, TEXT}
        return sorted(made | {TRUTH, TEXT, NUMBER}) if made else []

    def varying(self, kind: str, depth: int) -> Term:
        """A term that names something."""
        while (term := self.of(kind, depth)).constant:
            depth = max(depth, 1)
        return term

    # Literals

    def literal(self, kind: str) -> Term:
        """A constant, in one of its spellings."""
        if kind == TEXT:
            return self.text_literal(self.random.choice(WORDS))
        if kind in (NUMBER, FLOAT):
            number = self.random.choice((*range(-3, 12), 50))
            return Term(str(number), f"({number})", kind, ATOM if number >= 0 else UNARY, constant=True)
        if kind == TRUTH:
            return self.random.choice(
                [Term("true", "true", TRUTH, constant=True), Term("false", "false", TRUTH, constant=True)]
            )
        day = f"2015-{self.random.choice(('01-01', '01-05', '01-20', '02-01', '02-10', '03-01'))}"
        if kind == DATE:
            return Term(f"date '{day}'", f"(DATE '{day}')", DATE, constant=True)
        hour = self.random.choice(("00", "00", "06"))
        return Term(f"timestamp '{day} {hour}:00:00'", f"(TIMESTAMP '{day} {hour}:00:00')", TIME, constant=True)

    def text_literal(self, word: str) -> Term:
        """A text, in one of the ways to write it."""
        escaped = word.replace("\\", "\\\\")
        single, double = escaped.replace("'", "''"), escaped.replace('"', '""')
        spellings = [f"'{single}'", f'"{double}"', "'{}'".format(escaped.replace("'", "\\'"))]
        if "'" not in word:
            spellings.append(f"r'{word}'")
        if "b" in word:
            spellings.append("'{}'".format(single.replace("b", "\\u0062")))
        return Term(self.random.choice(spellings), said(word), TEXT, constant=True)

    # Forms of any kind

    def _bracketed(self, term: Term) -> Term:
        return Term(f"({term.text})", term.meaning, term.kind, constant=term.constant)

    def _form(self, kind: str, depth: int) -> Term:
        """A form whose parts have its kind."""
        a, b = self.of(kind, depth - 1), self.of(kind, depth - 1)
        constant = a.constant and b.constant
        which = self.random.randrange(5)
        if which == 0:
            return Term(f"coalesce({a.text}, {b.text})", f"coalesce({a.meaning}, {b.meaning})", kind, constant=constant)
        if which == 1:
            places, at = (a, b, a), self.random.randrange(3)
            texts, meanings = ", ".join(one.text for one in places), ", ".join(one.meaning for one in places)
            return Term(f"array({texts})[{at}]", f"([{meanings}])[{at + 1}]", kind, constant=constant)
        when = self.of(TRUTH, depth - 1)
        constant = constant and when.constant
        meaning = f"(CASE WHEN {when.meaning} THEN {a.meaning} ELSE {b.meaning} END)"
        if which == 2:
            return Term(f"if({when.text}, {a.text}, {b.text})", meaning, kind, constant=constant)
        return Term(f"case when {when.text} then {a.text} else {b.text} end", meaning, kind, constant=constant)

    def _binary(self, kind: str, a: Term, sign: str, b: Term, level: int, meaning: str = "") -> Term:
        text = f"{a.at(level)} {sign} {b.at(level + 1)}"
        meaning = meaning or f"({a.meaning} {sign} {b.meaning})"
        return Term(text, meaning, kind, level, a.constant and b.constant)

    # By kind

    def _text(self, depth: int) -> Term:  # noqa: PLR0911  a form, a branch
        if not depth:
            return self.literal(TEXT)
        which = self.random.randrange(10)
        if which < 3:
            return self._form(TEXT, depth)
        a, b = self.of(TEXT, depth - 1), self.of(TEXT, depth - 1)
        if which == 3:
            return call(self.random.choice(("upper", "lower")), TEXT, a)
        if which == 4:
            return call("concat", TEXT, a, b)
        if which == 5:
            return self._binary(TEXT, a, "||", b, PIPE)
        if which == 6:
            words = [self.text_literal(word) for word in self.random.sample(WORDS, 3)]
            at = self.of(NUMBER, depth - 1)
            texts, meanings = ", ".join(one.text for one in words), ", ".join(one.meaning for one in words)
            index, place = f"pmod(coalesce({at.text}, 0), 3)", f"spark_pmod(coalesce({at.meaning}, 0), 3) + 1"
            return Term(f"array({texts})[{index}]", f"([{meanings}])[{place}]", TEXT, constant=at.constant)
        if which == 7 and self._has_time():
            return self._text_of_time(depth)
        return Term(f"nullif({a.text}, {b.text})", f"nullif({a.meaning}, {b.meaning})", TEXT, constant=a.constant)

    def _number(self, depth: int) -> Term:  # noqa: PLR0911  a form, a branch
        if not depth:
            return self.literal(NUMBER)
        which = self.random.randrange(10)
        if which < 2:
            return self._form(NUMBER, depth)
        if which == 2 and self._has_time():
            return self._number_of_time(depth)
        a, b = self.of(NUMBER, depth - 1), self.of(NUMBER, depth - 1)
        if which == 3:
            minus = "- " if a.text.startswith("-") else "-"
            return Term(f"{minus}{a.at(UNARY)}", f"(- {a.meaning})", NUMBER, UNARY, a.constant)
        if which == 4:
            by = Term(str(number := self.random.choice((2, 3, 7))), str(number), NUMBER, constant=True)
            sign, theirs = self.random.choice((("%", "%"), ("div", "//"), ("*", "*")))
            return self._binary(NUMBER, a, sign, by, PRODUCT, f"({a.meaning} {theirs} {by.meaning})")
        if which == 5:
            return call("length", NUMBER, self.of(TEXT, depth - 1))
        if which == 6:
            text = self.of(TEXT, depth - 1)
            keys = "['eu', 'o''brien']"
            return Term(
                f"map('eu', 3, 'o''brien', 7)[{text.text}]",
                f"(MAP({keys}, [3, 7]))[{text.meaning}]",
                NUMBER,
                constant=text.constant,
            )
        return self._binary(NUMBER, a, self.random.choice("+-"), b, SUM)

    def _float(self, depth: int) -> Term:
        if not depth:
            return self.literal(FLOAT)
        a, b = (self.of(self.random.choice((NUMBER, FLOAT)), depth - 1) for _ in range(2))
        which = self.random.randrange(4)
        if which == 0:
            return self._form(FLOAT, depth)
        if which == 1:
            return self._binary(FLOAT, a, self.random.choice("+-"), b, SUM)
        bottom = Term(f"nullif({b.text}, 0)", f"nullif({b.meaning}, 0)", FLOAT, constant=b.constant)
        return self._binary(FLOAT, a, "/", bottom, PRODUCT)

    def _truth(self, depth: int) -> Term:  # noqa: PLR0911  a form, a branch
        if not depth:
            return self._test(depth)
        which = self.random.randrange(9)
        a, b = self.of(TRUTH, depth - 1), self.of(TRUTH, depth - 1)
        if which == 0:
            return self._binary(TRUTH, a, "or", b, OR)
        if which == 1:
            return self._binary(TRUTH, a, "and", b, AND)
        if which <= 3:
            return Term(f"not {a.at(NOT)}", f"(NOT {a.meaning})", TRUTH, NOT, a.constant)
        if which == 4:
            text, word = self.of(TEXT, depth - 1), self.random.choice(("o'%", "%n%", '%"%', "e_"))
            literal = self.text_literal(word)
            return Term(
                f"{text.at(PIPE)} like {literal.text}",
                f"({text.meaning} LIKE {literal.meaning})",
                TRUTH,
                TEST,
                text.constant,
            )
        if which == 5:
            kind = self.random.choice((TEXT, NUMBER))
            value, others = self.of(kind, depth - 1), [self.literal(kind) for _ in range(self.random.randint(1, 3))]
            no = self.random.choice(("", "not "))
            texts, meanings = ", ".join(one.text for one in others), ", ".join(one.meaning for one in others)
            return Term(
                f"{value.at(PIPE)} {no}in ({texts})",
                f"({value.meaning} {no}IN ({meanings}))",
                TRUTH,
                TEST,
                value.constant,
            )
        if which == 6:
            value, no = self.of(self.random.choice((TEXT, NUMBER, TRUTH)), depth - 1), self.random.choice(("", "not "))
            return Term(f"{value.at(PIPE)} is {no}null", f"({value.meaning} IS {no}NULL)", TRUTH, TEST, value.constant)
        return self._test(depth)

    def _test(self, depth: int) -> Term:
        kinds = [
            TEXT,
            NUMBER,
            *([TIME, DATE] if self._has_time() else []),
            *([FLOAT] if self.leaves.get(FLOAT) else []),
        ]
        kind = self.random.choice(kinds)
        a = self.of(kind, depth - 1)
        b = self.literal(kind) if not depth or self.random.random() < 0.6 else self.of(kind, depth - 1)
        if kind in (TIME, DATE) and b.text.startswith(("date '", "timestamp '")) and self.random.random() < 0.4:
            b = Term(b.text.partition(" ")[2], b.meaning, TEXT, constant=True)  # which Spark reads as a time
        if kind == NUMBER and self.random.random() < 0.2:
            c = self.literal(kind)
            text = f"{a.at(PIPE)} between {b.at(PIPE)} and {c.at(PIPE)}"
            return Term(
                text, f"({a.meaning} BETWEEN {b.meaning} AND {c.meaning})", TRUTH, TEST, a.constant and b.constant
            )
        sign = self.random.choice(
            ("=", "=", "!=", "<", ">", ">=", "<=", "<=>") if kind != TEXT else ("=", "=", "!=", "<=>")
        )
        theirs = "IS NOT DISTINCT FROM" if sign == "<=>" else sign
        text = f"{a.at(PIPE)} {sign} {b.at(PIPE)}"
        return Term(text, f"({a.meaning} {theirs} {b.meaning})", TRUTH, TEST, a.constant and b.constant)

    # Times

    def _has_time(self) -> bool:
        return bool(self.leaves.get(TIME) or self.leaves.get(DATE))

    def _moment(self, depth: int) -> Term:
        """A time or a date."""
        return self.of(self.random.choice((TIME, DATE)), depth)

    def _time(self, depth: int) -> Term:
        if not self._has_time():
            return self.literal(TIME)
        which = self.random.randrange(8) if depth else 0
        if which == 1:
            term = self.of(TIME, depth - 1)
            hours, sign = self.random.choice((6, 24, 240)), self.random.choice("+-")
            text = f"{term.at(SUM)} {sign} interval {hours} hours"
            return Term(text, f"({term.meaning} {sign} to_hours({hours}))", TIME, SUM, term.constant)
        if which == 2:
            zone = self.random.choice(("Asia/Tokyo", "Asia/Kolkata"))
            return call("from_utc_timestamp", TIME, self.of(TIME, depth - 1), zone)
        of = self.leaf_of_time() if not depth else self._moment(depth - 1)
        return call("date_trunc", TIME, self.random.choice((*UNITS, "MM", "WEEK")), of)

    def _date(self, depth: int) -> Term:  # noqa: PLR0911  a form, a branch
        if not self._has_time():
            return self.literal(DATE)
        of = self._moment(depth - 1) if depth else self.leaf_of_time()
        which = self.random.randrange(10)
        if which == 0:
            return Term(f"cast({of.text} as date)", f"CAST({of.meaning} AS DATE)", DATE, constant=of.constant)
        if which == 1:
            return call("last_day", DATE, of)
        if which == 2:
            return call("next_day", DATE, of, self.random.choice(DAYS))
        if which == 3:
            return call(self.random.choice(("date_add", "date_sub")), DATE, of, self._small())
        if which == 4:
            return call("add_months", DATE, of, self._small())
        if which == 5:
            return call("trunc", DATE, of, self.random.choice(("year", "quarter", "MM", "week")))
        if which == 6:
            year, month = call("year", NUMBER, of), call("month", NUMBER, of)
            return call("make_date", DATE, year, month, Term("1", "1", NUMBER, constant=True))
        return call("to_date", DATE, of)

    def _small(self) -> Term:
        number = self.random.choice((1, 2, 3, 7, -1))
        return Term(str(number), f"({number})", NUMBER, constant=True)

    def leaf_of_time(self) -> Term:
        """A name of a time or a date."""
        return self.random.choice([*self.leaves.get(TIME, ()), *self.leaves.get(DATE, ())])

    def _number_of_time(self, depth: int) -> Term:
        of = self._moment(depth - 1)
        which = self.random.randrange(9)
        if which == 0:
            part = self.random.choice(PARTS)
            text = self.random.choice((f"extract({part} from {of.text})", f"date_part('{part}', {of.text})"))
            return Term(text, f"spark_date_part('{part}', {of.meaning})", NUMBER, constant=of.constant)
        if which == 1:
            return call("datediff", NUMBER, of, self._moment(depth - 1))
        if which == 2:
            return call("hour", NUMBER, self.of(TIME, depth - 1))
        names = ("year", "quarter", "month", "day", "dayofmonth", "dayofweek", "weekday", "dayofyear", "weekofyear")
        return call(self.random.choice((*names, "month", "weekofyear", "quarter")), NUMBER, of)

    def _text_of_time(self, depth: int) -> Term:
        of = self._moment(depth - 1)
        which = self.random.randrange(6)
        if which == 0:
            date = self.of(DATE, depth - 1)
            return Term(
                f"cast({date.text} as string)", f"CAST({date.meaning} AS VARCHAR)", TEXT, constant=date.constant
            )
        if which == 1:
            return call(self.random.choice(("dayname", "monthname")), TEXT, of)
        if which == 2:
            return call("from_unixtime", TEXT, call("unix_timestamp", NUMBER, of), self.random.choice(FORMATS))
        if which == 3:
            dash = Term("'-'", "'-'", TEXT, constant=True)
            return call("concat", TEXT, call("year", NUMBER, of), dash, call("month", NUMBER, of))
        return call("date_format", TEXT, of, self.random.choice(FORMATS))
