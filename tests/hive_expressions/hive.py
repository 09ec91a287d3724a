"""Hive's own classes, of a release: they write expressions and evaluate them, in a JVM of their own."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.quick_java import OPTIONS

RELEASES = ("2.3", "3.1", "4.0", "4.1")
SOURCES = Path(__file__).parent / "java"
SECONDS = 500
OPEN = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in (
        "java.util",
        "java.lang",
        "java.net",
        "java.util.concurrent.atomic",
        "java.time",
        "java.nio",
        "java.text",
    )
]


@dataclass(frozen=True, slots=True)
class Written:
    """An expression as Hive wrote it.

    Attributes:
        data: its bytes.
        used: those after Hive has used it.
        results: what Hive's evaluation gives for each partition: T, F, N for NULL, or E for an error.
        text: as Hive prints it.
    """

    data: bytes
    used: bytes
    results: str
    text: str


@dataclass(frozen=True, slots=True)
class World:
    """Columns (name and type), partitions, and expressions."""

    columns: list[list[str]]
    partitions: list[list[str]]
    expressions: list[Written]


def hive_jars():
    """The module dev/hive/hive_jars.py, which is no package's."""
    folder = str(Path(__file__).parents[2] / "dev" / "hive")
    sys.path.append(folder)
    try:
        return importlib.import_module("hive_jars")
    finally:
        sys.path.remove(folder)


def compiled(release, folder):
    """The class path of a release, with this folder's programs compiled into ``folder``."""
    path = hive_jars().class_path(release)
    sources = [SOURCES / "RandomExpressions.java"] + [SOURCES / "SubLists.java"] * (release == "3.1")
    command = ["javac", "-nowarn", "-d", str(folder), "-cp", os.pathsep.join(path), *map(str, sources)]
    subprocess.run(command, check=True, timeout=SECONDS)
    return [str(folder), *path]


def run(path, *arguments, zone="UTC"):
    """Run the program with these arguments, where the clock shows the time of a zone."""
    command = ["java", *OPTIONS.split(), "-Xmx512m", *OPEN, f"-Duser.timezone={zone}", "-cp", os.pathsep.join(path)]
    done = subprocess.run(
        [*command, "RandomExpressions", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def random_world(path, seed, expressions, folder):
    """Random expressions of one release, with what Hive makes of them."""
    target = folder / "expressions"
    run(path, seed, expressions, target)
    world = World([], [], [])
    for line in target.read_text().splitlines():
        kind, *fields = line.split("\t")
        if kind == "C":
            world.columns.append(fields)
        elif kind == "P":
            world.partitions.append(fields)
        else:
            data, used, results, *text = fields
            world.expressions.append(Written(bytes.fromhex(data), bytes.fromhex(used), results, " ".join(text)))
    return world


def named_expressions(path, folder, zone="UTC"):
    """One expression of each kind, by name, as a client in a time zone writes it."""
    target = folder / "named"
    run(path, "named", 0, target, zone=zone)
    return dict(line.split("\t") for line in target.read_text().splitlines())
