"""All statements, by topic. A topic stands for itself: it makes what it needs, and leaves nothing behind."""

from tests.metastore.spark import (
    columns,
    databases,
    external,
    inserts,
    partitions,
    pruning,
    selects,
    strange_values,
    tables,
    upkeep,
    views_functions,
)

TOPICS = {
    "databases": databases.STATEMENTS,
    "tables": tables.STATEMENTS,
    "columns": columns.STATEMENTS,
    "inserts": inserts.STATEMENTS,
    "selects": selects.STATEMENTS,
    "strange": strange_values.STATEMENTS,
    "partitions": partitions.STATEMENTS,
    "external": external.STATEMENTS,
    "upkeep": upkeep.STATEMENTS,
    "pruning": pruning.STATEMENTS,
    "views": views_functions.STATEMENTS,
}
STATEMENTS = [statement for statements in TOPICS.values() for statement in statements]
