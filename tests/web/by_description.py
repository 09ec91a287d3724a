"""What schemathesis finds when it asks the HTTP interface all that /openapi.json describes.

    make describe                       exit 1 if it finds something
    make describe ARGS="--phases fuzzing --max-examples 50"     options of `schemathesis run`

The pinned release is installed into a virtual environment of its own. A server in this process answers, on a store with
some cubes and no Spark; S3, which examples name, is moto's. Two checks are left out: that all which fits the schema is
taken, as schemas know nothing of filters and times; and that what does not fit is refused, as numbers may be written as
texts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from contextlib import ExitStack
from pathlib import Path

from pyarrow.fs import S3FileSystem

from hbstore import connect
from hbstore.files.warehouse import Warehouse
from hbstore.query_service.access import Access
from hbstore.warehouse.service import Service
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.object_store import endpoint, s3_at
from tests.query_service.test_service import serving
from tests.web.cubes import modelled

RELEASE = "4.32.5"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hbstore" / f"schemathesis-{RELEASE}"
OPTIONS = ["--workers", "1", "--seed", "1", "--max-examples", "10", "--continue-on-failure", "--request-timeout", "60"]
PHASES = ["--phases", "examples,coverage"]
LEFT_OUT = "positive_data_acceptance,negative_data_rejection"


def tool() -> Path:
    """The program, installed once."""
    program = CACHE / "bin" / "schemathesis"
    if not program.exists():
        venv.create(CACHE, clear=True, with_pip=True)
        python = CACHE / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"schemathesis=={RELEASE}"], check=True)
    return program


def main(arguments: list[str]) -> int:
    """Ask, and hand on what schemathesis says."""
    program = tool()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hbstore-description-")))
        stack.enter_context(s3_at(endpoint()))
        S3FileSystem(endpoint_override=endpoint(), allow_bucket_creation=True).create_dir("shop")
        store = stack.enter_context(connect(f"sqlite://{folder}/store.db"))
        service, _ = stack.enter_context(serving(store, folder))
        store.create_database("shop")
        modelled(store, f"file:{folder}/lake")
        catalog = Service(store, Warehouse(str(folder / "warehouse"), also_under=()))
        port = stack.enter_context(http_served(application(service, Access(), catalog=catalog), "127.0.0.1", 0))
        phases = [] if "--phases" in arguments else PHASES
        words = [program, "run", f"http://127.0.0.1:{port}/openapi.json", "--exclude-checks", LEFT_OUT]
        environment = {
            **os.environ,
            "SCHEMATHESIS_HOOKS": "description_hooks",
            "PYTHONPATH": str(Path(__file__).parent),
        }
        command = [*words, *OPTIONS, *phases, *arguments]
        return subprocess.run(command, check=False, cwd=folder, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
