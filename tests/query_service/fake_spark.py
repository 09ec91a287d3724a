"""What stands in for the Spark process where a test is about its parent: it does what its setting `part` says."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from multiprocessing.connection import Connection

from hbstore.query_service.messages import Cancel, Cancelled, Done, Ready, Run, Started, written
from hbstore.query_service.query import QueryResult

DIE = "die"
"""The text of a statement that ends the process."""

NO_MESSAGES = {
    "a pickle": None,
    "no text": b"\xff",
    "no list": b"3",
    "an unknown kind": b'["Start", {}]',
    "a list for a kind": b"[[], {}]",
    "another type": b'["Ready", {"version": 3}]',
    "deep": b"[" * 100_000,
}


class Trap:
    """Who unpickles it makes a folder."""

    def __init__(self, scratch):
        self.folder = f"{scratch}-trap"

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def say(pipe, message):
    pipe.send_bytes(written(message))


SAID = {
    "says something": [b"WARN a: b\n\ncaf\xe9\n"],
    "says too much": [b"x" * 40_000 + b"\n", *[b"rejected\n"] * 5_000, b"last\n"],
}
"""On stderr, by the part."""


def main():
    pipe = Connection(int(sys.argv[1]))
    start = pipe.recv()
    part = start.conf.get("part", "answers")
    if part == "does not start":
        os._exit(7)
    if part in NO_MESSAGES:
        pipe.send_bytes(NO_MESSAGES[part] or pickle.dumps(Trap(start.scratch)))
    for text in SAID.get(part, ()):
        os.write(2, text)
    below = subprocess.Popen(["sleep", "600"])
    say(pipe, Ready(f"{below.pid} {start.scratch}"))
    try:
        while True:
            message = pipe.recv()
            if isinstance(message, Run):
                if message.request.text == DIE:
                    os._exit(1)
                say(pipe, Started(message.id))
                say(pipe, Done(message.id, QueryResult(rows=len(message.request.text))))
            elif isinstance(message, Cancel):
                say(pipe, Cancelled(message.id))
    except EOFError:
        if part == "stays":
            signal.pause()
        below.terminate()
        below.wait()


if __name__ == "__main__":
    main()
