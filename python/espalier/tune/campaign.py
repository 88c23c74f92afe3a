"""What is measured when, within a budget: a search over all candidates, a second look at those left, rounds to judge by."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Callable, NamedTuple

from espalier.measured.point import CONTROL, DEFAULT, HOST, Point
from espalier.tune import verdict
from espalier.tune.trials import Measured, Work, together
from espalier.tune.verdict import Sample, Verdict

Json = dict[str, Any]

POINTS_OF_A_JOB = 16  # a job is what is kept or lost when a run is cut off
_WEIGHT_OVERSUBSCRIBED = 2.0  # ranks that share cores take longer for a round
_LEAST_SECONDS = 2.0  # of a job


class Stage(NamedTuple):
    name: str
    rounds: int
    keep: int  # sides beside the default that go on from here
    share: float  # of the budget


STAGES = (
    Stage("search", 5, 3, 0.40),
    Stage("narrow", 6, 1, 0.20),
    Stage("judge", 21, 1, 0.40),
)


class Job(NamedTuple):
    stage: int  # place in STAGES
    ranks: int
    number: int  # among those of the stage and of so many ranks


@dataclass
class Campaign:
    """`measure` runs a job; `keep` is told of each that is done, so that a later run can go on (`done` is what it had)."""

    points: list[Point]
    plans: dict[Point, list[Json]]
    cores: int
    budget: float  # seconds
    measure: Callable[[Work], Measured]
    keep: Callable[[Job, Measured], None]
    done: dict[Job, Measured] = field(default_factory=dict)
    with_host: bool = True
    sides: dict[Point, list[str]] = field(default_factory=dict)
    samples: list[list[Sample]] = field(default_factory=lambda: [[] for _ in STAGES])
    host_version: str = ""
    finished: int = 0

    def __post_init__(self) -> None:
        host = [HOST] if self.with_host else []
        for point in self.points:
            self.sides[point] = [*host, DEFAULT, *(str(i + 1) for i in range(len(self.plans[point])))]
        self.spent = sum(each.seconds for each in self.done.values())

    def jobs(self) -> list[Job]:
        found = []
        for stage in range(len(STAGES)):
            for ranks, each in groupby(self.points, key=lambda point: point.ranks):
                found += [Job(stage, ranks, i) for i in range(-(-len(list(each)) // POINTS_OF_A_JOB))]
        return found

    def points_of(self, job: Job) -> list[Point]:
        mine = [point for point in self.points if point.ranks == job.ranks]
        return mine[job.number * POINTS_OF_A_JOB:(job.number + 1) * POINTS_OF_A_JOB]

    def remaining(self) -> float:
        return max(0.0, self.budget - self.spent)

    def _weight(self, job: Job) -> float:
        same = sum(1 for each in self.jobs() if each.stage == job.stage)
        return STAGES[job.stage].share / same * (_WEIGHT_OVERSUBSCRIBED if job.ranks > self.cores else 1.0)

    def _seconds_of(self, job: Job, left: Sequence[Job]) -> float:
        """Its part of what is left of the budget: what one job does not use is the others'."""
        return max(_LEAST_SECONDS, self.remaining() * self._weight(job) / sum(self._weight(each) for each in left))

    def run(self) -> Iterator[Job]:
        """Job by job, each when it is done. Ends early where the budget is spent."""
        jobs = self.jobs()
        for at, job in enumerate(jobs):
            measured = self.done.get(job)
            if measured is None:
                if self.remaining() <= 0:
                    return
                measured = self._measured(job, jobs[at:])
            self.host_version = measured.host_version or self.host_version
            self.samples[job.stage] += measured.samples
            self._narrow(job)
            self.finished += 1
            yield job

    def _measured(self, job: Job, left: Sequence[Job]) -> Measured:
        stage = STAGES[job.stage]
        sides = {point: together(self.sides[point]) for point in self.points_of(job)}
        sides = {point: each for point, each in sides.items() if len(each) > 1}
        if job.stage + 1 == len(STAGES):
            sides = {point: [*each, CONTROL] for point, each in sides.items()}
        if not sides:
            return Measured([], "", 0.0)
        begin = time.monotonic()
        measured = self.measure(Work(job.ranks, sides, self.plans, stage.rounds, self._seconds_of(job, left)))
        measured = measured._replace(seconds=time.monotonic() - begin)
        self.spent += measured.seconds
        self.keep(job, measured)
        return measured

    def _narrow(self, job: Job) -> None:
        """Who goes on, by all rounds of the search so far. The rounds that judge choose none."""
        if job.stage + 1 == len(STAGES):
            return
        for point in self.points_of(job):
            found = self.of(point, range(job.stage + 1))
            left = verdict.still_in(found, self.sides[point], STAGES[job.stage].keep)
            # What leads by less than counts is not worth the rounds that judge.
            over = job.stage + 2 == len(STAGES)
            self.sides[point] = [DEFAULT] if over and not verdict.promises(found, left) else left

    def of(self, point: Point, stages: Sequence[int]) -> list[Sample]:
        return [sample for stage in stages for sample in self.samples[stage] if sample.point == point]

    def verdicts(self) -> list[Verdict]:
        last = len(STAGES) - 1
        return [self._verdict(point, last) for point in self.points]

    def _verdict(self, point: Point, last: int) -> Verdict:
        judged = self.of(point, [last])
        others = [side for side in self.sides[point] if side != DEFAULT]
        if not judged:
            found = self.of(point, range(last))
            why = verdict.NOTHING if found and not others else "not measured: the budget was spent"
            return Verdict(point, DEFAULT, why, len(found), None, verdict.medians(found))
        result = verdict.judge(point, others[0] if others else None, judged)
        # What fell out earlier is shown beside it.
        us = {**verdict.medians(self.of(point, range(last))), **result.us}
        return replace(result, us={side: each for side, each in us.items() if side != CONTROL})
