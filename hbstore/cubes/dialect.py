r"""How texts of queries are read and written: as Spark SQL, with each function as it was written.

sqlglot reads the clauses, and hbstore their tokens and their expressions: as Spark 4 does, where sqlglot reads
otherwise, and nothing that Spark does not have.

>>> from sqlglot import parse_one
>>> parse_one("instr(lower(a), 'it''s', 1, 2)", dialect=QueryDialect).sql(QueryDialect)
"INSTR(LOWER(a), 'it\\'s', 1, 2)"
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.spark import SparkParser

from hbstore.cubes.expression_reader import ExpressionReader
from hbstore.cubes.spark_literals import LITERAL
from hbstore.cubes.spark_operators import SHIFTS, Positive
from hbstore.cubes.spark_tokens import SparkTokenizer
from hbstore.cubes.token_cursor import TokenCursor

_Tree = TypeVar("_Tree", bound=exp.Expr)
_NO_EXPRESSION: Final = frozenset(
    [
        *(TokenType.COMMA, TokenType.R_PAREN, TokenType.SEMICOLON, TokenType.SENTINEL),
        *(TokenType.FROM, TokenType.SELECT, TokenType.VALUES, TokenType.WITH),
    ]
)
"""What comes next where sqlglot asks for one expression more than there are, or for one in place of a query."""


class QueryDialect(Spark):
    """Spark SQL in which a function is written as it was read."""

    Tokenizer = SparkTokenizer

    class Parser(SparkParser):
        """Reads the clauses of queries; an ExpressionReader reads the expressions within them."""

        def _parse_disjunction(self) -> exp.Expr | None:
            """The next expression; None where a clause ends, as sqlglot asks for one more."""
            if self._curr.token_type in _NO_EXPRESSION:
                return None
            return self._read(ExpressionReader.expression)

        def _parse_assignment(self) -> exp.Expr | None:
            return self._parse_disjunction()

        def _parse_ordered(self, _parse_method: object = None) -> exp.Ordered | None:
            return None if self._curr.token_type in _NO_EXPRESSION else self._read(ExpressionReader.sort_item)

        def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
            if self._prev.token_type is TokenType.ALIAS:  # sqlglot has read SELECT AS, of which BigQuery has STRUCT
                self._retreat(self._index - 1)
                self.raise_error("Expected an expression")
            return super()._parse_projections()

        def _parse_csv(self, parse_method: Callable[[], Any], sep: TokenType = TokenType.COMMA) -> list[Any]:
            """What is between commas. sqlglot lets nothing stand there."""
            items = [parse_method()]
            while self._match(sep):
                if items[-1] is None:
                    self.raise_error("Expected an expression", self._prev)
                items.append(parse_method())
            if len(items) > 1 and items[-1] is None:
                self.raise_error("Expected an expression")
            return [item for item in items if item is not None]

        def query(self, at: int) -> tuple[exp.Expr | None, int]:
            """The query that begins at a token, and the number of the token behind it."""
            self._go_to(at)
            return self._parse_select(), self._index

        def window(self, call: exp.Expr, at: int) -> tuple[exp.Expr, int]:
            """A call with its OVER (…), and the number of the token behind that."""
            self._go_to(at)
            return self._parse_window(call) or call, self._index

        def _read(self, part: Callable[[ExpressionReader], _Tree]) -> _Tree:
            reader = ExpressionReader(TokenCursor(self._tokens, self._index, self.raise_error), self)
            tree = part(reader)
            self._go_to(reader.cursor.at)
            return tree

        def _go_to(self, at: int) -> None:
            self._advance(at - self._index)

    class Generator(SparkGenerator):
        """Writes what Spark has and sqlglot does not write: some types, digits of a second, literals of a type."""

        SUPPORTS_TEMPORAL_PRECISION = True
        TRANSFORMS = {  # noqa: RUF012  as in sqlglot
            **SparkGenerator.TRANSFORMS,
            exp.Select: lambda self, node: self.select_sql(node),  # as it is: no clause of another engine is in it
            exp.NullSafeEQ: lambda self, node: self.binary(node, "<=>"),
            Positive: lambda self, node: f"+{self.sql(node, 'this')}",
            **{
                kind: partial(lambda self, node, sign: self.binary(node, sign), sign=sign)
                for sign, kind in SHIFTS.items()
            },
        }
        EXPRESSIONS_WITHOUT_NESTED_CTES = set[type[exp.Expr]]()  # noqa: RUF012  nor is WITH, which is not looked for
        TYPE_MAPPING = {**SparkGenerator.TYPE_MAPPING, exp.DType.NULL: "VOID", exp.DType.TIME: "TIME"}  # noqa: RUF012

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            """A cast, or a literal that has a type before it."""
            if not expression.args.get(LITERAL):
                return super().cast_sql(expression, safe_prefix)
            return f"{self.sql(expression, 'to')} {self.sql(expression, 'this')}"
