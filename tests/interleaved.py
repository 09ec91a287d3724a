"""What another process does in the middle of a change, at each of its steps."""

from __future__ import annotations


class Between:
    """Does something else once, before or after the n-th step of what runs meanwhile."""

    def __init__(self, at, other):
        self.left = at
        self.in_other = False
        self._other = other

    def step(self):
        if self.in_other:
            return
        self.left -= 1
        if self.left == -1:
            self.in_other = True
            self._other()
            self.in_other = False

    def around(self, call):
        def called(*arguments, **options):
            self.step()
            try:
                return call(*arguments, **options)
            finally:
                self.step()

        return called
