"""How often a change is tried that others are faster at, and what is said when that was long enough."""

from __future__ import annotations

import pytest

from hbstore.errors import AlreadyExists, ConcurrentChange, InvalidInput, PartitionNotFound, StoreBusy, VersionMismatch
from hbstore.transactions.waiting import Patience
from tests.pauses import without_pauses

HASTY = Patience(total=0)


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch):
    without_pauses(monkeypatch)


class Outrun:
    """A change that fails as often as there are errors."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.tries = 0

    def __call__(self):
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)
        return "written"


def retry(patience, change, *outrun):
    return patience.retry(change, *outrun, text="other writers kept changing the table", table="shop.sales")


def test_it_is_tried_until_it_is_made():
    change = Outrun(*[ConcurrentChange("outrun")] * 100)
    assert retry(Patience(), change) == "written"
    assert change.tries == 101


def test_after_patience_it_is_given_up():
    change = Outrun(*[ConcurrentChange(f"outrun {number}", table="shop.sales", hint="Go on") for number in range(9)])
    with pytest.raises(StoreBusy) as caught:
        retry(HASTY, change)
    assert change.tries == 3  # what takes long is tried again all the same
    assert caught.value.fields == {"table": "shop.sales", "seconds": 0.0, "reason": "outrun 2"}
    assert (caught.value.text, caught.value.hint) == ("other writers kept changing the table", "Try again")
    assert str(caught.value.__cause__) == "outrun 2: table=shop.sales. Go on"


def test_other_errors_say_so_too_if_the_caller_says_so():
    assert retry(HASTY, Outrun(PartitionNotFound("gone"), AlreadyExists("there")), PartitionNotFound, AlreadyExists)


@pytest.mark.parametrize("error", [StoreBusy("waited"), VersionMismatch("another"), PartitionNotFound("gone")])
def test_what_another_try_does_not_mend(error):
    change = Outrun(error)
    with pytest.raises(type(error)) as caught:
        retry(Patience(), change)
    assert (caught.value, change.tries) == (error, 1)


@pytest.mark.parametrize("seconds", ["5", None, -1, float("nan")])
@pytest.mark.parametrize("name", ["total", "decided", "undecided"])
def test_a_patience_of_no_number_of_seconds(name, seconds):
    with pytest.raises(InvalidInput, match=f"{name}.*Give a number of seconds, 0 or more"):
        Patience(**{name: seconds})
