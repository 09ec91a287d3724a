"""Start and stop a real HBase on this machine, without Docker.

    python dev/hbase/server.py up        start it (or say that it runs) and print its store URL
    python dev/hbase/server.py status    say whether it runs
    python dev/hbase/server.py down      stop it; its data stays

It needs Java 17 and, the first time, maven. Configuration, logs, pids and data are in dev/hbase/run/<name>/.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dev_hbase import DevHBase
from hbase_jars import HERE
from maven_jars import Missing
from processes import NotStarted, free

DEFAULT_PORT = 9090


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 if it did what it says, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["up", "down", "status"])
    parser.add_argument("--port", type=int, help="the Thrift gateway's port (default: 9090, or a free one)")
    parser.add_argument("--data", type=Path, help="the data folder (default: in the run folder)")
    parser.add_argument("--quick", action="store_true", help="start quickly, rather than run fast in the long run")
    parser.add_argument("--name", default="default", help="which of several instances (default: %(default)s)")
    options = parser.parse_args(arguments)

    folder = HERE / "run" / options.name
    hbase = DevHBase(folder, thrift_port=options.port, data=options.data, quick=options.quick)
    if options.command == "status":
        running = hbase.running()
        print(f"HBase runs: {hbase.url()}" if running else "HBase does not run")
        return 0 if running else 1
    if options.command == "down":
        hbase.stop()
        print("HBase is stopped", file=sys.stderr)
        return 0
    if hbase.running():
        print("HBase is running already", file=sys.stderr)
    else:
        if options.port is None and not hbase.ports and free(DEFAULT_PORT):
            hbase = DevHBase(folder, thrift_port=DEFAULT_PORT, data=options.data, quick=options.quick)
        print("starting HBase …", file=sys.stderr, flush=True)
        try:
            hbase.start()
        except (Missing, NotStarted) as error:
            print(error, file=sys.stderr)
            return 1
    print(hbase.url())
    return 0


if __name__ == "__main__":
    sys.exit(main())
