"""What a table's type and parameters say of its files: whose they are, and whether a trash may keep them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

MANAGED: Final = "MANAGED_TABLE"
EXTERNAL: Final = "EXTERNAL_TABLE"
VIEW: Final = "VIRTUAL_VIEW"

_EXTERNAL: Final = "EXTERNAL"
_EXTERNAL_PURGE: Final = "external.table.purge"
_TRANSLATED: Final = "TRANSLATED_TO_EXTERNAL"
_AUTO_PURGE: Final = "auto.purge"


class Kind(Protocol):
    """What a table's type and parameters are."""

    @property
    def table_type(self) -> str:
        """In Hive's words."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """By name."""


def is_view(table: Kind) -> bool:
    """Whether a table is a view, which has no files; a materialized view has some."""
    return table.table_type == VIEW


def is_external(table: Kind) -> bool:
    """Whether a table's files are somebody else's.

    >>> from hbstore import Table
    >>> is_external(Table("shop", "sales", parameters={"EXTERNAL": "true"})), is_external(Table("shop", "sales"))
    (True, False)
    """
    return table.table_type == EXTERNAL or _is_true(table.parameters.get(_EXTERNAL))


def keeps_files(table: Kind) -> bool:
    """Whether a table's files stay when it is dropped: it is external, and its files are not purged with it.

    >>> from hbstore import Table
    >>> external = {"EXTERNAL": "TRUE"}
    >>> keeps_files(Table("shop", "sales", parameters=external))
    True
    >>> keeps_files(Table("shop", "sales", parameters={**external, "external.table.purge": "TRUE"}))
    False
    """
    return is_external(table) and not _is_true(table.parameters.get(_EXTERNAL_PURGE))


def is_translated(table: Kind) -> bool:
    """Whether a table is external only because a Hive Metastore 4 made it so: its folder follows its name.

    >>> from hbstore import Table
    >>> purged = {"EXTERNAL": "TRUE", "external.table.purge": "TRUE"}
    >>> is_translated(Table("shop", "sales", parameters={**purged, "TRANSLATED_TO_EXTERNAL": "TRUE"}))
    True
    """
    return is_external(table) and not keeps_files(table) and _is_true(table.parameters.get(_TRANSLATED))


def settled_type(table: Kind) -> str:
    """The type of a table with the parameter EXTERNAL taken into account: ``SET TBLPROPERTIES`` changes only that.

    >>> from hbstore import Table
    >>> settled_type(Table("shop", "sales", table_type="EXTERNAL_TABLE", parameters={"EXTERNAL": "FALSE"}))
    'MANAGED_TABLE'
    """
    external = table.parameters.get(_EXTERNAL)
    if table.table_type == MANAGED and _is_true(external):
        return EXTERNAL
    if table.table_type == EXTERNAL and external is not None and not _is_true(external):
        return MANAGED
    return table.table_type


def is_purged(table: Kind) -> bool:
    """Whether what is deleted passes the trash, by the table's parameter ``auto.purge``."""
    return _is_true(table.parameters.get(_AUTO_PURGE))


def _is_true(text: str | None) -> bool:
    return text is not None and text.lower() == "true"
