"""Notes: what the user of an answer should know beside its rows."""

from __future__ import annotations

from hbstore.cubes.query.rewriting import Rewritten


def notes_of(rewritten: Rewritten) -> tuple[str, ...]:
    """Which times are not in an answer, and its warnings.

    >>> long = "cube select minutes from rides where time_range_in(start_time, '2015-01-31', '2015-02-02')"
    >>> notes_of(cubes.rewrite(long, partial=True))
    ('nothing is there for [2015-01-31T00:00:00+00:00, 2015-02-01T00:00:00+00:00)',)
    """
    missing = (f"nothing is there for [{start.isoformat()}, {end.isoformat()})" for start, end in rewritten.missing)
    return (*missing, *rewritten.warnings)
