"""Pages of queries, in a browser: the editor, one query, the history. A script plays Spark."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from hbstore.query_service.access import Access
from hbstore.query_service.messages import Cancelled, Progressed, Started
from hbstore.query_service.query import QueryProblem, QueryProgress, Request, State
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.console.browser import Tab
from tests.console.finishing import done, failed, started, submitted, succeeded
from tests.console.rides import ASKED

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> {{ 7 * 7 }} &amp; Ünï \u202e" + "x" * 300


def asked_at(tab, service):
    """What was asked by the query whose page a tab shows."""
    return service.get(tab.page.url.rpartition("/")[2]).request


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.usefixtures("month")
def test_the_editor_with_the_history(tabs, service, narrow, dark):
    failed(service, QueryProblem(error="QueryFailed", text="no"), text="select 1 / 0", database="shop")
    running = submitted(
        service, text="select bike, sum(fare) from rides_raw group by bike", user="bob", database="shop"
    )
    started(service, running, tasks=8, tasks_done=3)
    tab = tabs(narrow=narrow, dark=dark)
    assert tab.open("/queries") == 200
    box = tab.page.locator("textarea")
    box.fill("cube select minutes\nfrom rides\nwhere time_range_in(sta, '2015-01-01', '2015-01-08')")
    box.evaluate("box => { const at = box.value.indexOf('sta,') + 3; box.setSelectionRange(at, at); }")
    tab.page.keyboard.press("Control+Space")
    tab.page.get_by_role("option", name="start_time").wait_for()
    tab.check()
    if not narrow and not dark:
        tab.picture("queries")


def test_a_statement_is_run_by_keyboard(tab, service):
    tab.open("/queries?database=shop")
    tab.page.locator("textarea").fill("select 1")
    tab.page.get_by_label("Name").fill("the first one")
    tab.page.get_by_label("Partial answer").check()
    tab.page.keyboard.press("Control+Enter")
    tab.page.wait_for_url("**/queries/*")
    assert asked_at(tab, service) == Request(text="select 1", database="shop", name="the first one", partial=True)
    assert tab.text("h1") == "the first one queued"
    tab.check()


def test_the_editor_needs_no_script(still, service):
    still.open("/queries")
    still.page.locator("textarea").fill("\n\n  select 'é\n+&=%'")
    still.page.get_by_label("Database").select_option("shop")
    still.page.get_by_role("button", name="Run").press("Enter")
    still.page.wait_for_url("**/queries/*")
    assert asked_at(still, service) == Request(text="\n\n  select 'é\n+&=%'", database="shop")
    assert still.page.locator("noscript").inner_html() == '<meta http-equiv="refresh" content="3">'
    still.page.get_by_role("link", name="Edit").click()
    assert still.page.locator("textarea").input_value() == "\n\n  select 'é\n+&=%'"


def test_explaining_shows_what_would_be_read_and_runs_nothing(still, service):
    before = len(service.list())
    still.open("/queries")
    still.page.locator("textarea").fill(ASKED)
    still.page.get_by_label("Database").select_option("shop")
    still.page.get_by_role("button", name="Explain").click()
    still.page.wait_for_url("**/explain")
    assert "DAILY [2015-01-01, 2015-02-01)" in still.text("#answer")
    assert "MISSING_PARTITIONS" in still.text("#answer")
    still.page.locator("summary").click()
    assert "SELECT" in still.text("#answer details pre")
    assert still.page.locator("textarea").input_value() == ASKED
    still.page.locator("textarea").fill(ASKED.replace("2015-02-01", "2016"))
    still.page.get_by_role("button", name="Explain").click()
    assert "partitions are missing" in still.text("#answer")
    assert still.page.get_by_role("region", name="Candidates").locator("tbody tr").count() == 2
    still.page.get_by_label("Partial answer").check()
    still.page.get_by_role("button", name="Explain").click()
    assert "Nothing is there for 2015-02-01 to 2016-01-01" in still.text("#answer")
    assert len(service.list()) == before


def test_while_a_cube_query_is_typed_its_errors_are_shown_where_they_are(tab):
    tab.open("/queries?database=shop")
    box = tab.page.locator("textarea")
    box.fill(ASKED.replace("fare", "fair"))
    tab.page.get_by_text("UnknownField").wait_for()
    assert tab.text("#answer pre").splitlines() == ["cube select day, minutes, fair", " " * 26 + "^"]
    box.fill(ASKED)
    tab.page.get_by_text("DAILY [2015-01-01, 2015-02-01)").wait_for()
    tab.check()
    box.fill("select 1")
    tab.page.locator("#answer > *").first.wait_for(state="detached")
    assert tab.page.url.endswith("/queries?database=shop")


def test_what_was_typed_is_there_for_who_comes_back(tab):
    tab.open("/queries")
    tab.page.get_by_label("Database").select_option("shop")
    tab.page.locator("textarea").fill("select 1 + 1")
    tab.page.get_by_label("Partial answer").check()
    tab.page.keyboard.press("Control+Enter")
    tab.page.wait_for_url("**/queries/*")
    tab.page.go_back()
    assert tab.page.locator("textarea").input_value() == "select 1 + 1"
    tab.page.get_by_role("link", name="Catalog").click()
    tab.page.get_by_role("link", name="Queries").click()
    tab.page.wait_for_url("**/queries")
    assert tab.page.locator("textarea").input_value() == "select 1 + 1"
    assert tab.page.get_by_label("Database").input_value() == "shop"
    assert tab.page.get_by_label("Partial answer").is_checked()
    tab.open("/queries?text=select+2")
    assert tab.page.locator("textarea").input_value() == "select 2"


def test_what_was_typed_is_there_for_who_goes_back_without_scripts(still):
    still.open("/queries")
    still.page.locator("textarea").fill("select 1 + 1")
    still.page.get_by_role("link", name="Catalog").click()
    still.page.wait_for_url("**/databases")
    still.page.go_back()
    assert still.page.locator("textarea").input_value() == "select 1 + 1"


def test_of_a_query_that_fails_no_candidate_is_taken_and_the_hint_is_about_the_form(still):
    still.open("/queries")
    still.page.locator("textarea").fill(ASKED.replace("2015-02-01", "2016"))
    still.page.get_by_label("Database").select_option("shop")
    still.page.get_by_role("button", name="Explain").click()
    candidates = still.page.get_by_role("region", name="Candidates").inner_text()
    assert "MISSING_PARTITIONS" in candidates
    assert "taken" not in candidates
    assert "ask for what there is with “Partial answer” ticked in the editor." in still.text("#answer")
    assert "--partial" not in still.text("#answer")


def test_what_cannot_be_asked_is_named_and_the_text_stays(still, service):
    before = len(service.list())
    still.open("/queries")
    still.page.locator("textarea").fill("   ")
    still.page.get_by_label("Name").fill("nothing")
    with still.page.expect_response("**/queries") as reply:
        still.page.get_by_role("button", name="Run").click()
    assert reply.value.status == 400
    assert "there is no statement" in still.text("#answer")
    assert still.page.get_by_label("Name").input_value() == "nothing"
    assert len(service.list()) == before


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/queries/5f", 404),
        ("/queries/%00%ff<script>", 404),
        ("/queries?edit=5f", 404),
        ("/queries?state=flying", 400),
        ("/queries/{}?page=5f", 400),
        ("/queries/{}?first=-1", 400),
        ("/queries/{}?first=%D9%A3", 400),
        ("/queries?before=%00%22", 200),
        ("/queries?database=%00%3Cscript%3E&text=%ff&user=%00", 200),
    ],
)
def test_wrong_addresses_are_pages_with_their_error(still, month, path, status):
    assert still.open(path.format(month)) == status
    assert still.text("h1") == ("Queries" if status == 200 else "This did not work")


def test_a_page_follows_its_query_to_the_end(tab, service):
    id_ = submitted(service, text="select 1 as n", name="followed")
    tab.open(f"/queries/{id_}")
    assert "waits until Spark has room" in tab.text()
    service.runner.heard(Started(id_))
    tab.page.get_by_text("Spark runs it.").wait_for()
    service.runner.heard(
        Progressed(id_, QueryProgress(stages=3, stages_done=1, tasks=2_000, tasks_done=1_500, rows=12_345))
    )
    tab.page.get_by_text("1,500 of 2,000").wait_for()
    assert tab.page.locator("progress").evaluate("bar => bar.value / bar.max") == 0.75
    assert "1 of 3 stages" in " ".join(tab.text(".figures").split())
    assert "12,345" in tab.text(".figures")
    tab.check()
    done(service, id_, ["n"], [[1]])
    tab.page.get_by_role("region", name="Rows").wait_for()
    assert tab.text("h1") == "followed succeeded"
    assert tab.page.locator(".result td").all_inner_texts() == ["1"]
    tab.check()


def test_the_time_of_a_query_that_runs_goes_on(browser, url, service):
    id_ = submitted(service, text="select 1 as n", name="slow")
    started(service, id_)
    service.clock.now += dt.timedelta(minutes=12, seconds=5)
    context = browser.new_context()
    tab = Tab(context.new_page(), url, update=False)
    tab.page.clock.install()
    tab.open(f"/queries/{id_}")
    figures = " ".join(tab.text(".figures").split())
    assert figures.startswith("12 min 5 s running none yet tasks none yet stages")
    tab.page.clock.run_for("49:00")
    assert " ".join(tab.text(".figures").split()).startswith("1 h 1 min running")
    tab.open("/queries")
    assert "12 min 5 s" in tab.text(".history tr:has-text('slow')")
    context.close()


def test_who_cancels_sees_it_at_once(still, service):
    id_ = submitted(service, name="unwanted")
    started(service, id_)
    still.open(f"/queries/{id_}")
    still.page.get_by_role("button", name="Cancel").click()
    assert "It is being cancelled: Spark ends its tasks." in still.text()
    assert still.page.get_by_role("button", name="Cancelling …").is_disabled()
    still.open("/queries")
    assert "cancelling …" in still.text(".history tr:has-text('unwanted')")


def test_a_page_shows_that_its_query_was_cancelled_at_another_door(tab, service):
    id_ = submitted(service, name="unwanted elsewhere")
    started(service, id_)
    tab.open(f"/queries/{id_}")
    service.cancel(id_)
    tab.page.get_by_role("button", name="Cancelling …").wait_for()
    assert tab.page.get_by_role("button", name="Cancelling …").is_disabled()


def test_a_query_is_cancelled_on_its_page_and_in_the_history(still, service, queries):
    first, other = (submitted(service, text=f"select {number}", name=f"long {number}") for number in (1, 2))
    for id_ in (first, other):
        started(service, id_)
    still.open(f"/queries/{first}")
    still.page.get_by_role("button", name="Cancel").press("Enter")
    still.page.get_by_text("Cancelling …").wait_for()
    still.open("/queries")
    still.page.get_by_role("button", name="Cancel long 2").click()
    still.page.wait_for_url(f"**/queries/{other}")
    assert queries[1].cancels[-2:] == [first, other]
    service.runner.heard(Cancelled(first))
    still.open(f"/queries/{first}")
    assert "The query was cancelled." in still.text()
    assert still.page.get_by_role("button", name="Cancel").count() == 0


def test_a_page_of_another_site_neither_asks_nor_cancels(tab, service, month):
    id_ = submitted(service)
    before = len(service.list())
    for path in ("/queries", f"/queries/{id_}/cancel", f"/queries/{month}/again"):
        headers = {
            "Accept": "text/html",
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": "http://evil.example",
        }
        reply = tab.page.request.post(tab.url + path, headers=headers, data="text=select+1")
        assert reply.status == 403
    assert tab.page.request.get(f"{tab.url}/queries/{id_}/cancel").status == 404
    assert len(service.list()) == before
    assert service.get(id_).state is State.QUEUED


def test_a_query_is_run_again_and_edited(tab, service, month):
    tab.open(f"/queries/{month}")
    tab.page.get_by_role("link", name="Edit").click()
    tab.page.wait_for_url("**/queries?edit=*")
    assert tab.page.locator("textarea").input_value() == ASKED
    assert tab.page.get_by_label("Name").input_value() == "Rides in January"
    assert tab.page.get_by_label("Database").input_value() == "shop"
    tab.open(f"/queries/{month}")
    tab.page.get_by_role("button", name="Run again").click()
    tab.page.wait_for_function("id => !location.pathname.endsWith(id)", arg=month)
    assert asked_at(tab, service) == service.get(month).request.model_copy(update={"user": "anonymous"})
    tab.page.get_by_text("waits until Spark").wait_for()


def test_what_failed_says_where_and_what_to_do(tab, service):
    problem = QueryProblem(
        error="QueryFailed",
        text="a name is wrong",
        fields={"line": "1"},
        hint="Write n",
        highlight="select m\n       ^",
    )
    tab.open(f"/queries/{failed(service, problem, text='select m')}")
    assert tab.text(".problem pre") == "select m\n       ^"
    assert "Write n." in tab.text(".problem")
    tab.check()


def test_a_partial_answer_says_what_it_lacks(tab, service):
    request = Request(text=ASKED.replace("2015-02-01", "2015-03-01"), database="shop", partial=True)
    plan = service.explain(request).to_dict()
    id_ = succeeded(
        service,
        ["fare"],
        [[1.5]],
        plan=plan,
        warnings=["a row counts twice"],
        **request.model_dump(include={"text", "partial"}),
    )
    tab.open(f"/queries/{id_}")
    assert "The answer is partial: nothing is there for 2015-02-01 to 2015-03-01." in tab.text()
    assert "a row counts twice" in tab.text()
    tab.check()


def test_the_history_is_narrowed_by_user_and_state_and_has_pages(still, service):
    ids = [submitted(service, text=f"select {number}", user="eve", name=f"number {number}") for number in range(60)]
    still.open("/queries")
    still.page.get_by_label("User").fill("eve")
    still.page.locator("select[name=state]").select_option("queued")
    still.page.get_by_role("button", name="Show").click()
    still.page.wait_for_url("**/queries?user=eve&state=queued")
    newest_first = [
        f"number {number}" for number in reversed(range(60)) if service.get(ids[number]).state is State.QUEUED
    ]
    shown = still.page.locator(".history tbody a").all_inner_texts()
    assert shown == newest_first[:50]
    still.page.get_by_role("link", name="Older").click()
    assert still.page.locator(".history tbody a").all_inner_texts() == newest_first[50:]
    assert still.page.get_by_label("User").input_value() == "eve"
    still.page.get_by_role("link", name="Newest").click()
    assert still.page.locator(".history tbody a").all_inner_texts() == shown
    still.open("/queries?user=nobody")
    assert "No queries." in still.text()


def test_hostile_texts_are_texts(tab, service):
    dialogs = []
    tab.on("dialog", lambda one: (dialogs.append(one.message), one.dismiss()))
    fields = {"text": f"select '{HOSTILE}'", "name": HOSTILE, "database": HOSTILE, "user": HOSTILE}
    good = succeeded(service, [HOSTILE, "javascript:alert(1)"], [[HOSTILE, "b"], [1, 2]], **fields)
    problem = QueryProblem(error=HOSTILE, text=HOSTILE, fields={HOSTILE: HOSTILE}, hint=HOSTILE, highlight=HOSTILE)
    bad = failed(service, problem, **fields)
    runs = submitted(service, options={}, **fields)
    for path in (f"/queries/{good}", f"/queries/{bad}", f"/queries/{runs}", "/queries?user=<script>"):
        tab.open(path)
        tab.check()
        assert tab.page.locator("main img, main script").count() == 0
    tab.open(f"/queries/{good}")
    assert HOSTILE in tab.page.locator(".result td").first.text_content()
    assert HOSTILE in tab.page.locator("pre.statement").text_content()
    tab.open(f"/queries/{bad}")
    assert tab.page.locator(".problem pre").text_content() == HOSTILE
    tab.open("/queries")
    assert tab.page.locator("main img, main script").count() == 0
    tab.page.get_by_label("Database").select_option("shop")
    tab.page.locator("textarea").fill(
        f"cube select `{HOSTILE}` from rides where time_range_in(start_time, '2015', '2016')"
    )
    tab.page.locator("#answer .problem").wait_for()
    assert tab.page.locator("main img, main script").count() == 0
    assert dialogs == []


def test_with_tokens_the_browser_asks_its_user_for_one_and_queries_are_theirs(browser, service, catalog):
    access = Access(tokens={"0123456789abcdef": "ann"})
    with http_served(application(service, access, catalog=catalog), "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        context = browser.new_context(http_credentials={"username": "ann", "password": "0123456789abcdef"})
        tab = Tab(context.new_page(), url, update=False)
        tab.open("/queries")
        tab.page.locator("textarea").fill("select 7")
        tab.page.keyboard.press("Control+Enter")
        tab.page.wait_for_url("**/queries/*")
        assert asked_at(tab, service).user == "ann"
        assert tab.text(".user") == "ann"
        context.close()
        assert re.match("Basic ", _refusal(browser, url))


def _refusal(browser, url):
    context = browser.new_context()
    reply = context.request.get(f"{url}/queries", headers={"Accept": "text/html"})
    context.close()
    assert reply.status == 401
    return reply.headers["www-authenticate"]
