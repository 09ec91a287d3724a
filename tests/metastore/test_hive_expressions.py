"""Partitions by Hive's own expressions: listed exactly, listed with more, left to Hive, and dropped."""

from __future__ import annotations

import pytest
from thriftpy2.thrift import TApplicationException

from hbstore import Partition
from tests.hive_expressions.writing import call, column, constant, written
from tests.metastore.writing import TYPES, partition_of, table_of
from tests.metastore.writing import column as field

ON_BACKENDS = ("memory", "nonatomic")
"""What is read is a filter like any other; test_by_expression.py asks all backends by such."""

NAMES = ["ds=a/hour=1", "ds=a/hour=2", "ds=b/hour=__HIVE_DEFAULT_PARTITION__", "ds=b/hour=1"]
DS, HOUR = column("ds"), column("HOUR", "int")
IN_A = call("=", DS, constant("a"))
UPPER = call("=", call("upper", DS, type_name="string"), constant("A"))
LATE = call(">", HOUR, constant(1))


@pytest.fixture
def shop(shop):
    shop.create_table(table_of())
    shop.add_partitions([partition_of(*(part.partition("=")[2] for part in name.split("/"))) for name in NAMES])
    return shop


def request(root, *, kryo5=False, **others):
    return TYPES.PartitionsByExprRequest(
        dbName="shop", tblName="sales", expr=written(root, kryo5=kryo5), **{"maxParts": -1, **others}
    )


def listed(shop, root, **others):
    result = shop.get_partitions_by_expr(request(root, **others))
    return [f"ds={one.values[0]}/hour={one.values[1]}" for one in result.partitions], result.hasUnknownPartitions


def drop(shop, *roots, **others):
    exprs = [TYPES.DropPartitionsExpr(expr=written(root)) for root in roots]
    asked = {"ifExists": False, "deleteData": True, "needResult": True, **others}
    parts = TYPES.RequestPartsSpec(exprs=exprs)
    return shop.drop_partitions_req(TYPES.DropPartitionsRequest(dbName="shop", tblName="sales", parts=parts, **asked))


@pytest.mark.parametrize("kryo5", [False, True])
@pytest.mark.parametrize(
    ("root", "found"),
    [
        (IN_A, NAMES[:2]),
        (call("and", IN_A, LATE), NAMES[1:2]),
        (call("not", LATE), [NAMES[0], NAMES[3]]),
        (call("is null", HOUR), NAMES[2:3]),
        (call("<=>", HOUR, constant(None)), NAMES[2:3]),
        (call("not", call("<=>", HOUR, constant(1))), NAMES[1:3]),
        (call("<>", HOUR, constant(1)), NAMES[1:2]),
        (call("=", DS, constant("nothing")), []),
    ],
)
def test_listed_exactly(shop, root, found, kryo5):
    assert listed(shop, root, kryo5=kryo5) == (found, False)


def test_names(shop):
    assert shop.get_partition_names_req(request(call("and", IN_A, LATE), kryo5=True)) == NAMES[1:2]
    for root in (UPPER, call("and", IN_A, UPPER)):
        with pytest.raises(TYPES.MetaException, match="upper"):
            shop.get_partition_names_req(request(root))


def test_limits(shop):
    assert listed(shop, IN_A, maxParts=1) == (NAMES[:1], False)
    assert listed(shop, call("and", IN_A, UPPER), maxParts=1) == (NAMES[:2], True)


def test_a_part_that_is_not_read_gives_more_and_says_so(shop):
    assert listed(shop, call("and", UPPER, IN_A)) == (NAMES[:2], True)
    assert listed(shop, call("or", LATE, call("and", IN_A, UPPER))) == (NAMES[:2], True)
    (unread,) = shop.notes["unread"]
    assert "upper(ds) = 'A'" in unread


@pytest.mark.parametrize(
    "root",
    [
        UPPER,
        call("or", IN_A, UPPER),
        call("not", call("and", IN_A, UPPER)),
        call("=", DS, HOUR),
        call("=", column("hour", "bigint"), constant(1)),
    ],
)
def test_what_is_not_read_is_left_to_hive(shop, root):
    with pytest.raises(TApplicationException) as refused:
        listed(shop, root)
    assert refused.value.type == TApplicationException.UNKNOWN_METHOD


def test_another_name_of_the_null_partition_is_left_to_hive(shop):
    assert listed(shop, IN_A, defaultPartitionName="__HIVE_DEFAULT_PARTITION__") == (NAMES[:2], False)
    with pytest.raises(TApplicationException, match="another name"):
        listed(shop, IN_A, defaultPartitionName="__NULL__")


def test_a_column_that_is_none(shop):
    with pytest.raises(TYPES.MetaException, match="not a partition column"):
        listed(shop, call("=", column("amount"), constant("5")))
    with pytest.raises(TYPES.MetaException, match="not a partition column"):
        drop(shop, call("=", column("amount"), constant("5")))


def test_in_a_spec(shop):
    result = shop.get_partitions_spec_by_expr(request(call("and", IN_A, UPPER), kryo5=True))
    (spec,) = result.partitionsSpec
    assert result.hasUnknownPartitions is True
    assert (spec.dbName, spec.tableName) == ("shop", "sales")
    assert [one.values for one in spec.partitionList.partitions] == [["a", "1"], ["a", "2"]]
    assert shop.get_partitions_spec_by_expr(request(IN_A)).hasUnknownPartitions is False


def test_dropped(shop):
    found = drop(shop, call("and", IN_A, LATE), call("=", DS, constant("b"))).partitions
    assert sorted(one.values[0] for one in found) == ["a", "b", "b"]
    assert shop.names() == NAMES[:1]
    assert shop.tree("shop.db/sales") == ["ds=a/", "ds=a/hour=1/"]


def test_a_comparison_drops_no_null_partition(shop):
    drop(shop, call("<>", HOUR, constant(7)))
    assert shop.names() == NAMES[2:3]


def test_the_null_partition_by_its_name(shop):
    shop.add_partition(partition_of("__HIVE_DEFAULT_PARTITION__", "1"))
    drop(shop, call("=", DS, constant("__HIVE_DEFAULT_PARTITION__")))
    assert shop.names() == sorted(NAMES)


def test_overlapping_ones_drop_each_once(shop):
    assert len(drop(shop, IN_A, call("and", IN_A, LATE)).partitions) == 2


def test_all_or_nothing(shop):
    none = call("=", DS, constant("z"))
    with pytest.raises(TYPES.NoSuchObjectException):
        drop(shop, IN_A, none)
    for bad in (UPPER, call("and", IN_A, UPPER), call("or", IN_A, UPPER)):
        with pytest.raises(TYPES.MetaException, match=r"upper\(ds\) = 'A'"):
            drop(shop, IN_A, bad, ifExists=True)
    assert shop.names() == sorted(NAMES)
    assert len(drop(shop, none, IN_A, ifExists=True).partitions) == 2


def test_what_is_not_said(shop):
    parts = TYPES.RequestPartsSpec(exprs=[TYPES.DropPartitionsExpr(expr=written(call("=", DS, constant("z"))))])
    with pytest.raises(TYPES.NoSuchObjectException):  # without ifExists, whose default in Hive's IDL is true
        shop.drop_partitions_req(TYPES.DropPartitionsRequest("shop", "sales", parts))
    nothing = TYPES.RequestPartsSpec(exprs=[])
    assert shop.drop_partitions_req(TYPES.DropPartitionsRequest("shop", "sales", nothing)).partitions == []


def test_files_stay_unless_they_are_to_go(shop):
    drop(shop, IN_A, deleteData=False, needResult=False)
    assert "ds=a/hour=1/" in shop.tree("shop.db/sales")


SPELLED = {
    "date": ["2019-11-09", "2019-11-9", "2019-11-09 00:00:00", "2019-11", "2019-11-09 or so", "soon"],
    "int": ["9", "09", "9.0", " 9", "9.5", "nine", "a/b=c%2F'", None],
    "timestamp": ["2019-11-09 05:06:07", "2019-11-09 05:06:07.", "2019-11-09"],
    "boolean": ["true", "TRUE", "yes", "perhaps"],
    "decimal(4,1)": ["1.5", "1.50", "1.50001", "x"],
    "double": ["2.5", "2.5d", " 2.5"],
    "string": ["9", "9.0", "a b", None],
}
"""Partition values of a column of each type; some are read as the same value."""


def msck_of_hive_3(names, types):
    """It cuts a partition's name apart: its texts, with their escapes, are constants of the columns' types."""
    for name in names:
        parts = [part.split("=") for part in name.split("/")]
        equal = [
            call("=", column(key, kind), constant(text, kind)) for (key, text), kind in zip(parts, types, strict=True)
        ]
        yield written(call("and", *equal))


def msck_of_hive_4(names, _):
    """It makes one filter of the names of a batch, with their escapes, too."""
    each = [" AND ".join("{}='{}'".format(*part.split("=")) for part in name.split("/")) for name in names]
    yield " OR ".join(f"({one})" for one in each).encode()


@pytest.mark.parametrize("msck", [msck_of_hive_3, msck_of_hive_4])
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("kind", SPELLED)
def test_msck_drops_the_partitions_whose_folders_are_gone(shop, kind, size, msck):
    types = [kind, "timestamp"]
    shop.create_table(table_of("spelled", partitionKeys=[field("k", kind), field("at", "timestamp")]))
    added = [Partition((text, "2019-11-09 12:00:00")) for text in SPELLED[kind]]
    shop.store.add_partitions("shop", "spelled", added, invalid_values="keep")
    if msck is msck_of_hive_4:
        shop.setMetaConf("metastore.expression.proxy", "org.apache.hadoop.hive.metastore.MsckPartitionExpressionProxy")
    left = shop.names("spelled")
    assert len(left) == len(SPELLED[kind])
    while left:
        gone, left = left[:size], left[size:]
        exprs = [TYPES.DropPartitionsExpr(expr=one) for one in msck(gone, types)]
        request = TYPES.DropPartitionsRequest("shop", "spelled", TYPES.RequestPartsSpec(exprs=exprs), ifExists=False)
        shop.drop_partitions_req(request)
        assert shop.names("spelled") == left


def test_a_text_of_others_is_a_filter(shop):
    shop.store.add_partitions("shop", "sales", [Partition(("a", "01"))], invalid_values="keep")
    exprs = [TYPES.DropPartitionsExpr(expr=b"(ds='a' AND hour='1')")]
    shop.drop_partitions_req(TYPES.DropPartitionsRequest("shop", "sales", TYPES.RequestPartsSpec(exprs=exprs)))
    assert shop.names() == sorted(NAMES[1:])
