"""Completion of names in the editor of statements, by keyboard, by mouse, and as screen readers hear it."""

from __future__ import annotations

from queue import Queue

import pytest

from hbstore import Database
from hbstore.cubes import Cubes
from hbstore.cubes.concepts import Cube
from tests.console.rides import rides

SAID = "'\"><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module", autouse=True)
def _model(catalog):
    cubes = Cubes(catalog.store, "shop")
    cubes.create_all(rides())
    cubes.create(Cube(name="odd", measures=[{"name": "strange", "type": "int", "description": SAID}]))
    catalog.store.create_database(Database("bare"))


@pytest.fixture
def editor(tab):
    """The tab with the editor of the database `shop`, when it knows the names."""
    with tab.page.expect_response("**/databases/shop/names") as reply:
        tab.open("/queries?database=shop")
    reply.value.finished()
    tab.page.locator("textarea").focus()
    return tab


def typed(editor, text):
    editor.page.keyboard.type(text)


def text(editor):
    return editor.page.locator("textarea").input_value()


def words(editor):
    """The words of the list; none where it is closed."""
    return editor.page.locator("#words:visible b").all_inner_texts()


def chosen(editor):
    """What a screen reader says: the option that the text names as the active one."""
    box = editor.page.locator("textarea")
    active = box.get_attribute("aria-activedescendant")
    return active and editor.page.locator(f"#{active}[role=option][aria-selected=true] b").inner_text()


def test_a_field_is_completed_while_it_is_typed_and_that_can_be_undone(editor):
    typed(editor, "cube select minutes, fa")
    assert words(editor)[0] == "fare"
    assert "euros" in editor.page.get_by_role("option", name="fare").first.inner_text()
    assert "measure · double" in editor.page.get_by_role("option", name="fare").first.inner_text()
    editor.check()
    editor.page.keyboard.press("Enter")
    assert text(editor) == "cube select minutes, fare"
    assert words(editor) == []
    editor.page.keyboard.press("Control+z")
    assert text(editor) == "cube select minutes, fa"


def test_a_list_is_asked_for_moved_in_and_closed_by_keyboard(editor):
    typed(editor, "select ")
    assert chosen(editor) is None
    editor.page.keyboard.press("Control+Space")
    every = words(editor)
    assert len(every) > 20
    assert chosen(editor) == every[0]
    editor.page.keyboard.press("ArrowDown")
    assert chosen(editor) == every[1]
    editor.page.keyboard.press("ArrowUp")
    editor.page.keyboard.press("ArrowUp")
    assert chosen(editor) == every[-1]
    assert editor.page.locator(".completed [role=status]").inner_text().endswith("words")
    editor.page.keyboard.press("Escape")
    assert (words(editor), chosen(editor), text(editor)) == ([], None, "select ")
    editor.page.keyboard.press("Control+Space")
    editor.page.keyboard.press("Tab")
    assert text(editor) == f"select {every[0]}"
    editor.page.keyboard.press("Tab")  # which leaves the text, now that the list is closed
    assert editor.page.get_by_label("Database").evaluate("box => box === document.activeElement")


def test_a_list_that_is_asked_for_before_the_names_are_there_opens_with_them(tab):
    held = Queue()
    tab.page.route("**/databases/shop/names", held.put)
    tab.open("/queries?database=shop")
    tab.page.locator("textarea").fill("cube select fa")
    tab.page.keyboard.press("Control+Space")
    while held.empty():
        tab.page.wait_for_timeout(10)
    held.get().continue_()
    tab.page.get_by_role("option", name="fare").first.wait_for()
    tab.page.unroute_all()


def test_behind_from_stand_cubes_and_tables(editor):
    typed(editor, "select x from sa")
    assert words(editor) == ["sales"]
    editor.page.keyboard.press("Tab")
    typed(editor, "\nwhere ho")
    assert words(editor)[0] == "hour"
    assert "partition column · int" in editor.page.get_by_role("option").first.inner_text()
    editor.page.keyboard.press("Tab")
    assert text(editor) == "select x from sales\nwhere hour"


def test_a_chain_is_followed(editor):
    typed(editor, "cube select  from rides")
    editor.page.keyboard.press("Escape")
    for _ in range(len(" from rides")):
        editor.page.keyboard.press("ArrowLeft")
    typed(editor, "station.n")
    assert words(editor)[0] == "station.name"
    editor.page.keyboard.press("Enter")
    assert text(editor) == "cube select station.name from rides"


def test_a_word_is_taken_by_mouse(editor):
    typed(editor, "cube select pa")
    editor.page.get_by_role("option", name="pace").click()
    assert text(editor) == "cube select pace"
    assert editor.page.locator("textarea").evaluate("box => box === document.activeElement")


def test_a_word_that_is_complete_asks_nothing(editor):
    typed(editor, "select")
    assert words(editor) == []
    editor.page.keyboard.press("Enter")
    assert text(editor) == "select\n"


def test_another_database_has_other_names(editor):
    with editor.page.expect_response("**/databases/bare/names") as reply:
        editor.page.get_by_label("Database").select_option("bare")
    reply.value.finished()
    editor.page.locator("textarea").focus()
    typed(editor, "select x from ri")
    assert words(editor) == []


def test_hostile_descriptions_are_texts(editor):
    typed(editor, "cube select stran")
    assert editor.page.locator("#words small").first.text_content() == SAID
    assert editor.page.locator("#words img, #words script").count() == 0
    editor.check()
