"""Random expressions in the spellings of tests/spark/spark_spellings.py, over the table t of spark_values.py.

They need no types that fit: Spark reads an expression before it looks at types, and how it reads it decides its value.
Names of functions are in capitals, as hbstore writes them.
"""

from __future__ import annotations

import re

from tests.spark.spark_spellings import (
    ARRAYS,
    BINARY,
    CALLS,
    CASTS,
    COLUMNS,
    ELEMENTS,
    FOREIGN,
    FOREIGN_TYPES,
    NUMBERS,
    PIECES,
    PREDICATES,
    SPACES,
    SPANS,
    TYPED,
    TYPES,
    UNITS,
)

TOKEN = re.compile(
    r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|/\*.*?\*/|\w+|\s+|::|<=>|[<>!=|]+|.)\s*""", re.DOTALL
)


def expression(random, depth=4):  # noqa: PLR0911  a kind of expression, a branch
    """A random expression."""
    kind = random.random()
    if depth <= 0 or kind < 0.1:
        return atom(random)
    one = depth - random.choice((1, 1, 2))
    if kind < 0.35:
        operator, space = random.choice(BINARY), random.choice(SPACES)
        return f"{expression(random, one)}{space}{operator} {expression(random, one)}"
    if kind < 0.45:
        return f"({expression(random, one)})"
    if kind < 0.55:
        return f"{random.choice(('-', '- ', '+', '~', 'NOT ', '! ', '- '))}{expression(random, one)}"
    if kind < 0.65:
        return filled(random, random.choice(PREDICATES), one)
    if kind < 0.78:
        return filled(random, random.choice(CALLS), one)
    if kind < 0.86:
        return filled(random, random.choice(ELEMENTS), one)
    if kind < 0.92:
        form = random.choice(CASTS)
        return filled(random, form, one)
    forms = (
        "CASE WHEN {} THEN {} END",
        "CASE WHEN {} THEN {} WHEN {} THEN {} ELSE {} END",
        "CASE {} WHEN {} THEN {} END",
    )
    return filled(random, random.choice((*forms, "case {} when {} then {} else {} end", "{} COLLATE UTF8_LCASE")), one)


def mutated(random):
    """An expression in which a sign or a word is left out, doubled, moved, or replaced by that of another."""
    tokens, others = (TOKEN.findall(expression(random, random.randrange(1, 4))) for _ in range(2))
    for _ in range(random.choice((1, 1, 2))):
        at, to = random.randrange(len(tokens)), random.randrange(len(tokens) + 1)
        kind = random.randrange(4)
        if kind == 0:
            tokens.insert(to, random.choice(others))
        elif kind == 1:
            tokens.insert(to, tokens[at])
        elif kind == 2:
            tokens[at] = random.choice(others)
        elif len(tokens) > 1:
            del tokens[at]
    return "".join(tokens)


def foreign(random):
    """An expression that is not of Spark, perhaps within another; Spark reads some of them."""
    text = filled(random, random.choice(FOREIGN), random.randrange(2))
    around = random.choice(
        ("{}", "{}", "{}", "UPPER({})", "({})", "{} = 1", "i + {}", "CASE WHEN {} THEN 1 END", "{} AND b")
    )
    return around.replace("{}", text)


def any_expression(random):
    """One of Spark, of which most are read, one that is not of Spark, or one with a fault."""
    kind = random.random()
    if kind < 0.15:
        return foreign(random)
    return mutated(random) if kind < 0.4 else expression(random, random.randrange(5))


def filled(random, form, depth):
    """A form with expressions in its places."""
    form = form.replace("{array}", "\0").replace("{type}", random.choice(TYPES))
    form = form.replace("{foreign}", random.choice(FOREIGN_TYPES))
    while "\0" in form:
        form = form.replace("\0", random.choice(ARRAYS), 1)
    parts = form.split("{}")
    return "".join(f"{part}{expression(random, depth)}" for part in parts[:-1]) + parts[-1]


def atom(random):
    """A name or a literal."""
    kind = random.randrange(10)
    if kind < 3:
        return random.choice(COLUMNS)
    if kind < 6:
        return text(random)
    if kind == 6:
        return random.choice((*TYPED, "TRUE", "false", "NULL"))
    if kind == 7:
        span = random.choice(SPANS)
        if random.random() < 0.5:
            value = random.choice(("1", "-1", "1.5", "'1'", "'-1'", "'1.5'"))
            span = f"{value} {random.choice(UNITS)}"
        return f"{random.choice(('INTERVAL', 'interval'))} {span}"
    return random.choice(NUMBERS)


def text(random):
    """A text in quotes, or several in a row."""
    some = random.choice((1, 1, 1, 1, 1, 2, 3))
    return "".join(f"{quoted(random)}{random.choice(('', ' ', chr(10)))}" for _ in range(some)).strip()


def quoted(random):
    """A text in quotes of a kind."""
    quote = random.choice("''\"")
    pieces = "".join(random.choice(PIECES) for _ in range(random.randrange(4)))
    other = '"' if quote == "'" else "'"
    if random.random() < 0.15:
        return f"{random.choice('rR')}{quote}{pieces.replace(quote, other)}{quote}"
    return f"{quote}{_escaped(pieces, quote)}{quote}"


def _escaped(pieces, quote):
    """Pieces in which no quote ends the text: those that stand alone are doubled."""
    made, at = [], 0
    while at < len(pieces):
        if pieces[at] == "\\":
            made.append(pieces[at : at + 2])
            at += 2
        else:
            made.append(quote * 2 if pieces[at] == quote else pieces[at])
            at += 2 if pieces[at : at + 2] == quote * 2 else 1
    return "".join(made)
