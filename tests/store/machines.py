"""State machines of stores, run on a backend."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests import hbase_server


def run(machine, url, examples, steps):
    """Run a machine on the store at its class's ``url``, which is set to this one."""

    class Machine(machine):
        pass

    Machine.url = url
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        ),
    )


def run_on_hbase(machine, server_url, examples, steps):
    """The same on HBase, in tables of its own."""
    with hbase_server.own_tables(server_url) as url:
        run(machine, url, examples, steps)
