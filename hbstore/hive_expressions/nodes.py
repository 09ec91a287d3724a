"""Nodes of an expression: columns, constants and calls of functions, made of the objects in its bytes.

Objects that the bytes share are one node each, so that bytes cannot grow by what they refer to; how many nodes the
expression has with every reference followed is counted, and bounded.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias

from hbstore.hive_expressions.classes import BRIDGED, FUNCTIONS, GENERIC, PLAN, ROOT, TYPES, VALUES
from hbstore.hive_expressions.objects import JavaObject, LocalDate, LocalTime, SqlDate, SqlTimestamp
from hbstore.hive_expressions.refusal import unreadable
from hbstore.texts.wording import clipped

MAX_NODES: Final = 100_000
"""How many columns, constants and calls an expression may have, with every reference followed."""

MAX_CALLS_DEEP: Final = 150
"""How deep calls may nest."""

_PLAIN: Final = (bool, int, float, str)
_SHOWN: Final = 60
_EPOCH: Final = dt.date(1970, 1, 1).toordinal()
_DAY: Final = 86_400_000
_HOUR: Final = 3_600_000
_GREGORIAN: Final = dt.date(1582, 10, 15)
_NANOSECONDS: Final = 1_000_000_000
_COLUMN: Final = PLAN + "ExprNodeColumnDesc"
_CONSTANT: Final = PLAN + "ExprNodeConstantDesc"
_OLD_FUNCTIONS: Final = "org.apache.hadoop.hive.ql.udf."

Moment: TypeAlias = tuple[int, int]
"""A timestamp: seconds since 1970-01-01 00:00:00 without a zone, and nanoseconds."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A constant whose value cannot be told; ``why`` says why."""

    why: str

    def __str__(self) -> str:
        return "?"


ConstantValue: TypeAlias = "bool | int | float | str | Decimal | dt.date | Moment | Unknown | tuple[Any, ...] | None"
"""None is SQL's NULL; a tuple of a struct's type is a struct."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnNode:
    """A column, and its type as Hive writes it."""

    name: str
    type: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class ConstantNode:
    """A constant and its type."""

    value: ConstantValue
    type: str

    def __str__(self) -> str:
        if self.value is None:
            return "null"
        if isinstance(self.value, str):
            return repr(clipped(self.value, _SHOWN))
        if isinstance(self.value, dt.date):
            return f"date '{self.value}'"
        return clipped(str(self.value), _SHOWN)


@dataclass(frozen=True, slots=True, eq=False)
class CallNode:
    """A function and what it is called with.

    Attributes:
        function: what it means (`hbstore.hive_expressions.classes`), or its name where that is all we know.
        children: its arguments.
        type: of its result, as Hive writes it.
    """

    function: str
    children: tuple[Node, ...]
    type: str

    def __str__(self) -> str:
        shown = [clipped(str(child), _SHOWN) for child in self.children[:_FEW]]
        if len(self.children) > _FEW:
            shown.append("…")
        if self.function == "cast" and shown:
            return f"cast({shown[0]} as {self.type})"
        if self.function in _BETWEEN_TWO and len(shown) == 2:  # noqa: PLR2004
            return f"{shown[0]} {self.function} {shown[1]}"
        return f"{self.function}({', '.join(shown)})"


Node: TypeAlias = ColumnNode | ConstantNode | CallNode
_FEW: Final = 4
_BETWEEN_TWO: Final = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "like", "rlike"})


class NodeMaker:
    """Makes nodes of objects, each once."""

    __slots__ = ("_depth", "_made", "_types")

    def __init__(self) -> None:
        self._made: dict[int, tuple[Node, int]] = {}
        self._types: dict[int, str] = {}
        self._depth = 0

    def node(self, java_object: Any) -> tuple[Node, int]:
        """A node, and how many nodes there are in it; each call is made once, however often it is referred to."""
        if not isinstance(java_object, JavaObject):
            raise unreadable("something else stands where an expression should", value=_kind(java_object))
        name, fields = java_object.name, java_object.fields
        if name == _COLUMN:
            return ColumnNode(_text(fields["column"]), self._type_name(fields["typeInfo"])), 1
        if name == _CONSTANT:
            value = _value(fields["value"])
            size = len(value) if isinstance(value, tuple) else 1
            return ConstantNode(value, self._type_name(fields["typeInfo"])), size
        if name != ROOT:
            raise unreadable("something else stands where an expression should", value=name)
        node_and_size = self._made.get(id(java_object))
        if node_and_size is None:
            self._depth += 1
            if self._depth > MAX_CALLS_DEEP:
                raise unreadable("its calls nest too deep", limit=MAX_CALLS_DEEP)
            node_and_size = self._made[id(java_object)] = self._call(fields)
            self._depth -= 1
        return node_and_size

    def _call(self, fields: Mapping[str, Any]) -> tuple[Node, int]:
        children = fields["children"]
        if not isinstance(children, tuple):
            raise unreadable("a function has no list of arguments")
        arguments = []
        size = 1
        for child in children:
            node, inner = self.node(child)
            arguments.append(node)
            size += inner
        if size > MAX_NODES:
            raise unreadable("it has too many nodes", limit=MAX_NODES)
        return CallNode(_function(fields["genericUDF"]), tuple(arguments), self._type_name(fields["typeInfo"])), size

    def _type_name(self, found: Any) -> str:
        """A type as Hive writes it."""
        name = self._types.get(id(found))  # types are shared, and the objects live as long as this
        if name is None:
            name = self._types[id(found)] = _type_name(found)
        return name


def _kind(found: Any) -> str:
    """What something is, without what is in it: shared objects would be shown again and again."""
    return clipped(found.name if isinstance(found, JavaObject) else type(found).__name__, _SHOWN)


def _function(java_object: Any) -> str:
    if not isinstance(java_object, JavaObject) or not java_object.name.startswith(GENERIC):
        raise unreadable("something else stands where a function should", value=_kind(java_object))
    if java_object.name == GENERIC + "GenericUDFBridge":
        old = _text(java_object.fields["udfClassName"])
        known = BRIDGED.get(old.removeprefix(_OLD_FUNCTIONS)) if old.startswith(_OLD_FUNCTIONS) else None
        return known or clipped(_text(java_object.fields["udfName"]), _SHOWN)
    return FUNCTIONS.get(java_object.name) or java_object.name.removeprefix(GENERIC + "GenericUDF").lower()


def _type_name(found: Any) -> str:
    if not isinstance(found, JavaObject) or not found.name.startswith(TYPES):
        raise unreadable("something else stands where a type should", value=_kind(found))
    kind, fields = found.name.removeprefix(TYPES), found.fields
    if kind == "StructTypeInfo":
        return "struct"
    name = _text(fields["typeName"])
    if kind in ("CharTypeInfo", "VarcharTypeInfo"):
        return f"{name}({fields['length']})"
    return f"{name}({fields['precision']},{fields['scale']})" if kind == "DecimalTypeInfo" else name


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise unreadable("a name is missing")
    return found


def _value(java_value: Any) -> ConstantValue:
    if java_value is None or isinstance(java_value, _PLAIN):
        return java_value
    if isinstance(java_value, SqlDate):
        return _sql_date(java_value.milliseconds)
    if isinstance(java_value, SqlTimestamp):
        return Unknown("Hive 2.3 sends timestamps without saying in which time zone")
    if isinstance(java_value, tuple):
        return tuple([_value(one) for one in java_value])
    if isinstance(java_value, JavaObject) and java_value.name.startswith(VALUES):
        return _hive_value(java_value.name.removeprefix(VALUES), java_value.fields)
    raise unreadable("a constant is of a class that is not part of expressions", value=_kind(java_value))


def _hive_value(kind: str, fields: Mapping[str, Any]) -> ConstantValue:
    if kind in ("HiveChar", "HiveVarchar"):
        return _text(fields["value"])
    if kind == "HiveDecimal":
        return _decimal(fields)
    if kind == "Date" and isinstance(fields["localDate"], LocalDate):
        return _date(fields["localDate"])
    if kind == "Timestamp" and isinstance(fields["localDateTime"], LocalTime):
        return _moment(fields["localDateTime"])
    return Unknown(f"constants of the class {kind} are not compared with partition columns")


def _decimal(fields: Mapping[str, Any]) -> ConstantValue:
    unscaled = (fields["fast2"] * 10**32 + fields["fast1"] * 10**16 + fields["fast0"]) * fields["fastSignum"]
    scale = fields["fastScale"]
    if not 0 <= scale <= 38 or fields["fastSignum"] not in (-1, 0, 1) or abs(unscaled) >= 10**38:  # noqa: PLR2004
        raise unreadable("a decimal is none", scale=scale)
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))


def _date(date: LocalDate) -> ConstantValue:
    if not 1 <= date.year <= dt.MAXYEAR:
        return Unknown("hbstore has dates of the years 1 to 9999")
    try:
        return dt.date(date.year, date.month, date.day)
    except ValueError:
        raise unreadable("a date is none", year=date.year, month=date.month, day=date.day) from None


def _moment(time: LocalTime) -> ConstantValue:
    day = _date(time.date)
    if not isinstance(day, dt.date):
        return day
    if not (time.hour < 24 and time.minute < 60 and time.second < 60 and 0 <= time.nanosecond < _NANOSECONDS):  # noqa: PLR2004
        raise unreadable("a time is none", hour=time.hour, minute=time.minute, second=time.second)
    seconds = time.hour * 3600 + time.minute * 60 + time.second
    return (day.toordinal() - _EPOCH) * 86_400 + seconds, time.nanosecond


def _sql_date(milliseconds: int) -> ConstantValue:
    """The date that begins at a moment where the client is, which the bytes do not say.

    Somewhere from ten hours behind UTC to twelve ahead of it there is one such date; farther away there are two.
    """
    days, rest = divmod(milliseconds, _DAY)
    if 10 * _HOUR <= rest <= 12 * _HOUR:
        return Unknown("Hive 2.3 sends dates without saying in which time zone, and this one may be either of two")
    ordinal = days + (rest > 12 * _HOUR) + _EPOCH
    if not _GREGORIAN.toordinal() <= ordinal <= dt.date.max.toordinal():
        return Unknown("Hive 2.3 sends dates before 1582-10-15 in another calendar")
    return dt.date.fromordinal(ordinal)
