"""Mutants: one small change of a function each, which the tests should notice.

A mutant knows the text that it replaces, not the line: it can be applied to a later commit in which the function has
moved to another file, as long as the statement is still there.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from textwrap import dedent, indent

Function = ast.FunctionDef | ast.AsyncFunctionDef

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
CRUDE = frozenset({"returned value", "swapped arguments"})
"""Kinds that most tests notice whatever they look for: a third as likely as others."""
UNSEEN_FUNCTIONS = frozenset({"__repr__", "__str__", "__rich__", "__hash__"})
UNSEEN_CALLS = frozenset({"debug", "info", "warning", "exception", "log", "warn", "cast", "gc"})
"""What they say, and whether they say it, is no answer of the program."""
UNSEEN_KEYWORDS = frozenset({"strict", "hint", "help", "stacklevel", "daemon", "name"})
UNORDERED_CALLS = frozenset({"isinstance", "issubclass", "getattr", "hasattr", "max", "min", "zip", "cast"})
"""Whose arguments may be swapped without a difference, or whose swapped arguments always fail."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one statement.

    Attributes:
        module: dotted, as `hbstore.plans.bind`.
        function: its qualified name in the module, as `Chooser.choose`.
        kind: of the change, as `comparison`.
        before: the lines of the statement, or those above its body, without the indentation of the first.
        after: what replaces them.
        occurrence: which one of the places in the function that have these lines, from 0.
    """

    module: str
    function: str
    kind: str
    before: str
    after: str
    occurrence: int

    @property
    def id(self) -> str:
        """Twelve digits that stay the same in all commits and tables."""
        return hashlib.blake2b(json.dumps(asdict(self)).encode(), digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True)
class Place:
    """A function in a source: its lines are `first` to `last`, from 1."""

    name: str
    node: Function
    first: int
    last: int


def functions(tree: ast.AST, prefix: str = "") -> Iterator[Place]:
    """All functions with their qualified names, methods and those within others too; not those of classes of errors."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            name = prefix + node.name
            yield Place(name, node, node.lineno, node.end_lineno or node.lineno)
            yield from functions(node, f"{name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            if not any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases):
                yield from functions(node, f"{prefix}{node.name}.")
        else:
            yield from functions(node, prefix)


def mutants_of(module: str, place: Place, lines: list[str]) -> Iterator[Mutant]:
    """All mutants of a function; some may not compile or mean the same (see `means_another`).

    Args:
        module: its dotted name.
        place: the function.
        lines: of the module.
    """
    if place.node.name in UNSEEN_FUNCTIONS or _is_declaration(place.node):
        return
    for statement in _statements(place.node):
        first, last = statement.lineno, _last_line_of_head(statement)
        before = dedent("\n".join(lines[first - 1 : last]))
        occurrence = sum(at < first for at in _occurrences(lines, place, before))
        for kind, text in _changes(statement, lines, first, last):
            yield Mutant(module, place.name, kind, before, dedent(text), occurrence)


def chosen(sources: dict[str, str], number: int, seed: int) -> list[Mutant]:
    """Mutants spread over the rooms and their functions by lines, and then over the kinds; at most one of a function.

    Args:
        sources: of the modules, by dotted name.
        number: how many.
        seed: for the same sources, the same seed chooses the same mutants.
    """
    rooms: dict[str, dict[str, str]] = {}
    for module, source in sorted(sources.items()):
        rooms.setdefault(room_of(module), {})[module] = source
    mutants: list[Mutant] = []
    behind = lines = 0
    for name, modules in rooms.items():
        lines += sum(source.count("\n") for source in modules.values())
        total = sum(source.count("\n") for source in sources.values())
        until = round(number * lines / total)
        mutants += islice(_shuffled(modules, Random(f"{seed} {name}")), until - behind)  # noqa: S311
        behind = until
    Random(seed).shuffle(mutants)  # noqa: S311  so the first of them are of all rooms
    return mutants


def room_of(module: str) -> str:
    """The folder of a module in its package; the empty text for the package's own modules."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 else ""  # noqa: PLR2004  package, room, module


def _shuffled(modules: dict[str, str], random: Random) -> Iterator[Mutant]:
    """A mutant of each function, functions with many lines first more often than others."""
    places = [(module, place) for module, source in modules.items() for place in functions(ast.parse(source))]
    # The order of weighted samples without replacement: the largest of u ** (1 / weight) is the first.
    places.sort(key=lambda at: random.random() ** (1 / (at[1].last - at[1].first + 1)), reverse=True)
    for module, place in places:
        mutants = list(mutants_of(module, place, modules[module].splitlines()))
        kinds = sorted({mutant.kind for mutant in mutants})
        kinds.sort(key=lambda kind: random.random() ** (1 if kind in CRUDE else 1 / 3), reverse=True)
        for kind in kinds:
            mutant = random.choice([mutant for mutant in mutants if mutant.kind == kind])
            changed = applied(mutant, {module: modules[module]})
            if changed is not None and means_another(modules[module], changed[1]):
                yield mutant
                break


def applied(mutant: Mutant, sources: dict[str, str]) -> tuple[str, str] | None:
    """The module that has the function now and its mutated source, or None where the statement is gone.

    Args:
        mutant: from this or another commit.
        sources: of the modules, by dotted name.
    """
    place = line_of(mutant, sources)
    if place is None:
        return None
    module, first = place
    lines = sources[module].splitlines()
    line = lines[first - 1]
    text = indent(mutant.after, line[: len(line) - len(line.lstrip())])
    count = len(mutant.before.splitlines())
    return module, "\n".join([*lines[: first - 1], text, *lines[first - 1 + count :], ""])


def line_of(mutant: Mutant, sources: dict[str, str]) -> tuple[str, int] | None:
    """The module that has a mutant's statement now and the number of its first line, or None where it is gone."""
    places = [
        (module, place, at[mutant.occurrence])
        for module, source in sources.items()
        if mutant.function.rpartition(".")[2] in source
        for place in functions(ast.parse(source))
        if place.name.rpartition(".")[2] == mutant.function.rpartition(".")[2]
        and len(at := list(_occurrences(source.splitlines(), place, mutant.before))) > mutant.occurrence
    ]
    # The function of this name in this module, else in the only other one, else the only method of that name anywhere.
    for nearer in (
        [at for at in places if (at[0], at[1].name) == (mutant.module, mutant.function)],
        [at for at in places if at[1].name == mutant.function],
        places,
    ):
        if nearer:
            return (nearer[0][0], nearer[0][2]) if len(nearer) == 1 else None
    return None


def read_list(path: Path) -> list[Mutant]:
    """The mutants of a file, one JSON object a line."""
    return [Mutant(**json.loads(line)) for line in path.read_text().splitlines()]


def written(mutants: Iterable[Mutant]) -> str:
    """The text of such a file."""
    return "".join(json.dumps(asdict(mutant)) + "\n" for mutant in mutants)


def _occurrences(lines: list[str], place: Place, before: str) -> Iterator[int]:
    """The lines of a function at which these lines stand, however far they are indented."""
    count = len(before.splitlines())
    for at in range(place.first, place.last - count + 2):
        block = lines[at - 1 : at - 1 + count]
        if block[0].strip() == before.splitlines()[0].strip() and dedent("\n".join(block)) == before:
            yield at


def _is_declaration(function: Function) -> bool:
    """Whether it has nothing to change: an overload, or a Protocol's method."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    names = {ast.unparse(decorator).rpartition(".")[2] for decorator in function.decorator_list}
    return "overload" in names or all(isinstance(one, ast.Expr) and _is_ellipsis(one.value) for one in body)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _statements(function: Function) -> Iterator[ast.stmt]:
    """The function's own statements, also within others, without functions and classes in it and its docstring."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop(0)
        if isinstance(node, (*Function.__args__, ast.ClassDef)):
            continue
        if isinstance(node, ast.stmt):
            yield node
        stack[:0] = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case))
        ]


def _head(statement: ast.stmt) -> list[ast.expr]:
    """What a statement computes by itself; its annotations and what stands in its body are left out."""
    if isinstance(statement, (ast.Assert, ast.Raise)):
        return []  # what an error says is none of the tests' business, and asserts are for the type checker
    if isinstance(statement, ast.AnnAssign):
        return [statement.value] if statement.value is not None else []
    items = [item.context_expr for item in getattr(statement, "items", [])]
    return [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)] + items


def _last_line_of_head(statement: ast.stmt) -> int:
    if not hasattr(statement, "body") and not isinstance(statement, ast.Match):
        return statement.end_lineno or statement.lineno
    return max((node.end_lineno or node.lineno for node in _head(statement)), default=statement.lineno)


def _changes(statement: ast.stmt, lines: list[str], first: int, last: int) -> Iterator[tuple[str, str]]:
    """The kinds and texts that may replace a statement's lines."""
    block = lines[first - 1 : last]
    if any(_spans_lines(node) for expression in _head(statement) for node in ast.walk(expression)):
        return
    if _may_go(statement):
        margin = block[0][: len(block[0]) - len(block[0].lstrip())]
        yield "removed statement", f"{margin}pass"
    if isinstance(statement, ast.Return) and statement.value is not None and ast.unparse(statement.value) != "None":
        yield "returned value", _replaced(block, first, statement.value, "None")
    for expression in _head(statement):
        for node in _seen(expression):
            for kind, text in _replacements(node):
                yield kind, _replaced(block, first, node, text)
    test = getattr(statement, "test", None)
    if isinstance(statement, (ast.If, ast.While)) and isinstance(test, ast.expr):
        yield "negated condition", _replaced(block, first, test, _negated(test))


def _spans_lines(node: ast.AST) -> bool:
    """A text of several lines, which another indentation would change."""
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) and node.lineno != node.end_lineno


def _may_go(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Raise, ast.AugAssign, ast.Delete)):
        return True
    if isinstance(statement, ast.Assign):  # another variable would be missing below, which any test sees
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in statement.targets)
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and _called(statement.value) not in (UNSEEN_CALLS | {"close"})
    )


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _seen(expression: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that may change: not those of f-strings, errors that are made, and log lines."""
    stack: list[ast.AST] = [expression]
    while stack:
        node = stack.pop(0)
        if isinstance(node, (ast.JoinedStr, ast.Lambda)) or (
            isinstance(node, ast.Call) and (_called(node) in UNSEEN_CALLS or _called(node).endswith("Error"))
        ):
            continue
        if isinstance(node, ast.keyword) and node.arg in UNSEEN_KEYWORDS:
            continue
        if isinstance(node, ast.expr):
            yield node
        stack.extend(ast.iter_child_nodes(node))


def _replacements(node: ast.expr) -> Iterator[tuple[str, str]]:
    """The kinds and texts that may stand in an expression's place."""
    match node:
        case ast.BoolOp(operator, values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield "boolean operator", _text(ast.BoolOp(other, values))
        case ast.UnaryOp(ast.Not(), operand):
            yield "negated condition", _text(operand)
        case ast.IfExp(test, body, orelse):
            yield "negated condition", _text(ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse))
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS and not (
            _is_text(left) or _is_text(right)
        ):
            yield "operator", _text(ast.BinOp(left, OPERATORS[type(operator)](), right))
        case ast.Constant(bool(value)):
            yield "constant", repr(not value)
        case ast.Constant(int(value)):
            yield "constant", repr(value + 1)
        case ast.Compare():
            yield from _compared_otherwise(node)
        case ast.Call() if _called(node) not in UNORDERED_CALLS:
            yield from _called_otherwise(node)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            yield from _filtered_otherwise(node)


def _compared_otherwise(node: ast.Compare) -> Iterator[tuple[str, str]]:
    for at, operator in enumerate(node.ops):
        operators = [*node.ops[:at], COMPARISONS[type(operator)](), *node.ops[at + 1 :]]
        kind = "boundary" if isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) else "comparison"
        yield kind, _text(ast.Compare(node.left, operators, node.comparators))


def _called_otherwise(node: ast.Call) -> Iterator[tuple[str, str]]:
    for at, pair in enumerate(pairwise(node.args)):
        if not any(isinstance(argument, ast.Starred) for argument in pair):
            arguments = [*node.args[:at], *reversed(pair), *node.args[at + 2 :]]
            yield "swapped arguments", _text(ast.Call(node.func, arguments, node.keywords))


def _filtered_otherwise(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
) -> Iterator[tuple[str, str]]:
    for condition in (condition for part in node.generators for condition in part.ifs):
        text = ast.unparse(node).replace(f" if {ast.unparse(condition)}", f" if {_negated(condition)}", 1)
        yield "negated condition", text if isinstance(node, ast.GeneratorExp) else f"({text})"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def _negated(condition: ast.expr) -> str:
    return f"(not ({ast.unparse(condition)}))"


def _replaced(block: list[str], first: int, node: ast.expr, text: str) -> str:
    """Some lines, the first of which has this number, with another text in place of a node."""
    start, stop = node.lineno - first, (node.end_lineno or node.lineno) - first
    head, tail = block[start].encode()[: node.col_offset], block[stop].encode()[node.end_col_offset :]
    return "\n".join([*block[:start], f"{head.decode()}{text}{tail.decode()}", *block[stop + 1 :]])


def means_another(before: str, after: str) -> bool:
    """Whether a source compiles, and is not the same to the compiler as another one."""
    try:
        compile(after, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return ast.dump(ast.parse(before)) != ast.dump(ast.parse(after))
