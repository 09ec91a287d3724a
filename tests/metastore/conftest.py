"""A database ``shop`` behind an endpoint, on every backend; files put into it what their tests are about."""

from __future__ import annotations

import pytest

from tests.metastore import asking as without_files
from tests.metastore import writing as with_files


@pytest.hookimpl(tryfirst=True)  # before pytest gives the fixtures the parameters that they have
def pytest_generate_tests(metafunc):
    """Run tests on the backends that their module names in ``ON_BACKENDS``, where it names some."""
    backends = getattr(metafunc.module, "ON_BACKENDS", ())
    for name in {"asking", "shop"} & set(metafunc.fixturenames):
        if backends:
            metafunc.definition.add_marker(pytest.mark.parametrize(name, backends, indirect=True))


@pytest.fixture(params=without_files.BACKENDS)
def asking(request, tmp_path):
    """A store without a warehouse: an `Asking`."""
    with without_files.opened(request, tmp_path) as made:
        yield made


@pytest.fixture(params=with_files.BACKENDS)
def shop(request, tmp_path):
    """A store with a warehouse in a folder: a `Writing`."""
    with with_files.opened(request, tmp_path) as made:
        yield made
