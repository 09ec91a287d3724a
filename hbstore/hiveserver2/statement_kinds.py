"""What the text of a statement tells before it runs: whether it has rows, and whether Hive shows them otherwise."""

from __future__ import annotations

import re
from typing import Final

from hbstore.query_service.query import ResultColumn
from hbstore.texts.quotes import bare

_BEFORE: Final = r"[\s;(]*"
"""What may stand before the first word, but for comments."""

_FIRST_WORD: Final = re.compile(rf"{_BEFORE}([A-Za-z]+)")
_INSERT: Final = re.compile(r"\binsert\s+(?:into|overwrite)\b", re.IGNORECASE)
_WITH_ROWS: Final = frozenset(
    "select values table show describe desc explain cube set list check call execute".split()  # noqa: SIM905
)
_PERHAPS: Final = frozenset({"with", "from"})
"""Words that begin a query, or an INSERT."""

_SHOWN: Final = re.compile(rf"{_BEFORE}show\s+(?:tables|views)\b", re.IGNORECASE)
_NAMES: Final = ("tableName", "viewName")
_TAB_NAME: Final = ResultColumn(name="tab_name", type="string")


def has_rows(text: str) -> bool:
    r"""Whether a statement has rows, as far as its first words tell.

    >>> [has_rows(text) for text in ("-- a\nselect 1", "create table t as select 1", "with a as (select 1) from a")]
    [True, False, True]
    >>> has_rows("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a")
    False
    """
    text = bare(text)
    first = _FIRST_WORD.match(text)
    word = "" if first is None else first[1].lower()
    return word in _WITH_ROWS or (word in _PERHAPS and _INSERT.search(text) is None)


def hive_shape(text: str, columns: tuple[ResultColumn, ...]) -> tuple[tuple[ResultColumn, ...], tuple[int, ...]]:
    """The columns of a result as clients of Hive read them, and the numbers of those columns in the result.

    SHOW TABLES and SHOW VIEWS have one column in Hive, ``tab_name``, which clients take as the first of a row; in Spark
    the first is the database.
    """
    names = [column.name for column in columns]
    if _SHOWN.match(bare(text)) and len(names) == 3 and names[1] in _NAMES:  # noqa: PLR2004
        return (_TAB_NAME,), (1,)
    return columns, tuple(range(len(columns)))
