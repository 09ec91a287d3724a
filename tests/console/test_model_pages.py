"""Pages of a model, in a browser."""

from __future__ import annotations

import pytest

from hbstore.cubes import KINDS, Cubes, parse_documents
from tests.console.browser import LOOKS
from tests.console.facts import got, hired


@pytest.fixture(scope="module", autouse=True)
def cubes(catalog):
    return hired(catalog.store)


@LOOKS
def test_a_model_and_its_descriptions(tabs, narrow, dark):
    tab = tabs(narrow=narrow, dark=dark)
    assert tab.open("/databases/city/model") == 200
    titles = ["Storages", "Cubes", "Derived cubes", "Dimensions", "Facts", "Dimension tables"]
    assert tab.page.locator("h2").all_inner_texts() == titles
    expected = "rides\tminutes, fare\tstart_time, station_id, bike, station_name\tWhat was ridden"
    assert tab.lines("Cubes") == [expected]
    tab.check()
    if not narrow and not dark:
        tab.picture("model")
    assert tab.open("/databases/city/model/cubes/rides") == 200
    assert tab.lines("Expressions") == ["pace\tdouble\tfare / minutes\t–"]
    tab.check()


def test_links_lead_from_a_database_over_cube_and_fact_to_its_timelines(tabs):
    tab = tabs(java_script_enabled=False)
    tab.open("/databases/city")
    for link, title in (
        ("Model: cubes, facts and dimensions", "Model of city"),
        ("rides", "rides cube"),
        ("hires", "hires fact"),
        ("Timelines and covers", "hires a fact of the cube rides"),
        ("its description", "hires fact"),
        ("vault", "vault storage"),
    ):
        tab.page.get_by_role("link", name=link, exact=True).first.focus()
        tab.page.keyboard.press("Enter")
        tab.page.locator(f"h1:has-text({title!r})").wait_for()


def test_the_yaml_of_every_description_is_what_is_stored(tab, catalog):
    cubes = Cubes(catalog.store, "city")
    for kind in KINDS:
        for document in cubes.list(kind):
            assert tab.open(f"/databases/city/model/{kind}s/{document.name}") == 200
            assert parse_documents(tab.text("pre >> nth=-1"), "yaml") == [document]


def test_what_is_not_there(url):
    assert "no storages, cubes, dimensions and facts yet" in got(url, "/databases/shop/model")
    assert "Model: cubes" not in got(url, "/databases/shop")
    got(url, "/databases/city/model/facts/nosuch", 404)
    assert "the kind of the description is unknown" in got(url, "/databases/city/model/nosuch/rides", 400)
    assert "the database does not exist" in got(url, "/databases/nosuch/model", 404)
