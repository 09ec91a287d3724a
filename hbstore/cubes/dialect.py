r"""How texts of expressions and queries are read and written: as Spark SQL, with each function as it was written.

sqlglot has classes for some 700 functions of all engines, and writes what Spark calls them. Some lose an argument on
the way, or gain one: ``to_char(12454, '99G999')`` becomes a CAST, ``listagg(a)`` gets a comma between its values. So
only functions that hbstore looks at have classes here. All others are names with arguments, and are written as they
were read. Where Spark 4 reads a text otherwise than sqlglot does, it is read as by Spark: quotes within quotes, the
order of operators, literals with their types, intervals of several parts.

>>> from sqlglot import parse_one
>>> parse_one("instr(lower(a), 'it''s', 1, 2)", dialect=QueryDialect).sql(QueryDialect)
"INSTR(LOWER(a), 'it\\'s', 1, 2)"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.hive import HiveParser
from sqlglot.parsers.spark import SparkParser

LOOKED_AT: Final = (
    *("APPROX_COUNT_DISTINCT", "AVG", "BIT_AND", "BIT_OR", "BOOL_AND", "BOOL_OR", "COLLECT_SET", "COUNT"),
    *("MAX", "MIN", "SUM"),
)
"""Functions that have classes: aggregates that are made from parts, or do not mind how often a value comes."""

_SPELLED: Final = ("CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTR", "SUBSTRING", "TRIM", "TRY_CAST")
"""Functions whose arguments have words between them, such as ``CAST(a AS INT)``."""

_TYPES_OF_LITERALS: Final = frozenset(("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"))
_SIMPLE_TYPES: Final = (
    *(TokenType.BIGINT, TokenType.BINARY, TokenType.BOOLEAN, TokenType.CHAR, TokenType.DATE, TokenType.DECIMAL),
    *(TokenType.DOUBLE, TokenType.FLOAT, TokenType.INT, TokenType.INTERVAL, TokenType.SMALLINT, TokenType.TEXT),
    *(TokenType.TIME, TokenType.TIMESTAMP, TokenType.TIMESTAMPLTZ, TokenType.TIMESTAMPNTZ, TokenType.TIMESTAMPTZ),
    *(TokenType.TINYINT, TokenType.VARCHAR, TokenType.VARIANT),
)
_NESTED_TYPES: Final = (TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT)
_STRINGS: Final = (TokenType.STRING, TokenType.RAW_STRING)
_SHIFTS: Final = (
    (3 * (TokenType.GT,), "SHIFTRIGHTUNSIGNED"),
    (2 * (TokenType.GT,), "SHIFTRIGHT"),
    (2 * (TokenType.LT,), "SHIFTLEFT"),
)
_BITWISE: Final = ((TokenType.PIPE, exp.BitwiseOr), (TokenType.CARET, exp.BitwiseXor), (TokenType.AMP, exp.BitwiseAnd))
"""Operators that bind less than shifts do, the loosest first."""

_QUANTIFIERS: Final = {TokenType.ALL: exp.All, TokenType.ANY: exp.Any, TokenType.SOME: exp.Any}
_LIKES: Final = {TokenType.LIKE: exp.Like, TokenType.ILIKE: exp.ILike}
_COMPARISONS: Final = {**SparkParser.EQUALITY, **SparkParser.COMPARISON}
_INTERVAL_UNITS: Final = frozenset(
    unit + ending
    for unit in ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND")
    for ending in ("", "S")
)
_UNITS_OF_CALLS: Final = frozenset(
    ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
)
_WITH_UNITS: Final = ("DATEADD", "DATE_ADD", "DATEDIFF", "DATE_DIFF", "TIMEDIFF", "TIMESTAMPADD", "TIMESTAMPDIFF")
"""Functions that may have the word for a unit, such as ``DATEADD(MONTH, 1, t)``, before two other arguments."""

_QUANTITY: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
_QUANTITY_AND_UNIT: Final = re.compile(rf"\s*({_QUANTITY.pattern})\s+([A-Za-z]+)\s*")
_LITERAL: Final = "literal"
"""What a cast has in its `args` that was written as a literal of its type, such as ``DATE'2015-01-01'``."""


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A call of a function that has no class.

    >>> call("length", exp.column("a")).sql(QueryDialect)
    'LENGTH(a)'
    """
    return exp.Anonymous(this=name.upper(), expressions=list(arguments))


def _greatest(arguments: Sequence[exp.Expr]) -> exp.Expr:
    return _of_one(exp.Max, arguments)


def _least(arguments: Sequence[exp.Expr]) -> exp.Expr:
    return _of_one(exp.Min, arguments)


def _of_one(kind: type[exp.Func], arguments: Sequence[exp.Expr]) -> exp.Expr:
    """A call of one argument; sqlglot takes it for another function where there are several."""
    if len(arguments) == 1:
        return kind(this=arguments[0])
    return call(kind.sql_name(), *arguments)


class QueryDialect(Spark):
    """Spark SQL in which a function is written as it was read."""

    class Tokenizer(Spark.Tokenizer):
        """Cuts texts as Spark does: texts in a row are one, and a number's last letters are part of it."""

        HEX_STRINGS = [(f"{letter}{quote}", quote) for quote in "'\"" for letter in "Xx"]  # noqa: RUF012

        def tokenize(self, sql: str) -> list[Token]:
            """The tokens of a text."""
            return list(_as_of_spark(sql, super().tokenize(sql)))

    class Parser(SparkParser):
        """Reads functions that hbstore does not look at as names with arguments."""

        FUNCTIONS = {  # noqa: RUF012  as in sqlglot
            **{name: SparkParser.FUNCTIONS[name] for name in LOOKED_AT},
            "MAX": _greatest,
            "MIN": _least,
        }
        FUNCTION_PARSERS = {  # noqa: RUF012
            **{name: SparkParser.FUNCTION_PARSERS[name] for name in _SPELLED},
            "POSITION": lambda self: self._position(),
            "SUBSTR": lambda self: self._substring(),
            "SUBSTRING": lambda self: self._substring(),
            "TRIM": lambda self: self._trim(),
            **{name: partial(lambda self, name: self._with_unit(name), name=name) for name in _WITH_UNITS},
        }
        NO_PAREN_FUNCTION_PARSERS = {  # noqa: RUF012
            name: SparkParser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("CASE", "IF")
        }
        UNARY_PARSERS = {  # noqa: RUF012
            TokenType.TILDE: SparkParser.UNARY_PARSERS[TokenType.TILDE],
            TokenType.PLUS: lambda self: call("POSITIVE", self._parse_unary()),
            TokenType.DASH: lambda self: self._negative(),
        }
        NO_PAREN_FUNCTIONS = {  # noqa: RUF012
            TokenType.CURRENT_DATE: partial(call, "CURRENT_DATE"),
            TokenType.CURRENT_TIMESTAMP: partial(call, "CURRENT_TIMESTAMP"),
            TokenType.CURRENT_USER: partial(call, "CURRENT_USER"),
            TokenType.SESSION_USER: partial(call, "SESSION_USER"),
        }
        RANGE_PARSERS = {  # noqa: RUF012
            **SparkParser.RANGE_PARSERS,
            TokenType.LIKE: lambda self, this: self._like(TokenType.LIKE, this),
            TokenType.ILIKE: lambda self, this: self._like(TokenType.ILIKE, this),
        }
        TERM = {TokenType.DASH: exp.Sub, TokenType.DPIPE: exp.DPipe, TokenType.PLUS: exp.Add}  # noqa: RUF012
        TYPE_TOKENS = {*_SIMPLE_TYPES, *_NESTED_TYPES}  # noqa: RUF012
        ARRAY_CONSTRUCTORS = {}  # noqa: RUF012  array(1, 2)[0] is an element
        STRICT_CAST = True
        BRACKETS = frozenset((TokenType.L_BRACKET,))

        def reset(self) -> None:
            """Begin with other tokens."""
            super().reset()
            self._following: dict[int, TokenType] = {}

        def _parse_equality(self, parse_is: bool = True) -> exp.Expr | None:  # noqa: FBT001, FBT002  as in sqlglot
            """Comparisons, from the left to the right. IN, LIKE and IS bind less than these."""
            if self._match(TokenType.NOT):
                return self.expression(exp.Not(this=self._parse_equality()))
            tree = self._parse_bitwise()
            while self._match_set(_COMPARISONS):
                kind = _COMPARISONS[self._prev.token_type]
                tree = self.expression(kind(this=tree, expression=self._parse_bitwise()))
            return self._predicate(tree) if parse_is else tree

        def _predicate(self, tree: exp.Expr | None) -> exp.Expr | None:
            """One IN, LIKE, BETWEEN or IS at most: Spark reads no second one behind it."""
            negated = self._match(TokenType.NOT)
            if not self._match_set(self.RANGE_PARSERS):
                if negated:
                    self._retreat(self._index - 1)
                return tree
            predicate = self.RANGE_PARSERS[self._prev.token_type](self, tree)
            return self._negate_range(predicate) if negated else predicate

        def _like(self, kind: TokenType, this: exp.Expr) -> Any:
            """What follows LIKE: a pattern, or several of which all are to match, or one."""
            if self._next.token_type is not TokenType.L_PAREN or not self._match_set(_QUANTIFIERS):
                return SparkParser.RANGE_PARSERS[kind](self, this)
            quantifier = _QUANTIFIERS[self._prev.token_type]
            patterns = exp.Tuple(expressions=self._parse_wrapped_csv(self._parse_assignment))
            return self.expression(_LIKES[kind](this=this, expression=quantifier(this=patterns)))

        def _parse_is_rhs(self, distinct: bool = False) -> exp.Expr | None:  # noqa: FBT001, FBT002
            if not distinct and self._match_text_seq("UNKNOWN"):
                return exp.var("UNKNOWN")  # which asks for a boolean, as NULL does not
            return super()._parse_is_rhs(distinct)

        def _parse_bitwise(self) -> exp.Expr | None:
            """Operators in Spark's order: ``a | b & c << d + e || f`` needs no brackets."""
            return self._bitwise(0)

        def _bitwise(self, level: int) -> exp.Expr | None:
            if level == len(_BITWISE):
                return self._shifts()
            tree = self._bitwise(level + 1)
            token, kind = _BITWISE[level]
            while self._match(token):
                tree = self.expression(kind(this=tree, expression=self._bitwise(level + 1)))
            return tree

        def _shifts(self) -> exp.Expr | None:
            tree = self._parse_term()
            while (name := self._shift()) is not None:
                tree = call(name, tree, self._parse_term())  # type: ignore[arg-type]
            return tree

        def _shift(self) -> str | None:
            """The function of the operator that comes next, such as ``<<``; None where none does."""
            for signs, name in _SHIFTS:
                following = self._tokens[self._index : self._index + len(signs)]
                if tuple(one.token_type for one in following) == signs and _adjacent(following):
                    self._advance(len(signs))
                    return name
            return None

        def _parse_unary(self) -> exp.Expr | None:
            tree = super()._parse_unary()
            while self._match(TokenType.COLLATE):
                name = self._parse_id_var()
                tree = self.expression(exp.Collate(this=tree, expression=name and exp.var(name.name)))
            return tree

        def _negative(self) -> exp.Expr | None:
            """What follows a minus; a number's binds more than ``::`` does."""
            is_number = self._curr.token_type is TokenType.NUMBER
            tree = self.expression(exp.Neg(this=self._parse_primary() if is_number else self._parse_unary()))
            return self._parse_column_ops(tree) if is_number else tree

        def _parse_type(self, *arguments: Any, **named: Any) -> exp.Expr | None:
            """An operand; before others a literal with its type, which is no cast: ``DATE'tomorrow'``."""
            kind = self._curr
            if kind.token_type in _SIMPLE_TYPES and kind.token_type is not TokenType.INTERVAL and self._opens():
                call_or_column = self._parse_column()  # date(a); not tried as a type first, for the same reason
                return call_or_column and self._parse_column_ops(call_or_column)
            if kind.token_type not in self.TYPE_TOKENS or kind.token_type is TokenType.INTERVAL:
                return super()._parse_type(*arguments, **named)
            if self._next is None or self._next.token_type is not TokenType.STRING:
                return super()._parse_type(*arguments, **named)
            if kind.text.upper() not in _TYPES_OF_LITERALS:
                self.raise_error("Expected no type before a text")
            to = self._parse_types(check_func=True, allow_identifiers=False)
            literal = exp.Cast(this=self._parse_primary(), to=to)
            literal.set(_LITERAL, True)
            return self._parse_column_ops(literal)

        def _parse_types(self, *arguments: Any, **named: Any) -> exp.Expr | None:
            """A type as it is written; HiveParser makes CHAR and VARCHAR texts."""
            tree = super(HiveParser, self)._parse_types(*arguments, **named)
            words = [token.text.upper() for token in self._tokens[max(0, self._index - 3) : self._index]]
            if isinstance(tree, exp.DataType) and words[1:] == ["TIME", "ZONE"]:
                if words[0] != "WITHOUT":
                    self.raise_error("Expected a type of Spark")
                return exp.DataType(this=exp.DType.TIMESTAMPNTZ)
            return tree

        def _parse_interval(self, *_arguments: Any, **_named: Any) -> Any:
            """``INTERVAL '1' DAY``, ``'1-2' YEAR TO MONTH``, ``'1 day 2 hours'``; ``1 DAY 2 HOURS`` is the last."""
            start = self._index
            if not self._match(TokenType.INTERVAL):
                return None
            negative = self._next.token_type is TokenType.STRING and self._match(TokenType.DASH)
            parts = []
            while (quantity := self._quantity()) is not None:
                has_unit = self._curr.text.upper() in _INTERVAL_UNITS and self._curr.token_type is not TokenType.STRING
                parts.append((quantity, self._parse_var(any_token=True, upper=True) if has_unit else None))
            if not parts or (parts[-1][1] is None and self._prev.token_type is TokenType.NUMBER):
                self._retreat(start)
                return None
            (text, unit), several = parts[0], len(parts) > 1
            if several:
                if negative or any(unit is None or not _QUANTITY.fullmatch(text) for text, unit in parts):
                    self.raise_error("Expected numbers, each with a unit")
                text, unit = " ".join(f"{text} {unit.name}" for text, unit in parts if unit is not None), None
            elif unit is None and (both := _QUANTITY_AND_UNIT.fullmatch(text)) is not None:
                text, unit = both[1], exp.var(both[2].upper())
            elif unit is not None and self._match_text_seq("TO"):
                unit = exp.IntervalSpan(this=unit, expression=self._parse_var(any_token=True, upper=True))
            tree = self.expression(exp.Interval(this=exp.Literal.string(text), unit=unit))
            return self.expression(exp.Neg(this=tree)) if negative else tree

        def _quantity(self) -> str | None:
            """The text or the number, with its sign, that comes next in an interval; None where none does."""
            if self._match(TokenType.STRING):
                return self._prev.text
            start = self._index
            sign = "-" if self._match(TokenType.DASH) else ""
            if not sign:
                self._match(TokenType.PLUS)
            if self._match(TokenType.NUMBER) and _QUANTITY.fullmatch(self._prev.text):
                return f"{sign}{self._prev.text}"
            self._retreat(start)
            return None

        def _parse_at_time_zone(self, this: exp.Expr | None) -> exp.Expr | None:
            """Nothing more: Spark has no AT TIME ZONE."""
            return this

        def _operand_before(self, word: TokenType) -> bool:
            """Whether a word follows the operand that comes next, which is not read yet."""
            start = self._index
            if start not in self._following:  # once for each place, or it would double with each call within another
                self._parse_bitwise()
                self._following[start] = self._curr.token_type
                self._retreat(start)
            return self._following[start] is word

        def _opens(self) -> bool:
            """Whether a bracket follows the next token."""
            return self._next is not None and self._next.token_type is TokenType.L_PAREN

        def _called(self, name: str) -> exp.Anonymous:
            return call(name, *self._parse_csv(self._parse_assignment))

        def _with_unit(self, name: str) -> exp.Anonymous:
            """A call whose first argument of three is a unit, where it is the word for one alone."""
            tree = self._called(name)
            unit = tree.expressions[0] if len(tree.expressions) == 3 else None  # noqa: PLR2004
            if isinstance(unit, exp.Column) and not (unit.table or unit.this.quoted):
                word = unit.name.upper()
                if word in _UNITS_OF_CALLS:
                    unit.replace(exp.var(word))
            return tree

        def _position(self) -> exp.Expr:
            if not self._operand_before(TokenType.IN):
                return self._called("POSITION")
            tree = self._parse_position()
            return call("POSITION", tree.args["substr"], tree.this)

        def _substring(self) -> exp.Expr:
            if not self._operand_before(TokenType.FROM):
                return self._called("SUBSTRING")
            tree = self._parse_substring()
            return call("SUBSTRING", *filter(None, (tree.args.get(name) for name in ("this", "start", "length"))))

        def _trim(self) -> exp.Expr:
            spelled = self._curr.text.upper() in self.TRIM_TYPES or self._operand_before(TokenType.FROM)
            if not spelled:
                return self._called("TRIM")
            tree = self._parse_trim()
            if tree.expression is not None:
                return tree
            names = {"LEADING": "LTRIM", "TRAILING": "RTRIM"}
            return call(names.get(tree.text("position"), "TRIM"), tree.this)

    class Generator(SparkGenerator):
        """Writes what Spark has and sqlglot does not write: the type TIME, digits of a second, literals of a type."""

        SUPPORTS_TEMPORAL_PRECISION = True
        TRANSFORMS = {  # noqa: RUF012
            **SparkGenerator.TRANSFORMS,
            exp.NullSafeEQ: lambda self, node: self.binary(node, "<=>"),
        }
        TYPE_MAPPING = {**SparkGenerator.TYPE_MAPPING, exp.DType.TIME: "TIME"}  # noqa: RUF012

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            """A cast, or a literal that has a type before it."""
            if not expression.args.get(_LITERAL):
                return super().cast_sql(expression, safe_prefix)
            return f"{self.sql(expression, 'to')} {self.sql(expression, 'this')}"


def _as_of_spark(sql: str, tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens that Spark would find.

    Two quotes within a text are one: ``'it''s'``. Other texts in a row are joined: ``'a' "b"``. ``1L``, ``2.5BD`` and
    ``.5`` are numbers, and ``0x1F`` is none.
    """
    at = 0
    while at < len(tokens):
        first = last = tokens[at]
        at += 1
        if first.token_type is TokenType.DOT and _begins_number(sql, first.start):
            last = tokens[at]  # .5
            at += 1
        kind, text = last.token_type, last.text if last is first else f".{last.text}"
        if kind in _STRINGS:
            kind = TokenType.STRING
            while at < len(tokens) and tokens[at].token_type in _STRINGS:
                text, last = f"{text}{_quote_between(sql, last, tokens[at])}{tokens[at].text}", tokens[at]
                at += 1
        elif kind is TokenType.NUMBER and at < len(tokens) and tokens[at].start == last.start:
            at, last = at + 2, tokens[at + 1]  # sqlglot has made it three, as of 1::BIGINT
            text = sql[first.start : last.end + 1]
        elif kind is TokenType.NUMBER and last is not first:
            pass
        elif kind is TokenType.HEX_STRING and sql[first.start] == "0":
            kind, text = TokenType.VAR, sql[first.start : first.end + 1]
        else:
            yield first
            continue
        yield Token(kind, text, last.line, last.col, first.start, last.end, first.comments)


def _begins_number(sql: str, dot: int) -> bool:
    """Whether a dot is the first sign of a number: it has a digit behind it, and no name or bracket before it."""
    return sql[dot + 1 : dot + 2].isdigit() and not re.match(r"[\w`)\]'\"]", sql[dot - 1 : dot])


def _quote_between(sql: str, first: Token, second: Token) -> str:
    """The quote that two texts are the two parts around; empty where they are two texts."""
    quote = sql[first.end]
    plain = first.token_type is TokenType.STRING
    return quote if plain and second.start == first.end + 1 and sql[second.start] == quote else ""


def _adjacent(tokens: Sequence[Token]) -> bool:
    return all(first.end + 1 == second.start for first, second in pairwise(tokens))


def name_of(node: exp.Expr) -> str | None:
    """The name, in lower case, of a function that has no class; None for other nodes.

    >>> name_of(call("instr", exp.column("a")))
    'instr'
    """
    return str(node.this).lower() if isinstance(node, exp.Anonymous) else None
