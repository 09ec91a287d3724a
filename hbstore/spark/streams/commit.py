"""Partition commit: a partition that a stream fills is announced once it is taken to be complete.

Every write to a partition puts the parameter ``hbstore.complete`` to ``false``, in the same step as its rows. When its
time has come the policies are carried out, in their order, and then the parameter becomes ``true``. So the state of all
partitions is in the store: a query that is started again goes on with those that are ``false``, and late rows make a
partition be announced again. A crash among the policies has them carried out once more.
`hbstore.spark.streams.announcing` calls this as long as a query runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from string import Template
from typing import Final, Literal, TypeAlias

from pyspark.sql import SparkSession

from hbstore.errors import ConcurrentChange, InvalidInput, PartitionNotFound
from hbstore.keys.partition_names import parse_partition_name
from hbstore.model.objects import Partition, Table
from hbstore.model.structs import partitions_from_payloads
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.publishing.publisher import Publisher
from hbstore.spark.arguments import check_arguments
from hbstore.spark.hadoop import hadoop_path
from hbstore.spark.java_errors import files_fail
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow

CommitTrigger: TypeAlias = Literal["process-time", "partition-time"]
Policy: TypeAlias = "Literal['metastore', 'success-file'] | Callable[[Partition], object]"

COMPLETE: Final = "hbstore.complete"
"""The parameter of a partition that says whether it is announced."""

ANNOUNCED: Final = "hbstore.complete.time"
"""The parameter that says when it was, last."""

SUCCESS: Final = "_SUCCESS"
_TIME: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T-](\d{1,2})(?::(\d{1,2})(?::(\d{1,2}))?)?)?")


@dataclass(frozen=True, slots=True)
class PartitionCommit:
    """When and how partitions are announced.

    Attributes:
        trigger: "process-time": ``delay`` after the partition was created; "partition-time": when the stream's
            watermark is ``delay`` past the time in the partition's values.
        delay: how long to wait; for "partition-time" at least the length of a partition.
        extractor: for "partition-time", a pattern of the partition columns that makes a time in UTC of them, such as
            ``$ds $hour:00:00``. Partitions whose values make none are never announced.
        policies: "success-file", an empty file ``_SUCCESS`` in the partition's folder; functions that take the
            partition; "metastore", the parameter ``hbstore.complete``, which is put last in any case.

    >>> commit = PartitionCommit("partition-time", timedelta(hours=1), "$ds $hour:00:00")
    >>> print(commit.time_of({"ds": "2013-01-01", "hour": "5"}))
    2013-01-01 05:00:00+00:00
    """

    trigger: CommitTrigger = "process-time"
    delay: timedelta = timedelta(0)
    extractor: str | None = None
    policies: Sequence[Policy] = ("metastore",)

    def check(self, table: Table) -> None:
        """Refuse what cannot be done with a table's partitions.

        Raises:
            InvalidInput: a delay, an extractor or policies of another type; no such trigger, policy or partition
                column, or no extractor where there has to be one.

        >>> PartitionCommit("partition-time", timedelta(hours=1), "$ds $hour:00:00").check(sales.definition)
        """
        check_arguments(delay=self.delay, extractor=self.extractor, policies=self.policies)
        if self.trigger not in ("process-time", "partition-time"):
            raise InvalidInput(
                "the trigger is unknown", trigger=self.trigger, hint="Use process-time or partition-time"
            )
        for policy in self.policies:
            if not callable(policy) and policy not in ("metastore", "success-file"):
                raise InvalidInput(
                    "the policy is unknown", policy=policy, hint="Use metastore, success-file or a function"
                )
        if self.trigger == "process-time":
            return
        names = set(table.partition_column_names)
        template = Template(self.extractor or "")
        used = set(template.get_identifiers())
        if not used or not template.is_valid() or used - names:
            raise InvalidInput(
                "the extractor cannot read a time from the partition columns",
                table=table,
                extractor=self.extractor,
                partition_columns=", ".join(table.partition_column_names),
                hint="Write a pattern such as $ds $hour:00:00",
            )

    def time_of(self, values: dict[str, str]) -> datetime | None:
        """The time in a partition's values by the names of their columns; None if they make none.

        >>> print(PartitionCommit(extractor="$ds").time_of({"ds": "2013-01-01"}))
        2013-01-01 00:00:00+00:00
        """
        found = _TIME.fullmatch(Template(self.extractor or "").safe_substitute(values).strip())
        try:
            if found is None:
                return None
            year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            return None

    def due_time(self, table: Table, partition: Partition) -> datetime | None:
        """When a partition is due, by the clock or the watermark; None if it never is.

        >>> commit = PartitionCommit("partition-time", timedelta(days=1), "$ds")
        >>> print(commit.due_time(sales.definition, sales.partitions()[0]))
        2013-01-02 00:00:00+00:00
        """
        try:
            if self.trigger == "process-time":
                return datetime.fromtimestamp(partition.create_time, UTC) + self.delay
            begin = self.time_of(dict(zip(table.partition_column_names, partition.values, strict=True)))
            return None if begin is None else begin + self.delay
        except (OverflowError, ValueError):  # behind the year 9999
            return None

    def is_due(self, due: datetime, watermark: datetime | None) -> bool:
        """Whether the clock or the watermark has reached a time.

        >>> commit = PartitionCommit("partition-time", timedelta(days=1), "$ds")
        >>> commit.is_due(datetime(2013, 1, 2, tzinfo=UTC), watermark=datetime(2013, 1, 3, tzinfo=UTC))
        True
        """
        now = datetime.now(UTC) if self.trigger == "process-time" else watermark
        return now is not None and due <= now


@dataclass(slots=True)
class Announcer:
    """Announces the partitions of a table.

    Attributes:
        spark: for the files.
        commit: when and how.
        pending: when partitions that are not announced are due, by their values; None until they were looked for in
            the store.
    """

    spark: SparkSession
    commit: PartitionCommit
    pending: dict[tuple[str, ...], datetime] | None = field(default=None)

    def has_due(self, watermark: datetime | None) -> bool:
        """Whether the time of a pending partition has come, or it is not known which ones are pending."""
        if self.pending is None:
            return True
        return any(self.commit.is_due(due, watermark) for due in self.pending.values())

    def announce(
        self, store: PartitionStore, database: str, name: str, written: Iterable[str], watermark: datetime | None
    ) -> list[tuple[str, ...]]:
        """Announce the partitions whose time has come; their values.

        Args:
            store: the store.
            database: the table's database.
            name: the table's name.
            written: the names of partitions that got rows since the last call.
            watermark: the stream's; None if it has none yet.
        """
        table = store.get_table(database, name)
        columns = table.partition_column_names
        pending = self.pending
        unannounced = store.read_payloads(database, name, None, _waiting) if pending is None else set(pending)
        for text in written:
            spec = parse_partition_name(text)
            unannounced.add(tuple(spec[column] for column in columns))
        announced, waiting = [], {}
        partitions = store.get_partitions(database, name, sorted(unannounced))
        Publisher(store).roll_forward_before_use(store.table_row(database, name))  # files come before the word of them
        for partition in partitions:
            due = self.commit.due_time(table, partition)
            if due is None or partition.parameters.get(COMPLETE) != "false":
                continue  # it never is due, or another query has announced it
            if self.commit.is_due(due, watermark) and self._carry_out(store, database, name, partition):
                announced.append(partition.values)
            else:
                waiting[partition.values] = due
        self.pending = waiting
        return announced

    def _carry_out(self, store: PartitionStore, database: str, name: str, partition: Partition) -> bool:
        """Carry out the policies; False if somebody wrote to the partition meanwhile, so that it has to be again."""
        for policy in self.commit.policies:
            if callable(policy):
                policy(partition)
            elif policy == "success-file" and partition.location:
                self._touch(f"{partition.location}/{SUCCESS}")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        parameters = {**partition.parameters, COMPLETE: "true", ANNOUNCED: now}
        try:
            store.change_partitions(
                database,
                name,
                put=[replace(partition, parameters=parameters)],
                expected={partition.values: partition.payload},
                invalid_values="keep",
            )
        except (ConcurrentChange, PartitionNotFound):
            return False
        return True

    def _touch(self, place: str) -> None:
        with files_fail("a file that announces a partition cannot be written", place):
            path, system = hadoop_path(self.spark, place)
            system.create(path, True).close()


def _waiting(_: TableRow, __: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> set[tuple[str, ...]]:
    """The values of the partitions that say that they are not announced; most say nothing, and are not decoded."""
    name = COMPLETE.encode()
    some = (partitions_from_payloads(payload for payload in batch if name in payload) for batch in batches)
    return {one.values for one in chain.from_iterable(some) if one.parameters.get(COMPLETE) == "false"}
