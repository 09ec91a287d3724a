"""Kryo's objects: what the bytes of an expression hold, before it is looked at what they mean.

An object is a `JavaObject` with its fields by name, a list is a tuple, and a value is Python's own. Objects are
numbered in the order in which they begin, and may occur again by their numbers; one that contains itself is refused.
How many objects there are is bounded by the bytes; how deep they nest is bounded here, and what shared ones unfold to
in `hbstore.hive_expressions.nodes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hbstore.hive_expressions.classes import (
    ELEMENTS,
    EMPTY,
    LISTS,
    REGISTERED3,
    REGISTERED5,
    SINGLE,
)
from hbstore.hive_expressions.encodings import ByteCursor
from hbstore.hive_expressions.refusal import unreadable
from hbstore.hive_expressions.used import ARRAY, DECIMAL, INSPECTORS, Fields
from hbstore.texts.wording import clipped

MAX_NESTING: Final = 300
"""How deep objects and lists may nest; a function in a function nests two deep."""

_NULL, _NEW = 0, 1
_BY_NAME: Final = 1
_FIRST_REGISTERED: Final = 2
_PARTS: Final = 4
_MORE: Final = 0x80
_SHOWN: Final = 80
_OPEN: Final = object()
"""Stands for an object whose fields are being read."""

Read: TypeAlias = Callable[[], Any]


@dataclass(slots=True, eq=False)
class JavaObject:
    """An object of a class in `hbstore.hive_expressions.classes`. Not frozen, as that takes as long as reading it.

    Attributes:
        name: its class.
        fields: by name.
    """

    name: str
    fields: Mapping[str, Any]


@dataclass(slots=True, eq=False)
class JavaClass:
    """A class, and how its objects are read; what cannot be read is no part of expressions.

    Attributes:
        name: its name; of a registered one, what it is.
        fields: by name, how each is read.
        numbered: how what stands behind the marker is read, where it has no fields.
        value: how a value without a marker is read.
    """

    name: str
    fields: tuple[tuple[str, Read], ...] | None
    numbered: Read | None
    value: Read | None = None


@dataclass(frozen=True, slots=True)
class SqlDate:
    """A java.sql.Date: milliseconds since 1970-01-01 UTC at which the day begins where the client is."""

    milliseconds: int


@dataclass(frozen=True, slots=True)
class SqlTimestamp:
    """A java.sql.Timestamp: milliseconds since 1970-01-01 UTC at which the client's clock shows it."""

    milliseconds: int
    nanoseconds: int


@dataclass(frozen=True, slots=True)
class LocalDate:
    """A java.time.LocalDate."""

    year: int
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class LocalTime:
    """A java.time.LocalDateTime."""

    date: LocalDate
    hour: int
    minute: int
    second: int
    nanosecond: int


class ObjectReader:
    """Reads objects from the bytes of one Kryo."""

    __slots__ = ("_classes", "_depth", "_fields", "_kryo5", "_numbered", "_objects", "_registered", "_values", "cursor")

    def __init__(self, data: bytes, fields: Mapping[str, Fields], *, kryo5: bool) -> None:
        """Begin to read.

        Args:
            data: the bytes.
            fields: those of the classes that may be named, by class.
            kryo5: whether Kryo 5 wrote them, as in Hive 4.
        """
        self.cursor = cursor = ByteCursor(data, fixed="little" if kryo5 else "big")
        self._kryo5 = kryo5
        self._fields = fields
        self._registered: Mapping[int, str] = REGISTERED5 if kryo5 else REGISTERED3
        self._classes: list[JavaClass] = []
        self._objects: list[Any] = []
        self._depth = 0
        self._values: dict[str, Callable[[], Any]] = {
            "object": self.any_object,
            "boolean": cursor.boolean,
            "integer": cursor.integer,
            "long": cursor.long,
            "short": cursor.short,
            "tiny": cursor.tiny,
            "single": cursor.single,
            "double": cursor.double,
            "text": self._text,
            "texts": self._texts,
            "absent": self._absent,
            "enumeration": self._enumeration,
            "bytes": lambda: self._content(self._bytes),
            "decimal writable": lambda: self.any_object(self._class_of(DECIMAL)),
            "local date": lambda: self._content(self._local_date),
            "local time": lambda: self._content(self._local_time),
        }
        self._numbered: dict[str, Callable[[], Any]] = {
            "sql date": lambda: SqlDate(cursor.fixed(8)),
            "sql timestamp": lambda: SqlTimestamp(cursor.fixed(8), cursor.fixed(4)),
            "array": self._array,
            ARRAY: self._inspectors,
            SINGLE: lambda: (self.any_object(),),
            EMPTY: tuple,
            **dict.fromkeys(LISTS, self._list),
        }

    def root(self, name: str) -> Any:
        """An object of a class that is known without the bytes."""
        return self.any_object(self._class_of(name))

    def _class_of(self, name: str) -> JavaClass:
        fields, values = self._fields.get(name), self._values
        read = None if fields is None else tuple([(field, values[kind]) for field, kind in fields])
        return JavaClass(name, read, self._numbered.get(name))

    def _class(self) -> JavaClass | None:
        """A class; None where there is no object."""
        number = self.cursor.varint()
        if number == _NULL:
            return None
        if number != _BY_NAME:
            kind = self._registered.get(number - _FIRST_REGISTERED, "")
            return JavaClass(kind, None, self._numbered.get(kind), self._values.get(kind))
        index = self.cursor.varint()
        if index < len(self._classes):
            return self._classes[index]
        if index > len(self._classes):
            raise unreadable("a class is referred to that was not named", at=self.cursor.at)
        named = self._class_of(self.cursor.text() or "")
        self._classes.append(named)
        return named

    def any_object(self, java_class: JavaClass | None = None) -> Any:
        """An object, or None: of this class, or of the one that stands before it.

        It reads all fields itself, and lists call it at once, so that what nests deep needs few frames of Python's.
        What Hive writes most, classes and objects whose numbers have one byte, needs no further calls.
        """
        cursor = self.cursor
        data, at = cursor.data, cursor.at
        if java_class is None:
            kind = data[at]
            if kind == _NULL:
                cursor.at = at + 1
                return None
            classes = self._classes
            if kind == _BY_NAME and data[at + 1] < _MORE and data[at + 1] < len(classes):
                java_class = classes[data[at + 1]]
                cursor.at = at = at + 2
            elif (java_class := self._class()) is None:  # a zero of several bytes
                return None
            else:
                at = cursor.at
        fields = java_class.fields
        if fields is None:
            return self._without_fields(java_class)
        objects = self._objects
        number, marker = len(objects), data[at]
        if marker != _NEW:
            if _NEW < marker < _MORE and marker - 2 < number and (seen := objects[marker - 2]) is not _OPEN:
                cursor.at = at + 1
                return seen
            return self._seen()
        cursor.at = at + 1
        objects.append(_OPEN)
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise unreadable("it nests too deep", limit=MAX_NESTING)
        found = {}
        for name, read in fields:
            found[name] = read()
        self._depth -= 1
        made = objects[number] = JavaObject(java_class.name, found)
        return made

    def _without_fields(self, java_class: JavaClass) -> Any:
        """A value, which has no number, or a list or an array or a date, which have one."""
        if java_class.value is not None:
            return java_class.value()
        if java_class.numbered is None:
            named = clipped(java_class.name, _SHOWN)
            raise unreadable("it holds an object of a class that is not part of expressions", java_class=named)
        return self._content(java_class.numbered)

    def _content(self, read: Callable[[], Any]) -> Any:
        """What stands behind the marker of an object that has no fields of this table."""
        cursor = self.cursor
        if cursor.data[cursor.at] != _NEW:
            return self._seen()
        cursor.at += 1
        number = len(self._objects)
        self._objects.append(_OPEN)
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise unreadable("it nests too deep", limit=MAX_NESTING)
        found = self._objects[number] = read()
        self._depth -= 1
        return found

    def _seen(self) -> Any:
        """An object that occurred before, or null."""
        cursor = self.cursor
        marker = cursor.data[cursor.at]
        if marker < _MORE:
            cursor.at += 1
        else:
            marker = cursor.varint()
        if marker == _NULL:
            return None
        if marker == _NEW or marker - 2 >= len(self._objects):
            raise unreadable("an object is referred to that did not occur", at=self.cursor.at)
        found = self._objects[marker - 2]
        if found is _OPEN:
            raise unreadable("an object contains itself", at=self.cursor.at)
        return found

    def _text(self) -> str | None:
        cursor = self.cursor
        at = cursor.at
        if cursor.data[at] == _NEW:
            cursor.at = at + 1
            text = cursor.text()
            self._objects.append(text)
            return text
        found = self._seen()
        if found is not None and not isinstance(found, str):
            raise unreadable("another object stands where a text should", at=cursor.at)
        return found

    def _absent(self) -> None:
        """What is not part of an expression, and absent in those that Hive sends."""
        cursor = self.cursor
        if cursor.data[cursor.at] != _NULL:
            raise unreadable("a function was used before it was sent, and holds what only Hive can read")
        cursor.at += 1

    def _enumeration(self) -> int | None:
        """Which of its kinds a Java enum is, from 1 on; in Kryo 5 it has a marker and no number."""
        marker, cursor = self.cursor.byte(), self.cursor
        if marker > _NEW:
            raise unreadable("another object stands where a kind should", at=cursor.at)
        return cursor.varint() if marker == _NEW else None

    def _bytes(self) -> bytes:
        return self.cursor.take(self._length())

    def _length(self) -> int:
        """How many elements an array has."""
        length = self.cursor.varint()
        if not length:
            raise unreadable("an array is absent where there should be one", at=self.cursor.at)
        return self._size(length - 1)

    def _inspectors(self) -> tuple[Any, ...]:
        found = tuple([self.any_object() for _ in range(self._length())])
        for one in found:
            if one is not None and not (isinstance(one, JavaObject) and one.name.startswith(INSPECTORS)):
                raise unreadable("another object stands where an inspector should", at=self.cursor.at)
        return found

    def _list(self) -> tuple[Any, ...]:
        if self._kryo5:
            return self._elements5(None)
        found = []
        for _ in range(self._size(self.cursor.varint())):
            found.append(self.any_object())  # noqa: PERF401  a comprehension is a frame more
        return tuple(found)

    def _elements5(self, known: Callable[[], Any] | None) -> tuple[Any, ...]:
        """The elements of Kryo 5's collections, of a class that is known or not.

        The flag says that there is one class for all. Where the class is known, it says that some are null, which the
        markers of elements say as well.
        """
        flag, count = self.cursor.flagged()
        if not count:
            raise unreadable("a list is absent where there should be one", at=self.cursor.at)
        size = self._size(count - 1)
        if not size:
            return ()
        if known is not None:
            return tuple([known() for _ in range(size)])
        if not flag:
            return tuple([self.any_object() for _ in range(size)])
        java_class = self._class()
        if java_class is None:
            return (None,) * size
        if self.cursor.boolean() and java_class.value is not None and java_class.name != "text":
            raise unreadable("a list mixes values and nulls", at=self.cursor.at)
        return tuple([self.any_object(java_class) for _ in range(size)])

    def _size(self, size: int) -> int:
        if size > len(self.cursor.data) - self.cursor.at:  # an element takes a byte at least
            raise IndexError
        return size

    def _texts(self) -> Any:
        """A list of texts: its class stands before it, theirs do not."""
        declared = self._class()
        if declared is None or declared.name not in LISTS:
            raise unreadable("the names of a struct's fields are no list", at=self.cursor.at)
        return self._content(self._text_elements)

    def _text_elements(self) -> tuple[Any, ...]:
        if self._kryo5:
            return self._elements5(self._text)
        return tuple([self._text() for _ in range(self._size(self.cursor.varint()))])

    def _array(self) -> tuple[Any, ...]:
        """Arrays.asList: the class that the array was declared with, then each element with its own."""
        size = self._size(self.cursor.varint())
        declared = self._class()
        if declared is None or (declared.value is None and declared.name not in ELEMENTS):
            named = None if declared is None else clipped(declared.name, _SHOWN)
            raise unreadable("it holds an array of a class that is not part of expressions", java_class=named)
        return tuple([self.any_object() for _ in range(size)])

    def _local_date(self) -> LocalDate:
        cursor = self.cursor
        if self._kryo5:
            return LocalDate(cursor.varint(), cursor.byte(), cursor.byte())
        day, month = cursor.short(), cursor.short()
        return LocalDate(cursor.integer(), month, day)

    def _local_time(self) -> LocalTime:
        cursor = self.cursor
        if not self._kryo5:
            date = self._content(self._local_date)
            time = self._content(lambda: (cursor.byte(), cursor.byte(), cursor.integer(), cursor.byte()))
            if not isinstance(date, LocalDate) or not isinstance(time, tuple) or len(time) != _PARTS:
                raise unreadable("a timestamp has no date or no time", at=cursor.at)
            hour, minute, nanosecond, second = time
            return LocalTime(date, hour, minute, second, nanosecond)
        date = self._local_date()
        parts = [0, 0, 0]
        for number in range(3):
            part = cursor.tiny()
            parts[number] = ~part if part < 0 else part
            if part < 0:  # the last of them that is not zero
                return LocalTime(date, parts[0], parts[1], parts[2], 0)
        return LocalTime(date, parts[0], parts[1], parts[2], cursor.varint())
