"""Random tables: a few values for each column, most of their combinations, now and then something odd."""

from __future__ import annotations

from itertools import product

from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import BooleanType, DateType, DecimalType, FloatType, IntegerType, TimestampType, parse_type
from tests.exactness.worlds import World

TYPES = (
    *("tinyint", "smallint", "int", "bigint", "string", "string", "varchar(5)", "char(3)", "date", "date"),
    *("timestamp", "boolean", "float", "double", "decimal(10,0)", "decimal(10,2)", "decimal(38,0)", "decimal(38,38)"),
)
WORDS = (
    *("", " ", "a", "ab", "aba", "abb", "b", "ba", "A", "\0", "a\0", "a\0b", "a\x01", "\x7f", "é", "\u07ff", "\uffff"),
    *(
        "\U0010ffff",
        "a\U0010ffff",
        "\U0001f600",
        "%",
        "_",
        "a%",
        "a_b",
        "\\",
        "a\\",
        "\\%",
        "'",
        '"',
        "it's",
        "'\"",
        ".",
    ),
    *(
        ".*",
        "a.*",
        "*",
        "null",
        "NULL",
        "true",
        "5",
        "05",
        "-0",
        "1e3",
        "2013-01-01",
        "2013-01-01-05",
        "2013-01",
        "2013",
        "2013-W01",
        "2014-W01",
        "__HIVE_DEFAULT_PARTITION_",
        "\n",
    ),
)
FLOATS = ("NaN", "Infinity", "-Infinity", "-0.0", "0", "1e-320", "5e-324", "1e400", "3.4028235e38", "16777217", "0.1")
NUMBERS_AT_EDGES = {8: 127, 16: 32_767, 32: 2**31 - 1, 64: 2**63 - 1}
LIMIT = 250
"""Partitions of a table at most."""


SPELLINGS = {
    IntegerType: ("{}.0", "{}.5", "{}.", " {}", "{}\n"),
    DateType: ("{} 00:00:00", "{}T05:06", "{} x", " {}"),
    BooleanType: (" {}", "t", "F", "yes", "0"),
}
"""Of values of which engines read the same, although their types spell them otherwise."""


def random_text(random, kind, *, respelled=False):
    """A partition value of a column of this type; one in twelve is odd, and one in three respelled, if any is."""
    if random.random() < 1 / 12:
        return random.choice((NULL_PARTITION, NULL_PARTITION, random.choice(WORDS)))
    text = valid_text(random, kind)
    if respelled and random.random() < 1 / 3:
        return random.choice(SPELLINGS.get(type(kind), (" {}", "{}\t"))).format(text)
    return text


def valid_text(random, kind):  # noqa: PLR0911  one for each type
    """A text that parses as the type, most of them close together."""
    small = random.choice((0, 1, 2, 3, 5, 7, 10, 11, 12, 50, 100))
    if isinstance(kind, IntegerType):
        high = NUMBERS_AT_EDGES[kind.bits]
        number = random.choice((small, small, small, -small, high, -high - 1, high - 1, random.randint(-high, high)))
        return random.choice((f"{number}", f"{number}", f"{'-' * (number < 0)}00{abs(number)}"))
    if isinstance(kind, DateType):
        day = random.choice((f"2013-01-{1 + small % 28:02d}", f"2013-1-{1 + small % 28}", "2012-02-29"))
        return random.choice((day, day, day, "0001-01-01", "9999-12-31", "1969-12-31"))
    if isinstance(kind, TimestampType):
        return random.choice(
            (f"2013-01-{1 + small % 28:02d}", f"2013-01-01 00:00:{small % 60:02d}", f"2013-01-01T00:00:00.{small}")
        )
    if isinstance(kind, BooleanType):
        return random.choice(("true", "false", "TRUE"))
    if isinstance(kind, DecimalType):
        return _decimal_text(random, kind, small)
    if isinstance(kind, FloatType):
        return random.choice((f"{small}", f"-{small}.5", f"{small}e-1", random.choice(FLOATS)))
    return random.choice(WORDS)[: kind.limit]


def _decimal_text(random, kind, small):
    unscaled = random.choice((small, small, -small, 10**kind.precision - 1, 1 - 10**kind.precision, small * 10))
    digits = str(abs(unscaled)).rjust(kind.scale + 1, "0")
    whole, decimals = digits[: len(digits) - kind.scale], digits[len(digits) - kind.scale :]
    return f"{'-' * (unscaled < 0)}{whole}{'.' * (kind.scale > 0)}{decimals}"


def random_world(random, limit=LIMIT):
    """A table of one to four columns of any types."""
    columns = [(f"c{at}", random.choice(TYPES)) for at in range(random.choice((1, 2, 2, 3, 3, 4)))]
    limit = random.choice((limit, limit // 5, limit // 5))
    sizes = [random.choice((1, 2, 4, 8, 30)) for _ in columns]
    pools = []
    for (_, kind), size in zip(columns, sizes, strict=True):
        respelled = random.random() < 1 / 3
        pools.append(sorted({random_text(random, parse_type(kind), respelled=respelled) for _ in range(size)}))
    partitions = list(product(*pools))
    kept = min(len(partitions), random.randint(1, limit))
    return World.of(columns, random.sample(partitions, kept))
