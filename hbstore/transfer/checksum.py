"""Whether two metastores hold the same partitions: a count, and a sum of digests that no order changes.

A partition's digest is that of its values and all else of it in one form: maps sorted, a location and a storage that it
has from its table written out. So it is the same whatever order a metastore gives parameters in. A metastore keeps
fields of later versions as far as it knows them, and sets some for itself: `Digests`, which compare a store with a
metastore, leave them out, and `Payloads`, which compare what a metastore gave with what a store keeps, do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final, TypeVar

from hbstore.keys.partition_names import partition_namer
from hbstore.model.frozen import FrozenDict
from hbstore.model.layouts import storage_around_location
from hbstore.model.objects import Partition, Privileges, StorageDescriptor, Table
from hbstore.model.structs import PartitionEncoder

K = TypeVar("K", bound=Any)
V = TypeVar("V")
_BYTES: Final = 16
_MODULUS: Final = 1 << (8 * _BYTES)
_STORAGES: Final = 256
"""Storages whose form is kept; partitions of one table mostly share a few."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """Of a set of partitions.

    Attributes:
        count: how many there are.
        total: the sum of their digests, modulo 2¹²⁸.

    >>> Checksum(1, 10) + Checksum(2, 5)
    Checksum(count=3, total=15)
    >>> str(Checksum(3, 15))
    '3 partitions, 0000000000000000000000000000000f'
    """

    count: int = 0
    total: int = 0

    def __add__(self, other: Checksum) -> Checksum:
        return Checksum(self.count + other.count, (self.total + other.total) % _MODULUS)

    def __str__(self) -> str:
        return f"{self.count:,} partition{'s' * (self.count != 1)}, {self.total:032x}"


class Digests:
    """The digests of one table's partitions, without fields of later versions. For one thread at a time.

    Args:
        table: the table.

    >>> from hbstore.model.objects import Column
    >>> table = Table("shop", "sales", partition_columns=[Column("ds", "date")], location="/sales")
    >>> one = Partition(["2013-01-01"], parameters={"a": "1", "b": "2"})
    >>> other = replace(one, location="/sales/ds=2013-01-01", parameters={"b": "2", "a": "1"})
    >>> digest = Digests(table).digest
    >>> digest(one) == digest(other), digest(one) == digest(replace(one, location="/elsewhere"))
    (True, False)
    """

    def __init__(self, table: Table) -> None:
        self._inherited = replace(table.storage, columns=table.columns)
        self._root = None if table.location is None else table.location.rstrip("/")
        self._name = partition_namer(table.partition_column_names)
        self._forms: dict[int, tuple[StorageDescriptor, bytes]] = {}

    def digest(self, partition: Partition) -> int:
        """The digest of one partition."""
        location = partition.location
        if location is None and self._root is not None:
            location = f"{self._root}/{self._name(partition.values)}"
        form = (
            partition.values,
            location,
            partition.create_time,
            partition.last_access_time,
            sorted(partition.parameters.items()),
            self._form(partition.storage or self._inherited),
            partition.privileges and _sorted_privileges(partition.privileges),
        )
        return int.from_bytes(blake2b(repr(form).encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest())

    def of(self, partitions: list[Partition]) -> Checksum:
        """The checksum of some partitions."""
        return Checksum(len(partitions), sum(map(self.digest, partitions)) % _MODULUS)

    def _form(self, storage: StorageDescriptor) -> bytes:
        storage_and_form = self._forms.get(id(storage))
        if storage_and_form is None:
            if len(self._forms) >= _STORAGES:
                self._forms.clear()
            storage_and_form = self._forms[id(storage)] = storage, _storage_form(storage)
        return storage_and_form[1]


class Payloads:
    """The bytes of one table's partitions as they are stored, in one form: with the entries of maps in order.

    What is stored in this form need not be read to be summed up. For one thread at a time.

    Args:
        table: the table.

    Attributes:
        encode: the bytes of a partition whose maps are in order.

    >>> from hbstore.model.objects import Column
    >>> table = Table("shop", "sales", partition_columns=[Column("ds", "date")], location="/sales")
    >>> payload = Payloads(table).payload
    >>> one = Partition(["2013-01-01"], parameters={"a": "1", "b": "2"})
    >>> payload(one) == payload(replace(one, parameters={"b": "2", "a": "1"}))
    True
    """

    def __init__(self, table: Table) -> None:
        self.encode = PartitionEncoder(table).encode
        self._storages: dict[int, tuple[StorageDescriptor, StorageDescriptor]] = {}

    def ordered(self, partition: Partition) -> Partition:
        """The partition with the entries of its maps in order."""
        return Partition(
            partition.values,
            location=partition.location,
            parameters=_sorted(partition.parameters),
            create_time=partition.create_time,
            last_access_time=partition.last_access_time,
            storage=None if partition.storage is None else self._ordered(partition.storage),
            privileges=partition.privileges and _sorted_privileges(partition.privileges),
            later_fields=partition.later_fields,
        )

    def payload(self, partition: Partition) -> bytes:
        """The bytes of a partition."""
        return self.encode(self.ordered(partition))

    @staticmethod
    def of(payloads: Iterable[bytes]) -> Checksum:
        """The checksum of partitions by their bytes."""
        digests = [blake2b(payload, digest_size=_BYTES).digest() for payload in payloads]
        return Checksum(len(digests), sum(map(int.from_bytes, digests)) % _MODULUS)

    def _ordered(self, storage: StorageDescriptor) -> StorageDescriptor:
        storage_and_ordered = self._storages.get(id(storage))
        if storage_and_ordered is None:
            if len(self._storages) >= _STORAGES:
                self._storages.clear()
            storage_and_ordered = self._storages[id(storage)] = storage, _sorted_storage(storage)
        return storage_and_ordered[1]


def comparable(storage: StorageDescriptor) -> StorageDescriptor:
    """A storage without what a Hive Metastore adds, drops or does not tell apart: later fields, a skew of nothing."""
    skew = storage.skew
    says = skew is not None and (skew.columns or skew.values or skew.locations)
    serde = replace(storage.serde, later_fields=b"")
    return replace(storage, serde=serde, skew=skew if says else None, later_fields=b"")


def _storage_form(storage: StorageDescriptor) -> bytes:
    """A digest of a storage with its maps sorted."""
    ordered = _sorted_storage(comparable(storage))
    return blake2b(b"".join(storage_around_location(ordered)), digest_size=_BYTES).digest()


def _sorted_storage(storage: StorageDescriptor) -> StorageDescriptor:
    skew = storage.skew
    return replace(
        storage,
        serde=replace(storage.serde, parameters=_sorted(storage.serde.parameters)),
        parameters=_sorted(storage.parameters),
        skew=None if skew is None else replace(skew, locations=_sorted(skew.locations)),
    )


def _sorted(mapping: Mapping[K, V]) -> FrozenDict[K, V]:
    return FrozenDict(sorted(mapping.items()))


def _sorted_privileges(privileges: Privileges) -> Privileges:
    return Privileges(_sorted(privileges.users), _sorted(privileges.groups), _sorted(privileges.roles))
