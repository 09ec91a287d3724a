"""Streams into a table's partitions: every row is there once, whatever dies, and however often it is started again.

Spark gives each micro-batch a number and says in its checkpoint that it is done only after it was written. So after a
crash it writes the last one again, under the same number. Each batch is published (`hbstore.publishing`) together with
its number and a digest of its rows:

1. Look which batches of this stream the table has. If this is one of them, its rows must have the digest that is
   recorded; there is nothing to do.
2. Spark writes the files where nobody looks, and adds up the digest on the way.
3. Lease the partitions, and look again. What an earlier run of the stream had leased it loses here.
4. Decide: one compare-and-put decides files, partitions, number and digest.
5. Show the files and partitions, put the batch into the stream's record, take the publication off the table's row.

A run that dies before 4 has changed nothing, and the next one writes the batch again. After 4 every run finds the
number, in the publication or in the record, and the next process finishes 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, Observation
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from hbstore.errors import InvalidInput, WriteConflict
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import table_name
from hbstore.publishing.manifest import ALIVE, STAGING, new_publication_id
from hbstore.publishing.publisher import Publisher
from hbstore.rows.urls import shared_url
from hbstore.spark.arguments import check_arguments
from hbstore.spark.java_errors import JAVA_ERRORS, root_cause
from hbstore.spark.opening import opened
from hbstore.spark.staging import listed, remove, remove_unless_open, stage
from hbstore.spark.streams.announcing import AnnouncedQuery, Announcing
from hbstore.spark.streams.checkpoint import check_checkpoint
from hbstore.spark.streams.commit import COMPLETE, Announcer, PartitionCommit
from hbstore.spark.streams.digest import digest_columns, digest_of, digest_text
from hbstore.spark.write_plan import WritePlan
from hbstore.spark.writes import WriteJob, Written, check_values, partitions_there, summary
from hbstore.store.partition_store import PartitionStore
from hbstore.store.stream_batches import Stream, StreamBatch
from hbstore.store.table_row import TableRow
from hbstore.store.writer import partitioned
from hbstore.transactions.waiting import Patience, Waiting

_STARTING: Final = 120.0
"""Seconds in which Spark says the id of a query that it has started."""

_PATIENCE: Final = Patience(total=2 * ALIVE)
"""How long a batch waits for other jobs that write its partitions; dead ones have lost them by then."""


def stream_to_table(
    stream: DataFrame,
    store: PartitionStore | str,
    table: str,
    *,
    checkpoint: str,
    static: Mapping[str, object] | None = None,
    sink_id: str | None = None,
    trigger: Mapping[str, Any] | None = None,
    parameters: Mapping[str, str] | None = None,
    commit: PartitionCommit | None = None,
) -> StreamingQuery:
    """Start a query that appends a stream's rows to a table's partitions, each row exactly once.

    Args:
        stream: a streaming DataFrame with the columns that `write_table` wants.
        store: a store, or its URL, which is opened for each batch. A store must be open as long as the query runs.
        table: ``database.table``; it must have a location.
        checkpoint: the folder in which Spark keeps the query's state; one for each query. The query's id is in it, so
            that it is the same stream when it is started again.
        static: values for some or all partition columns, as for `write_table`.
        sink_id: tells apart several writers of one query; by default the table's name. Keep it when the table is
            renamed.
        trigger: Spark's, such as ``{"processingTime": "1 minute"}`` or ``{"availableNow": True}``.
        parameters: for the partitions, such as their update period.
        commit: when and how partitions are announced as complete; None: they are not. Partitions are looked at each
            second while the query runs, and once after it has ended.

    Returns:
        Spark's query. It ends with the error of a batch that cannot be written, which `exception` shows: StreamConflict
        where a batch that is written again has other rows, and those of `write_table`. Nothing of that batch was
        changed; started again the query goes on with it. With a ``commit``, `awaitTermination` and `stop` also wait for
        the announcements of what is due, and an announcement that fails ends the query.

    Raises:
        InvalidInput: the argument has the wrong type; the DataFrame is no stream; a column is missing, unknown, or of a
            type that does not fit; the table has no location, or does not say in which format its files are.
        CorruptCheckpoint: the checkpoint is half written.

    >>> stream = spark.readStream.schema("amount double, ds string, hour int").json(f"{folder}/incoming")
    >>> query = stream_to_table(
    ...     stream, store, "shop.sales", checkpoint=f"{folder}/checkpoint", trigger={"availableNow": True}
    ... )
    >>> query.awaitTermination()
    >>> store.table("shop.sales").names("ds = '2013-01-04'")
    ['ds=2013-01-04/hour=0']
    """
    check_arguments(
        stream=stream,
        store=store,
        table=table,
        checkpoint=checkpoint,
        static=static,
        sink_id=sink_id,
        trigger=trigger,
        parameters=parameters,
    )
    if not isinstance(commit, PartitionCommit | None):
        raise InvalidInput(
            "the argument has the wrong type",
            argument="commit",
            type=type(commit).__name__,
            hint="Give a PartitionCommit, or None",
        )
    if not stream.isStreaming:
        raise InvalidInput("the DataFrame is not a stream", hint="Read it by spark.readStream, or use write_table")
    target = shared_url(store) if isinstance(store, str) else store
    with opened(target) as open_store:
        _check(stream, open_store, table, static, commit)
        if commit is not None:
            Publisher(open_store).recover(table)  # what is decided is shown before it is announced
    check_checkpoint(stream.sparkSession, checkpoint)
    announcing = None
    if commit is not None:
        announcing = Announcing(Announcer(stream.sparkSession, commit), target, table, checkpoint)
    own = dict(parameters or {}) | ({} if commit is None else {COMPLETE: "false"})
    started: Future[StreamingQuery] = Future()

    def write(frame: DataFrame, number: int) -> None:
        query = started.result(_STARTING)
        with opened(target) as open_store:
            written = write_batch(
                frame,
                open_store,
                table,
                query_id=str(query.id),
                batch_id=number,
                sink_id=sink_id,
                static=static,
                parameters=own,
            )
            if announcing is not None and written is not None:
                announcing.written.put(written.partitions)

    writer = stream.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)
    query = _triggered(writer, trigger or {}).start()
    started.set_result(query)
    return query if announcing is None else AnnouncedQuery(query, announcing)


def write_batch(
    frame: DataFrame,
    store: PartitionStore | str,
    table: str,
    *,
    query_id: str,
    batch_id: int,
    sink_id: str | None = None,
    static: Mapping[str, object] | None = None,
    parameters: Mapping[str, str] | None = None,
) -> Written | None:
    """Append a batch of a stream to a table's partitions, unless the table has it; for a ``foreachBatch`` of one's own.

    Args:
        frame: the rows.
        store: a store, or its URL.
        table: ``database.table``.
        query_id: the query's id, the same over restarts.
        batch_id: the batch's number; numbers rise.
        sink_id: as for `stream_to_table`.
        static: as for `write_table`.
        parameters: as for `write_table`.

    Returns:
        What was written; None if the table had the batch.

    Raises:
        StreamConflict: the table has a batch of that number with other rows, or another run of the query has written
            it meanwhile; nothing was changed.
        WriteConflict: another job did not come to its end with one of the partitions; nothing was changed.
        InvalidInput, InvalidPartitionValue, InvalidTime, WriteFailed: as for `write_table`.

    >>> more = spark.createDataFrame([(4.0, "2013-01-03", 7)], "amount double, ds string, hour int")
    >>> write_batch(more, store, "shop.sales", query_id="q1", batch_id=0).partitions
    ('ds=2013-01-03/hour=7',)
    >>> write_batch(more, store, "shop.sales", query_id="q1", batch_id=0) is None  # it is there already
    True
    """
    check_arguments(
        frame=frame,
        store=store,
        table=table,
        query_id=query_id,
        batch_id=batch_id,
        sink_id=sink_id,
        static=static,
        parameters=parameters,
    )
    database, name = table_name(table)
    stream = Stream(query_id, table.lower() if sink_id is None else sink_id)
    with opened(store) as open_store:
        publisher = Publisher(open_store)
        publisher.recover_before_write(table)
        row = open_store.publications.row(database, name)
        plan = WritePlan.of(partitioned(row.table), static or {}, None)
        rows = plan.arranged(frame)
        record = open_store.publications.batches(row, stream)
        if batch_id <= record.last:
            record.has(StreamBatch(stream, batch_id, digest_of(rows, plan.static)))
            return None
        return _Batch(publisher, row, plan, stream, batch_id, parameters or {}).write(rows)


@dataclass(frozen=True, slots=True)
class _Batch:
    publisher: Publisher
    row: TableRow
    plan: WritePlan
    stream: Stream
    number: int
    parameters: Mapping[str, str]

    def write(self, rows: DataFrame) -> Written:
        """Stage the rows and publish them."""
        warehouse = Warehouse(self.plan.root)
        staged_by_stream = f"{self.plan.root}/{STAGING}/{self.stream.key}"
        remove(warehouse, staged_by_stream, self.plan.root)  # what an earlier run has left
        publication = new_publication_id()
        staging = f"{staged_by_stream}/{publication}"
        try:
            observed = Observation()
            stage(rows.observe(observed, *digest_columns(rows, self.plan.static)), self.plan, f"{staging}/data")
            staged = listed(warehouse, self.plan, f"{staging}/data")
            for one in staged:
                check_values(self.row, one.values, self.parameters)
            if not staged:
                return Written((), (), 0, 0, 0)
            batch = StreamBatch(self.stream, self.number, digest_text(observed.get))
            job = WriteJob(self.row, self.plan, publication, staging, "append", self.parameters, batch)
            table, waiting = f"{self.row.table.database}.{self.row.table.name}", Waiting(_PATIENCE)
            while True:
                there = partitions_there(self.publisher.store, self.row, self.plan, staged)
                manifest, moves = job.manifest(warehouse, staged, there)
                try:
                    self.publisher.publish(table, manifest, moves)
                except WriteConflict as conflict:
                    text, hint = "other jobs kept writing the partitions", "Nothing was changed"
                    waiting.pause(text, hint, conflict, table=table)
                else:
                    return summary(self.plan, manifest, staged)
        finally:
            remove_unless_open(self.publisher, self.row, publication, staging)


def _triggered(writer: DataStreamWriter, trigger: Mapping[str, Any]) -> DataStreamWriter:
    if not trigger:
        return writer
    try:
        return writer.trigger(**trigger)
    except (*JAVA_ERRORS, TypeError) as error:
        raise InvalidInput(
            "Spark does not accept the trigger",
            argument="trigger",
            reason=root_cause(error),
            hint='Give a trigger such as {"processingTime": "1 minute"} or {"availableNow": True}',
        ) from error


def _check(
    stream: DataFrame,
    store: PartitionStore,
    table: str,
    static: Mapping[str, object] | None,
    commit: PartitionCommit | None,
) -> None:
    row = store.publications.row(*table_name(table))
    WritePlan.of(partitioned(row.table), static or {}, None).arranged(stream)
    if commit is not None:
        commit.check(row.table)
