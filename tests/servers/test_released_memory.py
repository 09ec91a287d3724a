"""Free memory goes back to the system, though pieces between are still in use."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

PROGRAM = """
import re
from pathlib import Path
from hbstore.servers.memory import release_memory

def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

payloads = [bytes(780) for _ in range(150_000)]
full = resident()
some = payloads[::1000]
del payloads
kept = resident()
release_memory()
print(full, kept, resident(), len(some))
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="another C library than glibc")
def test_what_is_free_between_pieces_in_use_is_given_back():
    shown = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    full, kept, released, _ = map(int, shown.split())
    assert kept > full - 20_000  # the C library would not give it back by itself
    assert released < full - 80_000
