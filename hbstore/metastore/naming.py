"""Names as clients of later versions write them: with a catalog before the database, ``@hive#shop``.

Calls whose structs have no field for the catalog carry it in the database's name, as Hive 3 does: ``@hive#shop`` is the
database ``shop``, ``@hive#`` is no name at all, ``@hive#!`` the empty one. hbstore has one catalog, so whatever stands
before the ``#`` is passed over.
"""

from __future__ import annotations


def without_catalog(name: str | None) -> str | None:
    """A database's name, or a pattern of such names, without a catalog.

    >>> without_catalog("@hive#shop"), without_catalog("shop"), without_catalog("@hive#")
    ('shop', 'shop', None)
    """
    if name is None or not name.startswith("@"):
        return name
    _, found, rest = name.partition("#")
    if not found:
        return name
    return "" if rest == "!" else rest or None


def database_name(name: str | None) -> str:
    """The database that a call names; a call that names none means ``default``."""
    return without_catalog(name) or "default"
