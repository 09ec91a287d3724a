"""Logs and writes of all shapes."""

from __future__ import annotations

from hypothesis import strategies as st

from hbstore.rows.interface import PartitionRow
from hbstore.transactions.log import Commit, Intent, Log
from hbstore.transactions.writes import RowWrites

data = st.binary(max_size=20)
names = st.text(st.characters(codec="utf-8"), max_size=12)
numbers = st.integers(0, 2**40)
cells = st.dictionaries(names, data, max_size=3)
spans = st.lists(st.tuples(data, data), max_size=2).map(tuple)

commits = st.builds(Commit, names, numbers, data, st.booleans(), spans, st.booleans(), cells, data)
intents = st.none() | st.builds(Intent, names, data, numbers, numbers)
logs = st.builds(Log, numbers, numbers, numbers, names, st.lists(commits, max_size=3).map(tuple), intents, data)

puts = st.lists(st.builds(PartitionRow, data, st.lists(data, max_size=3).map(tuple), data), max_size=3).map(tuple)
keys = st.lists(data, max_size=3).map(tuple)
row_writes = st.builds(RowWrites, data, numbers, data, cells, puts, keys, st.booleans())
