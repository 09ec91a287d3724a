"""A process that publishes one job after the other until it is killed, or kills itself somewhere."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from hbstore import connect
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Publisher
from hbstore.store.publications import Publications
from tests.processes import say
from tests.publishing.jobs import job


def publish_until_killed(url, root, name, where):
    """Append to a and d; die before the first decision, right after it, in the middle of showing, or by another."""
    place = {"before": (Publications, "decide"), "after": (Publisher, "_show"), "showing": (Warehouse, "bring")}
    if where in place:
        setattr(*place[where], lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    with connect(url) as store:
        for number in range(1_000):
            manifest, staged = job(Path(root), f"{name}-{number}", "ad")
            say("begin", number)
            Publisher(store).publish("shop.sales", manifest, staged)
            say("published", number)
