"""RemoteTable: one table of a server's store, with the methods of `hbstore.TableHandle` that there are over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from hbstore.client.documents import partition_document
from hbstore.client.transport import Transport, segment
from hbstore.errors import FilterTooLarge, InvalidPartitionValue
from hbstore.extras import check_extra
from hbstore.filters.tree import written
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import Partition, PartitionValue, PartitionValues, Table
from hbstore.model.structs import decode_table, partitions_from_payloads
from hbstore.model.totals import Totals
from hbstore.plans.execute import Measured
from hbstore.store.partition_list import Partitions
from hbstore.store.puts import NEEDS_VALUES, InvalidValues, reusable_values
from hbstore.store.reader import Filter, filter_tree
from hbstore.store.schema import Schema
from hbstore.store.value_texts import are_texts, column_texts, partial_spec_texts
from hbstore.texts.arguments import expect_many, expect_texts
from hbstore.texts.like import LikeDialect
from hbstore.texts.like import like_dialect as checked_dialect

_LONGEST: Final = 60_000
"""Characters of a filter in an address."""


@dataclass(frozen=True, slots=True, repr=False)
class RemoteExplain:
    """A filter, its scans and, when analyzed, what they cost.

    Attributes:
        table: ``database.table``.
        filter: the filter's text; None: all partitions.
        total: what running all scans cost; None unless analyzed.
        kept: what the partitions that it selects say together; None unless analyzed.
        totals: what all partitions of the table say together; None unless analyzed.
    """

    table: str
    filter: str | None
    total: Measured | None
    kept: Totals | None
    totals: Totals | None
    _document: Mapping[str, Any]

    @staticmethod
    def of(document: Mapping[str, Any]) -> RemoteExplain:
        """The explanation in a document of the server."""
        measured = ("rows_read", "rows_returned", "round_trips", "seconds")
        total = Measured(**{name: document[name] for name in measured}) if "seconds" in document else None
        kept, totals = (Totals(**document[name]) if document.get(name) else None for name in ("kept", "of"))
        return RemoteExplain(document["table"], document["filter"], total, kept, totals, document)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON values; keys are in hex. As `hbstore.Explain.to_dict`."""
        return {name: value for name, value in self._document.items() if name != "text"}

    def __str__(self) -> str:
        """The explanation for a terminal."""
        return str(self._document["text"])

    def __repr__(self) -> str:
        return f"<RemoteExplain {self.table}: {self.filter or 'no filter'}>"


class RemoteTable:
    """One table of a server by its name; every call asks the server, nothing is kept here.

    Arguments and answers are those of `hbstore.TableHandle`. Partitions that are added get their folders, and those
    that are dropped lose their files unless the table is external, as with the metastore of `hbstore serve`.

    Raises, in all that follows:
        TableNotFound, DatabaseNotFound: the table is not there any more.
        FilterError: a filter cannot be used, as with the handle.
        ServerUnavailable: the server does not answer.
        CommitStateUnknown: the answer to a change was lost.

    Attributes:
        database: the database's name.
        table_name: the table's name.
    """

    def __init__(self, transport: Transport, database: str, table_name: str) -> None:
        self._transport = transport
        self.database = database.lower()
        self.table_name = table_name.lower()
        self._address = f"/databases/{segment(self.database)}/tables/{segment(self.table_name)}"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<RemoteTable {self.name}>"

    @property
    def name(self) -> str:
        """``database.table``, in lower case."""
        return f"{self.database}.{self.table_name}"

    @property
    def definition(self) -> Table:
        """The table as it is stored."""
        return decode_table(self._stored(""))

    @property
    def schema(self) -> Schema:
        """The table's columns."""
        table = self.definition
        return Schema(tuple(table.columns), tuple(table.partition_columns))

    # Reading

    def partition(self, partition: PartitionValues) -> Partition:
        """One partition by its values or its spec.

        Raises:
            PartitionNotFound: there is none.
            InvalidPartitionValue: there are too many or too few values.
        """
        table = self.definition
        columns = table.partition_column_names
        values = column_texts(columns, table.key_types, partition)
        if len(values) != len(columns):
            raise InvalidPartitionValue(
                "the partition has too many or too few values",
                values=len(values),
                columns=len(columns),
                hint=f"Give one for each of {', '.join(columns)}",
            )
        name = quote(partition_name(columns, values), safe="/=")
        return partitions_from_payloads([self._stored(f"/partitions/{name}")])[0]

    def partitions(
        self, filter: Filter = None, *, max_parts: int = -1, like_dialect: LikeDialect = "sql"
    ) -> Partitions:
        """The partitions that a filter selects, in key order: a list of `Partition`."""
        parameters = self._selection(filter, like_dialect, max_parts)
        check_extra("client", "partitions over HTTP")
        import pyarrow as pa

        table, query = self.definition, {**parameters, "fields": "thrift", "format": "arrow"}
        with (
            self._transport.reply("GET", f"{self._address}/partitions", query=query) as reply,
            pa.ipc.open_stream(reply) as reader,
        ):
            payloads = [payload for batch in reader for payload in batch.column(0).to_pylist()]
        if max_parts == 0:
            payloads = []
        return Partitions(table, partitions_from_payloads(payloads))

    def names(
        self,
        filter: Filter = None,
        *,
        spec: Mapping[str, PartitionValue] | None = None,
        max_parts: int = -1,
        like_dialect: LikeDialect = "sql",
    ) -> list[str]:
        """The names of the partitions that a filter and a partial spec select, in key order."""
        texts = {} if spec is None else partial_spec_texts(self.definition, spec)
        parameters = self._selection(filter, like_dialect, max_parts, partition_name(list(texts), list(texts.values())))
        with self._transport.reply(
            "GET", f"{self._address}/partitions/names", query={**parameters, "format": "text"}
        ) as reply:
            names = reply.data.decode().split("\n")[:-1]  # no other line ends, which names may hold
        return [] if max_parts == 0 else names

    def count(self, filter: Filter = None, *, like_dialect: LikeDialect = "sql") -> int:
        """How many partitions a filter selects."""
        parameters = self._selection(filter, like_dialect)
        number: int = self._transport.document("GET", f"{self._address}/partitions/count", query=parameters)["count"]
        return number

    def totals(self) -> Totals:
        """How many partitions the table has, and the rows, files and bytes that they say they have."""
        return Totals(**self._transport.document("GET", f"{self._address}/totals"))

    def explain(
        self, filter: Filter = None, *, analyze: bool = False, like_dialect: LikeDialect = "sql"
    ) -> RemoteExplain:
        """What a filter becomes: its tree, the scans in values and bytes, the residuals; with ``analyze`` measured."""
        parameters = {**self._selection(filter, like_dialect), "analyze": "true" if analyze else None}
        return RemoteExplain.of(self._transport.document("GET", f"{self._address}/plan", query=parameters))

    # Writing

    def add(
        self,
        partitions: Iterable[PartitionValues],
        *,
        if_not_exists: bool = False,
        invalid_values: InvalidValues = "reject",
    ) -> int:
        """Add partitions and make their folders, all or none; how many were added. At most 4 MiB of JSON.

        Raises:
            AlreadyExists: one is there already, or stands twice among them, unless ``if_not_exists``.
            InvalidPartitionValue: a value does not fit its column's type, or there are too many or too few.
            TableNotPartitioned: the table has no partition columns.
        """
        query = {"if_not_exists": "true" if if_not_exists else None, "invalid_values": invalid_values}
        added: int = self._change("POST", "/partitions", query, partitions)["added"]
        return added

    def drop(self, partitions: Iterable[PartitionValues], *, if_exists: bool = False) -> int:
        """Drop partitions with their files, all or none; how many were dropped.

        Raises:
            PartitionNotFound: one is not there, unless ``if_exists``.
        """
        query = {"if_exists": "true" if if_exists else None}
        dropped: int = self._change("POST", "/partitions/drop", query, partitions, named_only=True)["dropped"]
        return dropped

    def _change(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        partitions: Iterable[PartitionValues],
        *,
        named_only: bool = False,
    ) -> dict[str, Any]:
        named = [
            partition.values if named_only and isinstance(partition, Partition) else reusable_values(partition)
            for partition in expect_many("partitions", partitions, hint=NEEDS_VALUES)
        ]
        if not all(map(are_texts, named)):
            table = self.definition
            columns, types = table.partition_column_names, table.key_types
            named = [
                values if isinstance(values, Partition) else column_texts(columns, types, values) for values in named
            ]
        body = {"partitions": list(map(partition_document, named))}
        return self._transport.document(method, f"{self._address}{path}", query=query, body=body, is_change=True)

    def _stored(self, path: str) -> bytes:
        """The stored bytes of the table, or of a partition."""
        with self._transport.reply("GET", f"{self._address}{path}", query={"format": "thrift"}) as reply:
            return reply.data

    def _selection(
        self, filter: Filter, like_dialect: LikeDialect, max_parts: int = -1, spec: str = ""
    ) -> dict[str, Any]:
        """A filter and a partial spec in an address; of no partitions one is asked for, as that tells their errors.

        Raises:
            FilterTooLarge: they have no room there.
            FilterTypeError: a part of the filter has no text.
        """
        tree = filter if filter is None or isinstance(filter, str) else filter_tree(filter, "sql")
        text = tree if tree is None or isinstance(tree, str) else written(tree)
        expect_texts(filter=text or "", spec=spec)
        selection = {
            "filter": text,
            "spec": spec or None,
            "like_dialect": checked_dialect(like_dialect),
            "limit": max(max_parts, 1) if max_parts >= 0 else None,
        }
        size = len(urlencode({"filter": text or "", "spec": spec}))
        if size > _LONGEST:
            raise FilterTooLarge(
                "the filter is too large for an address",
                size=size,
                limit=_LONGEST,
                hint="Ask with several filters, or open the store itself with hbstore.connect",
            )
        return selection
