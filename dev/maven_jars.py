"""Jars that maven copies into a folder once, by a pom; another pom gets another folder."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


class Missing(RuntimeError):
    """Something that has to be installed first; the text says what and how."""


def maven_jars(pom: Path, *, what: str, expected: str, at_least: int, hint: str) -> Path:
    """The folder of a pom's jars, beside it in target/, filled by maven when it is not there yet.

    Two processes at once do not disturb each other, and a copy that was cut off leaves no half a folder.

    Args:
        pom: the pom.
        what: what the jars are, for people, with how large they are.
        expected: a pattern of names of jars that have to be there.
        at_least: how many.
        hint: what to do without maven.

    Raises:
        Missing: there is no maven, or it could not get the jars.
    """
    target = pom.parent / "target"
    folder = target / f"jars-{hashlib.sha256(pom.read_bytes()).hexdigest()[:8]}"
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if not maven:
        raise Missing(f"{what} are not here yet, and there is no `mvn` on the PATH to get them. {hint}")
    target.mkdir(parents=True, exist_ok=True)
    with (target / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            print(f"copying {what} with maven, once …", file=sys.stderr, flush=True)
            fresh = Path(tempfile.mkdtemp(prefix="jars-", dir=target))
            try:
                _copy(maven, pom, fresh, expected, at_least)
                fresh.rename(folder)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _copy(maven: str, pom: Path, folder: Path, expected: str, at_least: int) -> None:
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    command = [maven, "-B", "-q", "-f", str(pom), *goal]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode or len(list(folder.glob(expected))) < at_least:
        raise Missing(f"maven could not copy the jars of {pom}:\n{done.stdout}{done.stderr}")
    folder.chmod(0o755)
