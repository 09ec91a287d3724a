"""The Java clients of Hive 3.1 and 4.1 find in hbstore what they find in a real Hive Metastore 4.0, call by call.

That of 4.0 works in HiveServer2 and in Iceberg's catalog: test_hive_server_4.py, test_iceberg.py. These hold the
conversations of the client of Hive 2.3, and some about what later versions added. `later_differences` says where the
answers differ, and why.
"""

from __future__ import annotations

import shutil
from contextlib import suppress

import pytest
from py4j.protocol import Py4JJavaError

from tests.metastore.clients import (
    java_later,
    java_partitions,
    java_reads,
    java_service,
    java_statistics,
    java_tables,
)
from tests.metastore.clients.conversation import Conversation, differences
from tests.metastore.clients.later_differences import DIFFERENCES
from tests.metastore.clients.later_java import client_machine, hive_metastore_4
from tests.metastore.serving import Serve

pytestmark = [pytest.mark.spark, pytest.mark.slow]
RELEASES = ("3.1", "4.1")
MODULES = (java_tables, java_partitions, java_reads, java_statistics, java_service, java_later)
EVERY = {topic.__name__: topic for module in MODULES for topic in module.TOPICS}
EXPRESSIONS = ("expressions", "dropped_by_expression")
"""These are about Hive's classes, which clients lack."""
TOPICS = {name: topic for name, topic in EVERY.items() if name not in EXPRESSIONS}
SINCE_4_0 = ("projected", "requests")
"""These are about structs that the client of Hive 3.1 lacks."""
ONCE = ("marked",)
"""In a Hive Metastore a mark outlives its partition."""
NUMBERS = {"id", "writeId"}
"""Fields that only a Hive Metastore counts in."""


@pytest.fixture(scope="module")
def hive_4():
    """A real Hive Metastore 4.0 whose locks and transactions nobody has counted up: as the one for all."""
    with hive_metastore_4() as found:
        yield found


@pytest.fixture(scope="module")
def hbstore_(tmp_path_factory):
    """`hbstore serve`: its URI and its warehouse, and what it logs."""
    store = tmp_path_factory.mktemp("later") / "store.db"
    with Serve(f"sqlite://{store}", tmp_path_factory.mktemp("serve"), "--log-calls") as server:
        yield server


@pytest.fixture(scope="module", params=RELEASES)
def client(request, tmp_path_factory, hbstore_):
    """A client's release, what it answers about a topic of both servers, and what it called."""
    folder = tmp_path_factory.mktemp("client")
    with client_machine(request.param, folder) as java:
        yield request.param, java
        clear(java, *place(hbstore_))


def place(server):
    return server.ready["uri"], server.folder / "warehouse"


def clear(java, uri, root):
    """Drop all databases, and what is left of files."""
    client = java.client(uri)
    for name in client.getAllDatabases():
        if name != "default":
            with suppress(Py4JJavaError):
                client.dropDatabase(name, True, True, True)
    client.close()
    for one in root.iterdir():
        shutil.rmtree(one) if one.is_dir() else one.unlink()


def hold(java, uri, root, topic):
    conversation = Conversation(java, uri, root, NUMBERS, {"listPartitionNames", "getTables"})
    try:
        topic(conversation)
    finally:
        conversation.client.close()
    return conversation


@pytest.mark.parametrize("subject", TOPICS)
def test_a_conversation_goes_as_with_a_real_metastore(client, recording, hbstore_, request, subject):
    release, java = client
    if (subject in SINCE_4_0 and release == "3.1") or (subject in ONCE and release != RELEASES[0]):
        pytest.skip("not of this client")

    def ask():
        uri, root, database = request.getfixturevalue("hive_4")
        assert database == "postgresql", "what is recorded is that of a metastore on PostgreSQL, as Hive has it"
        try:
            return [(call, answer) for call, answer, _ in hold(java, uri, root, TOPICS[subject]).outcomes]
        finally:
            clear(java, uri, root)

    held = hold(java, *place(hbstore_), TOPICS[subject])
    expected, found = recording.answer(f"{release} {subject}", ask), held.outcomes
    rules = [one for one in DIFFERENCES if one.topic == subject and release in one.releases]
    wrong, used = [], set()
    for (call, answer), (called, answered, _) in zip(expected, found, strict=True):
        assert call == called
        for place_ in differences(answer, answered):
            rule = next((one for one in rules if one.tells(call, place_)), None)
            used.add(rule)
            if rule is None:
                wrong.append(f"{release} {call} {place_}")
    assert not wrong, "\n".join(wrong)
    assert not set(rules) - used, "these do not differ"
