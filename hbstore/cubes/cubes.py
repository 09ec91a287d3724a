"""Cubes: the whole Python interface to the model of a database, its partitions and their covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import NoneType
from typing import Any, Final

from hbstore.cubes.concepts import Cube, DerivedCube
from hbstore.cubes.cover import Cover
from hbstore.cubes.descriptions import A_PERIOD, PartitionDesc
from hbstore.cubes.document import Named
from hbstore.cubes.fact_times import FactTimes, covered
from hbstore.cubes.files import KINDS, in_order
from hbstore.cubes.logical_tables import DimTable, Fact
from hbstore.cubes.putting import ONLY, Action, Step, put, steps_of
from hbstore.cubes.query.candidates import Candidate
from hbstore.cubes.query.capability import candidates_of
from hbstore.cubes.query.options import OptionsArgument, QueryOptions
from hbstore.cubes.query.rewriting import Rewritten, rewrite
from hbstore.cubes.references import described
from hbstore.cubes.registration import Registration, only_storage_of, storage_table_of
from hbstore.cubes.stored_model import Model
from hbstore.errors import HbstoreError, Uncoverable
from hbstore.keys.partition_names import identifier
from hbstore.model.objects import Partition
from hbstore.pictures.html_table import html_table
from hbstore.store.partition_store import PartitionStore
from hbstore.texts.arguments import expect, expect_choice, expect_flags, expect_many
from hbstore.timelines import PartitionTimeline, UpdatePeriod
from hbstore.times.clock import Clock, utc_now

_A_DOCUMENT: Final = "Give a Storage, Cube, DerivedCube, Dimension, Fact or DimTable"


class Cubes:
    """Storages, cubes, dimensions, facts and dimension tables of a database, and the partitions of the latter two.

    Args:
        store: where they are.
        database: in which database; it has to be there.
        clock: what time it is, for facts that start or end relative to now.

    >>> from hbstore import connect
    >>> from hbstore.cubes import Cube, Measure, Storage
    >>> store = connect("memory://")
    >>> store.create_database("shop")
    >>> cubes = Cubes(store, "shop")
    >>> cubes.create(Cube(name="sales", measures=[Measure(name="price", type="double")]))
    >>> cubes.names("cube"), cubes.cube("Sales").field_names()
    (['sales'], ('price',))
    """

    def __init__(self, store: PartitionStore, database: str, clock: Clock = utc_now) -> None:
        expect("store", store, PartitionStore, hint='Give an open store: hbstore.connect("sqlite://shop.db")')
        self.store = store
        self.database = identifier("database", database)
        self._clock = clock
        self._model = Model(store, self.database)
        self._registration = Registration(self._model)

    def __repr__(self) -> str:
        return f"<Cubes of {self.database} in {self.store.rows.url}>"

    def _repr_html_(self) -> str:
        """The names of its documents as a table for notebooks, or why they cannot be read. A scan for each kind."""
        title = f"Cubes of {self.database} in {self.store.rows.url}"
        try:
            named = [(kind, self.names(kind)) for kind in KINDS]
        except HbstoreError as error:
            return html_table(title, [(error,)])
        return html_table(title, [(kind, len(names), ", ".join(names)) for kind, names in named if names])

    # The model

    def create(self, document: Named, *, if_not_exists: bool = False) -> None:
        """Add a document; of a fact or a dimension table, its storage tables as well.

        Raises:
            AlreadyExists: there is one of its name, unless ``if_not_exists``, or a table of a storage table's name.
            InvalidModel: it names something that is not there, or holds a type, an aggregate or an expression that is
                none.
            UnknownTimelineClass: a storage table's properties name a class that there is not.

        >>> from hbstore.cubes import Storage
        >>> cubes.create(Storage(name="archive"))
        >>> cubes.names("storage")
        ['archive', 'lake']
        """
        expect("document", document, Named, hint=_A_DOCUMENT)
        expect_flags(if_not_exists=if_not_exists)
        self._model.add([document], if_not_exists=if_not_exists)

    def create_all(self, documents: Iterable[Named], *, if_not_exists: bool = False) -> list[Named]:
        """Add documents at once, all or none, in an order in which each finds what it names; those that were added.

        Raises:
            AlreadyExists, InvalidModel, UnknownTimelineClass: as of `create`; nothing was added.

        >>> from hbstore.cubes import Storage
        >>> both = [Storage(name="archive"), Storage(name="lake")]
        >>> [document.name for document in cubes.create_all(both, if_not_exists=True)]
        ['archive']
        """
        expect_flags(if_not_exists=if_not_exists)
        checked = in_order(expect_many("documents", documents, Named, hint=_A_DOCUMENT))
        return [*self._model.add(checked, if_not_exists=if_not_exists)]

    def put(
        self,
        documents: Iterable[Named],
        *,
        only: str | None = None,
        if_not_exists: bool = False,
        check: bool = False,
    ) -> list[Step]:
        """Create documents that are not there, and alter others; what was done, in its order.

        All are checked before the first is put. Each is put wholly or not at all; where another writer comes between,
        those before it stay.

        Args:
            documents: which.
            only: "create" or "alter", to refuse the other.
            if_not_exists: with ``only="create"``, keep those that are there.
            check: change nothing, and return what would be done.

        Raises:
            AlreadyExists, InvalidModel, UnknownTimelineClass, ModelInUse, ConcurrentChange: as `create` and `alter`.
            ModelNotFound: one is not there, and ``only`` is "alter".

        >>> from hbstore.cubes import Storage
        >>> both = [Storage(name="archive"), Storage(name="lake", endpoint="s3://lake")]
        >>> [(str(step.document), str(step.action)) for step in cubes.put(both, check=True)]
        [('storage archive', 'create'), ('storage lake', 'alter')]
        """
        expect_flags(if_not_exists=if_not_exists, check=check)
        checked = expect_many("documents", documents, Named, hint=_A_DOCUMENT)
        if only is not None:
            expect_choice("only", only, *ONLY)
        do = steps_of if check else put
        return do(self._model, checked, only=None if only is None else Action(only), if_not_exists=if_not_exists)

    def get(self, kind: str, name: str) -> Named:
        """The document of a kind and name; "cube" finds derived cubes as well. ModelNotFound if there is none.

        >>> cubes.get("fact", "rides_daily").cube
        'rides'
        """
        return self._model.get(kind, name)

    def names(self, kind: str) -> list[str]:
        """The names of all documents of a kind in order. DatabaseNotFound if the database is not there.

        >>> cubes.names("fact")
        ['rides_daily']
        """
        return [document.name for document in self.list(kind)]

    def describe(self, kind: str, name: str) -> dict[str, Any]:
        """A document as JSON would hold it, with what uses it and what its storage tables are called.

        >>> cubes.describe("fact", "rides_daily")["tables"]
        {'lake': 'lake_rides_daily'}
        """
        return described(self.get(kind, name), self._model)

    def alter(self, document: Named, *, replaces: Named | None = None) -> None:
        """Replace a document; tables of a fact or a dimension table are made, altered and dropped with it.

        Args:
            document: as it is to be.
            replaces: as the caller read it; None: whatever it is.

        Raises:
            ModelNotFound: there is none of its kind and name.
            InvalidModel: it names something that is not there, changes partition columns of a storage table, or brings
                a type, an aggregate or an expression that is none.
            UnknownTimelineClass: a storage table's properties name a class that there is not.
            ModelInUse: a document that names it would then name something that is not there.
            ConcurrentChange: another writer changed it meanwhile, or it is not ``replaces``; nothing was changed.

        >>> from hbstore.cubes import Storage
        >>> cubes.alter(Storage(name="lake", endpoint="s3://lake"))
        >>> cubes.get("storage", "lake").endpoint
        's3://lake'
        """
        expect("document", document, Named, hint=_A_DOCUMENT)
        expect("replaces", replaces, Named, NoneType, hint=_A_DOCUMENT)
        self._model.alter(document, replaces=replaces)

    def drop(self, kind: str, name: str, *, cascade: bool = False, replaces: Named | None = None) -> None:
        """Remove a document with its tables and their partitions.

        With ``cascade`` what names it goes first: derived cubes and facts of a cube, dimension tables of a dimension,
        the tables of all facts and dimension tables on a storage.

        Args:
            kind: of the document.
            name: of the document.
            cascade: whether what names it goes, too.
            replaces: as the caller read it; None: whatever it is.

        Raises:
            ModelNotFound: there is none.
            ModelInUse: others name it.
            ConcurrentChange: it is not ``replaces``; nothing was changed.

        >>> cubes.drop("fact", "rides_daily")
        >>> cubes.store.table_names("shop")
        ['lake_stations']
        """
        expect_flags(cascade=cascade)
        expect("replaces", replaces, Named, NoneType, hint=_A_DOCUMENT)
        self._model.drop(kind, name, cascade=cascade, replaces=replaces)

    def cube(self, name: str) -> Cube | DerivedCube:
        """The cube of a name, base or derived. ModelNotFound if there is none.

        >>> cubes.cube("rides").field_names()
        ('minutes', 'start_time')
        """
        cube = self.get("cube", name)
        assert isinstance(cube, Cube | DerivedCube)
        return cube

    def fact(self, name: str) -> Fact:
        """The fact of a name. ModelNotFound if there is none.

        >>> cubes.fact("rides_daily").cube
        'rides'
        """
        fact = self.get("fact", name)
        assert isinstance(fact, Fact)
        return fact

    def dimtable(self, name: str) -> DimTable:
        """The dimension table of a name. ModelNotFound if there is none.

        >>> cubes.dimtable("stations").dimension
        'station'
        """
        dimtable = self.get("dimtable", name)
        assert isinstance(dimtable, DimTable)
        return dimtable

    def storage_table(self, name: str, storage: str) -> str:
        """What the table of a fact or a dimension table on a storage is called. ModelNotFound if there is none.

        >>> cubes.storage_table("rides_daily", "lake")
        'lake_rides_daily'
        """
        logical = self._model.tabled(name)
        return logical.table_name(storage_table_of(logical, storage).storage)

    def only_storage(self, name: str) -> str:
        """The storage of a fact or a dimension table that is on no other.

        Raises:
            ModelNotFound: there is no such fact or dimension table.
            NoStorageTables: it is on no storage.
            InvalidInput: it is on several.

        >>> cubes.only_storage("rides_daily")
        'lake'
        """
        return only_storage_of(self._model.tabled(name))

    # Partitions

    def add_partitions(
        self, name: str, storage: str, descs: Iterable[PartitionDesc], *, if_not_exists: bool = False
    ) -> int:
        """Register partitions of a fact or a dimension table on a storage, all or none; how many.

        With ``if_not_exists`` those that are there are passed over. Of a dimension table with an update period, the
        partition `latest` follows in the same change.

        Raises:
            ModelNotFound: there is no such fact or dimension table, or it is not on that storage.
            InvalidPartition: an update period or columns that the storage table does not have.
            InvalidTime: a time that is not the beginning of a part of its update period.
            InvalidPartitionValue: a value does not fit its column's type.
            OutsideValidity: a partition is wholly before the fact's start, or at its end or after it.
            AlreadyExists: one is there already, or stands twice in the batch, unless ``if_not_exists``; or one of
                another update period has the same values.

        >>> cubes.add_partitions("rides_daily", "lake", [PartitionDesc("DAILY", {"dt": "2015-02-02"})])
        1
        """
        return self._registration.add(name, storage, descs, self._clock(), if_not_exists=if_not_exists)

    def alter_partitions(self, name: str, storage: str, descs: Iterable[PartitionDesc]) -> int:
        """Give registered partitions other parameters and, where one is given, another location, all or none; how many.

        Raises as `add_partitions`, and PartitionNotFound where one is not there or of another update period.

        >>> there = PartitionDesc("DAILY", {"dt": "2015-01-29"}, parameters={"numRows": "7"})
        >>> cubes.alter_partitions("rides_daily", "lake", [there])
        1
        """
        return self._registration.alter(name, storage, descs, self._clock())

    def drop_partitions(self, name: str, storage: str, descs: Iterable[PartitionDesc]) -> int:
        """Drop partitions, all or none; how many.

        Raises:
            PartitionNotFound: one is not there, or of another update period.
            InvalidPartition, InvalidTime, InvalidPartitionValue, ModelNotFound: as `add_partitions`.

        >>> cubes.drop_partitions("rides_daily", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-29"})])
        1
        """
        return self._registration.drop(name, storage, descs)

    def partitions(self, name: str, storage: str, filter: str | None = None) -> list[Partition]:
        """The partitions of a fact or a dimension table on a storage that a filter selects, in key order.

        >>> [partition.values for partition in cubes.partitions("rides_daily", "lake", "dt > '2015-01-29'")]
        [('2015-01-30',), ('2015-02-01',)]
        """
        return self.store.get_partitions_by_filter(self.database, self.storage_table(name, storage), filter)

    def latest(self, dimtable: str, storage: str, other: Mapping[str, str | None] | None = None) -> Partition | None:
        """The partition `latest` of a dimension table; None if there is none.

        Args:
            dimtable: which.
            storage: on which storage.
            other: the values of the partition columns that hold no time.

        >>> cubes.latest("stations", "lake").location
        's3://lake/stations/dt=2015-01-29'
        """
        return self._registration.latest(dimtable, storage, {} if other is None else other)

    # Timelines and covers

    def timelines(
        self,
        fact: str,
        *,
        storage: str | None = None,
        update_period: UpdatePeriod | str | None = None,
        time_dimension: str | None = None,
    ) -> list[PartitionTimeline]:
        """Timelines of a fact: of all storages in its order, the smallest period first, or of those that are named.

        Raises:
            ModelNotFound: there is no such fact, or it is not on that storage.
            UnknownTimeDimension: none of the tables is partitioned by it.

        >>> cubes.timelines("rides_daily")
        [<EndsAndHolesPartitionTimeline DAILY dt of lake_rides_daily: 3 times, 2015-01-29 to 2015-02-01, 1 missing>]
        """
        period = UpdatePeriod.named(update_period) if isinstance(update_period, str) else update_period
        expect("update_period", period, UpdatePeriod, NoneType, hint=A_PERIOD)
        return FactTimes.of(self._model, fact).timelines(storage, period, time_dimension)

    def cover(
        self,
        fact: str,
        start: datetime,
        end: datetime,
        *,
        time_dimension: str | None = None,
        partial: bool = False,
    ) -> Cover:
        """The best set of partitions of a fact for [start, end): as few and as large as there are.

        It takes one read of the row of each storage table, however long the range. What is before the fact's start or
        from its end on counts as missing. Where several storages have a partition, the first of the fact counts.

        Args:
            fact: which.
            start: where the range begins.
            end: where it ends; not part of it.
            time_dimension: the cube's time dimension, or the partition column, that the range is of; None where all
                storage tables have just one time partition column.
            partial: whether what there is will do, with what is missing said.

        Raises:
            ModelNotFound: there is no such fact.
            NoStorageTables: it is on no storage, or on none that has times.
            UnknownTimeDimension: no storage table is partitioned by it, or none is named and there are several.
            Uncoverable: something is missing; ``missing`` of the error says what.
            InvalidTime, InvalidTimeRange: the range is none.

        >>> day = UpdatePeriod.DAILY.parse
        >>> [str(run) for run in cubes.cover("rides_daily", day("2015-01-29"), day("2015-01-31")).partitions.runs]
        ['lake_rides_daily DAILY [2015-01-29, 2015-01-31)']
        """
        expect_flags(partial=partial)
        return FactTimes.of(self._model, fact).cover(start, end, time_dimension, self._clock(), partial=partial)

    def wait(
        self,
        fact: str,
        start: datetime,
        end: datetime,
        *,
        time_dimension: str | None = None,
        seconds: float | None = None,
    ) -> Cover:
        """The cover of [start, end) as soon as nothing of it is missing, also if another process registers the rest.

        The rows of the storage tables are read 20 times in a second, or less often where that would take more than a
        tenth of the time.

        Args:
            fact: which.
            start: where the range begins.
            end: where it ends; not part of it.
            time_dimension: as of `cover`.
            seconds: how long to wait; None: as long as it takes.

        Raises:
            Uncoverable: the time is over; ``missing`` of the error says what is missing.
            ModelNotFound, NoStorageTables, UnknownTimeDimension: as `cover`, also where the fact becomes so meanwhile.
            InvalidTime, InvalidTimeRange: the range is none.

        >>> day = UpdatePeriod.DAILY.parse
        >>> cubes.wait("rides_daily", day("2015-01-29"), day("2015-01-31"), seconds=1)
        <Cover: 2 partitions, 0 ranges missing>
        """
        expect("seconds", seconds, int, float, NoneType, hint="Give a number of seconds, or None")
        cover = covered(
            lambda: self.cover(fact, start, end, time_dimension=time_dimension, partial=True),
            seconds,
        )
        if cover.missing:
            raise Uncoverable(cover.missing)
        return cover

    # Queries

    def rewrite(
        self,
        text: str,
        *,
        now: datetime | None = None,
        partial: bool = False,
        options: OptionsArgument = None,
    ) -> Rewritten:
        """A cube query as Spark SQL over the fewest and lightest partitions that answer it (docs/cube-queries.md).

        It takes one read of the row of each storage table of the cube, however long the ranges.

        Args:
            text: ``cube select …``.
            now: for relative times; by default what the clock says.
            partial: whether what there is will do, with what is missing said.
            options: such as ``{"join_type": "inner"}``, or the path of a file that holds some; Lens's names do, too.
                What the query itself says in OPTIONS counts more.

        Raises:
            CubeSyntaxError: the text does not parse.
            UnknownField, AmbiguousField: a name means nothing, or two things.
            UnsupportedQuery: it could not be answered exactly.
            NoCandidate: no storage table has what it asks for, or partitions are missing.
            TimeRangeSyntaxError, InvalidTimeRange: a range is none.
            InvalidInput: an option is none.

        >>> where = "time_range_in(start_time, '2015-01-29', '2015-01-31')"
        >>> cubes.rewrite(f"cube select minutes from rides where {where}").partitions
        {'lake_rides_daily': [lake_rides_daily DAILY [2015-01-29, 2015-01-31)]}
        """
        expect_flags(partial=partial)
        _expect_now(now)
        return rewrite(self._model, text, self._clock(), QueryOptions.of(options, partial=partial, now=now))

    def candidates(
        self,
        cube: str,
        fields: Iterable[str],
        range: Sequence[str],
        *,
        now: datetime | None = None,
        options: OptionsArgument = None,
    ) -> tuple[Candidate, ...]:
        """Which facts can answer some fields in a range of time: each storage table, the lightest first.

        One that could answer alone is ``able``; the others have their cause, and the ranges that they lack. Whether
        the dimensions of chains have tables is not looked at.

        Args:
            cube: a cube, or a derived one.
            fields: measures, attributes and expressions of the cube, and fields of its chains: ``city.name``.
            range: the time dimension, from when and up to when, as in queries: ``("dt", "now.day-7days", "now.day")``.
            now: for relative times; by default what the clock says.
            options: as of `rewrite`, such as ``{"storages": "lake"}``, or the path of a file.

        Raises:
            ModelNotFound: there is no such cube.
            UnknownField, AmbiguousField: a field is none of the cube, or may be two.
            UnsupportedQuery: a query of these fields could not be answered exactly.
            TimeRangeSyntaxError, InvalidTimeRange: the range is none.
            InvalidInput: an option is none.

        >>> for one in cubes.candidates("rides", ["minutes"], ("start_time", "2015-01-29", "2015-02-01")):
        ...     print(one)
        lake_rides_daily: MISSING_PARTITIONS: nothing for [2015-01-31, 2015-02-01)
        """
        _expect_now(now)
        return candidates_of(self._model, cube, fields, range, self._clock(), QueryOptions.of(options, now=now))

    def list(self, kind: str) -> list[Named]:
        """All documents of a kind in order of their names. DatabaseNotFound if the database is not there.

        >>> [document.name for document in cubes.list("fact")]
        ['rides_daily']
        """
        documents = [*self._model.list(kind)]
        if not documents:
            self.store.get_database(self.database)
        return documents


def _expect_now(now: object) -> None:
    expect("now", now, datetime, NoneType, hint="Give a datetime with a time zone, or None")
