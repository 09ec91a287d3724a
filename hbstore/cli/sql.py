"""The command that runs statements about partitions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hbstore.cli.arguments import DatabaseOption, JsonOption, StoreOption, examples
from hbstore.cli.opening import Settings, open_store
from hbstore.cli.printing import plain, print_json, print_lines, print_note, print_rows
from hbstore.cli.progress import stages
from hbstore.cli.spark_session import spark_jobs, spark_session
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # imported when the command runs: that takes a while, and help needs none of it
    from pyspark.sql import SparkSession

    from hbstore.ddl import Result
    from hbstore.ddl.statements import CubeQuery
    from hbstore.store.partition_store import PartitionStore

commands = typer.Typer()


@commands.command(
    "sql",
    epilog=examples(
        "hbstore sql \"SHOW PARTITIONS shop.sales PARTITION (ds = '2013-01-01') WHERE hour >= 20\"",
        'hbstore sql --database shop "SHOW TABLES; DESCRIBE EXTENDED sales"',
        "hbstore sql --warehouse /data/warehouse \"ALTER TABLE shop.returns ADD PARTITION (region = 'eu')\"",
    ),
)
def sql(
    ctx: typer.Context,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT]",
            help="Statements, with semicolons between them; by default those on stdin. Write -- before a text that "
            "begins with a dash.",
        ),
    ] = None,
    *,
    warehouse: Annotated[
        str | None,
        typer.Option(
            "--warehouse",
            envvar="HBSTORE_WAREHOUSE",
            metavar="DIR",
            help="Where databases and tables have their files; needed by statements that change partitions.",
        ),
    ] = None,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the partition statements of Hive and Spark SQL.

    ALTER TABLE adds, drops, renames and exchanges partitions and sets a table's properties, TRUNCATE TABLE empties
    partitions; SHOW, DESCRIBE and EXPLAIN PARTITIONS only read. hbstore creates, moves and deletes folders and files as
    `hbstore serve` does, and also in a table's own folder outside the warehouse.

    Spark answers CUBE SELECT, of a cube in the current database, as `hbstore query run` does.

    On a terminal, without TEXT, the command asks for statements until `exit` or Ctrl-D.
    """
    from hbstore.ddl import Session
    from hbstore.files.warehouse import Warehouse

    place = None if warehouse is None else Warehouse(warehouse)
    with open_store(ctx, store) as opened, ExitStack() as stack:
        session = Session(opened, place, database or DEFAULT_DATABASE, Answers(opened, stack))
        if text is None and sys.stdin.isatty():
            _converse(session, ctx.obj, as_json=as_json)
            return
        print_results(session.run(sys.stdin.read() if text is None else text), as_json=as_json)


@dataclass(slots=True)
class Answers:
    """Answers cube queries by Spark.

    Attributes:
        store: where the cubes are.
        open: ends the session of Spark, when the command ends.
    """

    store: PartitionStore
    open: ExitStack
    _session: SparkSession | None = field(default=None, init=False)

    def __call__(self, query: CubeQuery, database: str) -> Result:
        """The rows of a query of a cube in a database.

        Raises:
            CubeQueryError, InvalidInput: as `Cubes.rewrite`; this comes before Spark is started.
            StoreUnavailable: Spark cannot run it.
        """
        from hbstore.cubes import Cubes
        from hbstore.cubes.query.rewriting import notes_of
        from hbstore.ddl.results import Result

        rewritten = Cubes(self.store, database).rewrite(query.text)
        if self._session is None:
            self._session = self.open.enter_context(spark_session("hbstore sql", in_utc=True))
        from hbstore.spark.cube import answer

        with spark_jobs(), stages(self._session, "Asking Spark"):
            frame = answer(self._session, self.store, database, rewritten)
            rows = tuple(tuple(row) for row in frame.toLocalIterator())
        return Result(query, tuple(frame.columns), rows, notes=notes_of(rewritten))


def print_results(results: Iterable[Result], *, as_json: bool) -> None:
    """Print what statements did or found, one after the other; with JSON as one document when all are done."""
    from hbstore.ddl.statements import CubeQuery

    if as_json:
        print_json([_as_json(result) for result in _noting(results)])
        return
    for result in _noting(results):
        if not result.columns:
            print_lines([_done(result)])
        else:
            absent = "NULL" if isinstance(result.statement, CubeQuery) else ""
            rows = ([absent if cell is None else str(cell) for cell in row] for row in result.rows)
            print_rows(result.columns, rows)


def _converse(session: Any, settings: Settings, *, as_json: bool) -> None:
    from hbstore.cli.sql_prompt import converse, remembering

    with remembering():
        converse(session, lambda results: print_results(results, as_json=as_json), settings)


def _noting(results: Iterable[Result]) -> Iterator[Result]:
    """The results; their notes go to stderr."""
    for result in results:
        for note in result.notes:
            print_note(note)
        yield result


def _as_json(result: Result) -> dict[str, Any]:
    return {
        "statement": str(result.statement),
        "columns": list(result.columns),
        "rows": [plain(row) for row in result.rows],
        "changed": result.changed,
        "notes": list(result.notes),
    }


def _done(result: Result) -> str:
    from hbstore.ddl import statements as ddl

    statement = result.statement
    if isinstance(statement, ddl.UseDatabase):
        return f"database {statement.database}"
    if isinstance(statement, ddl.SetProperties | ddl.UnsetProperties):
        return f"table {statement.table}: properties {'set' if isinstance(statement, ddl.SetProperties) else 'unset'}"
    if isinstance(statement, ddl.SetLocation) and result.changed is None:
        return f"table {statement.table}: location set"
    if isinstance(statement, ddl.TruncateTable) and result.changed is None:
        return f"table {statement.table}: emptied"
    did = {
        ddl.AddPartitions: "added",
        ddl.DropPartitions: "dropped",
        ddl.RenamePartition: "renamed",
        ddl.SetLocation: "altered",
        ddl.ExchangePartitions: "moved",
        ddl.TruncateTable: "emptied",
    }
    return f"{plural(result.changed or 0, 'partition')} {did[type(statement)]}"
