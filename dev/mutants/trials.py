"""Runs the tests that a mutant needs, from the nearest to the farthest, until one of them fails."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from mutations import Mutant, applied, room_of

FAST = "not hbase and not spark and not slow and not browser"
FAST_ONLY = ("-m", FAST, "--timeout", "120")
STAGES = ("killer", "files", "room", "slow", "importers", "all")
"""What is run, in this order:

* killer: the test that killed the mutant in an earlier table;
* files: the fast tests in files that import the mutated module or have its name, and the module's examples;
* room: all fast tests of the room's folder;
* slow: the others of that folder, on Spark and HBase too;
* importers: the fast tests of all rooms that import something of the room;
* all: every test.
"""
MEMORY = 12 << 30
"""No process of a test may take more: a mutant may never stop collecting."""

_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_MISSING = ("file or directory not found", "ERROR: not found: ")
_FAILURE, _INTERRUPTED, _INTERNAL, _USAGE, _NO_TESTS = 1, 2, 3, 4, 5  # pytest's codes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a mutant.

    Attributes:
        id: of the mutant.
        outcome: "killed", "alive" after the last stage, or "gone", where its statement is not there any more.
        stage: in which a test failed, or the last one.
        by: the test that failed first, or what else ended the run; empty for others.
        seconds: how long all stages took.
    """

    id: str
    outcome: str
    stage: str
    by: str
    seconds: float


class Trials:
    """Tries mutants in a checkout of their own.

    Args:
        root: of the checkout; its files are changed, and restored after each mutant.
        package: the folder of the sources.
        last_stage: a mutant that lives after it counts as alive.
        seconds: how long one stage may take; a mutant that takes longer counts as killed.
        workers: pytest's; 0 for none.
    """

    def __init__(self, root: Path, package: str, last_stage: str, seconds: float, workers: int) -> None:
        self._root = root
        self._package = package
        self._stages = STAGES[: STAGES.index(last_stage) + 1]
        self._seconds = seconds
        self._workers = workers
        self._paths = {
            ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
            for path in sorted((root / package).rglob("*.py"))
        }
        self._sources = {module: path.read_text() for module, path in self._paths.items()}
        self._imported = {module: frozenset(_imported(source)) for module, source in self._sources.items()}
        tests = sorted((root / "tests").rglob("test_*.py"))
        self._tests = {path: frozenset(_imported(path.read_text())) for path in tests}
        self._sound: set[str] = set()
        self._unsound: set[str] = set()

    def tried(self, mutant: Mutant, killer: str = "") -> Outcome:
        """Apply a mutant, run the stages, and take the mutant back.

        Args:
            mutant: to be applied.
            killer: the test that killed it before, which is tried first.
        """
        began = monotonic()
        change = applied(mutant, self._sources)
        if change is None:
            return Outcome(mutant.id, "gone", "", "", 0.0)
        module, source = change
        path = self._paths[module]
        last = ""
        for stage in self._stages:
            arguments = self._arguments(stage, module, killer)
            if not arguments:
                continue
            last = stage
            while True:
                self._write(path, source)
                try:
                    by = self._failure(arguments)
                finally:
                    self._write(path, self._sources[module])
                if by and not self._fails_without_mutant(by, arguments):
                    return Outcome(mutant.id, "killed", stage, by, round(monotonic() - began, 1))
                if not by:
                    break
        return Outcome(mutant.id, "alive", last, "", round(monotonic() - began, 1))

    def _arguments(self, stage: str, module: str, killer: str) -> list[str]:
        """What pytest is given for a stage; empty where there is nothing to run."""
        room = room_of(module)
        folder = f"tests/{room}"
        if room:
            of_room = [folder] if (self._root / folder).exists() else []
        else:
            of_room = [self._name(path) for path in self._tests if path.parent == self._root / "tests"]
        if stage == "killer":
            return [killer] if killer else []
        if stage == "files":
            return [*sorted(self._near(module)), self._name(self._paths[module]), *FAST_ONLY]
        if stage == "room":
            return [*of_room, *FAST_ONLY] if of_room else []
        if stage == "slow":
            return [*of_room, "-m", f"not ({FAST})"] if of_room else []
        if stage == "importers":
            folders = sorted(
                folder for name in self._importers(room) if (self._root / (folder := f"tests/{name}")).exists()
            )
            return [*folders, *FAST_ONLY] if folders else []
        return ["tests", self._package]

    def _near(self, module: str) -> set[str]:
        """The test files that import a module, or have its name."""
        stem = module.rpartition(".")[2]
        return {
            self._name(path)
            for path, imported in self._tests.items()
            if module in imported or (stem.strip("_") in path.stem and room_of(module) in path.parts)
        }

    def _importers(self, room: str) -> set[str]:
        """The other rooms that import something of a room."""
        own = {module for module in self._sources if room_of(module) == room}
        return {
            room_of(module)
            for module, imported in self._imported.items()
            if room_of(module) not in {room, ""} and not own.isdisjoint(imported)
        }

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._root))

    def _write(self, path: Path, source: str) -> None:
        """Write a source; what was compiled of it goes, as Python knows it by the second and the size only."""
        path.write_text(source)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()

    def _fails_without_mutant(self, test: str, arguments: list[str]) -> bool:
        """Whether a test fails by itself; it and all that do so beside it are left out from now on."""
        if "::" not in test or test in self._sound:
            return False
        if not self._failure([test]):
            self._sound.add(test)
            return False
        _, text = self._pytest([*arguments, "--maxfail", "0"])
        self._unsound |= {test, *(failed for failed in _FAILED.findall(text) if "::" in failed)}
        return True

    def _failure(self, arguments: list[str]) -> str:
        """The first test that fails, or what else went wrong; empty where all is well or nothing was run."""
        code, text = self._pytest(arguments)
        if code in {0, _NO_TESTS} or (code == _USAGE and any(words in text for words in _MISSING)):
            return ""
        if code is None:
            return f"more than {self._seconds:.0f} seconds"
        failed = _FAILED.search(text)
        if failed is not None:
            return failed[1]
        return {_INTERRUPTED: "interrupted", _INTERNAL: "pytest itself", _USAGE: "import of conftest"}.get(
            code, f"exit code {code}"
        )

    def _pytest(self, arguments: list[str]) -> tuple[int | None, str]:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-rfE",
            "--tb=no",
            "--no-header",
            "-p",
            "no:cacheprovider",
        ]
        if self._workers:
            command += ["-n", str(self._workers), "--dist", "loadfile"]
        for test in sorted(self._unsound):
            command += ["--deselect", test]
        environment = {
            **os.environ,
            "PYTHONPATH": str(self._root),  # before the checkout that is installed
            "HYPOTHESIS_PROFILE": "ci",
            "PYTHONDONTWRITEBYTECODE": "",
        }
        with subprocess.Popen(  # noqa: S603
            [*command, *arguments],
            cwd=self._root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=_limit_memory,  # noqa: PLW1509  this process has no threads
        ) as process:
            try:
                text, _ = process.communicate(timeout=self._seconds)
            except subprocess.TimeoutExpired:
                return None, ""
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, text


def _limit_memory() -> None:
    """Of what is written to: browsers and Java reserve far more."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _imported(source: str) -> Iterator[str]:
    """The modules that a source imports, and the dotted names of what it imports from them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
