"""hbstore: a partition store on ordered rows with a filter planner.

>>> import hbstore
>>> store = hbstore.connect("memory://")
>>> store.create_database("shop")
"""

from hbstore.errors import (
    AlreadyExists,
    CommitStateUnknown,
    ConcurrentChange,
    CorruptRow,
    DatabaseNotEmpty,
    DatabaseNotFound,
    FilterError,
    FilterSyntaxError,
    FilterTooLarge,
    FilterTypeError,
    HbstoreError,
    InvalidInput,
    InvalidName,
    InvalidPartitionValue,
    InvalidType,
    InvalidUrl,
    NotAStore,
    PartitionNotFound,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
    TableNotFound,
    TableNotPartitioned,
    UnknownColumnError,
)
from hbstore.filters.builder import Expression, col
from hbstore.filters.parser import parse_filter
from hbstore.keys import NULL_PARTITION
from hbstore.model import Column, Database, Partition, StorageDescriptor, Table
from hbstore.store.partition_store import PartitionStore, connect

__version__ = "0.1.0"

__all__ = [
    "NULL_PARTITION",
    "AlreadyExists",
    "Column",
    "CommitStateUnknown",
    "ConcurrentChange",
    "CorruptRow",
    "Database",
    "DatabaseNotEmpty",
    "DatabaseNotFound",
    "Expression",
    "FilterError",
    "FilterSyntaxError",
    "FilterTooLarge",
    "FilterTypeError",
    "HbstoreError",
    "InvalidInput",
    "InvalidName",
    "InvalidPartitionValue",
    "InvalidType",
    "InvalidUrl",
    "NotAStore",
    "Partition",
    "PartitionNotFound",
    "PartitionStore",
    "StorageDescriptor",
    "StoreFull",
    "StoreReadOnly",
    "StoreUnavailable",
    "Table",
    "TableNotFound",
    "TableNotPartitioned",
    "UnknownColumnError",
    "col",
    "connect",
    "parse_filter",
]
