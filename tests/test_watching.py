"""The dashboard and the alerts of deploy/: a server that runs exports each metric and label that they name."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass

import pytest
import urllib3
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.metastore.client import TYPES, client
from tests.metastore.serving import Serve
from tests.pauses import until
from tests.processes import ROOT
from tests.test_docs import anchors

DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
ALERTS_FILE = ROOT / "deploy" / "prometheus" / "alerts.yaml"
ALERTS = yaml.safe_load(ALERTS_FILE.read_text(encoding="utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS = DASHBOARD["panels"]
OWN = ("up",)
"""What Prometheus itself adds: a metric, and the labels of what it scrapes."""
SCRAPED = {"job", "instance"}
WORDS = {
    *("sum", "max", "min", "rate", "increase", "histogram_quantile", "label_values"),
    *("by", "on", "unless", "and", "or"),
}


@dataclass(frozen=True)
class Named:
    """What an expression names.

    Attributes:
        metrics: their series, such as ``…_total``.
        labels: labels by which is grouped.
        matchers: for each metric, labels with the operators and values that are asked for.
    """

    metrics: set[str]
    labels: set[str]
    matchers: list[tuple[str, str, str, str]]


def named(expression):
    """What a PromQL expression names; words that are neither functions nor metrics are an error."""
    matchers = [
        (metric, *matcher)
        for metric, inside in re.findall(r"(\w+)\{([^}]*)\}", expression)
        for matcher in re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', inside)
    ]
    grouped = re.findall(r"\b(?:by|on)\s*\(([^)]*)\)", expression)
    bare = re.sub(r'\{[^}]*\}|\[[^\]]*\]|"[^"]*"|\b(?:by|on)\s*\([^)]*\)', " ", expression)
    metrics = set(re.findall(r"[a-zA-Z_:][\w:]*", bare)) - WORDS
    return Named(metrics, {label.strip() for part in grouped for label in part.split(",")}, matchers)


EXPRESSIONS = [
    *(pytest.param(rule["expr"], rule["annotations"]["summary"], id=rule["alert"]) for rule in RULES),
    *(
        pytest.param(target["expr"], target["legendFormat"], id=f"{panel['title']} {target['refId']}")
        for panel in PANELS
        for target in panel["targets"]
    ),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The metrics of a server, as Prometheus reads them. It has been asked at each door, and once in vain.

    Its queries fail, as it finds no Java.
    """
    folder = tmp_path_factory.mktemp("watched")
    options = ("--metrics-port", "0", "--http-port", "0", "--results", str(folder / "results"))
    with Serve(f"sqlite://{folder}/store.db", folder, *options, environment={"JAVA_HOME": "/nowhere"}) as server:
        with client(server.port) as metastore, pytest.raises(TYPES.NoSuchObjectException):
            metastore.get_database("nowhere")
        query = urllib3.request("POST", f"{server.ready['http']}/queries", json={"text": "SELECT 1"}).json()["id"]
        state = f"{server.ready['http']}/queries/{query}"
        until(lambda: urllib3.request("GET", state).json()["state"] == "failed")

        def read():
            text = urllib3.request("GET", server.ready["metrics"]).data.decode()
            return text if looked <= series(text).keys() else None

        looked = {"hbstore_store_tables", "hbstore_server_ready", "hbstore_temporary_bytes", "hbstore_store_leases"}
        looked.add("hbstore_query_errors_total")
        return until(read)


def series(page):
    found = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


@pytest.fixture(scope="module")
def exported(page):
    """The series of a server by their names: the labels of each."""
    return series(page)


@pytest.mark.parametrize(("expression", "text"), EXPRESSIONS)
def test_a_server_exports_what_an_expression_names(exported, expression, text):
    asked = named(expression)
    assert any(name.startswith("hbstore_") for name in asked.metrics)
    own = asked.metrics.difference(OWN)
    assert own <= exported.keys()
    labels = {name: {label for series in exported[name] for label in series} | SCRAPED for name in own}
    for name in own:
        assert asked.labels <= labels[name]
    for name, label, operator, value in asked.matchers:
        if name in OWN:
            continue
        assert label in labels[name]
        if operator == "=" and label not in SCRAPED:
            assert value in {series.get(label) for series in exported[name]}
    shown = set(re.findall(r"\{\{ *\$?(?:labels\.)?(\w+)", text)) - {"value"}
    assert all(shown <= labels[name] for name in own)


def test_each_metric_is_documented(exported):
    pages = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES)
    families = {re.sub("_(bucket|count|sum)$", "", name) for name in exported}
    assert {name for name in families if f"`{name}`" not in pages} == set()


PAGES = ("operating.md", "metastore.md", "query-service.md")


def test_the_pages_name_no_metric_that_is_not_there(exported):
    families = {re.sub("_(bucket|count|sum)$", "", name) for name in exported}
    for page in PAGES:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert set(re.findall(r"^\| `(hbstore_\w+)`", text, re.MULTILINE)) <= families


@pytest.fixture
def promtool():
    """Runs Prometheus' own tool in the folder of the alerts; what it complains of."""
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("there is no promtool")

    def run(*words, given=None):
        command = [program, *words]
        done = subprocess.run(command, cwd=ALERTS_FILE.parent, input=given, capture_output=True, text=True, check=False)
        return None if done.returncode == 0 else done.stdout + done.stderr

    return run


def test_prometheus_takes_the_alerts_and_they_fire_as_their_examples_say(promtool):
    assert promtool("check", "rules", "alerts.yaml") is None
    assert promtool("test", "rules", "alerts_test.yaml") is None


def test_prometheus_has_nothing_against_the_metrics(promtool, page):
    assert promtool("check", "metrics", given=page) is None


def test_there_is_an_example_of_each_alert():
    examples = yaml.safe_load(ALERTS_FILE.with_name("alerts_test.yaml").read_text(encoding="utf-8"))["tests"]
    fired = {one["alertname"] for test in examples for one in test.get("alert_rule_test", ()) if one["exp_alerts"]}
    assert fired == {rule["alert"] for rule in RULES}


def test_runbooks_become_links_by_the_command_of_the_file():
    text = ALERTS_FILE.read_text(encoding="utf-8")
    old, new = re.search(r"sed 's\|(.*?)\|(.*?)\|'", text).groups()
    linked = yaml.safe_load(re.sub(r"^([^#\n]*)" + old, rf"\1{new}", text, flags=re.MULTILINE))
    notes = [rule["annotations"] for group in linked["groups"] for rule in group["rules"]]
    assert all(one["runbook_url"].startswith("https://wiki.example/hbstore/operating.md#") for one in notes)


def test_panels_have_ids_and_places_of_their_own():
    assert len({panel["id"] for panel in PANELS}) == len({panel["title"] for panel in PANELS}) == len(PANELS)
    taken = [
        (x, y)
        for place in (panel["gridPos"] for panel in PANELS)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(taken)) == len(taken)
    assert max(x for x, _ in taken) < 24
    for panel in PANELS:
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])


def test_the_variables_of_the_dashboard_are_declared():
    declared = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD)))
    assert used - {"__rate_interval", "__all"} == declared


def test_each_alert_has_what_people_need():
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    sections = anchors(ROOT / "docs" / "operating.md")
    for rule in RULES:
        assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+m", rule["for"])
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert rule["annotations"].keys() == {"summary", "runbook"}
        page, _, anchor = rule["annotations"]["runbook"].partition("#")
        assert page == "docs/operating.md"
        assert anchor in sections


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (
            'sum by (job, le) (rate(hbstore_a_bucket{error=~"A|B.*"}[5m])) / hbstore_b > 0.05',
            Named({"hbstore_a_bucket", "hbstore_b"}, {"job", "le"}, [("hbstore_a_bucket", "error", "=~", "A|B.*")]),
        ),
        (
            'up{job="h"} unless on (job) ready == 1',
            Named({"up", "ready"}, {"job"}, [("up", "job", "=", "h")]),
        ),
    ],
)
def test_what_an_expression_names(expression, expected):
    assert named(expression) == expected
