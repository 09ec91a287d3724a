"""The methods of a service of an IDL: how their arguments are read, and their results are written."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any, Final

from thriftpy2.thrift import TException, TType

from hbstore.thrift.kinds import StructKinds
from hbstore.thrift.wire import Struct, WireType, field_head

_SUCCESS: Final = 0
_STOP: Final = b"\0"


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a service.

    Attributes:
        name: as on the wire.
        arguments: reads an object with the arguments as attributes; those that were not sent are None.
        success: the kind of its result; None where it returns nothing.
        exceptions: the exceptions that it declares, each with what stands before it in a result.
        oneway: clients do not wait for an answer.
        needed: the arguments without which a call says nothing: those that are structs, but for some.
    """

    name: str
    arguments: Struct[Any]
    success: WireType | None
    exceptions: tuple[tuple[type[Exception], bytes, WireType], ...]
    oneway: bool
    needed: tuple[str, ...] = ()

    @property
    def success_head(self) -> bytes:
        """What stands before a result's value."""
        assert self.success is not None
        return field_head(self.success, _SUCCESS)

    def result(self, value: Any) -> bytes:
        """The bytes of a result.

        Raises:
            ValueError, TypeError, AttributeError, struct.error: the value is not of the declared type.
        """
        if self.success is None:
            return _STOP
        return self.success_head + self.success.write(value) + _STOP

    def failure(self, error: Exception) -> bytes | None:
        """The bytes of a result that is a declared exception; None where the method does not declare it."""
        for declared, head, kind in self.exceptions:
            if isinstance(error, declared):
                return head + kind.write(error) + _STOP
        return None

    def declares(self, exception: type[Exception]) -> bool:
        """Whether the method may answer with an exception."""
        return any(declared is exception for declared, _, _ in self.exceptions)


def methods_of(service: Any, kinds: StructKinds, *, optional: Container[type] = ()) -> dict[str, Method]:
    """The methods of a service, by name.

    Args:
        service: as thriftpy2 makes it.
        kinds: of the IDL.
        optional: structs that a call may do without.
    """
    methods = {}
    for name in service.thrift_services:
        result = getattr(service, f"{name}_result")
        exceptions = []
        success = None
        for number, spec in sorted(result.thrift_spec.items()):
            kind = kinds.field(spec)
            if number == _SUCCESS:
                success = kind
            elif issubclass(spec[2], TException):
                exceptions.append((spec[2], field_head(kind, number), kind))
        given = getattr(service, f"{name}_args")
        arguments = kinds.struct(given)
        assert isinstance(arguments, Struct)
        structs = [spec for spec in given.thrift_spec.values() if spec[0] == TType.STRUCT]
        needed = tuple(spec[1] for spec in structs if spec[2] not in optional)
        methods[name] = Method(name, arguments, success, tuple(exceptions), oneway=result.oneway, needed=needed)
    return methods
