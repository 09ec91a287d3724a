"""Running statements one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import NoneType
from typing import Final

from hbstore.ddl import statements as ddl
from hbstore.ddl.changes import (
    add_partitions,
    drop_partitions,
    exchange_partitions,
    rename_partition,
    repair_table,
    set_location,
    truncate_table,
)
from hbstore.ddl.counting import count_files
from hbstore.ddl.creation import show_create_table
from hbstore.ddl.descriptions import describe, show_table_extended
from hbstore.ddl.listings import explain_partitions, show_columns, show_databases, show_partitions, show_tables
from hbstore.ddl.parser import parse_statements, running
from hbstore.ddl.properties import change_properties, show_properties
from hbstore.ddl.results import Result
from hbstore.errors import InvalidInput, NeedsSpark, StoreReadOnly, TableNotPartitioned
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.model.objects import Table
from hbstore.publishing import Publisher
from hbstore.store.partition_store import PartitionStore
from hbstore.texts.arguments import expect, expect_texts
from hbstore.texts.places import one_line
from hbstore.warehouse.locations import located

_SHOWN: Final = 60
"""Characters of a query that an error shows."""


class Session:
    """Runs statements, and remembers the database that USE names.

    Args:
        store: databases, tables, partitions.
        warehouse: where files are; without one, statements that change partitions are refused.
        database: that of tables which are named without one.
        ask: answers a cube query of a cube in a database; without it, cube queries are refused.
        read_only: refuse statements that change anything, as a server does that was told so.
    """

    def __init__(
        self,
        store: PartitionStore,
        warehouse: Warehouse | None = None,
        database: str = DEFAULT_DATABASE,
        ask: Callable[[ddl.CubeQuery, str], Result] | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        expect("store", store, PartitionStore, hint='Give an open store: hbstore.connect("sqlite://shop.db")')
        expect_texts(database=database)
        self._store = store
        self._warehouse = warehouse
        self._ask = ask
        self._read_only = read_only
        self.database = database

    def __repr__(self) -> str:
        return f"<Session of {self._store.rows.url}, database {self.database}>"

    def run(self, text: str) -> Iterator[Result]:
        """Parse all statements of a text, then run them one after the other as results are asked for.

        Raises:
            DdlSyntaxError, FilterError, CubeQueryError: the text does not parse; nothing was done.
            HbstoreError: a statement failed; hbstore ran the statements before it, those after it are not.

        >>> from hbstore.files.warehouse import Warehouse
        >>> session = Session(store, Warehouse("/data/warehouse"), "shop")
        >>> [result.rows for result in session.run("SHOW PARTITIONS sales WHERE ds = '2013-01-01' and hour < 2")]
        [(('ds=2013-01-01/hour=0',), ('ds=2013-01-01/hour=1',))]
        """
        statements = parse_statements(text)
        for number, statement in enumerate(statements):
            with running(text, statement, number, len(statements)):
                result = self.run_statement(statement)
            yield result

    def check(self, statement: ddl.Statement) -> None:
        """See that a statement may be run, as far as that does not depend on what is stored.

        Raises:
            StoreReadOnly: it changes something, and nothing may be changed.

        >>> from hbstore.ddl import parse_statements
        >>> Session(store, read_only=True).check(*parse_statements("TRUNCATE TABLE shop.sales"))
        Traceback (most recent call last):
        hbstore.errors.StoreReadOnly: this server is read-only: statement=TruncateTable. ...
        """
        if self._read_only and isinstance(statement, ddl.Write):
            raise StoreReadOnly(
                "this server is read-only",
                statement=type(statement).__name__,
                hint="Connect to a server that may write",
            )

    def run_statement(self, statement: ddl.Statement) -> Result:  # noqa: C901, PLR0911, PLR0912  one for each kind
        """Run one statement.

        Raises:
            TableNotPartitioned: it is about partitions, and the table has no partition columns.
            NeedsSpark: it reads all files of a table, or is a cube query that nothing answers.
            InvalidInput: it changes partitions, and there is no warehouse.
            StoreReadOnly: as of `check`.

        >>> from hbstore.ddl import parse_statements
        >>> (statement,) = parse_statements("SHOW TABLES IN shop")
        >>> Session(store, None).run_statement(statement).rows
        (('shop', 'sales'),)
        """
        self.check(statement)
        store = self._store
        match statement:
            case ddl.UseDatabase(name):
                self.database = store.get_database(name).name
                return Result(statement)
            case ddl.ShowDatabases():
                return show_databases(store, statement)
            case ddl.ShowTables(name):
                return show_tables(store, self._database(name), statement)
            case ddl.ShowTableExtended(_, name):
                return show_table_extended(store, self._warehouse, self._database(name), statement)
            case ddl.Describe():
                return describe(store, self._described(statement), statement)
            case ddl.ShowPartitions(name):
                return show_partitions(store, self._partitioned(name), statement)
            case ddl.ShowColumns(name):
                return show_columns(self._table(name), statement)
            case ddl.ShowCreateTable(name):
                table = self._located(self._table(name))
                return show_create_table(table, store.hive.constraints.of(table.database, table.name), statement)
            case ddl.ShowProperties(name):
                return show_properties(self._table(name), statement)
            case ddl.ExplainPartitions(name):
                return explain_partitions(store, self._partitioned(name), statement)
            case ddl.AnalyzeTable(name) if not statement.noscan:
                raise NeedsSpark(
                    "only Spark can run this statement, because it reads all files of the table",
                    table=self._table(name),
                    hint="Run `hbstore analyze`, or hbstore.spark.sql in a Spark job; NOSCAN only counts files",
                )
            case ddl.CubeQuery():
                if self._ask is not None:
                    return self._ask(statement, self.database)
                raise NeedsSpark(
                    "only Spark can answer a cube query",
                    query=one_line(statement.text)[:_SHOWN],
                    hint="Run `hbstore query run` or `hbstore sql`, or hbstore.spark.sql in a Spark job",
                )
            case ddl.SetProperties(name) | ddl.UnsetProperties(name):
                return change_properties(store, self._table(name), statement)
            case _:
                return self._change(statement)

    def _change(  # noqa: C901, PLR0911  one for each kind
        self,
        statement: ddl.Change | ddl.AnalyzeTable,
    ) -> Result:
        if self._warehouse is None:
            raise InvalidInput(
                "the statement changes partitions and their files, but no warehouse is named",
                statement=type(statement).__name__,
                hint="Name the folder that `hbstore serve` uses: --warehouse DIR, or warehouse=… in Python",
            )
        store, warehouse = self._store, self._warehouse
        if isinstance(statement, ddl.TruncateTable | ddl.SetLocation | ddl.AnalyzeTable) and statement.spec is None:
            return self._change_whole(statement, warehouse)
        table = located(store, warehouse, self._partitioned(statement.table))
        match statement:
            case ddl.AddPartitions():
                return add_partitions(store, warehouse, table, statement)
            case ddl.DropPartitions():
                return drop_partitions(store, warehouse, table, statement)
            case ddl.RenamePartition():
                return rename_partition(store, warehouse, table, statement)
            case ddl.SetLocation():
                return set_location(store, warehouse, table, statement)
            case ddl.ExchangePartitions():
                return exchange_partitions(store, warehouse, table, self._partitioned(statement.source), statement)
            case ddl.TruncateTable():
                return truncate_table(store, warehouse, table, statement)
            case ddl.RepairTable():
                return repair_table(store, table, statement)
            case ddl.AnalyzeTable():
                return count_files(store, warehouse, table, statement)

    def _change_whole(
        self, statement: ddl.TruncateTable | ddl.SetLocation | ddl.AnalyzeTable, warehouse: Warehouse
    ) -> Result:
        """A change of a table that need have no partitions."""
        store, table = self._store, self._located(self._table(statement.table))
        match statement:
            case ddl.TruncateTable():
                return truncate_table(store, warehouse, table, statement)
            case ddl.SetLocation():
                return set_location(store, warehouse, table, statement)
            case ddl.AnalyzeTable():
                return count_files(store, warehouse, table, statement)

    def _database(self, name: str | None) -> str:
        return self.database if name is None else name

    def _table(self, name: ddl.TableName) -> Table:
        """A table; where files may be moved, after what jobs have decided about its files was done."""
        place = self._database(name.database), name.name
        if self._warehouse is not None and not self._read_only:
            Publisher(self._store).roll_forward_before_use(self._store.publications.row(*place))
        return self._store.get_table(*place)

    def _described(self, statement: ddl.Describe) -> Table:
        """A table that is to be described; one without a location is where the warehouse has it."""
        table = self._table(statement.table) if statement.spec is None else self._partitioned(statement.table)
        return self._located(table)

    def _located(self, table: Table) -> Table:
        return table if self._warehouse is None else located(self._store, self._warehouse, table)

    def _partitioned(self, name: ddl.TableName) -> Table:
        table = self._table(name)
        if not table.partition_columns:
            raise TableNotPartitioned(
                "the table has no partition columns",
                table=table,
                hint="Name a partitioned table: DESCRIBE shows the columns of a table",
            )
        return table


def execute(
    store: PartitionStore,
    text: str,
    database: str = DEFAULT_DATABASE,
    warehouse: Warehouse | str | None = None,
) -> list[Result]:
    """Run the statements of a text one after the other; what each did or found.

    Args:
        store: databases, tables, partitions.
        text: statements, with semicolons between them: docs/ddl.md.
        database: that of tables which are named without one.
        warehouse: the folder below which databases and tables have their files, as for ``hbstore serve``: a path or a
            URI. Without one, statements that change partitions are refused, so that files and partitions agree.

    Raises:
        DdlSyntaxError, FilterError, CubeQueryError: the text does not parse; nothing was done.
        NeedsSpark: a statement is one that only Spark can run.
        HbstoreError: a statement failed; hbstore ran the statements before it, those after it are not.

    >>> (result,) = execute(store, "SHOW PARTITIONS sales PARTITION (ds = '2013-01-01') WHERE hour > 21", "shop")
    >>> result.rows
    (('ds=2013-01-01/hour=22',), ('ds=2013-01-01/hour=23',))
    """
    expect("warehouse", warehouse, str, Warehouse, NoneType, hint="Give the warehouse's folder, or None")
    place = Warehouse(warehouse) if isinstance(warehouse, str) else warehouse
    return list(Session(store, place, database).run(text))
