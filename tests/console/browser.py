"""A real browser, headless: the system's own Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PICTURES = Path(__file__).parents[2] / "docs/pictures"
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
LOOKS = pytest.mark.parametrize(("narrow", "dark"), [(False, False), (True, True)])
"""Each width and each of the colours once: what is wrong with the one shows in either of the other."""


def browser_path():
    """Where the system's Chromium is; HBSTORE_BROWSER names another."""
    named = os.environ.get("HBSTORE_BROWSER")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    assert found, "no Chromium: on Debian and Ubuntu: sudo apt-get install chromium; or set HBSTORE_BROWSER to one"
    return found


@contextmanager
def started_browser():
    """A browser, while it is needed."""
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=options)
        yield browser
        browser.close()


class Tab:
    """A page of a browser, and what its console said.

    Attributes:
        page: Playwright's.
        url: the server's, without a slash behind it.
        said: errors and warnings of the page, of its scripts and of the policy of its content.
        asked: the addresses that it asked for.
    """

    def __init__(self, page, url, *, update):
        self.page = page
        self._update = update
        self.url = url
        self.said = []
        self.asked = []
        self._handlers = []
        self.on("console", lambda one: one.type in ("error", "warning") and self.said.append(one.text))
        self.on("pageerror", lambda error: self.said.append(str(error)))
        self.on("request", lambda request: self.asked.append(request.url))

    def on(self, event, handler):
        """Call a function whenever something happens to the page, as long as this tab is a test's."""
        self.page.on(event, handler)
        self._handlers.append((event, handler))

    def leave(self):
        """Make the page what it was, for another test: an empty one, with nothing remembered."""
        if self.page.url.startswith("http"):
            self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
        for event, handler in self._handlers:
            self.page.remove_listener(event, handler)
        self.page.context.clear_cookies()
        self.page.goto("about:blank")

    def open(self, path):
        """Go to an address of the server; the status of the reply."""
        return self.page.goto(self.url + path).status

    def text(self, selector="main"):
        """What an element shows."""
        return self.page.inner_text(selector)

    def lines(self, region):
        """The rows of the table in a region, with tabs between cells, also on a telephone, where cells are lines."""
        rows = self.page.get_by_role("region", name=region, exact=True).locator("tbody tr").all()
        return ["\t".join(row.locator("td").all_inner_texts()) for row in rows]

    def check(self):
        """See that the page is usable by everybody, says no errors, loads nothing from elsewhere, and fits."""
        found = Axe().run(self.page)
        assert not found.violations_count, found.generate_report()
        assert self.said == []
        assert {url for url in self.asked if not url.startswith((self.url, "data:"))} == set()
        width = self.page.evaluate("document.documentElement.scrollWidth")
        assert width <= self.page.viewport_size["width"], "the page is wider than the window"

    def picture(self, name, *, whole=True):
        """See that docs/ has a picture of this page, which `--update-golden` takes anew."""
        path = PICTURES / f"{name}.png"
        if self._update:
            path.parent.mkdir(exist_ok=True)
            self.page.mouse.move(0, 0)
            self.page.screenshot(path=path, full_page=whole, animations="disabled")
        assert path.read_bytes().startswith(b"\x89PNG"), f"no picture {name}: run this test with --update-golden"
