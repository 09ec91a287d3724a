"""Methods of Hive 4 with one request: each answers what the older method with the same arguments answers."""

from __future__ import annotations

import pytest

from hbstore.metastore.methods.request_methods import METHODS_BY_REQUEST
from tests.metastore.client import STORED, TYPES
from tests.metastore.every_method import DATABASE, fill
from tests.metastore.writing import partition_of, says, table_of

ON_BACKENDS = ("memory", "nonatomic")
"""These methods hand on to older ones, whose tests ask all backends."""

T = "sales"
PLACE = {"dbName": DATABASE, "tblName": T}
NAME = "ds=a/hour=1"


@pytest.fixture
def filled(shop):
    fill(shop)
    return shop


READS = {
    "get_database_req": (TYPES.GetDatabaseRequest(DATABASE), "get_database", (DATABASE,)),
    "get_fields_req": (TYPES.GetFieldsRequest(**PLACE), "get_fields", (DATABASE, T)),
    "get_schema_req": (TYPES.GetSchemaRequest(**PLACE), "get_schema", (DATABASE, T)),
    "get_partition_req": (
        TYPES.GetPartitionRequest(**PLACE, partVals=["a", "2"]),
        "get_partition",
        (DATABASE, T, ["a", "2"]),
    ),
    "get_partitions_req": (TYPES.PartitionsRequest(**PLACE, maxParts=1), "get_partitions", (DATABASE, T, 1)),
    "get_partitions_ps_with_auth_req": (
        TYPES.GetPartitionsPsWithAuthRequest(**PLACE, partVals=["", "2"], maxParts=5),
        "get_partitions_ps_with_auth",
        (DATABASE, T, ["", "2"], 5, "ann", []),
    ),
    "get_partitions_by_names_req": (
        TYPES.GetPartitionsByNamesRequest(DATABASE, T, [NAME, "ds=nope/hour=1"]),
        "get_partitions_by_names",
        (DATABASE, T, [NAME, "ds=nope/hour=1"]),
    ),
    "get_partitions_by_filter_req": (
        TYPES.GetPartitionsByFilterRequest(**PLACE, filter="hour >= 1", maxParts=1),
        "get_partitions_by_filter",
        (DATABASE, T, "hour >= 1", 1),
    ),
    "fetch_partition_names_req": (
        TYPES.PartitionsRequest(**PLACE, maxParts=1),
        "get_partition_names",
        (DATABASE, T, 1),
    ),
    "get_partition_names_ps_req": (
        TYPES.GetPartitionNamesPsRequest(**PLACE, partValues=["", "2"]),
        "get_partition_names_ps",
        (DATABASE, T, ["", "2"], -1),
    ),
}
INSIDE = {
    "get_fields_req": "fields",
    "get_schema_req": "fields",
    "get_partition_req": "partition",
    "get_partitions_req": "partitions",
    "get_partitions_ps_with_auth_req": "partitions",
    "get_partitions_by_names_req": "partitions",
    "get_partition_names_ps_req": "names",
}
"""The field of the reply that holds the answer."""


@pytest.mark.parametrize("method", READS)
def test_a_question_is_answered_as_by_the_older_method(filled, method):
    request, older, arguments = READS[method]
    answer = getattr(filled, method)(request)
    inside = getattr(answer, INSIDE[method]) if method in INSIDE else answer
    assert inside
    assert inside == getattr(filled, older)(*arguments)


def test_names_in_a_request_for_values_are_looked_up(filled):
    request = TYPES.GetPartitionsPsWithAuthRequest(**PLACE, partNames=["ds=a/hour=2"])
    (found,) = filled.get_partitions_ps_with_auth_req(request).partitions
    assert found.values == ["a", "2"]


ABSENT = {"dbName": DATABASE, "tblName": "nope"}


@pytest.mark.parametrize(
    ("method", "request_", "error"),
    [
        ("get_database_req", TYPES.GetDatabaseRequest("nope"), TYPES.NoSuchObjectException),
        ("get_fields_req", TYPES.GetFieldsRequest(**ABSENT), TYPES.UnknownTableException),
        ("get_schema_req", TYPES.GetSchemaRequest(**ABSENT), TYPES.UnknownTableException),
        ("get_partition_req", TYPES.GetPartitionRequest(**PLACE, partVals=["b", "1"]), TYPES.NoSuchObjectException),
        ("get_partition_req", TYPES.GetPartitionRequest(**PLACE, partVals=["b"]), TYPES.MetaException),
        ("get_partitions_req", TYPES.PartitionsRequest(**ABSENT), TYPES.NoSuchObjectException),
        (
            "get_partitions_ps_with_auth_req",
            TYPES.GetPartitionsPsWithAuthRequest(**PLACE, partVals=["a", "b", "c"]),
            TYPES.MetaException,
        ),
        (
            "get_partitions_by_names_req",
            TYPES.GetPartitionsByNamesRequest(DATABASE, "nope", [NAME]),
            TYPES.NoSuchObjectException,
        ),
        (
            "get_partitions_by_filter_req",
            TYPES.GetPartitionsByFilterRequest(**PLACE, filter="amount = 1"),
            TYPES.MetaException,
        ),
        ("fetch_partition_names_req", TYPES.PartitionsRequest(**ABSENT), TYPES.NoSuchObjectException),
        ("get_partition_names_ps_req", TYPES.GetPartitionNamesPsRequest(**ABSENT), TYPES.NoSuchObjectException),
        (
            "alter_database_req",
            TYPES.AlterDatabaseRequest("nope", STORED.Database("nope")),
            TYPES.NoSuchObjectException,
        ),
        ("alter_database_req", TYPES.AlterDatabaseRequest(DATABASE), TYPES.MetaException),
        ("drop_database_req", TYPES.DropDatabaseRequest("nope"), TYPES.NoSuchObjectException),
        ("drop_database_req", TYPES.DropDatabaseRequest(DATABASE), TYPES.InvalidOperationException),
        ("drop_table_req", TYPES.DropTableRequest(DATABASE, "nope"), TYPES.NoSuchObjectException),
        ("truncate_table_req", TYPES.TruncateTableRequest(DATABASE, "nope"), TYPES.MetaException),
        (
            "rename_partition_req",
            TYPES.RenamePartitionRequest(DATABASE, T, ["b", "1"], partition_of("b", "2")),
            TYPES.InvalidOperationException,
        ),
        (
            "rename_partition_req",
            TYPES.RenamePartitionRequest(DATABASE, T, ["a", "1"]),
            TYPES.InvalidOperationException,
        ),
    ],
)
def test_what_cannot_be_is_refused(filled, method, request_, error):
    with pytest.raises(error):
        getattr(filled, method)(request_)


def test_changes_are_made_as_by_the_older_methods(filled):
    filled.create_database_req(TYPES.CreateDatabaseRequest("other", description="of Hive 4", ownerName="ann"))
    found = filled.get_database("other")
    assert (found.description, found.ownerName, found.locationUri) == ("of Hive 4", "ann", filled.location("other.db"))
    with pytest.raises(TYPES.AlreadyExistsException):
        filled.create_database_req(TYPES.CreateDatabaseRequest("other"))
    filled.alter_database_req(TYPES.AlterDatabaseRequest("other", STORED.Database("other", parameters={"a": "b"})))
    assert filled.get_database("other").parameters == {"a": "b"}
    filled.drop_database_req(TYPES.DropDatabaseRequest("other", deleteData=True, cascade=False))
    assert filled.get_all_databases() == ["default", DATABASE]
    assert "other.db/" not in filled.tree()
    filled.write("shop.db/sales/ds=a/hour=1/file")
    filled.truncate_table_req(TYPES.TruncateTableRequest(DATABASE, T, [NAME]))
    assert "shop.db/sales/ds=a/hour=1/file" not in filled.tree()
    renamed = TYPES.RenamePartitionRequest(DATABASE, T, ["a", "1"], partition_of("a", "9"))
    assert filled.rename_partition_req(renamed) == TYPES.RenamePartitionResponse()
    assert filled.names() == ["ds=a/hour=2", "ds=a/hour=9"]
    assert "shop.db/sales/ds=a/hour=9/" in filled.tree()
    filled.drop_table_req(TYPES.DropTableRequest(DATABASE, T, deleteData=True))
    assert filled.get_all_tables(DATABASE) == []
    assert "shop.db/sales/" not in filled.tree()


def test_databases_and_functions_by_pattern(filled):
    found = filled.get_databases_req(TYPES.GetDatabaseObjectsRequest("sh*|nope")).databases
    assert found == [filled.get_database(DATABASE)]
    assert len(filled.get_databases_req(TYPES.GetDatabaseObjectsRequest()).databases) == 2
    assert filled.get_functions_req(TYPES.GetFunctionsRequest(DATABASE, "f*")).function_names == ["f"]
    assert filled.get_functions_req(TYPES.GetFunctionsRequest(DATABASE, "g*")).function_names == []
    answer = filled.get_functions_req(TYPES.GetFunctionsRequest(DATABASE, "*", returnNames=False))
    assert answer.functions == [filled.get_function(DATABASE, "f")]
    assert answer.function_names is None
    assert filled.get_functions_req(TYPES.GetFunctionsRequest("nope")).function_names == []


def test_fields_of_a_database_that_later_versions_added_are_kept(filled):
    # Of the request only what this IDL declares can be sent from here, so a database that was sent whole is the model.
    filled.create_database_req(TYPES.CreateDatabaseRequest("other", ownerType=2))
    assert filled.get_database_req(TYPES.GetDatabaseRequest("other")).ownerType == 2


def test_an_environment_counts(filled):
    filled.create_table_req(TYPES.CreateTableRequest(table_of("six", parameters={"k": "1"}), says(a="b")))
    swap = {"expectedParameterKey": "k", "expectedParameterValue": "1"}
    new = table_of("six", parameters={"k": "2"})
    answer = filled.alter_table_req(TYPES.AlterTableRequest(DATABASE, "six", new, **swap))
    assert answer == TYPES.AlterTableResponse()
    with pytest.raises(TYPES.MetaException, match="The table has been modified"):
        filled.alter_table_req(TYPES.AlterTableRequest(DATABASE, "six", new, **swap))
    old_way = says(expected_parameter_key="k", expected_parameter_value="2")
    newer = table_of("six", parameters={"k": "3"})
    filled.alter_table_req(TYPES.AlterTableRequest(DATABASE, "six", newer, old_way))
    assert filled.table("six").parameters["k"] == "3"
    with pytest.raises(TYPES.MetaException, match="the request has no table"):
        filled.alter_table_req(TYPES.AlterTableRequest(DATABASE, "six"))
    with pytest.raises(TYPES.InvalidOperationException):
        filled.alter_table_req(TYPES.AlterTableRequest(DATABASE, "nope", table_of("nope")))


def test_every_entry_of_the_table_is_tried():
    changes = {
        *("alter_database_req", "drop_database_req", "drop_table_req", "truncate_table_req"),
        "rename_partition_req",
    }
    assert set(METHODS_BY_REQUEST) <= READS.keys() | changes


def test_a_limit_of_no_names_is_none(filled):
    assert filled.fetch_partition_names_req(TYPES.PartitionsRequest(**PLACE, maxParts=0)) == []
    assert len(filled.get_partition_names(DATABASE, T, 0)) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a%", 2), ("_", 2), ("a.*", 2), (".*", 2), (".", 0), ("b%", 0), ("%", 2), ("a", 2)],
)
def test_like_is_sqls_or_sparks(filled, text, expected):
    request = TYPES.GetPartitionsByFilterRequest(**PLACE, filter=f'ds like "{text}"')
    assert len(filled.get_partitions_by_filter_req(request)) == expected
    where = TYPES.GetPartitionsFilterSpec(2, [f'ds like "{text}"'])
    specs = filled.get_partitions_with_specs(TYPES.GetPartitionsRequest(**PLACE, filterSpec=where)).partitionSpec
    assert sum(len(spec.sharedSDPartitionSpec.partitions) for spec in specs) == expected
