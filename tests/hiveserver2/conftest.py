"""The SQL port in this process, over a real store and real results. A script plays Spark, as the tests say."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyarrow import parquet

from hbstore import Column, Table, connect
from hbstore.errors import HbstoreError
from hbstore.hiveserver2.calls import Client
from hbstore.hiveserver2.protocol import METHODS, THRIFT
from hbstore.hiveserver2.sql_port import sql_port
from hbstore.query_service.access import Access
from hbstore.query_service.limits import Limits
from hbstore.query_service.messages import Cancelled, Done, Failed, Ready, Started
from hbstore.query_service.query import QueryProblem, QueryResult, ResultColumn
from hbstore.query_service.results import Results
from hbstore.query_service.servers import Servers
from hbstore.query_service.service import QueryService
from hbstore.thrift.messages import read_head
from hbstore.thrift.wire import STRING


class ScriptedSpark:
    """Answers at once what the test has for a text: a result or an error. Other texts run until they are cancelled."""

    def __init__(self, runner):
        self.runner = runner
        self.runs = []
        self.closed = []
        self.answers = {}

    def run(self, run):
        self.runs.append(run)
        self.runner.heard(Started(run.id))
        answer = self.answers.get(run.request.text)
        if isinstance(answer, HbstoreError):
            self.runner.heard(Failed(run.id, QueryProblem.of(answer)))
        elif answer is not None:
            columns, batch, *zone = answer
            if columns:
                folder = Path(run.location.removeprefix("file:"))
                folder.mkdir(parents=True)
                names = [f"c{number}" for number in range(batch.num_columns)]
                parquet.write_table(pa.Table.from_batches([batch]).rename_columns(names), folder / "part-0.parquet")
                (folder / "_SUCCESS").touch()
            described = tuple(ResultColumn(name=name, type=type_) for name, type_ in columns)
            result = QueryResult(columns=described, rows=batch.num_rows, size=1, time_zone=zone[0] if zone else "UTC")
            self.runner.heard(Done(run.id, result))

    def wake(self):
        pass

    def cancel(self, cancel):
        self.runner.heard(Cancelled(cancel.id))

    def close_session(self, close):
        self.closed.append(close.id)


class Driver:
    """Sends calls as messages and reads the replies, as a driver does."""

    def __init__(self, endpoint, client):
        self.endpoint = endpoint
        self.client = client
        self.handle = None

    def ask(self, name, **fields):
        """The response struct of a call, whatever its status."""
        request = getattr(THRIFT, f"T{name}Req")(**fields)
        arguments = METHODS[name].arguments.write(SimpleNamespace(req=request))
        message = b"\x80\x01\x00\x01" + STRING.write(name) + b"\0\0\0\7" + arguments
        reply = self.endpoint.answer(self.client, message)
        head = read_head(reply)
        assert (head.name, head.sequence, head.kind) == (name, 7, 2)
        return METHODS[name].success.read(reply, head.body + 3)[0]

    def call(self, name, **fields):
        """The same, where it is a success."""
        response = self.ask(name, **fields)
        assert response.status.statusCode == 0, response.status
        return response

    def connect(self, **fields):
        self.handle = self.call("OpenSession", client_protocol=9, **fields).sessionHandle
        return self

    def execute(self, text, *, wait=True, **fields):
        reply = self.call("ExecuteStatement", sessionHandle=self.handle, statement=text, runAsync=not wait, **fields)
        return reply.operationHandle

    def status(self, operation, **fields):
        return self.call("GetOperationStatus", operationHandle=operation, **fields)

    def fetch(self, operation, rows=1000, **fields):
        fields = {"orientation": 0, **fields}
        results = self.call("FetchResults", operationHandle=operation, maxRows=rows, **fields).results
        return [next(one for one in vars(column).values() if one is not None).values for column in results.columns]

    def call_id(self, operation):
        return self.ask("GetQueryId", operationHandle=operation).queryId

    def names(self, operation):
        schema = self.call("GetResultSetMetadata", operationHandle=operation).schema
        return [column.columnName for column in schema.columns]


@pytest.fixture
def store(tmp_path):
    with connect(f"sqlite://{tmp_path}/store.db") as store:
        store.create_database("shop")
        columns, days = [Column("price", "double", "in cents")], [Column("ds", "string")]
        store.create_table(Table("shop", "sales", columns=columns, partition_columns=days))
        yield store


@pytest.fixture
def queries(store, tmp_path):
    servers = Servers(store.records, lambda: dt.datetime.now(dt.UTC))
    service = QueryService(store, Results(str(tmp_path / "results")), servers, Limits())
    service.open(ScriptedSpark(service.runner))
    service.runner.heard(Ready("4"))
    try:
        yield service
    finally:
        service.close()


@pytest.fixture
def spark(queries):
    return queries.runner.spark


@pytest.fixture
def access():
    return Access()


@pytest.fixture
def endpoint(queries, access):
    return sql_port(queries, access)


@pytest.fixture
def connecting(endpoint):
    """A connection whose login is ann."""
    return Driver(endpoint, Client("127.0.0.1:5", "ann", "x"))


@pytest.fixture
def driver(connecting):
    return connecting.connect()
