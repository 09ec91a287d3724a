"""Two servers over one HBase keep nothing to themselves: what one changes the other knows, and one may die."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.metastore.client import STORED, TYPES, client
from tests.metastore.serving import Serve
from tests.metastore.spark.process import tell, wait_for_word
from tests.metastore.writing import partition_of, table_of
from tests.pauses import until

pytestmark = pytest.mark.hbase
EXCLUSIVE, TABLE_LEVEL = 3, 2
ACQUIRED, WAITING = 1, 2


@pytest.fixture
def url(fresh_hbase_url):
    return fresh_hbase_url()


@pytest.fixture
def both(url, tmp_path):
    """Clients of two servers."""
    with ExitStack() as stack:
        servers = [stack.enter_context(Serve(url, tmp_path)) for _ in range(2)]
        yield [stack.enter_context(client(server.port)) for server in servers]


def test_each_sees_the_others_changes_at_once(both):
    one, two = both
    one.create_database(STORED.Database(name="shop", parameters={}))
    two.create_table(table_of())
    assert one.get_table("shop", "sales").sd.location == two.get_table("shop", "sales").sd.location
    for hour in range(20):
        writer, reader = (one, two) if hour % 2 else (two, one)
        assert writer.add_partitions([partition_of("a", str(hour))]) == 1
        assert len(reader.get_partitions_by_filter("shop", "sales", f"hour = {hour}", -1)) == 1
        assert len(reader.get_partition_names("shop", "sales", -1)) == hour + 1
        with pytest.raises(TYPES.AlreadyExistsException):
            reader.add_partition(partition_of("a", str(hour)))
    for hour in range(0, 20, 5):
        writer, reader = (one, two) if hour % 2 else (two, one)
        assert writer.drop_partition("shop", "sales", ["a", str(hour)], True)
        with pytest.raises(TYPES.NoSuchObjectException):
            reader.get_partition("shop", "sales", ["a", str(hour)])

    changed = one.get_table("shop", "sales")
    changed.parameters["said"] = "by one"
    one.alter_table("shop", "sales", changed)
    assert two.get_table("shop", "sales").parameters["said"] == "by one"
    changed.tableName = "sold"
    two.alter_table("shop", "sales", changed)
    assert one.get_all_tables("shop") == ["sold"]
    assert len(one.get_partition_names("shop", "sold", -1)) == 16
    two.drop_table("shop", "sold", True)
    with pytest.raises(TYPES.NoSuchObjectException):
        one.get_table("shop", "sold")

    one.create_function(TYPES.Function(functionName="f", dbName="shop", className="a.B", resourceUris=[]))
    assert two.get_function("shop", "f").className == "a.B"
    two.drop_function("shop", "f")
    two.drop_database("shop", True, False)
    with pytest.raises(TYPES.NoSuchObjectException):
        one.get_database("shop")


def test_a_lock_taken_at_one_holds_at_the_other_and_is_released_there(both):
    one, two = both
    wanted = TYPES.LockComponent(type=EXCLUSIVE, level=TABLE_LEVEL, dbname="shop", tablename="sales")
    request = TYPES.LockRequest(component=[wanted], user="me", hostname="here")
    first, second = one.lock(request), two.lock(request)
    assert (first.state, second.state) == (ACQUIRED, WAITING)
    two.unlock(TYPES.UnlockRequest(lockid=first.lockid))
    assert one.check_lock(TYPES.CheckLockRequest(lockid=second.lockid)).state == ACQUIRED
    one.unlock(TYPES.UnlockRequest(lockid=second.lockid))


KILLS = (False, True, True)
"""In which round the server that Spark asks is killed."""


def work_on(folder, uris):
    """In Spark's process: for each word an INSERT that makes a partition, and queries over all partitions so far."""
    from tests.metastore.spark.session import start_session

    session = start_session(folder, uris)
    session.sql("CREATE TABLE rounds (x INT, round INT) USING parquet PARTITIONED BY (round)")
    tell("ready")
    for number in range(len(KILLS)):
        wait_for_word()
        session.sql(f"INSERT INTO rounds VALUES ({number * 10}, {number}), ({number * 10 + 1}, {number})")
        last = [row.x for row in session.sql(f"SELECT x FROM rounds WHERE round = {number}").collect()]
        names = [row.partition for row in session.sql("SHOW PARTITIONS rounds").collect()]
        every = session.sql("SELECT count(*) AS n FROM rounds WHERE round >= 0").first().n
        tell({"last": sorted(last), "partitions": names, "rows": every})
    session.stop()


def answering(servers):
    """The place of the server that answered last; the servers here share a log."""
    last = servers[0].log("call")[-1]["pid"]
    return [server.pid for server in servers].index(last)


def calls_of(server):
    """How many calls a server has answered."""
    return sum(line["pid"] == server.pid for line in server.log("call"))


@pytest.mark.spark
def test_spark_goes_on_when_its_server_is_killed_in_the_middle_of_its_work(url, tmp_path, spark_process):
    with ExitStack() as stack:
        servers = [stack.enter_context(Serve(url, tmp_path, "--log-calls")) for _ in range(2)]
        uris = ",".join(server.ready["uri"] for server in servers)
        heard = stack.enter_context(spark_process.running(work_on, tmp_path / "spark", uris))
        assert next(heard) == "ready"
        killed = []
        for number, round_kills in enumerate(KILLS):
            place = answering(servers)
            victim, before = servers[place], calls_of(servers[place])
            spark_process.go_on()
            if round_kills:
                until(lambda victim=victim, before=before: calls_of(victim) > before + 3)
                victim.kill()
                killed.append(place)
            said = next(heard)
            assert said["last"] == [number * 10, number * 10 + 1]
            assert said["rows"] == 2 * (number + 1)
            assert said["partitions"] == [f"round={one}" for one in range(number + 1)]
            if round_kills:
                assert answering(servers) != place
                again = Serve(url, tmp_path, "--log-calls", "--port", victim.port)
                servers[place] = stack.enter_context(again)
        assert sorted(killed) == [0, 1]
