"""Progress of several things: one bar after the other."""

from __future__ import annotations

from contextlib import contextmanager

from hbstore.cli import progress


def test_a_bar_ends_before_the_next_begins(monkeypatch):
    seen = []

    @contextmanager
    def bar(text, total):
        seen.append(f"{text} of {total}")
        yield lambda done: seen.append(f"{text}: {done}")
        seen.append(f"{text} over")

    monkeypatch.setattr(progress, "progress", bar)
    with progress.bars() as show:
        for text, done, total in (("a", 0, 2), ("a", 2, 2), ("b", 0, None), ("a", 1, 3)):
            show(text, done, total)
    assert seen == ["a of 2", "a: 0", "a: 2", "a over", "b of None", "b: 0", "b over", "a of 3", "a: 1", "a over"]
