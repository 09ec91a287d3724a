"""Threads for tasks that may take long: nobody waits for a thread that another task holds."""

from __future__ import annotations

import threading

from hbstore.servers.threads import TaskThreads

LIMIT = 60.0


def test_tasks_at_the_same_time_have_a_thread_each_whatever_came_before():
    threads = TaskThreads(refused=[].append)
    for _ in range(5):  # one after the other
        done = threading.Event()
        threads.run(done.set)
        assert done.wait(LIMIT)
    all_run = threading.Barrier(6)
    for _ in range(5):
        threads.run(lambda: all_run.wait(LIMIT))
    all_run.wait(LIMIT)
    threads.close()
