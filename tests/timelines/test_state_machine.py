"""All three classes and a plain set, in lockstep."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hbstore.timelines import UpdatePeriod, convert
from tests.timelines.strategies import CLASSES, same

OFFSETS = st.integers(0, 30)
BATCHES = st.lists(OFFSETS, max_size=12)


class Timelines(RuleBasedStateMachine):
    """Numbers from 0 to 30 stand for times; where they begin in the calendar, the period and the machine decide."""

    @initialize(period=st.sampled_from(UpdatePeriod), place=st.sampled_from(["first", "middle", "last"]))
    def begin(self, period, place):
        self.period = period
        self.base = {"first": 0, "middle": period.limit // 5, "last": period.limit - 31}[place]
        self.timelines = [cls("s1_fact1", period, "dt") for cls in CLASSES]
        self.model = set()

    def time(self, offset):
        return self.period.time(self.base + offset)

    def all_say(self, question):
        answers = [question(timeline) for timeline in self.timelines]
        assert all(answer == answers[0] for answer in answers)
        return answers[0]

    @rule(offset=OFFSETS)
    def add(self, offset):
        assert self.all_say(lambda timeline: timeline.add(self.time(offset))) == (offset not in self.model)
        self.model.add(offset)

    @rule(offset=OFFSETS)
    def drop(self, offset):
        assert self.all_say(lambda timeline: timeline.drop(self.time(offset))) == (offset in self.model)
        self.model.discard(offset)

    @rule(offsets=BATCHES)
    def add_all(self, offsets):
        changed = self.all_say(lambda timeline: timeline.add_all(map(self.time, offsets)))
        assert changed == (not set(offsets) <= self.model)
        self.model |= set(offsets)

    @rule(offsets=BATCHES)
    def drop_all(self, offsets):
        changed = self.all_say(lambda timeline: timeline.drop_all(map(self.time, offsets)))
        assert changed == (not self.model.isdisjoint(offsets))
        self.model -= set(offsets)

    @rule()
    def store_and_load(self):
        for number, timeline in enumerate(self.timelines):
            made = type(timeline)("s1_fact1", self.period, "dt")
            assert made.init_from_properties(timeline.to_properties())
            assert same(made, timeline)
            self.timelines[number] = made

    @rule(shift=st.integers(1, 2))
    def convert(self, shift):
        shifted = self.timelines[shift:] + self.timelines[:shift]
        made = [convert(timeline, cls) for timeline, cls in zip(shifted, CLASSES, strict=True)]
        assert all(map(same, made, self.timelines))
        self.timelines = made

    @rule(one=OFFSETS, two=OFFSETS)
    def ask_between(self, one, two):
        start, stop = sorted((one, two))
        times = self.time(start), self.time(stop)
        kept = {offset for offset in self.model if start <= offset < stop}
        assert self.all_say(lambda timeline: list(timeline.iterate(*times))) == [self.time(n) for n in sorted(kept)]
        ranges = self.all_say(lambda timeline: timeline.ranges(*times))
        holes = self.all_say(lambda timeline: timeline.holes(*times))
        assert self.offsets(ranges) == kept
        assert self.offsets(holes) == set(range(start, stop)) - kept
        edges = sorted(ranges + holes)
        assert [end for _, end in edges[:-1]] == [begin for begin, _ in edges[1:]]
        assert len(ranges) == len([n for n in kept if n - 1 not in kept])

    def offsets(self, ranges):
        index = self.period.index
        ends = [
            (start, self.period.limit if end.year == 9999 and end.microsecond else index(end)) for start, end in ranges
        ]
        return {number - self.base for start, end in ends for number in range(index(start), end)}

    @invariant()
    def they_agree_with_the_set(self):
        if not hasattr(self, "model"):
            return
        for timeline in self.timelines:
            timeline._check()
        wanted = sorted(self.model)
        assert self.all_say(lambda timeline: list(timeline.iterate())) == [self.time(offset) for offset in wanted]
        assert self.all_say(lambda timeline: timeline.first()) == (self.time(wanted[0]) if wanted else None)
        assert self.all_say(lambda timeline: timeline.latest()) == (self.time(wanted[-1]) if wanted else None)
        assert self.all_say(lambda timeline: timeline.is_empty()) == (not wanted)
        inner = set(range(wanted[0], wanted[-1])) - self.model if wanted else set()
        assert self.offsets(self.all_say(lambda timeline: timeline.holes())) == inner
        there = self.all_say(lambda timeline: [timeline.exists(self.time(offset)) for offset in range(31)])
        assert there == [offset in self.model for offset in range(31)]


TestTimelines = Timelines.TestCase
