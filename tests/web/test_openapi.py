"""The description at /openapi.json: each operation is explained, and the server takes and sends its examples."""

from __future__ import annotations

import json
import re

import pytest

from hbstore.web.catalog import catalog_documents, catalog_requests
from hbstore.web.cubes import fact_documents, fact_partition_routes, model_routes
from tests.web.catalog import SALES
from tests.web.cubes import modelled

FIVE = f"{SALES}/partitions/ds=2013-01-01/hour=5"
REQUESTS = {
    "NewDatabase": ("POST", "/databases"),
    "DatabaseChange": ("PATCH", "/databases/shop"),
    "NewTable": ("POST", "/databases/attic/tables"),
    "TableChange": ("PATCH", SALES),
    "NewPartitions": ("POST", f"{SALES}/partitions?if_not_exists=true"),
    "NamedPartitions": ("POST", f"{SALES}/partitions/drop"),
    "PartitionChange": ("PATCH", FIVE),
}


def kinds(module):
    return {
        name: kind
        for name, kind in vars(module).items()
        if isinstance(kind, type) and "examples" in (getattr(kind, "model_config", {}).get("json_schema_extra") or {})
    }


def examples(kind):
    return kind.model_config["json_schema_extra"]["examples"]


DOCUMENTS = {
    name: kind
    for module in (catalog_documents, fact_documents, fact_partition_routes, model_routes)
    for name, kind in kinds(module).items()
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_examples_of_documents_are_such_documents(name):
    kind = DOCUMENTS[name]
    for example in examples(kind):
        document = kind.model_validate(example, extra="forbid").model_dump(
            mode="json", exclude_unset=True, by_alias=True
        )
        assert document == example


def test_the_server_takes_the_examples_of_bodies_of_cubes(browse, catalog):
    cubes = modelled(catalog.store)
    described = browse("GET", "/openapi.json").json()["paths"]

    def example(path, method):
        return described[path][method]["requestBody"]["content"]["application/json"]["example"]

    model, entity = "/databases/{database}/model", "/databases/{database}/model/{kind}/{name}"
    partitions = "/databases/{database}/facts/{fact}/partitions"
    assert browse("POST", model.format(database="shop"), example(model, "post")).status == 200
    document = example(entity, "put")
    path = entity.format(database="shop", kind=f"{document['kind']}s", name=document["name"])
    assert browse("PUT", path, document).status == 200
    assert (
        browse("GET", path).json()
        == document
        == described[entity]["get"]["responses"]["200"]["content"]["application/json"]["example"]
    )
    for method in ("post", "patch", "delete"):
        path = partitions.format(database="shop", fact="rides_daily")
        reply = browse(method.upper(), f"{path}?storage=lake", example(partitions, method))
        assert (reply.status, reply.json()["partitions"]) == (200, 1)
    assert cubes.partitions("rides_daily", "lake", "dt = '2015-02-02'") == []


def test_all_requests_with_examples_are_tried():
    assert set(kinds(catalog_requests)) == set(REQUESTS)


@pytest.mark.parametrize("name", REQUESTS)
def test_the_server_takes_the_examples_of_requests(browse, catalog, tmp_path, name):
    catalog.store.create_database("attic")
    method, path = REQUESTS[name]
    for example in examples(kinds(catalog_requests)[name]):
        if name == "NewDatabase":
            catalog.store.drop_database("shop", cascade=True)
        if name == "NewPartitions":  # whose second has a location, which is one of this machine here
            example["partitions"][1]["location"] = f"file:{tmp_path}/6"
        reply = browse(method, path, example)
        assert reply.status in (200, 201), reply.data
        catalog.store.drop_table("attic", "sales", if_exists=True)


def test_each_operation_is_explained(browse):
    description = browse("GET", "/openapi.json").json()
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            assert operation.get("description"), (method, path)
            for parameter in operation.get("parameters", ()):
                named = parameter["in"] == "path" or parameter.get("description") or not path.startswith("/databases")
                assert named, (method, path, parameter["name"])
    for name in REQUESTS:
        if name != "NewPartitions":
            assert description["components"]["schemas"][name]["examples"], name


def test_each_operation_tells_of_errors_and_of_no_others(browse):
    description = browse("GET", "/openapi.json").json()
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            errors = {code for code in operation["responses"] if not code.startswith("2")}
            assert errors - {"503", "303", "307"} == {"default"}, (method, path, errors)
    text = json.dumps(description)
    places = re.findall(r'"\$ref": "#/([^"]*)"', text)
    assert places
    for place in places:
        one = description
        for name in place.split("/"):
            one = one[name]
