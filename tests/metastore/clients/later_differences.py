"""Where clients of later versions get other answers than from a real Hive Metastore 4.0, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass

ALL = ("3.1", "4.0", "4.1")
LATER = ("4.0", "4.1")


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference that is meant, or that the other side is to blame for.

    Attributes:
        topic: the conversation.
        call: a pattern of the call.
        place: a pattern of where the answers differ, and how.
        reason: why, as docs/metastore.md has it.
        releases: of the clients that meet it.
    """

    topic: str
    call: str
    place: str
    reason: str
    releases: tuple[str, ...] = ALL

    def tells(self, call, place):
        """Whether it is about a place in the answers to a call."""
        return bool(re.search(self.call, call) and re.search(self.place, place))


NAMES = "names are letters, digits and underscores, and names of tables have no hyphen"
FOLDER = "the tables of a database with a location of its own are in that location"
ERASURE = "files are not looked at for erasure coding"
MISSING = "a missing table is an error that clients know"
SPARK = "Spark writes `.*` in LIKE through a client of Hive 4, too, and means any text"
NONE = "a limit of 0 in `get_partition_names` is no limit"
LIKE = "the methods that clients of Hive 2.3 have read LIKE as those clients write it"
OLDER = "as beside Hive 2.3"
KNOWN = "what is wrong with a constraint is an error that clients know"
UNIQUE = "a foreign key to a unique constraint is listed, and so are the partition columns of any foreign key"
WHOLE = "with a column goes a key that has it, and is not left with fewer columns"
WRITE_IDS = "the write id of a transaction is its own number, in every table"
DIFFERENCES = (
    Difference("databases", "createDatabase", "InvalidObjectException", NAMES),
    Difference("databases", "getDatabases|getAllDatabases", "no name", NAMES),
    Difference("databases", "files of", "no name", NAMES),
    Difference("tables", "createTable", "InvalidObjectException", NAMES),
    Difference("tables", "files of", "elsewhere/archive/one", FOLDER),
    Difference("compare_and_swap", "getTable", "numFilesErasureCoded", ERASURE),
    Difference("not_added", "add_partition", r"values\[0\]", OLDER),
    Difference("altered", ".", "numFilesErasureCoded", ERASURE),
    Difference("altered", r"getPartition\(alters, t, \[c, 1\]", "sd.location", OLDER),
    Difference("exchanged", r"exchange_partition\(", ".", OLDER),
    Difference("one_partition", "DS=", "NoSuchObjectException", OLDER),
    Difference("one_partition", "getPartitionsByNames", "InvalidObjectException|TApplicationException", MISSING),
    Difference("lists", "nope", "NoSuchObjectException", MISSING),
    Difference("lists", r"listPartitionNames\(lists_of, days, 0\)", ".", NONE, ("3.1",)),
    Difference("of_partitions", "getAggrColStatsFor", ".", OLDER, ("3.1",)),
    Difference("values", "listPartitionValues", "row", OLDER),
    Difference("settings", "getConfigValue", "none", "a setting that the server does not have is the client's default"),
    Difference("settings", "Notification", "TApplicationException", "there are no notifications, which is told"),
    Difference("functions", "getFunction", r"\.(catName|resourceUris)", OLDER),
    Difference("roles", "drop_role", "MetaException", OLDER),
    Difference("constraints", "add|dropConstraint", "TApplicationException", KNOWN),
    Difference("constraints", "getForeignKeys", "answer: ", UNIQUE),
    Difference("constraints", "104. getUniqueConstraints", "u2", WHOLE),
    Difference("likes", r"\.\*", ".", SPARK, LATER),
    Difference("likes", "like", ".", LIKE, ("3.1",)),
    Difference("requests", "getTablesExt", "tblName", "names of tables are told whatever the client is able to do"),
    Difference("requests", "getPartition", "numFilesErasureCoded", ERASURE),
    Difference("write_ids", "allocateTableWriteId", "answer", WRITE_IDS),
    Difference("write_ids", "getValidWriteIds", "abortedBits|[wW]riteId", WRITE_IDS),
)
