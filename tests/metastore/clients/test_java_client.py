"""Hive 2.3's Java client finds in hbstore what it finds in Hive's own metastore, call by call.

What it finds there is recorded (tests/recordings.py).
"""

from __future__ import annotations

import pytest

from tests.metastore.clients import java_partitions, java_reads, java_service, java_statistics, java_tables
from tests.metastore.clients.conversation import Conversation, differences, told

pytestmark = pytest.mark.spark
MODULES = (java_tables, java_partitions, java_reads, java_statistics, java_service)
TOPICS = {topic.__name__: topic for module in MODULES for topic in module.TOPICS}
ON_HBASE = ("changed_tables", "compare_and_swap", "added", "altered", "dropped", "exchanged", "filters", "locks")
RUNS = [(name, "sqlite") for name in TOPICS]
RUNS += [pytest.param(name, "hbase", marks=pytest.mark.hbase) for name in ON_HBASE]
CATALOG = {"catName"}
"""A field that this client knows and its metastore does not; hbstore tells it where it makes a struct."""
CALLED = """
abort_txn add_partition_with_environment_context add_partitions add_partitions_pspec add_partitions_req alter_database
alter_function alter_partition alter_partitions alter_table_with_environment_context
append_partition_by_name_with_environment_context append_partition_with_environment_context check_lock commit_txn
create_database create_function create_role create_table_with_environment_context delete_partition_column_statistics
delete_table_column_statistics drop_database drop_function drop_partition_by_name_with_environment_context
drop_partition_with_environment_context drop_partitions_req drop_role drop_table_with_environment_context
exchange_partition exchange_partitions getMetaConf get_aggr_stats_for get_all_databases get_all_functions
get_all_tables get_config_value get_current_notificationEventId get_database get_databases get_foreign_keys
get_function get_functions get_next_notification get_num_partitions_by_filter get_part_specs_by_filter get_partition
get_partition_by_name get_partition_names get_partition_names_ps get_partition_values get_partition_with_auth
get_partitions get_partitions_by_expr get_partitions_by_filter get_partitions_by_names get_partitions_ps
get_partitions_ps_with_auth get_partitions_pspec get_partitions_statistics_req get_partitions_with_auth
get_primary_keys get_role_names get_table get_table_meta get_table_names_by_filter get_table_objects_by_name
get_table_statistics_req get_tables get_tables_by_type heartbeat isPartitionMarkedForEvent list_privileges list_roles
lock markPartitionForEvent open_txns partition_name_has_valid_characters partition_name_to_spec partition_name_to_vals
rename_partition setMetaConf set_aggr_stats_for set_ugi show_compact show_locks shutdown unlock
update_partition_column_statistics update_table_column_statistics
"""
"""What this client is known to call."""


@pytest.fixture(scope="module")
def expected(request, java, recording):
    """What Hive's own metastore answers to a topic, without what is known of hbstore's answers."""

    def ask(name):
        conversation = hold(java, *request.getfixturevalue("reference"), TOPICS[name])
        assert not conversation.unexpected, "\n".join(["not as it is written:", *conversation.unexpected])
        return [(call, answer) for call, answer, _ in conversation.outcomes]

    return lambda name: recording.answer(name, lambda: ask(name))


def hold(java, uri, root, topic):
    """A conversation about a topic."""
    conversation = Conversation(java, uri, root, CATALOG)
    try:
        topic(conversation)
    finally:
        conversation.client.close()
    return conversation


def compared(expected, got):
    """Where two conversations differ, but for the differences that are meant."""
    for (call, answer), (called, found, known) in zip(expected, got, strict=True):
        assert call == called
        if known is None:
            yield from (f"{call} {one}" for one in differences(answer, found))
        elif answer == found:
            yield f"{call} does not differ: {known.reason}"
        else:
            yield from (f"{call} {one}" for one in differences(known.answer, told(known.answer, found)))


@pytest.mark.parametrize(("topic", "server"), RUNS, indirect=["server"])
def test_a_conversation_goes_as_with_hives_own_metastore(java, expected, server, topic):
    found = hold(java, server.ready["uri"], server.folder / "warehouse", TOPICS[topic])
    wrong = list(compared(expected(topic), found.outcomes))
    assert not wrong, "\n".join(wrong)


def test_every_method_of_the_client_was_called(sqlite_server):
    called = {line.get("method") for line in sqlite_server.log()}
    assert set(CALLED.split()) - called == set()
