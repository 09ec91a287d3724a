"""Sessions of drivers over calls: logins, databases, settings, their end, and what the server says of itself."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hbstore.hiveserver2.calls import Client
from hbstore.hiveserver2.protocol import THRIFT
from hbstore.hiveserver2.server import driver_server
from hbstore.query_service.access import Access
from hbstore.query_service.query import State
from tests.hiveserver2.conftest import Driver
from tests.hiveserver2.serving import driving

TOKEN = "0123456789abcdef"  # noqa: S105


@pytest.fixture(autouse=True)
def one(spark):
    spark.answers["SELECT 1"] = ((("n", "int"),), pa.record_batch({"a": pa.array([1], pa.int32())}))


@pytest.mark.parametrize(("asked", "answered"), [(5, 5), (9, 9), (10, 9)])
def test_the_older_protocol_of_the_two_is_spoken(connecting, asked, answered):
    reply = connecting.call("OpenSession", client_protocol=asked)
    assert reply.serverProtocolVersion == answered
    assert reply.configuration == {
        "hive.server2.thrift.resultset.default.fetch.size": "10000",
        "hive.default.nulls.last": "false",
    }


def test_a_client_that_knows_no_columns_is_refused(connecting):
    status = connecting.ask("OpenSession", client_protocol=4).status
    assert (status.statusCode, status.sqlState) == (3, "0A000")


def test_the_database_and_the_settings_of_a_session(connecting, spark):
    configuration = {
        "use:database": "shop",
        "set:hiveconf:spark.sql.shuffle.partitions": "5",
        "set:hivevar:day": "2013-01-01",
        "set:hiveconf:hive.server2.thrift.resultset.default.fetch.size": "1000",
        "bare": "x",
    }
    connecting.connect(configuration=configuration).execute("SELECT 1")
    session = spark.runs[0].request.session
    assert session.database == "shop"
    assert session.settings == {"spark.sql.shuffle.partitions": "5", "day": "2013-01-01", "bare": "x"}


def test_a_database_that_is_missing_is_said_at_once(connecting):
    status = connecting.ask("OpenSession", client_protocol=9, configuration={"use:database": "nowhere"}).status
    assert (status.statusCode, status.sqlState) == (3, "3F000")
    assert "nowhere" in status.errorMessage


def test_without_a_login_the_session_says_who_it_is(endpoint, spark):
    driver = Driver(endpoint, Client("127.0.0.1:5"))
    driver.connect(username="bob").execute("SELECT 1")
    driver.connect().execute("SELECT 1")
    assert [run.request.user for run in spark.runs] == ["bob", "anonymous"]


class TestTokens:
    @pytest.fixture
    def access(self):
        return Access(tokens={TOKEN: "ann"})

    def test_without_a_login_the_session_must_have_the_token(self, endpoint, spark, caplog):
        driver = Driver(endpoint, Client("127.0.0.1:5"))
        for fields in ({}, {"username": "ann", "password": "wrong"}, {"username": "bob", "password": TOKEN}):
            status = driver.ask("OpenSession", client_protocol=9, **fields).status
            assert (status.statusCode, status.sqlState) == (3, "28000")
        assert [line.fields["user"] for line in caplog.records if line.message == "refused"] == ["", "ann", "bob"]
        assert TOKEN not in caplog.text
        driver.connect(username="ann", password=TOKEN).execute("SELECT 1")
        assert spark.runs[0].request.user == "ann"


class TestTokensOfAFile:
    @pytest.fixture
    def file(self, tmp_path):
        path = tmp_path / "tokens"
        path.write_text(f"ann {TOKEN}\nbob {TOKEN[::-1]}\n")
        path.chmod(0o600)
        return path

    @pytest.fixture
    def access(self, file):
        return Access.of("127.0.0.1", str(file))

    @pytest.mark.parametrize("mode", ["sasl", "bare"])
    def test_a_connection_ends_when_its_token_is_taken_out(self, mode, endpoint, access, file):
        opening = THRIFT.TOpenSessionReq(client_protocol=9, username="ann", password=TOKEN)
        with driver_server(endpoint, access) as server, driving(server.port, mode, user="ann", password=TOKEN) as ann:
            assert ann.ask("OpenSession", opening).status.statusCode == 0
            file.write_text(f"bob {TOKEN[::-1]}\n")
            with pytest.raises(ConnectionError):
                ann.ask("OpenSession", opening)


def test_a_session_ends_with_its_connection(driver, endpoint, spark, queries):
    operation = driver.execute("SELECT slow", wait=False)
    endpoint.closed(driver.client)
    assert queries.get(spark.runs[0].id).state is State.CANCELLED
    assert spark.closed == [driver.handle.sessionId.guid.hex()]
    assert driver.ask("GetInfo", sessionHandle=driver.handle, infoType=17).status.sqlState == "08003"
    assert driver.ask("GetOperationStatus", operationHandle=operation).status.statusCode == 3


def test_a_session_over_http_does_not(endpoint):
    driver = Driver(endpoint, Client("127.0.0.1:5", "ann", "x", held=False)).connect()
    endpoint.closed(driver.client)
    driver.execute("SELECT 1")


def test_a_closed_session_is_closed(driver, spark, endpoint):
    driver.call("CloseSession", sessionHandle=driver.handle)
    assert spark.closed == [driver.handle.sessionId.guid.hex()]
    for name, fields in (
        ("CloseSession", {}),
        ("ExecuteStatement", {"statement": "SELECT 1"}),
        ("GetInfo", {"infoType": 17}),
    ):
        status = driver.ask(name, sessionHandle=driver.handle, **fields).status
        assert (status.statusCode, status.sqlState) == (3, "08003")
        assert "Invalid SessionHandle" in status.errorMessage
    endpoint.closed(driver.client)


@pytest.mark.parametrize(("info", "answer"), [(13, "hbstore"), (17, "Spark SQL"), (29, "`"), (14, "\\")])
def test_what_the_server_says_of_itself(driver, info, answer):
    assert driver.call("GetInfo", sessionHandle=driver.handle, infoType=info).infoValue.stringValue == answer


def test_the_version_begins_with_two_numbers(driver):
    version = driver.call("GetInfo", sessionHandle=driver.handle, infoType=18).infoValue.stringValue
    assert all(part.isdigit() for part in version.split(".")[:2])


def test_what_the_server_does_not_say_is_an_error_with_a_value(driver):
    reply = driver.ask("GetInfo", sessionHandle=driver.handle, infoType=115)
    assert (reply.status.statusCode, reply.infoValue.stringValue) == (3, "")


def test_a_client_may_say_what_it_is(driver):
    driver.call("SetClientInfo", sessionHandle=driver.handle, configuration={"ApplicationName": "tool"})


def test_there_are_no_delegation_tokens(driver):
    reply = driver.ask("GetDelegationToken", sessionHandle=driver.handle, owner="ann", renewer="ann")
    assert (reply.status.statusCode, reply.status.sqlState) == (3, "0A000")
