"""What HBase's Thrift interface is made of: the structs, errors and calls that happybase loads from its IDL."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import happybase

_loaded: Any = import_module("Hbase_thrift")  # a module that importing happybase makes

Connection: Final[Any] = happybase.Connection
Service: Final[Any] = _loaded.Hbase
Mutation: Final[Any] = _loaded.Mutation
TScan: Final[Any] = _loaded.TScan

AlreadyExists: Final[Any] = _loaded.AlreadyExists
HBaseIOError: Final[Any] = _loaded.IOError
IllegalArgument: Final[Any] = _loaded.IllegalArgument
