"""What hbstore takes for one expression in HAVING is what Spark takes for one, in random pairs of spellings."""

from __future__ import annotations

from random import Random

from sqlglot import parse_one

from hbstore.cubes.query.forms import Forms
from hbstore.cubes.query.text import DIALECT
from tests.amounts import amount

SEED, SEEDS = 20261128, 300
NUMBERS, TEXTS = ("a", "b", "1", "2", "3"), ("s", "t", "'x'", "'y%'")
COMPARISONS = ("=", "<>", "!=", "<=>", "<", ">", "<=", ">=", "is distinct from", "is not distinct from")
OPPOSITE = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
NEGATED = {"=": "<>", "<>": "=", "!=": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}
NEGATED |= {"<=>": "is distinct from", "is distinct from": "<=>", "is not distinct from": "is distinct from"}
LIKES = ("like", "ilike", "rlike")


def number(random, depth):
    kind = random.random()
    if depth == 0 or kind < 0.3:
        return random.choice(NUMBERS)
    left, right = (number(random, depth - 1) for _ in range(2))
    if kind < 0.6:
        return f"({left} {random.choice('+*-&|^')} {right})"
    if kind < 0.8:
        return f"{random.choice(('least', 'greatest', 'coalesce', 'pmod'))}({left}, {right})"
    return f"if({truth(random, depth - 1)}, {left}, {right})"


def operands(random, depth):
    """Two that differ: Spark has two forms of `a < a`."""
    left, right = number(random, depth), number(random, depth // 2)
    return (left, right) if left != right else operands(random, depth)


def truth(random, depth):
    kind = random.random()
    if depth == 0 or kind < 0.4:
        left, right = operands(random, max(depth - 1, 0))
        return f"({left} {random.choice(COMPARISONS)} {right})"
    if kind < 0.55:
        return f"({random.choice('st')}{random.choice((' not ', ' '))}{random.choice(LIKES)} {random.choice(TEXTS)})"
    if kind < 0.65:
        some = ", ".join(random.sample(NUMBERS, 2))
        return f"({number(random, depth - 1)}{random.choice((' not ', ' '))}in ({some}))"
    if kind < 0.75:
        return f"({number(random, depth - 1)} is{random.choice((' not ', ' '))}null)"
    if kind < 0.85:
        return f"(not {truth(random, depth - 1)})"
    return f"({truth(random, depth - 1)} {random.choice(('and', 'or'))} {truth(random, depth - 1)})"


def spellings(random):
    """One truth in many spellings, and some that say something else."""
    (left, right), sign, other = operands(random, 2), random.choice(COMPARISONS), truth(random, 2)
    like, column, pattern = random.choice(LIKES), random.choice("st"), random.choice(TEXTS)
    return [
        [
            f"{left} {sign} {right}",
            f"({right}) {OPPOSITE.get(sign, sign)} ({left})",
            f"{right} {sign} {left}",
            f"not {left} {NEGATED[sign]} {right}",
            f"not ({right} {OPPOSITE.get(NEGATED[sign], NEGATED[sign])} {left})",
            f"not not {left} {sign} {right}",
            f"{left} {NEGATED[sign]} {right}",
        ],
        [f"{column} {word} {pattern}" for word in (like, f"not {like}")] + [f"not {column} {like} {pattern}"],
        [other, f"not {other}", f"not (not {other})", other.replace(" not ", " "), other.replace(" + ", " * ")],
        [f"{other} and {left} {sign} {right}", f"{left} {sign} {right} and ({other})"],
    ]


def pairs(random):
    for _ in range(amount(SEEDS, 10 * SEEDS)):
        for texts in spellings(random):
            yield tuple(random.choices(texts, k=2))


def test_two_are_one_where_they_are_to_spark(spark):
    spark.sql("SELECT 1 AS a, 2 AS b, 's' AS s, 't' AS t").createOrReplaceTempView("forms")
    texts = list(pairs(Random(SEED)))
    differing, same = [], 0
    for at in range(0, len(texts), 100):
        some = texts[at : at + 100]
        selected = ", ".join(f"({text}) AS c{number}" for number, text in enumerate(sum(some, ())))
        listed = spark.sql(f"SELECT {selected} FROM forms")._jdf.queryExecution().analyzed().projectList()
        for place, (one, other) in enumerate(some):
            forms = Forms(lambda column: column.name.lower())
            ours = forms.of(parse_one(one, dialect=DIALECT)) == forms.of(parse_one(other, dialect=DIALECT))
            theirs = listed.apply(2 * place).child().semanticEquals(listed.apply(2 * place + 1).child())
            same += theirs
            if ours != theirs:
                differing.append((one, other, ours))
    spark.catalog.dropTempView("forms")
    assert not differing, "\n".join(f"{one}   {other}   hbstore: {ours}" for one, other, ours in differing[:20])
    assert same > len(texts) / 4
