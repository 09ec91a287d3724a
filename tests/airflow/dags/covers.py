"""DAGs of sensors; test_sensor.py runs them one after another in a process that has Airflow.

HBSTORE_SERVER says which server they ask. The process prints ``waiting CASE`` when a case is to begin, which it does
with the next line of its input, and ``CASE JSON`` when it has ended.
"""

from __future__ import annotations

import asyncio
import json
import os
from datetime import UTC, datetime

from airflow.sdk import DAG

from hbstore.airflow import CoverSensor, CoverTrigger


class AskedSensor(CoverSensor):
    """Says what it asks."""

    def _question(self, context):
        question = super()._question(context)
        say("asked", self.dag_id, question.start, question.end)
        return question


SERVER = os.environ["HBSTORE_SERVER"]
LATE = {"server": SERVER, "fact": "shop.rides_daily", "start": "2015-01-29", "end": "2015-02-01"}
THERE = {**LATE, "end": "2015-01-31T00:00:00Z", "timeout": 5}
BY_TEMPLATE = {"start": "{{ dag_run.conf['from'] }}", "end": "{{ macros.ds_add(dag_run.conf['from'], 2) }}"}
CASES = {
    "poke": {**LATE, "poke_interval": 30, "timeout": 600},
    "reschedule": {**LATE, "mode": "reschedule", "poke_interval": 1, "timeout": 600},
    "deferred": {**LATE, "deferrable": True, "poke_interval": 1, "timeout": 600},
    "over": {**LATE, "poke_interval": 0.2, "timeout": 0.5},
    "template": {**THERE, **BY_TEMPLATE},
    "connection": {**THERE, "server": None, "conn_id": "hbstore"},
    "unknown": {**THERE, "fact": "shop.none"},
    "moving": {**LATE, "end": "now", "poke_interval": 0.2, "timeout": 0.5},
    "moving_on": {**LATE, "end": "now", "mode": "reschedule", "poke_interval": 0.2, "timeout": 0.5},
    "restarted": {**LATE, "end": "2015-01-31", "poke_interval": 0.2, "timeout": 600},
    "restarted_deferred": {**LATE, "end": "2015-01-31", "deferrable": True, "poke_interval": 0.2, "timeout": 600},
}


DAGS = {}
for case, options in CASES.items():
    with DAG(f"covers_{case}", schedule=None, start_date=datetime(2015, 1, 1, tzinfo=UTC)) as DAGS[case]:
        (AskedSensor if "moving" in case else CoverSensor)(task_id="wait", **options)
    globals()[f"covers_{case}"] = DAGS[case]  # where Airflow looks for them


async def events():
    """What the trigger says, made again of what the triggerer gets."""
    question = {**LATE, "start": "2015-01-29T00:00:00+00:00", "end": "2015-02-01T00:00:00+00:00"}
    trigger = CoverTrigger(**question, conn_id=None, time_dimension="dt", poke_interval=0.1)
    kind, arguments = trigger.serialize()
    assert kind == "hbstore.airflow.CoverTrigger"
    return [event.payload async for event in CoverTrigger(**json.loads(json.dumps(arguments))).run()]


def say(*words):
    print(*words, flush=True)  # noqa: T201  to the test


if __name__ == "__main__":
    say("waiting trigger")
    input()
    say("trigger", json.dumps(asyncio.run(events())))
    for case, dag in DAGS.items():
        say("waiting", case)
        input()
        state = str(dag.test(run_conf={"from": "2015-01-29"}).state)
        say(case, json.dumps(state))
