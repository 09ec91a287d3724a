"""Do the tests notice small changes of the code? `python dev/mutants choose`, `run`, `show` and `compare`.

    python dev/mutants choose --number 200 --seed 33 >/tmp/mutants      # the same for a commit and a seed
    python dev/mutants run /tmp/mutants /tmp/before --commit e488f44
    python dev/mutants show /tmp/mutants /tmp/before                    # who lives, and a table of the rooms
    python dev/mutants run /tmp/mutants /tmp/after --killers /tmp/before
    python dev/mutants compare /tmp/mutants /tmp/before /tmp/after      # 1 where fewer are killed after

A run that was interrupted goes on where it was: what its table has is not tried again. mutmut and cosmic-ray name a
mutant by its line or its number in a file, so theirs of one commit mean nothing in the next.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from mutations import Mutant, chosen, line_of, read_list, room_of, written
from trials import STAGES, Outcome, Trials

EQUIVALENT = Path(__file__).with_name("equivalent")
"""Mutants that no test can kill, as they mean the same program: an id and why, a line."""


def main() -> int:
    """Run a command; 1 where a comparison is for the worse."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what runs is ended, and the worktree removed
    command = {"choose": choose, "run": run, "show": show, "compare": compare}[options.command]
    return command(options)


def choose(options: argparse.Namespace) -> int:
    """Print a list of mutants."""
    sys.stdout.write(written(chosen(_sources(options.package), options.number, options.seed)))
    return 0


def run(options: argparse.Namespace) -> int:
    """Try mutants, and add each to the table at once."""
    killers = _table(options.killers) if options.killers else {}
    tried = _table(options.table) if options.table.exists() else {}
    mutants = [mutant for mutant in read_list(options.list) if mutant.id not in tried]
    with _checkout(options.commit) as root:
        trials = Trials(root, options.package, options.last_stage, options.seconds, options.workers)
        for number, mutant in enumerate(mutants[: options.most], 1):
            before = killers.get(mutant.id)
            outcome = trials.tried(mutant, before.by if before is not None and "::" in before.by else "")
            with options.table.open("a") as table:
                table.write(json.dumps(asdict(outcome)) + "\n")
            print(f"{number} of {len(mutants)}: {_line(mutant)}: {_said(outcome)}", flush=True)
    return 0


def show(options: argparse.Namespace) -> int:
    """Print each mutant that lives, with its line in this folder, and how many of each room were tried and killed."""
    table, sources = _table(options.table), _sources(options.package)
    equivalent = dict(line.split(maxsplit=1) for line in options.equivalent.read_text().splitlines())
    rooms: dict[str, Counter[str]] = {}
    for mutant in read_list(options.list):
        if mutant.id not in table:
            continue
        outcome = table[mutant.id].outcome
        if outcome == "alive":
            outcome = "equivalent" if mutant.id in equivalent else outcome
            place = line_of(mutant, sources)
            where = "gone by now" if place is None else f"{place[0].replace('.', '/')}.py:{place[1]}"
            why = f": {equivalent[mutant.id]}" if mutant.id in equivalent else ""
            print(f"{mutant.id} {where}: {_line(mutant)}{why}")
            _print_change(mutant)
        rooms.setdefault(room_of(mutant.module) or options.package, Counter())[outcome] += 1
    kinds = ("killed", "alive", "equivalent", "gone")
    for name, counts in [*sorted(rooms.items()), ("all", sum(rooms.values(), Counter()))]:
        numbers = ", ".join(f"{counts[kind]} {kind}" for kind in kinds)
        print(f"{name:<16} {counts.total():>4} tried: {numbers}")
    return 0


def compare(options: argparse.Namespace) -> int:
    """Print what became of each mutant in two tables, where that is not "killed" in both."""
    before, after = _table(options.before), _table(options.after)
    counts: Counter[str] = Counter()
    for mutant in read_list(options.list):
        pair = [table[mutant.id].outcome if mutant.id in table else "not tried" for table in (before, after)]
        counts[" → ".join(pair)] += 1
        if pair != ["killed", "killed"]:
            print(f"{' → '.join(pair)}: {_line(mutant)}")
            _print_change(mutant)
            if pair[0] == "killed":
                print(f"    killed before by {before[mutant.id].by}")
    print("; ".join(f"{kind}: {number}" for kind, number in counts.most_common()))
    return 1 if counts["killed → alive"] else 0


@contextmanager
def _checkout(commit: str) -> Iterator[Path]:
    """A worktree of a commit that goes afterwards."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        root = Path(folder) / "checkout"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", root, commit], check=True)  # noqa: S603, S607
        try:
            yield root
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", root], check=True)  # noqa: S603, S607


def _sources(package: str) -> dict[str, str]:
    """The modules of a package in this folder, by dotted name."""
    root = Path.cwd()
    return {
        ".".join(path.relative_to(root).with_suffix("").parts): path.read_text()
        for path in sorted((root / package).rglob("*.py"))
        if path.name != "__init__.py"
    }


def _table(path: Path) -> dict[str, Outcome]:
    outcomes = (Outcome(**json.loads(line)) for line in path.read_text().splitlines())
    return {outcome.id: outcome for outcome in outcomes}


def _line(mutant: Mutant) -> str:
    return f"{mutant.module}.{mutant.function}, {mutant.kind}"


def _print_change(mutant: Mutant) -> None:
    print("".join(f"    - {line}\n" for line in mutant.before.splitlines()), end="")
    print("".join(f"    + {line}\n" for line in mutant.after.splitlines()), end="")


def _said(outcome: Outcome) -> str:
    by = f" by {outcome.by}" if outcome.by else ""
    return f"{outcome.outcome}{by} ({outcome.stage or 'not applied'}, {outcome.seconds:.0f} s)"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python dev/mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--package", default="hbstore", help="the folder of the sources")
    commands = parser.add_subparsers(dest="command", required=True)
    choosing = commands.add_parser("choose", help="print mutants of the files in this folder, one a line")
    choosing.add_argument("--number", type=int, default=200)
    choosing.add_argument("--seed", type=int, default=0)
    running = commands.add_parser("run", help="try mutants in a worktree of their own, and keep a table")
    running.add_argument("list", type=Path, help="what `choose` printed")
    running.add_argument("table", type=Path, help="where outcomes are added; what it has is not tried again")
    running.add_argument("--commit", default="HEAD", help="whose code and tests are tried")
    running.add_argument("--killers", type=Path, help="an earlier table: the test that killed a mutant there is first")
    running.add_argument("--last-stage", choices=STAGES[1:], default="importers", help="after which a mutant is alive")
    running.add_argument("--seconds", type=float, default=3600, help="how long a stage may take")
    running.add_argument("--workers", type=int, default=0, help="pytest's, of a stage")
    running.add_argument("--most", type=int, help="stop after so many")
    showing = commands.add_parser("show", help="print who lives, and how many of each room were tried and killed")
    showing.add_argument("list", type=Path)
    showing.add_argument("table", type=Path)
    showing.add_argument("--equivalent", type=Path, default=EQUIVALENT, help="who means the same: id and why, a line")
    comparing = commands.add_parser("compare", help="print what two tables say of a list")
    for name in ("list", "before", "after"):
        comparing.add_argument(name, type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
