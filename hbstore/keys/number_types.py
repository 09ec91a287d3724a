"""Partition column types of numbers: integers, decimals and floats, with bytes in the order of the numbers.

The layout of their payloads, with vectors, is in docs/keys.md.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation
from math import isfinite
from typing import Final

from hbstore.keys.column_type import Value
from hbstore.keys.spellings import nearest_single, read_decimal, read_float, read_integer

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?\Z")
_FLOAT = re.compile(r"(?:[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|Infinity)|NaN)\Z")
MAX_PRECISION: Final = 38
_PLAIN: Final = range(-3, 7)
"""Exponents of ten at which Java writes a number without one."""
_EXACT: Final = Context(prec=1000, traps=[Inexact, InvalidOperation])
"""Decimal's own context rounds to 28 digits, without a word; this one raises where it would have to round."""


@dataclass(frozen=True, slots=True)
class IntegerType:
    """tinyint, smallint, int or bigint: 8 bytes big-endian with the sign flipped, whatever the declared size.

    One width for all of them, so that an int column can become a bigint column without a rewrite of its rows.
    """

    name: str
    bits: int

    @property
    def width(self) -> int:
        """Always 8 bytes."""
        return 8

    def parse(self, text: str) -> int:
        """Optional sign and digits, within the declared size."""
        if not _INTEGER.match(text):
            raise ValueError(f"not a whole number: {text!r}")
        if len(text) > 20:  # noqa: PLR2004  longer than any 64-bit number unless padded; int() is quadratic
            text = text[0] + text[1:].lstrip("0") if text[0] in "+-" else text.lstrip("0")
            if len(text) > 20:  # noqa: PLR2004
                raise ValueError(f"out of range for {self.name}")
        number = int(text or "0") if text not in ("+", "-") else 0
        half = 1 << (self.bits - 1)
        if not -half <= number < half:
            raise ValueError(f"out of range for {self.name}: {number}")
        return number

    def read(self, text: str) -> int | None:
        """See `read_integer`: decimals are cut off."""
        return read_integer(text, self.bits)

    def encode(self, value: Value) -> bytes:
        """8 bytes; any 64-bit integer is taken, in the declared range or not."""
        assert isinstance(value, int)
        return (value + (1 << 63)).to_bytes(8, "big")

    def decode(self, payload: bytes) -> int:
        """The integer of 8 bytes."""
        return int.from_bytes(payload, "big") - (1 << 63)

    def text(self, value: Value) -> str:
        """Decimal digits without leading zeros."""
        return str(value)


@dataclass(frozen=True, slots=True)
class DecimalType:
    """decimal(p,s): the unscaled value in 16 bytes with the sign flipped."""

    precision: int = 10
    scale: int = 0

    @property
    def name(self) -> str:
        """``decimal(p,s)``."""
        return f"decimal({self.precision},{self.scale})"

    @property
    def width(self) -> int:
        """Always 16 bytes."""
        return 16

    def parse(self, text: str) -> Decimal:
        """A number that the precision and scale hold without rounding."""
        if not _DECIMAL.match(text):
            raise ValueError(f"not a decimal number: {text!r}")
        number = parse_decimal(text)
        try:
            unscaled = number.scaleb(self.scale, _EXACT)
        except Inexact:
            raise ValueError(f"does not fit {self.name}: {text[:50]!r}…") from None
        if unscaled != unscaled.to_integral_value() or unscaled.copy_abs() >= 10**self.precision:
            raise ValueError(f"does not fit {self.name}: {text!r}")
        return number or Decimal(0)  # -0 becomes 0

    def read(self, text: str) -> Decimal | None:
        """See `read_decimal`: decimals beyond the scale are rounded half up."""
        return read_decimal(text, self.precision, self.scale)

    def encode(self, value: Value) -> bytes:
        """16 bytes."""
        assert isinstance(value, Decimal | int)
        return (int(Decimal(value).scaleb(self.scale, _EXACT)) + (1 << 127)).to_bytes(16, "big")

    def decode(self, payload: bytes) -> Decimal:
        """The number of 16 bytes, with exactly ``scale`` decimals."""
        return Decimal(int.from_bytes(payload, "big") - (1 << 127)).scaleb(-self.scale, _EXACT)

    def text(self, value: Value) -> str:
        """Plain digits with exactly ``scale`` decimals, as Hive prints them."""
        return f"{value:.{self.scale}f}"


@dataclass(frozen=True, slots=True)
class FloatType:
    """float (4 bytes) or double (8): IEEE 754, all bits flipped below zero and the sign bit above.

    -0.0 is 0.0, and every NaN is one value above infinity, as in Hive's and Spark's ordering.
    """

    name: str
    width: int

    def parse(self, text: str) -> float:
        """A number, Infinity or NaN; a float is rounded to the nearest of its 4 bytes."""
        if not _FLOAT.match(text):
            raise ValueError(f"not a number: {text!r}")
        return self._rounded(self._read(text))

    def read(self, text: str) -> float | None:
        """See `read_float`: infinities and NaN in any case, literals of Java."""
        number = read_float(text, self._read)
        return None if number is None else self._rounded(number)

    def _read(self, text: str) -> float:
        return nearest_single(text) if self.width == 4 else float(text)  # noqa: PLR2004

    def _rounded(self, number: float) -> float:
        if self.width == 4 and number == number:  # noqa: PLR0124, PLR2004  not NaN
            try:
                number = float(struct.unpack(">f", struct.pack(">f", number))[0])
            except OverflowError:
                number = float("inf") if number > 0 else float("-inf")
        return number + 0.0  # -0.0 becomes 0.0

    def encode(self, value: Value) -> bytes:
        """4 or 8 bytes."""
        assert isinstance(value, float | int)
        number = self._rounded(float(value))
        form, bits = (">f", 32) if self.width == 4 else (">d", 64)  # noqa: PLR2004
        if number != number:  # noqa: PLR0124  NaN
            number = float("nan")
        pattern = int.from_bytes(struct.pack(form, number), "big")
        if number != number:  # noqa: PLR0124
            pattern &= (1 << (bits - 1)) - 1  # one NaN, the positive one
        sign = 1 << (bits - 1)
        return (pattern ^ ((sign << 1) - 1) if pattern & sign else pattern | sign).to_bytes(self.width, "big")

    def decode(self, payload: bytes) -> float:
        """The number of 4 or 8 bytes."""
        form, bits = (">f", 32) if self.width == 4 else (">d", 64)  # noqa: PLR2004
        pattern = int.from_bytes(payload, "big")
        sign = 1 << (bits - 1)
        pattern = pattern ^ sign if pattern & sign else pattern ^ ((sign << 1) - 1)
        return float(struct.unpack(form, pattern.to_bytes(self.width, "big"))[0])

    def text(self, value: Value) -> str:
        """The shortest digits that read back as the same number, as Java writes them: ``1.0E10``."""
        assert isinstance(value, float | int)
        number = self._rounded(float(value))
        if self.width == 4 and isfinite(number):  # noqa: PLR2004  nine digits tell floats of 4 bytes apart, often fewer
            texts = (f"{number:.{digits}g}" for digits in range(1, 10))
            number = float(next(shorter for shorter in texts if self.parse(shorter) == number))
        return java_text(repr(number))

    def written(self, value: float) -> tuple[Decimal, Decimal]:
        """The least and the greatest of the numbers that a finite value is written as.

        They are all its digits; the fewest that read back as it; as many as tell any two values apart, nine for a float
        and 17 for a double; and the fewest that read back as it from a double, which Python and Java show of a float.

        >>> [str(number) for number in FloatType("double", 8).written(2.5)]
        ['2.5', '2.5']
        >>> [float(number) for number in FloatType("float", 4).written(16777216.0)]
        [16777216.0, 16777216.0]
        >>> print(FloatType("double", 8).written(0.1)[0])
        0.1
        """
        digits = 9 if self.width == 4 else 17  # noqa: PLR2004
        texts = (repr(value), self.text(value), f"{value:.{digits}g}")
        ways = (Decimal(value), *map(Decimal, texts))
        return min(ways), max(ways)


def java_text(text: str) -> str:
    """The digits of a float as Java writes them.

    >>> [java_text(text) for text in ("0.5", "1e10", "nan", "-inf", "0.00012", "-0.0")]
    ['0.5', '1.0E10', 'NaN', '-Infinity', '1.2E-4', '-0.0']
    """
    special = {"nan": "NaN", "inf": "Infinity", "infinity": "Infinity"}.get(text.lower().lstrip("-"))
    if special:
        return f"-{special}" if text.startswith("-") else special
    number = Decimal(text)
    if not number or number.adjusted() in _PLAIN:
        plain = f"{number:f}"
        return plain if "." in plain else f"{plain}.0"
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0")
    return f"{'-' * number.is_signed()}{digits[0]}.{digits[1:] or '0'}E{number.adjusted()}"


def parse_decimal(text: str) -> Decimal:
    """A decimal number exactly as written; ValueError where it is none or has an absurd exponent."""
    if not _DECIMAL.match(text):
        raise ValueError(f"not a decimal number: {text!r}")
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"not a decimal number: {text!r}") from error
