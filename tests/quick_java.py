"""A Java that lives for seconds or minutes compiles little and has few threads: half the processor's time, or less."""

from __future__ import annotations

import os
from contextlib import contextmanager

OPTIONS = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m"
    " -XX:ReservedCodeCacheSize=256m -XX:-UseCodeCacheFlushing"
)
"""No room for classes is collected before there are more of them than any of these needs, and no compiled code."""

FOR_ALL = "JAVA_TOOL_OPTIONS"
"""The variable whose options every Java takes, and says so in its standard error."""


@contextmanager
def quick_java():
    """Whatever Java is started in the block is such a one, however it is started."""
    before = os.environ.get(FOR_ALL)
    os.environ[FOR_ALL] = OPTIONS if before is None else f"{before} {OPTIONS}"
    try:
        yield
    finally:
        if before is None:
            del os.environ[FOR_ALL]
        else:
            os.environ[FOR_ALL] = before
