"""A table in a bucket, a job that appends to partitions, replaces, drops and adds some, and what its readers see."""

from __future__ import annotations

import os

from pyarrow.fs import FileSelector

from hbstore import Column, Partition, Table, connect
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from tests.processes import say

BEFORE = {name: [f"old {name}"] for name in "abc"}
AFTER = {"a": ["new a", "old a"], "b": ["new b"], "d": ["new d"]}


def write(files, path, text):
    """Write an object, past hbstore."""
    with files.open_output_stream(path) as stream:
        stream.write(text.encode())


def prepare(store, bucket, files):
    """shop.sales with partitions a, b and c, and a file in each."""
    store.create_database("shop")
    store.create_table(Table("shop", "sales", [Column("ds", "string")], location=f"s3://{bucket}/sales"))
    for name in "abc":
        write(files, f"{bucket}/sales/ds={name}/old", f"old {name}")
        store.add_partitions("shop", "sales", [Partition([name])])


def stage(bucket, files, texts):
    """Files that a job has staged: for each partition its files' texts by their names."""
    for value, partition in texts.items():
        for name, text in partition.items():
            write(files, f"{bucket}/sales/_hbstore/job/data/ds={value}/{name}", text)


def manifest(bucket, texts, *, replaces="", drops=""):
    """What the job does with what it has staged."""
    writes = [
        PartitionWrite(
            (value,),
            f"s3://{bucket}/sales/ds={value}",
            {f"data/ds={value}/{name}": name for name in partition},
            ("old",) if value in replaces else (),
            value not in replaces,
        )
        for value, partition in texts.items()
    ]
    dropped = [PartitionWrite((value,), f"s3://{bucket}/sales/ds={value}", drop=True) for value in drops]
    return Manifest("job", f"s3://{bucket}/sales/_hbstore/job", (*writes, *dropped), hidden=False)


NEW = {value: {"new": f"new {value}"} for value in "abd"}


def publish(url, bucket):
    """Called in a process: publish what is staged."""
    with connect(url) as store:
        say("begin", os.getpid())
        Publisher(store).publish("shop.sales", manifest(bucket, NEW, replaces="b", drops="c"), {})


def seen(store, _bucket, files):
    """The texts of the files of each partition, where the catalog says that they are."""
    found = {}
    for partition in store.get_partitions_by_filter("shop", "sales", None):
        path = partition.location.removeprefix("s3://")
        infos = files.get_file_info(FileSelector(path, recursive=True, allow_not_found=True))
        found[partition.values[0]] = sorted(
            files.open_input_file(one.path).read().decode() for one in infos if one.is_file
        )
    return found


def staged(bucket, files):
    """The files that are still staged."""
    below = FileSelector(f"{bucket}/sales/_hbstore", recursive=True, allow_not_found=True)
    return [one.path for one in files.get_file_info(below) if one.is_file]
