"""What stands in for the Spark process where a test is about its parent: it does what its setting `part` says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from multiprocessing.connection import Connection

from hbstore.query_service.messages import Cancel, Cancelled, Done, Ready, Run, Started
from hbstore.query_service.query import QueryResult

DIE = "die"
"""The text of a statement that ends the process."""


def main():
    pipe = Connection(int(sys.argv[1]))
    start = pipe.recv()
    part = start.conf.get("part", "answers")
    if part == "does not start":
        os._exit(7)
    if part == "says something":
        os.write(2, b"WARN a: b\n\ncaf\xe9\n")
    below = subprocess.Popen(["sleep", "600"])
    pipe.send(Ready(f"{below.pid} {start.scratch}"))
    try:
        while True:
            message = pipe.recv()
            if isinstance(message, Run):
                if message.request.text == DIE:
                    os._exit(1)
                pipe.send(Started(message.id))
                pipe.send(Done(message.id, QueryResult(rows=len(message.request.text))))
            elif isinstance(message, Cancel):
                pipe.send(Cancelled(message.id))
    except EOFError:
        if part == "stays":
            signal.pause()
        below.terminate()
        below.wait()


if __name__ == "__main__":
    main()
