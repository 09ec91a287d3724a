"""Texts that are nearly values: what people and programs write in place of a value, and texts beside these."""

from __future__ import annotations

import json
from pathlib import Path

DOCUMENT = Path(__file__).parents[1] / "docs" / "keys.md"
ALPHABET = "0123456789001122+-- ::..TZeEfdnNaAtTrRuUsSyYoOiIxXpP\t\n\x0b\x1f\x7f\0/,_é٥\u00a0"
"""Characters that matter to one of the types, digits above all."""
INTEGERS = (
    *("0", "5", "-5", "+5", "007", " 5", "5 ", "\t5\n", "5\x7f", "5\0", "9.0", "9.", "9.5", "-9.9", ".5", "-.5", "."),
    *(
        "-.",
        "+",
        "-",
        "--5",
        "+ 5",
        "1e1",
        "0x10",
        "5L",
        "1_000",
        "1,000",
        "٥",
        "127",
        "128",
        "127.9",
        "-128.5",
        "-129",
    ),
    *(
        "32767.5",
        "32768",
        "2147483647.9",
        "2147483648",
        "-2147483648.1",
        "9223372036854775807.9",
        "9223372036854775808",
    ),
    *("-9223372036854775808", "-9223372036854775809", "0" * 40 + "5", "9.0.0", "9.0x", "9.0e0", "\u00a05", "1 2"),
)
DATES = (
    *("2024-01-08", "2024-1-8", " 2024-01-08", "2024-01-08 ", "2024-01-08T", "2024-01-08 00:00:00", "2024-01-08\n"),
    *(
        "2024-01-08T05:06:07",
        "2024-01-08 x",
        "2024-01-08Tx\ny",
        "2024-01-08x",
        "2024-01-08Z",
        "2024-01-08+01:00",
        "+2024",
    ),
    *(
        "2024-01",
        "2024-3",
        "2024",
        "2024-",
        "2024-01-",
        "2024-01 00",
        "2024 00",
        "20240108",
        "2024-001-08",
        "2024-01-008",
    ),
    *(
        "02024-01-08",
        "0002024-01-08",
        "00002024-01-08",
        "10000-01-01",
        "-2024-01-08",
        "+2024-01-08",
        "0000-01-01",
        "0001",
    ),
    *("024-01-08", "24-01-08", "2024-02-29", "2023-02-29", "2024-13-01", "2024-00-01", "2024/01/08", "08.01.2024"),
    *("now", "today", "epoch", "2024-W02", "99999999-01-01", "5881580-07-12", "2024-01-08-", "2024--08", "1582-10-10"),
)
TIMES = (
    *("2024-01-08 05:06:07", "2024-01-08T05:06:07.5", " 2024-01-08 05:06:07 ", "2024-01-08 05:06", "2024-01-08 05"),
    *("2024-01-08 5:6:7", "2024-1-8 5:6", "2024-1-8T5", "2024-01-08 05:", "2024-01-08 05:06:", "2024-01-08 05:06:07."),
    *("2024-01-08 05:06:07.123456", "2024-01-08 05:06:07.1234567891234", "2024-01-08 24:00:00", "2024-01-08 23:60:00"),
    *("2024-01-08 23:59:60", "2024-01-08 05:06:07Z", "2024-01-08 05:06:07 UTC", "2024-01-08 05:06:07+01:00", "05:06"),
    *("2024-01-08 05:06:07 Europe/Paris", "2024-01-08 05:06Z", "2024-01-08  05:06:07", "2024-01-08t05:06:07", "T05:06"),
    *(
        "5:6:7.5",
        "T5",
        "2024-01 05:06:07",
        "2024 05:06:07",
        "2024T05",
        "+2024-01-08 00:00:00",
        "2024-01-08 05:06:07.1 ",
    ),
    *(
        "02024-01-08 00:00:00",
        "12024-01-08 00:00:00",
        "0002024-01-08 00:00:00",
        "2024-01-08 05.5",
        "2024-01-08 05:06.5",
    ),
)
TRUTHS = (
    *("true", "TRUE", "t", "T", "f", "yes", "NO", "y", "n", "1", "0", " true", "false\n", "true\x7f", "on", "off", "2"),
    *("00", "01", "+1", "1.0", "truee", "\u00a0true"),
)
DECIMALS = (
    *(
        "1.5",
        "1.555",
        "1.554",
        "1.545",
        "-1.555",
        " 1.5",
        "1.5 ",
        "1.5\x7f",
        "1e1",
        "1E-3",
        "1e-400",
        "1e400",
        "-0",
        "0e5",
    ),
    *("99999999.99", "99999999.994", "99999999.995", "100000000", "1.", "+.5", ".", "0x10", "1,5", "1.5d", "1_0", "1e"),
    *(
        "1e99999",
        "1e-9999",
        "1e+05",
        "12345678901234567890123456789012345678901",
        "0.123456789012345678901234567890123456785",
    ),
    *("0.999999999999999999999999999999999999999", "٥", "５.5", "𝟓", "1.5L", "+ 1", "1e+", "-0.004", "00001.500000000"),
)
FLOATS = (
    *(
        "1d",
        "1D",
        "1.5f",
        "1.5F",
        "1e3d",
        "1L",
        "0x10",
        "0x1p3",
        "0x1.8p1",
        "0x.8p1",
        "0x1.p1",
        "0x1p",
        "0x1p99999",
        "-0x1p3f",
    ),
    *(
        "NaN",
        "nan",
        "NAN",
        "+NaN",
        "-NaN",
        "+nan",
        "-nan",
        "NaNd",
        " nan ",
        "Infinity",
        "-Infinity",
        "+Infinity",
        "inf",
    ),
    *(
        "+inf",
        "-inf",
        "INF",
        " -inf ",
        "infinity",
        "-INFINITY",
        "Infinityx",
        "+-inf",
        "-+inf",
        "--inf",
        "1e400",
        "-1e400",
    ),
    *("1e39", "3.4028236e38", "16777217", "1e-50", "5e-324", "1.4e-46", "1.5\0", "\x001.5", "\x7f1.5"),
)
WORDS = ("", " ", "a", "a ", " a", "abc", "abcd", "abc ", "ab   ", "é", "null", "NULL", "\n", "a\0b", "long text")
SPELLINGS = (*INTEGERS, *DATES, *TIMES, *TRUTHS, *DECIMALS, *FLOATS, *WORDS)


def spelling(random):
    """One of these texts with up to three characters put in, left out or replaced; now and then any characters."""
    if random.random() < 0.1:
        return "".join(random.choices(ALPHABET, k=random.randint(1, 6)))
    text = random.choice(SPELLINGS)
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        at = random.randint(0, len(text))
        text = text[:at] + random.choice((random.choice(ALPHABET), "")) + text[at + random.randint(0, 1) :]
    return text


def documented():
    """The rows of the table in docs/keys.md: type, text, what hbstore reads, and the words on what Spark reads."""
    section = DOCUMENT.read_text(encoding="utf-8").split("\n## Other spellings\n")[1].split("\n## ")[0]
    for line in section.splitlines():
        if line.startswith("| `"):
            kind, text, read, of_spark, _ = (cell.strip() for cell in line.strip("|").split("|"))
            yield kind.strip("`"), json.loads(text.strip("`")), None if read == "none" else read.strip("`"), of_spark
