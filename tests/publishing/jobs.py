"""A table, a job that appends to partitions, replaces, drops and adds some, and what a reader sees of it."""

from __future__ import annotations

from hbstore import Column, Partition, Table
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from hbstore.publishing.manifest import hidden_name

BEFORE = {name: ([f"old {name}"], "10") for name in "abc"}
AFTER = {"a": (["job1 a", "old a"], "11"), "b": (["job1 b"], "1"), "d": (["job1 d"], "1")}


def prepare(store, root):
    """shop.sales with partitions a, b and c, and a file in each."""
    store.create_database("shop")
    store.create_table(Table("shop", "sales", [Column("ds", "string")], location=f"file:{root}"))
    for name in "abc":
        folder = root / f"ds={name}"
        folder.mkdir(parents=True)
        (folder / "old").write_text(f"old {name}")
        parameters = {"numRows": "10", "totalSize": "5", "COLUMN_STATS_ACCURATE": "{}", "kept": "yes"}
        store.add_partitions("shop", "sales", [Partition([name], parameters=parameters)])


def job(root, name="job1", partitions="abcd"):
    """Appends to a, replaces b, drops c, adds d: a manifest, and its staged files."""
    staging = root / "_hbstore" / name
    writes, staged = [], {}
    for number, value in enumerate(partitions):
        folder = root / f"ds={value}"
        location = f"file:{folder}"
        if value == "c":
            writes.append(PartitionWrite((value,), location, replaced=("old",), drop=True))
            continue
        source = staging / "data" / f"ds={value}" / "part-0"
        source.parent.mkdir(parents=True)
        source.write_text(f"{name} {value}")
        hidden, shown = hidden_name(name, number), f"part-0-{name}"
        staged[f"file:{source}"] = f"{location}/{hidden}"
        replaced = ("old",) if value == "b" else ()
        statistics = {"numRows": 1, "totalSize": 6}
        writes.append(PartitionWrite((value,), location, {hidden: shown}, replaced, value != "b", statistics))
    return Manifest(name, f"file:{staging}", tuple(writes), names_drops=True), staged


def seen(store, root):
    """What a reader sees, who shows decided publications first: by partition, the texts of its files."""
    Publisher(store).roll_forward_before_use(store.publications.row("shop", "sales"))
    found = {}
    for partition in store.get_partitions_by_filter("shop", "sales", None):
        folder = root / f"ds={partition.values[0]}"
        files = sorted(one.read_text() for one in folder.iterdir() if not one.name.startswith((".", "_")))
        found[partition.values[0]] = files, partition.parameters.get("numRows")
    return found
