"""Calls with something wrong in them do no harm: each is answered or its connection ends, and the server goes on.

`make fuzz ARGS="--sql-port 10000"` sends as many as it is told to.
"""

from __future__ import annotations

import resource
import sys
from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest

from hbstore import errors
from hbstore.hiveserver2.server import LIMITS, driver_server
from hbstore.query_service.access import Access
from hbstore.servers.framing import ReadLimits
from tests.fuzz.drivers import attack
from tests.hiveserver2.messages import OPEN, every_call, request
from tests.hiveserver2.serving import FakeService, driving, serving
from tests.pauses import until

NUMBER = 3_000
MORE_MEMORY = 100 * 2**20
"""Bytes that the process may take for all of them, those of the client included."""

LIMITS = replace(LIMITS, read=ReadLimits(message=2**20, read_timeout=5.0), login_seconds=5.0)


def memory():
    """The most bytes that the process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def harmless(server, caplog, seed, number, calls=None):
    """Send mutated calls to a server; how often what happened."""
    before = memory()
    seen = attack(server.port, Random(seed), number, calls=calls, user="ann", password="x")  # noqa: S106
    assert sum(seen.values()) == number
    assert all(seen[f"{mode}: {how}"] > number / 50 for mode in ("sasl", "bare") for how in ("answered", "ended")), seen
    assert memory() - before < MORE_MEMORY
    assert not [one for one in caplog.records if one.exc_info], "bugs"


def nobody_is_left(server, those=0):
    until(lambda: server.connections <= those)


@pytest.mark.parametrize("seed", range(2))
def test_mutated_calls_do_no_harm(seed, caplog):
    service = FakeService()
    with serving(service, limits=LIMITS) as server:
        harmless(server, caplog, seed, NUMBER)
        nobody_is_left(server)
    assert service.calls, "some were still right"


class Answers:
    """What Spark answers to each text: a row, or an error."""

    def get(self, text):
        if "FUNCTIONS" in text:
            return (("function", "string"),), pa.record_batch({"a": ["upper", "shop.near"]})
        if len(text) % 2:
            return errors.QueryFailed("[DIVIDE_BY_ZERO] Division by zero.", sqlstate="22012")
        return (("n", "int"),), pa.record_batch({"a": pa.array([1], pa.int32())})


@pytest.mark.parametrize("seed", range(1))
def test_mutated_calls_about_a_session_and_its_statements_do_no_harm(seed, endpoint, spark, caplog):
    spark.answers = Answers()
    with driver_server(endpoint, Access(), limits=LIMITS) as server, driving(server.port, "bare") as driver:
        session = driver.ask("OpenSession", OPEN).sessionHandle
        ended = driver.ask("ExecuteStatement", request("ExecuteStatement", sessionHandle=session)).operationHandle
        status = request("GetOperationStatus", operationHandle=ended)
        assert driver.ask("GetOperationStatus", status).operationState in (0, 1, 2)
        calls = every_call(sessionHandle=session, operationHandle=ended)
        del calls["CloseSession"], calls["CloseOperation"]  # which some mutated calls would be
        harmless(server, caplog, seed, NUMBER, list(calls.values()))
        nobody_is_left(server, 1)
        assert driver.ask("GetInfo", request("GetInfo", sessionHandle=session)).status.statusCode == 0
        fetch = request("FetchResults", operationHandle=ended, orientation=4)
        assert driver.ask("FetchResults", fetch).results.columns[0].i32Val.values == [1]
