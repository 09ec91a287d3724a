"""The errors that hbstore raises.

An error's text is fixed; what varies stands in its fields, which are printed behind the text and can be read from
``error.fields``. Every error says what to do next in ``hint``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import datetime
from difflib import get_close_matches
from itertools import islice
from typing import Final, TypeVar

MOST_NAMES: Final = 3_000
"""So many names are compared with one that is not there."""
E = TypeVar("E", bound="HbstoreError")


class HbstoreError(Exception):
    """What all errors of hbstore derive from.

    Args:
        text: what went wrong, in words that do not vary.
        hint: what the user can do about it.
        **fields: the names and values that the text is about.

    >>> str(TableNotFound("the table does not exist", table="shop.sales", hint="list them with `hbstore tables shop`"))
    'the table does not exist: table=shop.sales. list them with `hbstore tables shop`'
    """

    def __init__(self, text: str, *, hint: str | None = None, **fields: object) -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint
        self.fields = fields

    def __reduce__(self) -> tuple[object, ...]:
        """Copies and pickles are made of the fields, as classes differ in what they are made from."""
        return _made_again, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.fields.items())
        message = f"{self.text}: {shown}" if shown else self.text
        return f"{message}. {self.hint}" if self.hint else message


def _made_again(kind: type[E], args: tuple[object, ...]) -> E:
    return kind.__new__(kind, *args)


def portable(error: E) -> E:
    """The same error with texts as fields, for another process, because values of other types may not be picklable.

    >>> portable(TableNotFound("the table does not exist", number=7)).fields
    {'number': '7'}
    """
    made = copy(error)
    made.fields = {name: str(value) for name, value in error.fields.items()}
    return made.with_traceback(error.__traceback__)


def did_you_mean(name: str, names: Iterable[str], hint: str) -> str:
    """The hint of an error that a name is not there, with the name that it is most like, if there is one.

    Args:
        name: what was asked for.
        names: what there is; where that is more than `MOST_NAMES`, nobody looks.
        hint: what the error says anyway.

    >>> did_you_mean("Salse", ["sales", "stores"], "List the tables")
    'Did you mean sales? List the tables'
    >>> did_you_mean("returns", ["sales", "stores"], "List the tables")
    'List the tables'
    """
    by_lower = {other.lower(): other for other in islice(names, MOST_NAMES + 1)}
    if len(by_lower) > MOST_NAMES or not isinstance(name, str):
        return hint
    near = get_close_matches(name.lower(), by_lower, 1)
    return f"Did you mean {by_lower[near[0]]}? {hint}" if near else hint


def not_picklable(url: str, connect: str) -> NotPicklable:
    """The error of pickling what is open, or an object that holds it.

    >>> print(not_picklable("sqlite://shop.db", "hbstore.connect"))  # doctest: +ELLIPSIS
    what is open in this process cannot be pickled: url=sqlite://shop.db. Send the URL and names ...connect(url) there
    """
    hint = f"Send the URL and names instead, and call {connect}(url) there"
    return NotPicklable("what is open in this process cannot be pickled", url=url, hint=hint)


@contextmanager
def hinting(kind: type[HbstoreError], hint: str) -> Iterator[None]:
    """Errors of a kind with another hint, because their own hint names arguments or options that the caller lacks.

    >>> with hinting(TableNotFound, "Create it"):
    ...     raise TableNotFound("the table does not exist", hint="Say if_exists=True")
    Traceback (most recent call last):
    hbstore.errors.TableNotFound: the table does not exist. Create it
    """
    try:
        yield
    except kind as error:
        error.hint = hint
        raise


class TextError(HbstoreError):
    """A text that cannot be used: a filter or a statement; the classes below say why.

    ``highlight`` is the offending line with a caret below it, where there is one.
    """

    def __init__(self, text: str, *, highlight: str = "", hint: str | None = None, **fields: object) -> None:
        super().__init__(text, hint=hint, **fields)
        self.highlight = highlight

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\n{self.highlight}" if self.highlight else message


class FilterError(TextError):
    """A filter that cannot be used; the classes below say why."""


class FilterSyntaxError(FilterError):
    """The filter's text does not parse.

    ``fields`` holds ``line`` and ``column`` (from 1), ``expected`` (what could stand there) and ``found``.
    """


class FilterTypeError(FilterError):
    """A literal cannot be compared with its column; the text names both types."""


class FilterTooLarge(FilterError):
    """A filter past the documented caps on length, terms or depth."""


class UnknownColumnError(FilterError):
    """A filter or a partition spec names a column that is not a partition column; the text lists those that are."""


class ExpressionUnreadable(FilterError):
    """A serialized expression of Hive's that hbstore does not read, or a part of one; the text says which."""


class DdlSyntaxError(TextError):
    """A statement does not parse; nothing was done of the text that it is in.

    ``fields`` holds ``line`` and ``column`` (from 1), ``expected`` (what could stand there) and ``found``.
    """


class DdlRefused(HbstoreError):
    """The rules of the Hive Metastore do not allow what a statement asks for; ``fields`` say why."""


class NeedsSpark(HbstoreError):
    """A statement that reads all files of a table, which is work for Spark."""


class DatabaseNotFound(HbstoreError):
    """The database does not exist."""


class DatabaseNotEmpty(HbstoreError):
    """A database with tables is dropped only when the caller says cascade."""


class TableNotFound(HbstoreError):
    """The table does not exist."""


class TableNotPartitioned(HbstoreError):
    """The call is about partitions and the table has no partition columns."""


class PartitionNotFound(HbstoreError):
    """The partition does not exist."""


class AlreadyExists(HbstoreError):
    """A database, table or partition of that name already exists."""


class InvalidName(HbstoreError):
    """A database, table or column name that Hive would not accept either."""


class InvalidType(TextError):
    """A column's type that Hive does not have, or a partition column's that cannot partition a table."""


class InvalidPartitionValue(HbstoreError):
    """A partition value does not fit its column's type, or a partition has too many or too few values."""


class InvalidUrl(HbstoreError):
    """A store URL that names no backend or lacks a part."""


class InvalidInput(HbstoreError):
    """The caller passed an invalid value: an argument, an option, a file, or a value that breaks a documented limit.

    A kind of input that callers tell apart has an error of its own instead, such as `InvalidName`.
    """


class MissingPackage(HbstoreError, ImportError):
    """A feature needs a package that is not installed, or a newer one; the hint is the command that installs it.

    It is an `ImportError`, as callers of ``import hbstore.spark`` expect.
    """


class StoreUnavailable(HbstoreError):
    """The backend does not answer, or not in time. Nothing was changed."""


class NotPicklable(HbstoreError, TypeError):
    """An open store or connection was to be sent to another process, or copied; only its URL can be.

    It is a `TypeError`, as of other objects that cannot be pickled.
    """


class StoreReadOnly(HbstoreError):
    """The store cannot be written. Nothing was changed."""


class StoreFull(HbstoreError):
    """The disk under the store is full. Nothing was changed."""


class NotAStore(HbstoreError):
    """The file or table does not belong to hbstore, or another version of hbstore created it."""


class CorruptRow(HbstoreError):
    """A stored row does not decode; ``hbstore check`` lists all of them."""


class ConcurrentChange(HbstoreError):
    """Other writers kept changing the same row; nothing was changed by this call, which can be repeated."""


class StoreBusy(ConcurrentChange):
    """Other writers held or changed what a change needs for as long as the store waits; nothing was changed.

    ``holder`` in its fields is the process that was in the way last, where that is told.
    """


class VersionMismatch(ConcurrentChange):
    """What is stored is not the version that a request says it changes; nothing was changed."""


class WriteConflict(ConcurrentChange):
    """Another job is writing files of the same partition; nothing was changed."""


class WriteFailed(HbstoreError):
    """Files could not be written; nothing was changed. ``fields`` say why."""


class ReadFailed(HbstoreError):
    """Files of a partition could not be read. ``fields`` say which, and why."""


class PublicationLost(ConcurrentChange):
    """The lease of a job that writes files ended, and another job has its partitions; nothing was changed."""


class StreamConflict(HbstoreError):
    """A batch of a stream was written with other rows before, or by another run of its query; nothing was changed."""


class CorruptCheckpoint(HbstoreError):
    """A stream's checkpoint is incomplete, so its written batches are unknown; nothing was started."""


class CommitStateUnknown(HbstoreError):
    """The connection broke while a change was under way: it may or may not have been made.

    It is never half made: ``hbstore repair`` (or the next writer) finishes or discards it, and reading tells which.
    """


class FileOperationFailed(HbstoreError):
    """A folder or a file could not be made, moved, removed or listed, or a location names none."""


class OutsideWarehouse(HbstoreError):
    """Files would have been deleted or moved where `hbstore.files.bounds` does not allow it. Nothing was touched."""


class TableFolderMissing(HbstoreError):
    """A table's own folder is missing, or empty, and all partitions would be dropped with it. Nothing was changed."""


class FunctionNotFound(HbstoreError):
    """The function does not exist."""


class ConstraintNotFound(HbstoreError):
    """The table has no constraint of this name."""


class NoSuchLock(HbstoreError):
    """The lock does not exist: it was released, it expired without a heartbeat, or its transaction has ended."""


class NoSuchTxn(HbstoreError):
    """The transaction does not exist, or it was committed."""


class TxnAborted(HbstoreError):
    """The transaction was aborted, by its client or because it had no heartbeat for too long."""


class TxnOpen(HbstoreError):
    """A lock that a transaction holds is released by committing or aborting the transaction."""


class RoleNotFound(HbstoreError):
    """The role does not exist."""


class GrantNotFound(HbstoreError):
    """The principal does not have the grant that is to be revoked."""


class ProtocolViolation(HbstoreError):
    """A client's message is not a call of the Hive Metastore, or exceeds the limits; its connection ends."""


class AddressUnavailable(HbstoreError):
    """A server cannot listen at its address."""


class TimelineError(HbstoreError):
    """Something about times, update periods, timelines or what they cover; the classes below say what."""


class InvalidTime(TimelineError):
    """A time without a time zone, outside of the years 1 to 9999, or not the beginning of an update period."""


class InvalidTimeRange(FilterError, TimelineError):
    """A range of time that ends before it begins."""


class TimeRangeSyntaxError(FilterSyntaxError, TimelineError):
    """A time such as ``2015-01-29-06`` or ``now.day-3days`` that does not parse; shaped as the error of a filter."""


class UnknownUpdatePeriod(TimelineError):
    """The update period is unknown; ``fields`` lists the known ones."""


class UnknownTimelineClass(TimelineError):
    """The timeline class is unknown; ``fields`` lists the known ones."""


class CorruptTimeline(TimelineError):
    """The stored properties of a timeline cannot be read, or contradict themselves; it has to be rebuilt."""


class TimelineNotFound(TimelineError):
    """The table keeps no timelines, or none of that update period and partition column."""


class TimelineTooLarge(TimelineError):
    """A timeline would list more times, one by one, than any store should hold; another class stores ranges."""


class TimelineMismatch(TimelineError):
    """A timeline that does not belong where it is: to this update period, this table, or these partitions."""


class Uncoverable(TimelineError):
    """No set of partitions covers the time range.

    Args:
        missing: the ranges that nothing covers, half open, sorted and disjoint.
    """

    def __init__(self, missing: Sequence[tuple[datetime, datetime]]) -> None:
        shown = " ∪ ".join(f"[{start.isoformat()}, {end.isoformat()})" for start, end in missing[:3])
        more = f" and {len(missing) - 3:,} more" if missing[3:] else ""
        super().__init__(
            "no partitions cover the time range",
            hint="Use partial=True to get the partitions that exist",
            missing=f"{shown}{more}",
        )
        self.missing = list(missing)


class CubeError(HbstoreError):
    """Something about storages, cubes, dimensions, facts, their tables or partitions; the classes below say what."""


class InvalidModel(TextError, CubeError):
    """An invalid description: it does not parse, or something is missing, unknown or contradicts the rest.

    ``fields`` holds ``file`` and ``document`` (from 1) where it was read from one, ``at`` (the place within the
    document) and ``expected``. ``highlight`` is that of an expression, where it is one that does not parse.
    """


class ModelNotFound(CubeError):
    """The storage, cube, dimension, fact or dimension table does not exist."""


class ModelInUse(CubeError):
    """Other descriptions use the one that is to be dropped or altered; ``fields`` names them."""


class InvalidPartition(CubeError):
    """A partition that its storage table cannot have: another update period, other columns, a value of another type."""


class OutsideValidity(InvalidPartition):
    """A partition before the start or after the end of its fact."""


class NoStorageTables(CubeError):
    """The fact has no storage table that could have partitions."""


class UnknownTimeDimension(CubeError):
    """A time dimension that partitions no storage table of the fact; ``fields`` lists the others."""


class CubeQueryError(TextError, CubeError):
    """A cube query that cannot be answered; the classes below say why."""


class CubeSyntaxError(CubeQueryError):
    """The text is not a cube query.

    ``fields`` holds ``line`` and ``column`` (from 1) where the place is known, and ``expected`` where one thing is.
    """


class UnknownField(CubeQueryError):
    """A cube query names a cube, a dimension, a join chain or a field that is not there."""


class AmbiguousField(CubeQueryError):
    """A name of a cube query may mean two fields; the text names both."""


class UnsupportedQuery(CubeQueryError):
    """A cube query asks for what could not be answered exactly, or is not supported."""


class NoCandidate(CubeQueryError):
    """No fact, or no dimension table, has all that a cube query asks for.

    ``candidates`` says of each storage table why it was not taken; ``missing`` holds the ranges of time that no
    partition covers.
    """

    candidates: Sequence[object] = ()
    missing: Sequence[tuple[datetime, datetime]] = ()

    def __init__(
        self,
        text: str,
        *,
        candidates: Sequence[object] = (),
        missing: Sequence[tuple[datetime, datetime]] = (),
        highlight: str = "",
        hint: str | None = None,
        **fields: object,
    ) -> None:
        super().__init__(text, highlight=highlight, hint=hint, **fields)
        self.candidates = tuple(candidates)
        self.missing = tuple(missing)


class MetastoreUnavailable(StoreUnavailable):
    """Another metastore, to import from or to export to, does not answer. What was copied before stays."""


class MetastoreRefused(HbstoreError):
    """Another metastore answered with an exception or an invalid reply; ``fields`` name the call."""


class TransferConflict(HbstoreError):
    """The target already has an object of the same name that differs; ``fields`` name it."""


class QueryError(HbstoreError):
    """Something about a query of the query service; the classes below say what."""


class QueryNotFound(QueryError):
    """There is no query of that id."""


class QueryNotFinished(QueryError):
    """The query has no result yet; ``fields`` name its state."""


class QueryFailed(QueryError):
    """The query ended without a result, by an error that is none of hbstore's; ``fields`` hold Spark's class of it."""


class QueryCancelled(QueryError):
    """A user cancelled the query."""


class QueryLost(QueryError):
    """The server that ran the query died."""


class SparkLost(QueryError):
    """The Spark that ran the query died; the server starts another."""


class SessionLost(QueryError):
    """The Spark that had the session died, and what statements had left in the session with it."""


class QueryTimedOut(QueryError):
    """The query ran longer than the server, or who asked, allows."""


class ResultExpired(QueryError):
    """The server kept the query's result for the time that it keeps results, and removed it."""


class ResultTooLarge(QueryError):
    """The result is larger than the server allows."""


class TooManyWaiters(HbstoreError):
    """The server holds as many waiting requests as it is to hold."""


class TooManyQueries(QueryError):
    """The server takes no more queries now; ``fields`` say which limit was reached."""


class SessionNotFound(QueryError):
    """There is no session of that handle: it was closed, or its server ended."""


class OperationNotFound(QueryError):
    """There is no operation of that handle: it was closed, or its session ended."""


class UnsupportedCall(QueryError):
    """A driver asks for something that the server does not do; ``fields`` say what."""


class AccessRefused(HbstoreError):
    """A request over HTTP carries no access token, or a wrong one."""


class RequestRefused(HbstoreError):
    """A request over HTTP comes from a page of another site, or to a name that is not the server's."""


class CallAbandoned(HbstoreError):
    """A server gives up a call: it takes too long, or its client is gone. What it has changed by then stays."""


class RequestTooLarge(InvalidInput):
    """The body of a request over HTTP is larger than the server takes."""


class RequestTooSlow(InvalidInput):
    """The body of a request over HTTP did not come in time."""


class ServerBusy(HbstoreError):
    """A server has no room for more now: for a request, or for a long reply. Asking again later helps."""


class ServerUnavailable(HbstoreError):
    """A server that is asked over HTTP does not answer, or is none of hbstore's."""


def error_of(
    name: str, text: str, fields: Mapping[str, str], hint: str | None = None, highlight: str = ""
) -> HbstoreError:
    """An error that another process told, of its class if this release has one of that name, else a QueryFailed.

    >>> error_of("QueryLost", "the server died", {"query": "5f"})
    QueryLost('the server died')
    """
    kind = globals().get(name)
    if not (isinstance(kind, type) and issubclass(kind, HbstoreError)):
        kind = QueryFailed
    made = kind.__new__(kind, text)
    made.text, made.hint, made.fields = text, hint, dict(fields)
    if isinstance(made, TextError):
        made.highlight = highlight
    return made
