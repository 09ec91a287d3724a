"""Expressions of Spark SQL, read by Spark's own grammar into trees of sqlglot.

sqlglot reads what any engine has, in an order of operators that is not Spark's, and goes on where a word is missing.
So it reads only the clauses of a query. All that may stand in one is read here; what is not of Spark is refused.
"""

from __future__ import annotations

from typing import Final, Protocol

from sqlglot import Token, TokenType, exp

from hbstore.cubes.function_calls import SPELLED, call, called
from hbstore.cubes.spark_literals import CONSTANTS, literal
from hbstore.cubes.spark_operators import COMPARISONS, Positive, applied, level_of, operator, skip
from hbstore.cubes.spark_types import data_type
from hbstore.cubes.token_cursor import TokenCursor

_LIKES: Final[dict[str, type[exp.Binary]]] = {"LIKE": exp.Like, "ILIKE": exp.ILike}
_QUANTIFIERS: Final = {"ALL": exp.All, "ANY": exp.Any, "SOME": exp.Any}
_QUERIES: Final = frozenset(("FROM", "SELECT", "TABLE", "VALUES", "WITH"))
_WITHOUT_BRACKETS: Final = frozenset(("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER"))
_NULLS: Final = {"IGNORE": exp.IgnoreNulls, "RESPECT": exp.RespectNulls}
_RESERVED: Final = frozenset(
    [
        *("ALL", "AND", "AS", "BETWEEN", "CASE", "DISTINCT", "DIV", "ELSE", "END", "ESCAPE", "FALSE", "FOR", "FROM"),
        *("HAVING", "ILIKE", "IN", "IS", "LIKE", "NOT", "NULL", "ON", "OR", "PLACING", "REGEXP", "RLIKE", "SELECT"),
        *("THEN", "TRUE", "WHEN", "WHERE"),
    ]
)
"""Words that are no names without quotes, unless a dot stands before them."""

_CALLED: Final = frozenset(("AND", "BETWEEN", "DIV", "ILIKE", "IN", "LIKE", "OR", "REGEXP", "RLIKE", "WHEN"))
"""Of these, those that Spark has functions for, too."""


class Clauses(Protocol):
    """What reads the clauses of queries, within expressions, too. Each gives the number of the token behind it."""

    def query(self, at: int) -> tuple[exp.Expr | None, int]:
        """The query that begins at a token."""

    def window(self, call: exp.Expr, at: int) -> tuple[exp.Expr, int]:
        """A call with its OVER (…)."""


class ExpressionReader:
    """Reads expressions from a place on.

    Attributes:
        cursor: the place; behind what was read.
    """

    def __init__(self, cursor: TokenCursor, clauses: Clauses) -> None:
        self.cursor = cursor
        self._clauses = clauses
        self._variables: list[str] = []  # of the functions ``x -> …`` that are being read

    def expression(self, first: exp.Expr | None = None) -> exp.Expr:
        """The next expression. O(tokens).

        Args:
            first: its first operand, where that was read.

        Raises:
            ParseError: it is not of Spark.
        """
        tree = self._conjunction(first)
        while self.cursor.skips("OR"):
            tree = exp.Or(this=tree, expression=self._conjunction())
        return tree

    def _conjunction(self, first: exp.Expr | None = None) -> exp.Expr:
        tree = self._predicate(first) if first is not None else self._negation()
        while self.cursor.skips("AND"):
            tree = exp.And(this=tree, expression=self._negation())
        return tree

    def _negation(self) -> exp.Expr:
        if self.cursor.skips("NOT") or self.cursor.skips("!"):
            return exp.Not(this=self._negation())
        return self._predicate(self.value())

    def _predicate(self, tree: exp.Expr) -> exp.Expr:
        """One IN, LIKE, BETWEEN or IS at most: Spark reads no second one behind it."""
        if self.cursor.skips("IS"):
            return self._is(tree)
        negated = self.cursor.skips("NOT")
        word = self.cursor.word()
        if word in _LIKES:
            self.cursor.token()
            like = self._like(_LIKES[word], tree)
            if negated and isinstance(like.expression, exp.Any | exp.All):  # NOT around it would be of all, or of any
                like.set("negate", True)
                return like
            return exp.Not(this=like) if negated else like
        if self.cursor.skips("BETWEEN"):
            low = self.value()
            self.cursor.expect("AND")
            tree = exp.Between(this=tree, low=low, high=self.value())
        elif self.cursor.skips("RLIKE") or self.cursor.skips("REGEXP"):
            tree = exp.RegexpLike(this=tree, expression=self.value())
        elif self.cursor.skips("IN"):
            tree = self._in(tree)
        elif negated:
            self.cursor.refuse("Expected BETWEEN, IN, LIKE or RLIKE")
        return exp.Not(this=tree) if negated else tree

    def _is(self, tree: exp.Expr) -> exp.Expr:
        negated = self.cursor.skips("NOT")
        if self.cursor.skips("DISTINCT"):
            self.cursor.expect("FROM")
            other = self.value()
            if isinstance(other, COMPARISONS):
                other = exp.Paren(this=other)  # as `<=>` binds more than this does
            return (exp.NullSafeEQ if negated else exp.NullSafeNEQ)(this=tree, expression=other)
        word = self.cursor.word()
        if word not in CONSTANTS and word != "UNKNOWN":
            self.cursor.refuse("Expected NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")
        self.cursor.token()
        other = (
            CONSTANTS[word]() if word in CONSTANTS else exp.var(word)
        )  # UNKNOWN asks for a boolean, as NULL does not
        test = exp.Is(this=tree, expression=other)
        return exp.Not(this=test) if negated else test

    def _like(self, kind: type[exp.Binary], tree: exp.Expr) -> exp.Expr:
        """What follows LIKE: a pattern, or several of which all are to match, or one."""
        quantifier = _QUANTIFIERS.get(self.cursor.word())
        if quantifier is not None and self.cursor.word(1) == "(":
            self.cursor.at += 2
            patterns = exp.Tuple(expressions=self._listed())
            return kind(this=tree, expression=quantifier(this=patterns))
        like = kind(this=tree, expression=self.value())
        if not self.cursor.skips("ESCAPE"):
            return like
        sign = self.cursor.literal(TokenType.STRING)
        if sign is None or len(sign.text) != 1:
            self.cursor.refuse("Expected a text of one character")
        return exp.Escape(this=like, expression=exp.Literal.string(sign.text))

    def _in(self, tree: exp.Expr) -> exp.Expr:
        self.cursor.expect("(")
        if self.cursor.word() in _QUERIES:
            return exp.In(this=tree, query=exp.Subquery(this=self._query()))
        return exp.In(this=tree, expressions=self._listed())

    def _query(self) -> exp.Expr:
        """A query, and the bracket that closes it."""
        query, self.cursor.at = self._clauses.query(self.cursor.at)
        if query is None:
            self.cursor.refuse("Expected a query")
        self.cursor.expect(")")
        return query

    def _listed(self) -> list[exp.Expr]:
        """Expressions, one at least, and the bracket that closes them."""
        trees = [self.expression()]
        while self.cursor.skips(","):
            trees.append(self.expression())
        self.cursor.expect(")")
        return trees

    def value(self, level: int = 0) -> exp.Expr:
        """The next expression of operators that bind as much as those of a level do, or more."""
        tree = self._unary()
        while (sign := operator(self.cursor)) and level_of(sign) >= level:
            skip(self.cursor, sign)
            tree = applied(sign, tree, self.value(level_of(sign) + 1))
        return tree

    def _unary(self) -> exp.Expr:
        if self.cursor.skips("+"):
            return Positive(this=self._unary())
        if self.cursor.skips("~"):
            return exp.BitwiseNot(this=self._unary())
        if not self.cursor.skips("-"):
            return self._operand()
        if self.cursor.next.token_type is not TokenType.NUMBER:
            return exp.Neg(this=self._unary())
        return self._behind(exp.Neg(this=literal(self.cursor)))  # the minus of a number binds more than ``::`` does

    def _operand(self) -> exp.Expr:
        tree = literal(self.cursor)
        if tree is None:
            tree = (
                self._case() if self.cursor.word() == "CASE" else self._brackets() or self._parameter() or self._named()
            )
        return self._behind(tree)

    def _behind(self, tree: exp.Expr) -> exp.Expr:
        """An operand with what follows it: ``[0]``, ``.field``, ``::INT``, ``COLLATE UNICODE``."""
        while True:
            if self.cursor.skips("["):
                tree = exp.Bracket(this=tree, expressions=[self.value()])
                self.cursor.expect("]")
            elif self.cursor.skips("."):
                tree = exp.Dot(this=tree, expression=self._identifier())
            elif self.cursor.skips("::"):
                tree = exp.Cast(this=tree, to=data_type(self.cursor))
            elif self.cursor.skips("COLLATE"):
                tree = exp.Collate(this=tree, expression=exp.var(self._identifier().name))
            else:
                return tree

    def _brackets(self) -> exp.Expr | None:
        if not self.cursor.skips("("):
            return None
        if self.cursor.word() in _QUERIES:
            return exp.Subquery(this=self._query())
        trees = self.named_expressions()
        if len(trees) > 1:
            return exp.Tuple(expressions=trees)
        if len(trees) != 1 or isinstance(trees[0], exp.Alias):
            self.cursor.at -= 1
            self.cursor.refuse("Expected an expression without an alias")
        return exp.Paren(this=trees[0])

    def named_expressions(self) -> list[exp.Expr]:
        """The next expressions, which may have aliases, and the bracket that closes them."""
        trees: list[exp.Expr] = []
        while not self.cursor.skips(")"):
            if trees:
                self.cursor.expect(",")
            tree = self.expression()
            if self.cursor.skips("AS") or self._is_name():
                tree = exp.Alias(this=tree, alias=self._identifier())
            trees.append(tree)
        return trees

    def _case(self) -> exp.Expr:
        self.cursor.expect("CASE")
        case = exp.Case(ifs=[])
        if self.cursor.word() != "WHEN":
            case.set("this", self.expression())
        while not case.args["ifs"] or self.cursor.word() == "WHEN":
            self.cursor.expect("WHEN")
            condition = self.expression()
            self.cursor.expect("THEN")
            case.append("ifs", exp.If(this=condition, true=self.expression()))
        if self.cursor.skips("ELSE"):
            case.set("default", self.expression())
        self.cursor.expect("END")
        return case

    def _parameter(self) -> exp.Expr | None:
        """What stands for a value that is not in the text, so that it can be refused by its name."""
        token = self.cursor.next
        if self.cursor.skips("?"):
            return exp.Placeholder().update_positions(token)
        if self.cursor.skips(":"):
            return exp.Placeholder(this=self._identifier().name).update_positions(token)
        if not (self.cursor.skips("@") or self.cursor.skips("$")):
            return None
        in_braces = self.cursor.skips("{")
        name = exp.var(self._identifier().name)
        if in_braces:
            self.cursor.expect("}")
        return exp.Parameter(this=name).update_positions(token)

    def _named(self) -> exp.Expr:
        """A column, a call, or the variable of a function that is an argument."""
        token = self.cursor.next
        if self.cursor.skips("*"):
            return exp.Star().update_positions(token)
        if not self._is_name() and (self.cursor.word() not in _CALLED or self.cursor.word(1) != "("):
            self.cursor.refuse("Expected an expression")
        parts = [self._identifier()]
        while self.cursor.word() == "." and len(parts) < 4:  # noqa: PLR2004  as in sqlglot, further ones are fields
            self.cursor.token()
            if self.cursor.skips("*"):
                return exp.Column(this=exp.Star(), table=parts[-1])
            parts.append(self._identifier())
        if self.cursor.word() == "(":
            return self._call(token, parts)
        if len(parts) == 1 and not parts[0].quoted and parts[0].name.upper() in _WITHOUT_BRACKETS:
            return call(parts[0].name).update_positions(token)
        if parts[0].name.lower() in self._variables:
            return exp.Dot.build(parts) if len(parts) > 1 else parts[0]
        names = ("this", "table", "db", "catalog")
        return exp.Column(**dict(zip(names, reversed(parts), strict=False)))

    def _call(self, token: Token, parts: list[exp.Identifier]) -> exp.Expr:
        self.cursor.expect("(")
        function, word = parts[-1], parts[-1].name.upper()
        if word == "EXISTS" and self.cursor.word() in _QUERIES:
            return exp.Exists(this=self._query())
        if function.quoted or len(parts) > 1:
            node: exp.Expr = exp.Anonymous(
                this=function if function.quoted else function.name, expressions=self.arguments()
            )
        elif word in SPELLED:
            node = SPELLED[word](self)
        else:
            start, arguments = self.cursor.at, self.arguments()
            node = called(function.name, arguments)
            if node.error_messages(arguments):
                self.cursor.at = start
                self.cursor.refuse("Expected another number of arguments")
        node.update_positions(token)
        node = self._behind_call(node)
        return exp.Dot.build([*parts[:-1], node]) if len(parts) > 1 else node

    def _behind_call(self, node: exp.Expr) -> exp.Expr:
        """A call with its WITHIN GROUP (ORDER BY …), FILTER (WHERE …), IGNORE NULLS and OVER (…)."""
        if self.cursor.skips("WITHIN"):
            self.cursor.expect("GROUP", "(", "ORDER BY")
            order = [self.sort_item()]
            while self.cursor.skips(","):
                order.append(self.sort_item())
            self.cursor.expect(")")
            node = exp.WithinGroup(this=node, expression=exp.Order(expressions=order))
        if self.cursor.skips("FILTER", "("):
            self.cursor.expect("WHERE")
            node = exp.Filter(this=node, expression=exp.Where(this=self.expression()))
            self.cursor.expect(")")
        word = self.cursor.word()
        if word in _NULLS and self.cursor.skips(word, "NULLS"):
            node = _NULLS[word](this=node)
        if self.cursor.word() == "OVER":
            node, self.cursor.at = self._clauses.window(node, self.cursor.at)
        return node

    def sort_item(self) -> exp.Ordered:
        """The next expression to sort by; NULL comes first where nothing is said and the order is ascending.

        Raises:
            ParseError: it is not of Spark.
        """
        is_all = self.cursor.word() == "ALL" and self.cursor.word(1) != "("
        tree = exp.var(self.cursor.token().text.upper()) if is_all else self.expression()
        desc = self.cursor.skips("DESC") or (False if self.cursor.skips("ASC") else None)
        is_first = not desc
        if self.cursor.skips("NULLS"):
            is_first = self.cursor.skips("FIRST")
            if not is_first:
                self.cursor.expect("LAST")
        return exp.Ordered(this=tree, desc=desc, nulls_first=is_first)

    def first_operand(self) -> exp.Expr:
        """That of a call which may have words between its operands, or a whole argument: only these begin with NOT."""
        return self.expression() if self.cursor.word() in ("NOT", "!") else self.value()

    def arguments(self, first: exp.Expr | None = None) -> list[exp.Expr]:
        """The next arguments, and the bracket that closes them.

        Args:
            first: the first operand of the first argument, where that was read.
        """
        if first is None and self.cursor.skips(")"):
            return []
        distinct = first is None and self.cursor.skips("DISTINCT")
        if first is None and not distinct:
            self.cursor.skips("ALL")
        trees = [self._argument() if first is None else self.expression(first)]
        while self.cursor.skips(","):
            trees.append(self._argument())
        self.cursor.expect(")")
        return [exp.Distinct(expressions=trees)] if distinct else trees

    def _argument(self) -> exp.Expr:
        """An expression, ``name => expression``, ``x -> expression`` or ``(x, y) -> expression``."""
        start, names = self.cursor.at, list[Token | None]()
        several = self.cursor.skips("(")
        while not names or (several and self.cursor.skips(",")):
            names.append(self.cursor.name(_RESERVED))
        closed = not several or (len(names) > 1 and self.cursor.skips(")"))
        if closed and None not in names:
            tokens = [token for token in names if token is not None]
            if self.cursor.skips("->"):
                return self._function(tokens)
            if not several and self.cursor.skips("=>"):
                return exp.Kwarg(this=exp.var(tokens[0].text), expression=self.expression())
        self.cursor.at = start
        return self.expression()

    def _function(self, names: list[Token]) -> exp.Expr:
        self._variables += [token.text.lower() for token in names]
        body = self.expression()
        del self._variables[-len(names) :]
        return exp.Lambda(this=body, expressions=[_identifier(token) for token in names])

    def _is_name(self) -> bool:
        """Whether a name comes next."""
        at = self.cursor.at
        is_name = self.cursor.name(_RESERVED) is not None
        self.cursor.at = at
        return is_name

    def _identifier(self) -> exp.Identifier:
        token = self.cursor.name()
        if token is None:
            self.cursor.refuse("Expected a name")
        return _identifier(token)


def _identifier(token: Token) -> exp.Identifier:
    quoted = token.token_type is TokenType.IDENTIFIER
    return exp.Identifier(this=token.text, quoted=quoted).update_positions(token)
