"""The packages that only some features need, and the commands that install them.

pyproject.toml groups these packages into *extras*. What hbstore was installed from (a checkout, a wheel, a repository)
is in the metadata that pip leaves (PEP 610), so that a hint names this place. hbstore is not published yet: a hint that
named `hbstore` alone would install whatever somebody else publishes under this name.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from hbstore.errors import MissingPackage

MODULES: Final = {
    "web": ("fastapi", "fastapi_offline", "h11", "jinja2", "pyarrow", "starlette", "uvicorn", "uvloop"),
    "spark": ("pyarrow", "pyspark"),
    "service": (
        *("anyio", "fastapi", "fastapi_offline", "h11", "jinja2", "numpy", "pyarrow", "pyspark", "starlette"),
        *("tzdata", "uvicorn", "uvloop"),
    ),
    "files": ("fsspec", "pyarrow"),
    "client": ("pyarrow",),
    "pandas": ("pandas", "pyarrow"),
    "polars": ("polars", "pyarrow"),
    "airflow": ("airflow",),
}
"""The modules that each extra brings and hbstore imports."""

PYSPARK: Final = (4, 0)
"""The oldest PySpark that hbstore works with, as pyproject.toml has it."""

PUBLISHED: Final = False
"""Whether the project owns its name on the public package index; docs/releasing.md says when this changes."""


def check_extra(extra: str, feature: str, *, install: str | None = None) -> None:
    """See that an extra is installed.

    Args:
        extra: a key of `MODULES`.
        feature: what needs it: ``the console``.
        install: the extra that the hint names; None: this one.

    Raises:
        MissingPackage: a package of it is not, or PySpark is too old.
    """
    missing = [module for module in MODULES[extra] if find_spec(module) is None]
    if missing:
        raise missing_extra(install or extra, feature, missing)
    if "pyspark" in MODULES[extra]:
        check_pyspark(PYSPARK, feature)


def check_pyspark(oldest: tuple[int, int], feature: str) -> None:
    """See that the PySpark that is installed is new enough, without importing it, which not every server needs.

    Args:
        oldest: the first version that will do.
        feature: what needs it.

    Raises:
        MissingPackage: it is older.
    """
    # Not by the metadata of pip: a Spark that was unpacked and put on PYTHONPATH, often as a zip, has none.
    spec: Any = find_spec("pyspark")
    text = spec.loader.get_data(str(Path(spec.origin).with_name("version.py"))).decode()
    version = re.search(r"__version__.*(['\"])((\d+)\.(\d+).*)\1", text)
    if version is not None and (int(version[3]), int(version[4])) < oldest:
        needed = f"{oldest[0]}.{oldest[1]}"
        raise MissingPackage(
            f"the PySpark that is installed is too old for {feature}",
            installed=version[2],
            needed=f"{needed} or later",
            hint=f"pip install 'pyspark>={needed}'; a cluster that runs the jobs has to have that version, too",
        )


def missing_extra(extra: str, feature: str, modules: Sequence[str]) -> MissingPackage:
    """The error of a feature whose packages are not installed.

    >>> print(missing_extra("web", "the console", ["uvicorn"]))  # doctest: +ELLIPSIS
    a package that the console needs is not installed: missing=uvicorn. pip install ...[web]'...
    """
    return MissingPackage(
        f"a package that {feature} needs is not installed", missing=", ".join(modules), hint=install_command(extra)
    )


def extra_of(module: str) -> str | None:
    """The smallest extra that brings a module; None: none does.

    >>> extra_of("pyspark.sql"), extra_of("fastapi"), extra_of("json")
    ('spark', 'web', None)
    """
    top = module.partition(".")[0]
    return min((extra for extra in MODULES if top in MODULES[extra]), key=lambda one: len(MODULES[one]), default=None)


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation."""
    try:
        origin = metadata.distribution("hbstore").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return f"pip install '.[{extra}]' in the checkout of hbstore"
    return command_for(extra, None if origin is None else json.loads(origin))


def command_for(extra: str, origin: dict[str, object] | None) -> str:
    """The command that adds an extra to an installation of this origin.

    Args:
        extra: which.
        origin: what ``direct_url.json`` of PEP 610 holds; None: pip installed hbstore by its name.

    >>> command_for("web", {"url": "file:///src/hbstore", "dir_info": {"editable": True}})
    "pip install --editable '/src/hbstore[web]'"
    >>> command_for("web", {"url": "file:///dist/hbstore-0.1.0-py3-none-any.whl", "archive_info": {}})
    "pip install '/dist/hbstore-0.1.0-py3-none-any.whl[web]'"
    >>> command_for("web", {"url": "https://host/hbstore", "vcs_info": {"vcs": "git", "commit_id": "1f"}})
    "pip install 'hbstore[web] @ git+https://host/hbstore@1f'"
    """
    if origin is None:
        if PUBLISHED:
            return f"pip install 'hbstore[{extra}]'"
        return f"pip install 'FILE[{extra}]', where FILE is the wheel of hbstore or the folder of its checkout"
    url = str(origin["url"])
    match origin:
        case {"vcs_info": {"vcs": vcs, "commit_id": commit}}:
            return f"pip install {shlex.quote(f'hbstore[{extra}] @ {vcs}+{url}@{commit}')}"
        case {"dir_info": {"editable": True}}:
            return f"pip install --editable {shlex.quote(f'{_path(url)}[{extra}]')}"
    return f"pip install {shlex.quote(f'{_path(url)}[{extra}]' if _path(url) else f'hbstore[{extra}] @ {url}')}"


def _path(url: str) -> str | None:
    """The path of a file's URL; None: it is that of another machine."""
    parts = urlsplit(url)
    return url2pathname(parts.path) if parts.scheme == "file" else None
