"""Spark SQL in which statements about tables of a store are run on the store, and all others by Spark.

A text is hbstore's if its grammar (docs/ddl.md) knows it and it is about a table of the store that no temporary view
hides. So what only Spark's grammar knows is Spark's, and so is what is about other tables. Where neither grammar knows
the text, the error is of the one that understood more of it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import pyarrow as pa
from pyspark.errors import ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from hbstore.cubes.cubes import Cubes
from hbstore.cubes.query.rewriting import notes_of
from hbstore.ddl import Result, Session, Statement, parse_statements
from hbstore.ddl import statements as ddl
from hbstore.ddl.parser import parse_script, running
from hbstore.ddl.selection import values_of
from hbstore.errors import (
    DatabaseNotFound,
    DdlSyntaxError,
    FilterError,
    InvalidInput,
    InvalidName,
    PartitionNotFound,
    TableNotFound,
)
from hbstore.files.warehouse import Warehouse
from hbstore.filters.builder import spec_filter
from hbstore.spark.analysis.analyze import analyze_table
from hbstore.spark.arguments import check_arguments
from hbstore.spark.cube import answer
from hbstore.spark.cube_options import with_session
from hbstore.spark.frames import local_frame, local_table
from hbstore.spark.insert_partitions import with_all_partition_columns
from hbstore.spark.java_errors import JAVA_ERRORS, root_cause
from hbstore.spark.opening import opened
from hbstore.spark.reading import check_reads
from hbstore.spark.texts import quoted
from hbstore.store.partition_store import PartitionStore

URL: Final = "spark.hbstore.url"
"""The setting that holds the store's URL."""

WAREHOUSE: Final = "spark.hbstore.warehouse"
"""The setting that holds the folder below which databases and tables have theirs."""

_DATABASE: Final = "spark.hbstore.database"
"""Set by USE of a database that Spark does not have: its name, and Spark's own current database at that time."""

_CATALOG: Final = "spark_catalog"
_EXTENDED: Final = ("namespace", "tableName", "isTemporary", "information")
_ANALYZED: Final = ("table", "partitions", "rows", "files", "bytes")
_TYPES: Final = {"isTemporary": pa.bool_(), **dict.fromkeys(_ANALYZED[1:], pa.int64())}
"""Of columns; those of all others are strings."""

_SPARKS_TOO: Final = (ddl.ShowColumns, ddl.ShowCreateTable, ddl.ShowProperties)
"""What Spark answers of each table that it knows: without the properties in which it keeps what is its own."""

_LISTINGS: Final = (
    *_SPARKS_TOO,
    ddl.Describe,
    ddl.ExplainPartitions,
    ddl.ShowPartitions,
    ddl.ShowTableExtended,
)
_LOG: Final = logging.getLogger("hbstore.spark")
_Row: TypeAlias = tuple[str | bool | int | None, ...]


def sql(
    spark: SparkSession, text: str, *, store: PartitionStore | str | None = None, warehouse: str | None = None
) -> DataFrame:
    """Run a statement: those of docs/ddl.md about the store's tables on the store, everything else by ``spark.sql``.

    ``CUBE SELECT …`` is a question to a cube in the current database (docs/cube-queries.md). A text may hold several
    statements that hbstore's grammar knows; they are run one after the other, and the result is that of the last one.

    ``INSERT … PARTITION (date = 'x')`` may leave out partition columns: they come from the query's last columns.

    The result has the columns that Spark's would have, and is empty where there is nothing to show. Spark is told to
    list a changed table's files anew. What could not be done as it should is logged as a warning.

    Args:
        spark: the session.
        text: a statement, or several of hbstore's with semicolons between them.
        store: a store, or its URL; by default that of the setting ``spark.hbstore.url``.
        warehouse: the folder below which databases and tables have theirs; by default that of the setting
            ``spark.hbstore.warehouse``, else of ``spark.sql.warehouse.dir``.

    Raises:
        InvalidInput: an argument is of another type; or the statement may be the store's, and nothing says which store.
        DdlSyntaxError, FilterError, CubeSyntaxError: neither hbstore nor Spark knows the statement.
        HbstoreError: as of `hbstore.ddl.execute`, and of cube queries as of `hbstore.cubes.Cubes.rewrite`.
        pyspark.errors.PySparkException: what Spark says of a statement of its own.

    >>> [row.partition for row in sql(spark, "SHOW PARTITIONS shop.sales WHERE hour < 2", store=store).collect()]
    ['ds=2013-01-01/hour=0', 'ds=2013-01-01/hour=1']
    """
    check_arguments(spark=spark, text=text, warehouse=warehouse)
    if store is not None:
        check_arguments(store=store)
    return noting_sql(spark, text, lambda note: _LOG.warning("%s", note), store=store, warehouse=warehouse)


def noting_sql(
    spark: SparkSession,
    text: str,
    note: Callable[[str], None],
    *,
    store: PartitionStore | str | None = None,
    warehouse: Warehouse | str | None = None,
    read_only: bool = False,
) -> DataFrame:
    """Run a statement as `sql` does, and say what could not be done as it should.

    A warehouse may be a server's, whose bounds hold then; ``read_only`` refuses what changes anything.

    >>> noting_sql(spark, "SHOW PARTITIONS shop.sales WHERE hour < 2", print, store=store).count()
    2
    """
    script = _script(spark, text)
    if not script:
        if read_only:
            check_reads(spark, text)
        return spark.sql(with_all_partition_columns(spark, text))
    with opened(_configured(spark) if store is None else store) as open_store:
        place = warehouse or spark.conf.get(WAREHOUSE, None)
        for number, (statement, part) in enumerate(script):
            with running(text, statement, number, len(script)):
                frame = _Run(spark, open_store, part, place, read_only, note).statement(statement)
        return frame


def current_database(spark: SparkSession) -> str:
    """The database of tables that are named without one: Spark's, unless USE named one that Spark does not have.

    >>> current_database(spark)
    'default'
    """
    current = spark.catalog.currentDatabase()
    ours, _, beside = str(spark.conf.get(_DATABASE, "")).partition("/")
    return ours if ours and beside == current else current


@dataclass(frozen=True, slots=True)
class _Run:
    """One statement that hbstore's grammar knows.

    Attributes:
        spark: the session.
        store: the store.
        text: the statement's.
        warehouse: where files are; None for Spark's own warehouse.
        read_only: nothing may be changed.
        note: takes what people should know besides the rows.
    """

    spark: SparkSession
    store: PartitionStore
    text: str
    warehouse: Warehouse | str | None
    read_only: bool
    note: Callable[[str], None]

    def _answer(self, query: ddl.CubeQuery) -> DataFrame:
        """The rows of a cube query, of a cube in the current database."""
        database = self._database()
        rewritten = Cubes(self.store, database).rewrite(query.text, options=with_session(self.spark))
        for note in notes_of(rewritten):
            self.note(note)
        return answer(self.spark, self.store, database, rewritten)

    def statement(self, statement: Statement) -> DataFrame:
        """Run it on the store or in Spark: where the table is."""
        if self.read_only:
            self._session().check(statement)
        if isinstance(statement, ddl.CubeQuery):
            return self._answer(statement)
        if self.spark.catalog.currentCatalog() != _CATALOG:
            return self.spark.sql(self.text)
        match statement:
            case ddl.UseDatabase(name):
                return self._use(name)
            case ddl.ShowDatabases():
                return self._with_sparks(("namespace",), self._session().run_statement(statement).rows)
            case ddl.ShowTables(name) | ddl.ShowTableExtended(_, name, None):
                return self._list_tables(statement, name or self._database())
            case _:
                return self._about_tables(statement)

    def _about_tables(self, statement: Statement) -> DataFrame:
        names = _tables(statement)
        sparks = any(map(self._is_sparks, names))
        if isinstance(statement, _SPARKS_TOO):
            sparks = sparks or self.spark.catalog.tableExists(self._quoted(names[0]))
        if sparks or (not any(map(self._is_ours, names)) and _parses(self.spark, self.text)):
            return self.spark.sql(self.text)
        frame = self._frame_of(statement)
        if not isinstance(statement, _LISTINGS):
            self._refresh(names)
        return frame

    def _frame_of(self, statement: Statement) -> DataFrame:
        if isinstance(statement, ddl.AnalyzeTable) and not statement.noscan:
            return self._analyze(statement)
        result = self._session().run_statement(statement)
        for note in result.notes:
            self.note(note)
        if isinstance(statement, ddl.ShowTableExtended):
            return self._frame(_EXTENDED, _extended(result))
        return self._frame(result.columns, result.rows)

    def _session(self) -> Session:
        place = self.warehouse or self.spark.conf.get("spark.sql.warehouse.dir")
        warehouse = place if isinstance(place, Warehouse) else Warehouse(str(place))
        return Session(self.store, warehouse, self._database(), read_only=self.read_only)

    def _analyze(self, statement: ddl.AnalyzeTable) -> DataFrame:
        database, name = self._whole(statement.table)
        table = self.store.get_table(database, name)
        where = spec_filter({} if statement.spec is None else values_of(table, statement.spec))
        done = analyze_table(self.spark, self.store, f"{database}.{name}", where, columns=statement.columns)
        if statement.spec is not None and not (done.partitions or done.changed):
            raise PartitionNotFound(
                "the partition does not exist",
                table=table,
                partition=statement.spec,
                hint=f"SHOW PARTITIONS {table} lists the partitions",
            )
        for some, why in (
            (done.missing, "has no folder"),
            (done.changed, "was not analyzed, because other writers kept changing it"),
        ):
            for partition in some:
                self.note(f"{partition} {why}")
        row = (done.table, done.partitions, done.rows, done.files, done.size)
        return self._frame(_ANALYZED, [row])

    # Databases

    def _database(self) -> str:
        return current_database(self.spark)

    def _use(self, name: str) -> DataFrame:
        known = self._is_catalog(name) or self.spark.catalog.databaseExists(quoted(name))
        if known or not self._has_database(name):
            frame = self.spark.sql(self.text)
            self.spark.conf.unset(_DATABASE)
            return frame
        self.spark.conf.set(_DATABASE, f"{name}/{self.spark.catalog.currentDatabase()}")
        return self._frame((), ())

    def _list_tables(self, statement: ddl.ShowTables | ddl.ShowTableExtended, database: str) -> DataFrame:
        if not self._has_database(database):
            return self.spark.sql(self.text)
        result = self._session().run_statement(statement)
        if isinstance(statement, ddl.ShowTableExtended):
            return self._with_sparks(_EXTENDED, _extended(result), database)
        return self._with_sparks(_EXTENDED[:3], [(*row, False) for row in result.rows], database)

    def _with_sparks(self, columns: Sequence[str], ours: Iterable[_Row], database: str | None = None) -> DataFrame:
        """What the store lists and what Spark lists besides, temporary views too; ours where both have a name."""
        found = {row[:2]: row for row in ours}
        if database is None or self.spark.catalog.databaseExists(quoted(database)):
            for row in self.spark.sql(self.text).collect():
                found.setdefault(tuple(row[:2]), tuple(row))
        rows = sorted(found.values(), key=lambda row: (row[2:3] == (True,), row[:2]))
        return self._frame(columns, rows)

    # Which tables are whose

    def _is_sparks(self, name: ddl.TableName) -> bool:
        """Whether a name cannot be one of the store's: it is a temporary view's, or begins with that of a catalog."""
        if name.database is not None:
            return self._is_catalog(name.database)
        catalog = self.spark._jsparkSession.sessionState().catalog()  # noqa: SLF001  the public way reads tables
        return bool(catalog.getTempView(name.name).isDefined())

    def _is_ours(self, name: ddl.TableName) -> bool:
        return self._has(self._whole(name))

    def _is_catalog(self, name: str) -> bool:
        return name == _CATALOG or self.spark.conf.get(f"spark.sql.catalog.{name}", None) is not None

    def _whole(self, name: ddl.TableName) -> tuple[str, str]:
        return name.database or self._database(), name.name

    def _quoted(self, name: ddl.TableName) -> str:
        return ".".join(map(quoted, self._whole(name)))

    def _has(self, place: tuple[str, str]) -> bool:
        try:
            self.store.get_table(*place)
        except (DatabaseNotFound, TableNotFound, InvalidName):
            return False
        return True

    def _has_database(self, name: str) -> bool:
        try:
            self.store.get_database(name)
        except (DatabaseNotFound, InvalidName):
            return False
        return True

    def _refresh(self, names: Iterable[ddl.TableName]) -> None:
        """Have Spark forget which files it has seen of tables that it knows; what it says undoes no statement."""
        for name in names:
            whole = self._quoted(name)
            try:
                if self.spark.catalog.tableExists(whole):
                    self.spark.catalog.refreshTable(whole)
            except JAVA_ERRORS as error:
                self.note(f"Spark cannot read {whole}: {root_cause(error)}")

    def _frame(self, columns: Sequence[str], rows: Iterable[_Row]) -> DataFrame:
        if not columns:
            return local_frame(self.spark, rows, StructType())
        schema = pa.schema([(name, _TYPES.get(name, pa.string())) for name in columns])
        return local_table(
            self.spark, pa.table([list(one) for one in zip(*rows, strict=True)] or [[]] * len(columns), schema)
        )


def _extended(result: Result) -> list[_Row]:
    """The facts of SHOW TABLE EXTENDED as Spark has them: one text for each table, a line for each fact."""
    lines: dict[tuple[str | None, ...], list[str]] = {}
    for database, table, name, value in result.rows:
        lines.setdefault((database, table), []).append(f"{name}: {value}\n")
    return [(*place, False, "".join(facts)) for place, facts in lines.items()]


def _tables(statement: Statement) -> list[ddl.TableName]:
    """The tables that a statement names."""
    match statement:
        case ddl.UseDatabase() | ddl.ShowDatabases() | ddl.ShowTables():
            return []
        case ddl.ShowTableExtended(name, database):
            return [ddl.TableName(name, database)]
        case ddl.ExchangePartitions(table, _, source):
            return [table, source]
        case ddl.CubeQuery():
            return []
        case _:
            return [statement.table]


def _script(spark: SparkSession, text: str) -> list[tuple[Statement, str]]:
    """The statements of a text, each with its own text; none where it is Spark's.

    Raises:
        DdlSyntaxError, FilterError, CubeSyntaxError: neither knows it, and Spark understood no more of it.
    """
    try:
        return parse_script(text)
    except (DdlSyntaxError, FilterError) as error:
        understood = _place(error.fields.get("line"), error.fields.get("column"), 1)
        if _is_blank_before(text, understood) or _parses(spark, text, further_than=understood):
            return []
        error.add_note("hbstore read the text as one of its own statements; Spark SQL cannot parse it either.")
        raise


def _is_blank_before(text: str, place: tuple[int, int] | None) -> bool:
    """Whether there is nothing but comments before a place: not the first word was understood."""
    if place is None:
        return False
    *lines, last = text.split("\n")[: place[0]]
    try:
        return not parse_statements("\n".join([*lines, last[: place[1] - 1]]))
    except (DdlSyntaxError, FilterError):
        return False


def _parses(spark: SparkSession, text: str, *, further_than: tuple[int, int] | None = None) -> bool:
    """Whether Spark's grammar knows a text, or more of it than up to a place."""
    try:
        spark._jsparkSession.sessionState().sqlParser().parsePlan(text)  # noqa: SLF001  nothing public only parses
    except ParseException as error:
        if further_than is None or error.getCondition() == "INVALID_STATEMENT_OR_CLAUSE":
            return False
        found = re.search(r"\(line (\d+), pos (\d+)\)", str(error))
        place = None if found is None else _place(int(found[1]), int(found[2]), 0)
        return place is None or place > further_than
    return True


def _place(line: object, column: object, first: int) -> tuple[int, int] | None:
    """A place as line and column from 1."""
    if not (isinstance(line, int) and isinstance(column, int)):
        return None
    return line, column + 1 - first


def _configured(spark: SparkSession) -> str:
    """The URL of the store that the session's settings name."""
    url = spark.conf.get(URL, None)
    if url is None:
        raise InvalidInput(
            "the store of the statement is unknown",
            hint=f"Give store=…, or set {URL} in Spark; use spark.sql for statements of Spark",
        )
    return url
