"""The doors of `hbstore serve` under load: `python -m benchmarks.doors [crowd | readers | faults]`.

crowd    2,000 silent, half and slow clients at each door, while one client asks
readers  60 slow readers of a table of 100,000 partitions
faults   minutes of clients that vanish, killed Sparks and a store that is away; then all is as at the start
"""

from __future__ import annotations

import argparse
import os
import platform

from rich.console import Console

from benchmarks.doors import crowd, faults, readers
from benchmarks.metastore.servers import scratch


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="benchmarks.doors", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("crowd", "readers", "faults"))
    parser.add_argument("--clients", type=int, help="of the crowd (2,000), or readers (60)")
    parser.add_argument("--door", action="append", default=[], help="of the crowd: at this one alone")
    parser.add_argument("--seconds", type=float, default=180.0, help="for which readers read")
    parser.add_argument("--rate", type=int, default=readers.RATE, help="bytes a second of each reader")
    parser.add_argument("--minutes", type=float, default=10.0, help="of faults")
    parser.add_argument("--option", action="append", default=[], help="another word of the server's command line")
    arguments = parser.parse_args()
    console = Console(width=150)
    console.print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with scratch() as folder:
        if arguments.part == "crowd":
            crowd.run(console, folder, arguments.clients or 2_000, arguments.door, arguments.option)
        elif arguments.part == "readers":
            clients = arguments.clients or readers.CLIENTS
            readers.run(console, folder, arguments.seconds, clients, arguments.rate, arguments.option)
        else:
            faults.run(console, folder, arguments.minutes * 60, arguments.option)


if __name__ == "__main__":
    main()
