"""Start and stop a real Hive Metastore 2.3 or 4.0 on this machine, as a reference to compare with.

    python dev/hms/server.py up        start it (or say that it runs) and print its URI
    python dev/hms/server.py status    say whether it runs
    python dev/hms/server.py down      stop it; its data stays

It needs Java 17 and pyspark, whose jars hold that of 2.3; maven copies those of 4.0, once (75 MB). Where PostgreSQL is
installed it runs on one of its own (as another user than root), for which it needs maven the first time (for 4.0 79 MB
more, of which it takes the SQL that makes its tables); else it runs on Derby, where a 4.0 has no locks and
transactions. Configuration, data, warehouse, logs and pids are in dev/hms/run/<name>/. A Hive Metastore listens on all
interfaces: 2.3 has no setting for that.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from dev_hms import DATABASES, RELEASES, DevHms
from hms_jars import HERE
from maven_jars import Missing
from processes import NotStarted


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 if it did what it says, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["up", "down", "status"])
    parser.add_argument("--database", choices=DATABASES, default="auto", help="what it runs on (default: %(default)s)")
    parser.add_argument("--release", choices=RELEASES, default="2.3", help="which release (default: %(default)s)")
    parser.add_argument("--name", default="default", help="which of several instances (default: %(default)s)")
    options = parser.parse_args(arguments)

    hms = DevHms(HERE / "run" / options.name, database=options.database, release=options.release)
    if options.command == "status":
        running = hms.running()
        print(f"the Hive Metastore runs: {_uri(hms)}" if running else "the Hive Metastore does not run")
        return 0 if running else 1
    if options.command == "down":
        hms.stop()
        print("the Hive Metastore is stopped", file=sys.stderr)
        return 0
    if hms.running():
        print("the Hive Metastore is running already", file=sys.stderr)
    else:
        print("starting the Hive Metastore …", file=sys.stderr, flush=True)
        try:
            hms.start()
        except (Missing, NotStarted) as error:
            print(error, file=sys.stderr)
            return 1
        except subprocess.CalledProcessError as error:
            print(f"{error}\n{error.stderr}", file=sys.stderr)
            return 1
    print(_uri(hms))
    return 0


def _uri(hms: DevHms) -> str:
    return f"thrift://127.0.0.1:{hms.port}"


if __name__ == "__main__":
    sys.exit(main())
