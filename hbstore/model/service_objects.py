"""What a Hive Metastore keeps besides databases, tables and partitions, as values.

Functions, column statistics, locks, transactions, roles and grants. Numbers of kinds are those of the metastore's
Thrift interface.

>>> Function("Shop", "Tax", "org.shop.Tax", resources=[(1, "s3://shop/tax.jar")]).name
'tax'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from types import NoneType
from typing import Final, NamedTuple

from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import identifier
from hbstore.model.objects import Grant
from hbstore.texts.arguments import expect, expect_flags, expect_many, expect_numbers, expect_texts


class Resource(NamedTuple):
    """A file that a function needs; ``type`` is 1 for a jar, 2 for a file, 3 for an archive."""

    type: int
    uri: str


_PAIRS: Final = 'Give a list of pairs of a type and a URI, such as [(1, "s3://shop/tax.jar")]'


def _resource(given: Iterable[int | str]) -> Resource:
    pair = expect_many("resources", given, int, str, hint=_PAIRS)
    if [type(one) for one in pair] != [int, str]:
        raise InvalidInput("the resource is not a pair of a type and a URI", resource=pair, hint=_PAIRS)
    return Resource(*pair)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of SQL that a class implements.

    Args:
        database: the database's name.
        name: the function's name; upper and lower case are the same.
        class_name: the class.
        owner: who made it.
        owner_type: 1 for a user, 2 for a role, 3 for a group.
        create_time: seconds since 1970.
        function_type: 1, for Java.
        resources: pairs of a type and a URI.
        later_fields: fields of later versions of the Hive Metastore, unchanged.

    Raises:
        InvalidName: a name of the database or the function that cannot be.
    """

    database: str
    name: str
    class_name: str | None = None
    owner: str | None = None
    owner_type: int | None = None
    create_time: int = 0
    function_type: int = 1
    resources: Sequence[tuple[int, str]] = ()
    later_fields: bytes = b""

    def __post_init__(self) -> None:
        object.__setattr__(self, "database", identifier("database", self.database))
        object.__setattr__(self, "name", identifier("function", self.name))
        object.__setattr__(
            self, "resources", tuple(map(_resource, expect_many("resources", self.resources, hint=_PAIRS)))
        )

    def __str__(self) -> str:
        return f"{self.database}.{self.name}"


@dataclass(frozen=True, slots=True)
class ColumnStatistic:
    """What was found out about one column of a table or a partition.

    Args:
        column: the column's name; upper and lower case are the same.
        type: the column's type, as the client says it.
        data: the bytes of the metastore's ColumnStatisticsData struct; nothing here looks into them.
        analyzed: when, in seconds since 1970.

    Raises:
        InvalidInput: the column has no name.
    """

    column: str
    type: str | None = None
    data: bytes = field(default=b"", repr=False)
    analyzed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise InvalidInput("the statistics name no column", column=repr(self.column), hint="Give the column's name")
        object.__setattr__(self, "column", self.column.lower())


class LockType(IntEnum):
    """What others may do meanwhile: read and write, read, nothing; with the last one, of Hive 4, read as well."""

    SHARED_READ = 1
    SHARED_WRITE = 2
    EXCLUSIVE = 3
    EXCL_WRITE = 4


class LockLevel(IntEnum):
    """What is locked as a whole."""

    DB = 1
    TABLE = 2
    PARTITION = 3


class LockState(IntEnum):
    """Whether a lock is held."""

    ACQUIRED = 1
    WAITING = 2


@dataclass(frozen=True, slots=True)
class LockComponent:
    """One thing that a lock is about.

    Args:
        type: how it is locked.
        level: whether ``database``, ``table`` or ``partition`` is locked; what is finer than that is left out.
        database: the database's name; upper and lower case are the same.
        table: the table's name, likewise.
        partition: the partition's name, such as ``ds=2013-01-01/hour=5``; upper and lower case of its columns' names
            are the same.

    Raises:
        InvalidInput: a name is missing that the level asks for, or there is no such type or level.
    """

    type: LockType
    level: LockLevel
    database: str
    table: str | None = None
    partition: str | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        try:
            put(self, "type", LockType(self.type))
            put(self, "level", LockLevel(self.level))
        except (ValueError, TypeError) as error:
            raise InvalidInput(
                "the type or the level of the lock is unknown",
                type=self.type,
                level=self.level,
                hint="Use a LockType (1 to 4: shared read or write, exclusive, EXCL_WRITE) and a LockLevel (1 to 3)",
            ) from error
        expect_texts(or_none=True, database=self.database, table=self.table, partition=self.partition)
        names = (self.database, self.table, self.partition)[: self.level]
        if not all(isinstance(name, str) and name for name in names):
            raise InvalidInput(
                "the lock does not name what it locks",
                level=self.level.name,
                names=names,
                hint="Name the database, and also the table and the partition if the lock is for one",
            )
        put(self, "database", self.database.lower())
        put(self, "table", str(self.table).lower() if self.level >= LockLevel.TABLE else None)
        put(self, "partition", _partition_name(self.partition) if self.level == LockLevel.PARTITION else None)

    def is_of(self, database: str | None, table: str | None = None, partition: str | None = None) -> bool:
        """Whether it is of a database, a table and a partition of these names, as it names them; None is any.

        >>> sales_table = LockComponent(LockType.SHARED_READ, LockLevel.TABLE, "shop", "sales")
        >>> sales_table.is_of("Shop"), sales_table.is_of(None, "sales", "ds=2013-01-01")
        (True, False)
        """
        wanted = database and database.lower(), table and table.lower(), _partition_name(partition)
        own = self.database, self.table, self.partition
        return all(name is None or name == mine for name, mine in zip(wanted, own, strict=True))


def _partition_name(name: str | None) -> str | None:
    """A partition's name with those of its columns in lower case."""
    if name is None:
        return None
    parts = (part.partition("=") for part in name.split("/"))
    return "/".join(column.lower() + equals + value if equals else column for column, equals, value in parts)


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that is held or waited for.

    Attributes:
        id: rises; of two locks that conflict the one with the smaller id comes first.
        components: what it is about; it holds all of them or none.
        user: whose it is.
        host: where that user is.
        agent: what the client says about itself.
        transaction: the transaction that it belongs to; 0 for none.
        heartbeat: when its holder was last heard of, in milliseconds since 1970.
        heartbeats: how often.
        acquired: since when it is held, in milliseconds since 1970; None while it waits.
        blocked_by: the first lock that it waits for, as it was when this was read.
    """

    id: int
    components: tuple[LockComponent, ...]
    user: str | None = None
    host: str | None = None
    agent: str | None = None
    transaction: int = 0
    heartbeat: int = 0
    heartbeats: int = 0
    acquired: int | None = None
    blocked_by: int | None = None

    @property
    def state(self) -> LockState:
        """Whether it is held.

        >>> Lock(1, ()).state.name
        'WAITING'
        """
        return LockState.WAITING if self.acquired is None else LockState.ACQUIRED


@dataclass(frozen=True, slots=True)
class HiveTransaction:
    """An open transaction; times are in milliseconds since 1970.

    Attributes:
        id: its number.
        user: whose it is.
        host: where that user is.
        agent: what the client says about itself.
        started: when it was opened.
        heartbeat: when its client was last heard of.
        heartbeats: how often.
        tables: the ids, in hexadecimal, of the tables for which it was given write ids; empty for one not there yet.
        writes: whether it locked what it writes; where it was given no write ids, that may be any table.
    """

    id: int
    user: str | None = None
    host: str | None = None
    agent: str | None = None
    started: int = 0
    heartbeat: int = 0
    heartbeats: int = 0
    tables: tuple[str, ...] = ()
    writes: bool = False


@dataclass(frozen=True, slots=True)
class TransactionList:
    """All transactions that are open or were aborted, at one moment.

    Attributes:
        high_water_mark: the largest id that was ever given; 0 where none was.
        open: the open ones, by id.
        aborted: the ids of the aborted ones, rising; of those that wrote nothing only the last 1,000.
        aborted_in: the ids of those that may have written into a table, by the table's id in hexadecimal; by the empty
            text of those that may have written into any.
    """

    high_water_mark: int
    open: tuple[HiveTransaction, ...]
    aborted: tuple[int, ...]
    aborted_in: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


class PrincipalType(IntEnum):
    """Who may do something."""

    USER = 1
    ROLE = 2
    GROUP = 3


@dataclass(frozen=True, slots=True)
class Role:
    """A role; ``create_time`` is in seconds since 1970."""

    name: str
    owner: str | None = None
    create_time: int = 0

    def __post_init__(self) -> None:
        expect_texts(name=self.name)
        expect_texts(or_none=True, owner=self.owner)
        expect_numbers(create_time=self.create_time)


@dataclass(frozen=True, slots=True)
class Membership:
    """That a principal has a role; ``time`` is in seconds since 1970."""

    role: str
    principal: str
    principal_type: PrincipalType = PrincipalType.USER
    grant_option: bool = False
    time: int = 0
    grantor: str | None = None
    grantor_type: int | None = None

    def __post_init__(self) -> None:
        expect_texts(role=self.role, principal=self.principal)
        expect_texts(or_none=True, grantor=self.grantor)
        expect_flags(grant_option=self.grant_option)
        expect_numbers(time=self.time)
        object.__setattr__(self, "principal_type", principal_type_of(self.principal_type))
        _check_grantor_type(self.grantor_type)


def principal_type_of(given: object) -> PrincipalType:
    """The type of a principal, or the one of a number.

    Raises:
        InvalidInput: there is none.

    >>> principal_type_of(2)
    <PrincipalType.ROLE: 2>
    """
    if isinstance(given, int) and not isinstance(given, bool) and given in tuple(PrincipalType):
        return PrincipalType(given)
    hint = "Give a PrincipalType: 1 is a user, 2 a role, 3 a group"
    raise InvalidInput("the type of the principal is unknown", type=repr(given), hint=hint)


def principal_name(name: str, kind: PrincipalType) -> str:
    """The name of a principal as it is stored: upper and lower case are the same in that of a role.

    >>> principal_name("Clerks", PrincipalType.ROLE), principal_name("Ann", PrincipalType.USER)
    ('clerks', 'Ann')
    """
    return name.strip().lower() if kind == PrincipalType.ROLE else name


def _check_grantor_type(given: object) -> None:
    expect("grantor_type", given, int, NoneType, hint="Give 1 for a user, 2 for a role, 3 for a group, or None")


class ObjectType(IntEnum):
    """What a privilege is about."""

    GLOBAL = 1
    DATABASE = 2
    TABLE = 3
    PARTITION = 4
    COLUMN = 5


_AN_OBJECT: Final = "Give an ObjectType: 1 is everything, 2 a database, 3 a table, 4 a partition, 5 a column"


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """What a privilege is about, by its names; the empty ``database`` stands for everything."""

    type: ObjectType
    database: str = ""
    table: str = ""
    values: tuple[str, ...] = ()
    column: str | None = None

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "type", ObjectType(expect("type", self.type, int, hint=_AN_OBJECT)))
        except ValueError:
            raise InvalidInput("the type of the object is unknown", type=self.type, hint=_AN_OBJECT) from None
        expect_texts(database=self.database, table=self.table)
        expect_texts(or_none=True, column=self.column)
        values = expect_many("values", self.values, str, hint="Give the partition's values, or () for none")
        object.__setattr__(self, "database", self.database.lower())
        object.__setattr__(self, "table", self.table.lower())
        object.__setattr__(self, "values", tuple(values))
        if self.column is not None:
            object.__setattr__(self, "column", self.column.lower())


@dataclass(frozen=True, slots=True)
class ObjectGrant:
    """That a principal has a privilege on something."""

    target: ObjectRef
    principal: str
    principal_type: PrincipalType
    grant: Grant

    def __post_init__(self) -> None:
        expect(
            "target", self.target, ObjectRef, hint='Give an ObjectRef, such as ObjectRef(ObjectType.DATABASE, "shop")'
        )
        expect("grant", self.grant, Grant, hint='Give a Grant, such as Grant("SELECT")')
        expect_texts(principal=self.principal, privilege=self.grant.privilege)
        expect_texts(or_none=True, grantor=self.grant.grantor)
        expect_flags(grant_option=self.grant.grant_option)
        expect_numbers(create_time=self.grant.create_time)
        object.__setattr__(self, "principal_type", principal_type_of(self.principal_type))
        object.__setattr__(self, "principal", principal_name(self.principal, self.principal_type))
        _check_grantor_type(self.grant.grantor_type)

    @property
    def identity(self) -> tuple[object, ...]:
        """What two grants of the same privilege have in common: all but when, and with which option.

        >>> sales_table = ObjectRef(ObjectType.TABLE, "shop", "sales")
        >>> first = ObjectGrant(sales_table, "ann", PrincipalType.USER, Grant("SELECT", create_time=1))
        >>> first.identity == ObjectGrant(sales_table, "ann", PrincipalType.USER, Grant("select")).identity
        True
        """
        return (
            self.target,
            self.principal,
            self.principal_type,
            self.grant.privilege.lower(),
            self.grant.grantor,
            self.grant.grantor_type,
        )
