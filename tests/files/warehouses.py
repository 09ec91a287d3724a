"""Warehouses on every kind of file system, with the hands to fill them and the eyes to see what is in them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fsspec.implementations.memory import MemoryFileSystem
from pyarrow.fs import FileSelector, FileSystem, FSSpecHandler, LocalFileSystem, PyFileSystem, SubTreeFileSystem

from hbstore.files.remote_files import RemoteFiles
from hbstore.files.warehouse import Warehouse
from tests.object_store import endpoint, new_bucket, s3_at


class World(Protocol):
    """A warehouse, and another way to its files."""

    warehouse: Warehouse

    def write(self, location: str, content: bytes = b"data") -> None: ...

    def files(self) -> dict[str, bytes]:
        """Every file below the warehouse's parent, by the end of its path."""


class LocalWorld:
    def __init__(self, folder: Path, **options: str) -> None:
        self.folder = folder
        self.warehouse = Warehouse(str(folder / "wh"), **options)

    def write(self, location, content=b"data"):
        path = Path(location.removeprefix("file:"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def files(self):
        return {
            str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()
        }


@dataclass
class RemoteWorld:
    """Any file system of pyarrow as ``scheme://bucket``."""

    warehouse: Warehouse
    fs: FileSystem
    base: str

    def write(self, location, content=b"data"):
        path = self.base + "/" + location.split("/", 3)[3]
        self.fs.create_dir(path.rpartition("/")[0], recursive=True)
        with self.fs.open_output_stream(path) as stream:
            stream.write(content)

    def files(self):
        found = {}
        for info in self.fs.get_file_info(FileSelector(self.base or "/", recursive=True)):
            if info.is_file:
                with self.fs.open_input_stream(info.path) as stream:
                    found[info.path.strip("/").removeprefix(self.base.strip("/")).strip("/")] = stream.read()
        return found


class Copying(FSSpecHandler):
    """A file system without a move, as accounts of Azure without a hierarchy."""

    def move(self, src, dest):
        raise NotImplementedError(src, dest)


def world(kind, folder):
    if kind == "local":
        return LocalWorld(folder)
    if kind == "memory":
        bucket = uuid.uuid4().hex
        fs = PyFileSystem(FSSpecHandler(MemoryFileSystem()))
        fs.create_dir(f"/{bucket}", recursive=True)
        return RemoteWorld(Warehouse(f"memory://{bucket}/wh"), fs, f"/{bucket}")
    if kind == "s3":
        bucket, files = new_bucket()
        with s3_at(endpoint()):
            warehouse = Warehouse(f"s3://{bucket}/wh")
            warehouse.exists(warehouse.root)  # which opens it
        return RemoteWorld(warehouse, files, bucket)
    fs, base = {
        "arrow local": lambda: (LocalFileSystem(), str(folder)),
        "arrow subtree": lambda: (SubTreeFileSystem(str(folder), LocalFileSystem()), ""),
        "copying": lambda: (PyFileSystem(Copying(MemoryFileSystem())), f"/{uuid.uuid4().hex}"),
    }[kind]()
    if kind == "copying":
        fs.create_dir(base, recursive=True)
    warehouse = Warehouse("test://bucket/wh")
    warehouse._systems._open["test", "bucket"] = RemoteFiles(fs, base)
    return RemoteWorld(warehouse, fs, base)


KINDS = ("local", "memory", "arrow local", "arrow subtree", "copying", "s3")
