"""What two runs of one statement may not agree on, taken out of their results. Everything else has to be equal."""

from __future__ import annotations

import re
import time
from calendar import timegm

TIME = "TIME"
CLOCK = "%a %b %d %H:%M:%S UTC %Y"
DATE = r"\w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}"
TIMES = (
    # The metastore's clock when a table or a partition was created, as SHOW TABLE EXTENDED prints it.
    re.compile(rf"(Created Time: |Last Access: )({DATE})"),
    # Spark's clock when a function was created, as DESCRIBE FUNCTION EXTENDED prints it.
    re.compile(rf"(Create Time: +)({DATE})"),
    # The metastore's clock at the last change, a parameter that it adds: in DESCRIBE's maps, in SHOW CREATE TABLE.
    re.compile(r"(transient_lastDdlTime'? ?= ?'?)(\d+)"),
)
TIMED = ("Created Time", "Last Access", "transient_lastDdlTime")
"""Rows of DESCRIBE and of SHOW TBLPROPERTIES whose second value is such a time."""
SLACK = 2
"""Seconds between two processes' clocks, of which one cuts off the fraction."""


class Normal:
    """Takes out of values what must differ: the folder of the run, and times within it.

    A time of before the run, such as 1970, stays: no run may make one up. Owners and sizes are compared as they are.

    Args:
        root: the folder of the run, below which its warehouse lies: every run has its own, laid out alike.
    """

    def __init__(self, root):
        self._root = str(root)
        self._began = time.time()

    def row(self, row):
        """A row as JSON."""
        values = [self.value(one) for one in row]
        if len(values) > 1 and values[0] in TIMED and self._is_now(str(values[1])):
            values[1] = TIME
        return values

    def value(self, value):
        """A value as JSON: what JSON does not have becomes its text."""
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in value]
        if isinstance(value, dict):
            return sorted([self.value(key), self.value(one)] for key, one in value.items())
        return repr(value)

    def text(self, text):
        """A text without times of the run and without its folder."""
        text = text.replace(self._root, "/ROOT")
        for pattern in TIMES:
            text = pattern.sub(self._timeless, text)
        return text

    def _timeless(self, found):
        return found[1] + (TIME if self._is_now(found[2]) else found[2])

    def _is_now(self, text):
        if re.fullmatch(DATE, text):
            seconds = timegm(time.strptime(text, CLOCK))
        elif text.isdecimal():
            seconds = int(text)
        else:
            return False
        return self._began - SLACK <= seconds <= time.time() + SLACK
