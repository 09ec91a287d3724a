"""Expressions that Hive's own classes write select here what Hive's own evaluation says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbstore.hive_expressions.reading import read_expression
from tests.amounts import amount
from tests.hive_expressions.comparison import compare
from tests.hive_expressions.hive import RELEASES, compiled, named_expressions

SEED, EXPRESSIONS = 20261124, amount(200, 3_000)
GOLDEN = Path(__file__).parent / "golden.json"
READ = 0.5
"""So much of what is random can be read as a whole at least: some casts, and Hive 2.3's timestamps, cannot."""


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Class paths by release, each made when it is asked for."""
    known = {}

    def path(release):
        if release not in known:
            known[release] = compiled(release, tmp_path_factory.mktemp("classes"))
        return known[release]

    return path


@pytest.mark.parametrize("release", amount(("2.3", "4.1"), RELEASES))
def test_they_select_what_hive_says(release, paths, tmp_path):
    seen, wrong = compare(release, paths(release), SEED, EXPRESSIONS, tmp_path)
    assert not seen["class"]
    assert not wrong, f"{len(wrong)} differ; " + "\n".join(wrong[:20])
    assert seen["whole"] > READ * EXPRESSIONS, seen


@pytest.mark.parametrize("release", amount(("2.3", "4.1"), RELEASES))
def test_golden_bytes_are_what_hive_writes(release, paths, tmp_path, request):
    named = named_expressions(paths(release), tmp_path)
    golden = json.loads(GOLDEN.read_text())
    if request.config.getoption("--update-golden"):
        golden[release] = named
        GOLDEN.write_text(json.dumps(golden, indent=1) + "\n")
    assert golden[release] == named


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        *amount([], [("Asia/Kolkata", "x = date '2026-01-02'")]),
        ("America/Los_Angeles", "x = date '2026-01-02'"),
        ("Pacific/Auckland", "x = ?"),
    ],
)
def test_dates_of_clients_in_other_zones(zone, day, paths, tmp_path):
    written = named_expressions(paths("2.3"), tmp_path, zone)["date 2026-01-02"]
    assert str(read_expression(bytes.fromhex(written))) == day
