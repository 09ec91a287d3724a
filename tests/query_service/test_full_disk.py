"""A disk that is full: the query says so, and so does the server's health; then it is as before."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from hbstore.query_service.messages import Done
from hbstore.query_service.results import Results
from hbstore.warehouse import health
from tests.pauses import until

pytestmark = [pytest.mark.spark]
ROOM = 5 << 20


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 6 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount")
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "hbstore-test", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_query_without_room_for_its_rows_says_so(spark, small_disk, monkeypatch):
    monkeypatch.setattr(spark, "results", small_disk)
    end, id_ = spark.ask("select id, sha2(string(id), 512) as text from range(300000)")
    problem = end.problem.error, end.problem.fields.get("reason")
    assert problem == ("FileOperationFailed", "No space left on device"), end.problem
    assert "Free space" in end.problem.hint
    results = Results(str(small_disk))
    until(lambda: results.remove(id_) or shutil.disk_usage(small_disk).free > ROOM)  # a task may still write
    assert isinstance(spark.ask("select id from range(3000)")[0], Done)


def test_health_tells_of_little_room_for_results(tmp_path, monkeypatch):
    results = Results(str(tmp_path))
    assert results.little_room() is None
    monkeypatch.setattr(health, "LITTLE_ROOM", 1 << 60)
    assert str(tmp_path) in results.little_room()
