"""All backends as parameters of a fixture, and the URL of each."""

from __future__ import annotations

import pytest

BACKENDS = ["memory", "nonatomic", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]


def backend_url(request, folder):
    """The URL of a fixture's backend; a file is made in a folder, and one HBase serves all tests."""
    if request.param == "hbase":
        return request.getfixturevalue("hbase_url")
    return {"memory": "memory://", "nonatomic": "memory://?atomic=false"}.get(
        request.param, f"sqlite://{folder}/store.db"
    )
