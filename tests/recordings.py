"""What other programs answer, as they answered once: pinned releases say the same each time, and take minutes for it.

A test asks hbstore, and compares with the recording of the real program. ``--update-golden`` asks the real one and
records what it says; ``HYPOTHESIS_PROFILE=thorough make test`` asks it as well, and sees that it is what was recorded.
"""

from __future__ import annotations

import json

import pytest

from tests.amounts import WHOLE


class Recording:
    """Answers in a file, each a list of what JSON knows.

    Args:
        path: a line of the file is a key and one element of its answer.
        update: whether all is asked and recorded anew.
    """

    def __init__(self, path, *, update):
        self._path, self._update = path, update
        self._answers, self._asked = {}, set()
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                key, element = json.loads(line)
                self._answers.setdefault(key, []).append(element)

    def answer(self, key, ask):
        """What was recorded; ``ask()`` gives it anew, once in a run that records or tries all."""
        anew = (self._update or WHOLE) and key not in self._asked
        self._asked.add(key)
        if anew and self._update:
            self._answers[key] = plain(ask())
            lines = [[one, element] for one, answer in sorted(self._answers.items()) for element in answer]
            text = "".join(f"{json.dumps(line, ensure_ascii=False, sort_keys=True)}\n" for line in lines)
            self._path.write_text(text, encoding="utf-8")
        if key not in self._answers:
            pytest.fail(f"nothing is recorded of {key}: run this test with --update-golden")
        if anew and not self._update:
            assert plain(ask()) == self._answers[key], f"the recording of {key} is not what the real program says"
        return plain(self._answers[key])


def plain(answer):
    """An answer as a recording has it."""
    return json.loads(json.dumps(answer))
