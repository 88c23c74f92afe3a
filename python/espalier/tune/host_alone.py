"""The host MPI by its own: which of its algorithms is the fastest for which call, for programs that run without Espalier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Callable, NamedTuple, Optional

from espalier.measured import host_settings
from espalier.measured.host_jobs import Job, Measured, cut
from espalier.measured.host_settings import Setting
from espalier.measured.interval import Interval, interval
from espalier.measured.point import Point
from espalier.measured.times import Key
from espalier.tune.verdict import CONFIDENCE, LEAST_GAIN

ROUNDS = 6  # of a job
PASSES = 2  # every setting in turn, then again: what drifts meets all of them
_POINTS_OF_A_JOB = 48


class Choice(NamedTuple):
    """Of one call. `setting`: None: the host's own choice stays."""

    point: Point
    setting: Optional[Setting]
    number: int  # of the algorithm, from 1, as the host's setting lists them
    us: Optional[Interval]
    own_us: Optional[Interval]


Settings = Callable[[Point], list[Setting]]  # the algorithms of a host for a call
_LISTS = {"UCC_TL_UCP_TUNE": "#"}  # settings that hold what is said of several collectives, and what is between these


def settings_of(kind: str, point: Point) -> list[Setting]:
    return host_settings.algorithms(kind, point.collective, point.ranks)


def _environment(settings: Settings, points: Sequence[Point], number: int) -> tuple[tuple[str, str], ...]:
    """The algorithm of that number of each collective at once; of those that have so many."""
    found: dict[str, str] = {}
    for point in points:
        each = settings(point)
        if number > len(each):
            continue
        for key, value in each[number - 1].environment.items():
            told = found[key].split(_LISTS[key]) if key in _LISTS and key in found else []
            found[key] = _LISTS.get(key, "").join(dict.fromkeys([*told, value]))
    return tuple(sorted(found.items()))


@dataclass
class HostAlone:
    """`run` runs a job."""

    kind: str
    points: list[Point]
    budget: float
    run: Callable[[Job], Measured]
    us: dict[tuple[Point, int], list[float]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    host_version: str = ""
    settings: Optional[Settings] = None  # None: those of hosts of that kind

    def settings_of(self, point: Point) -> list[Setting]:
        return self.settings(point) if self.settings else settings_of(self.kind, point)

    def jobs(self) -> Iterator[tuple[int, Job]]:
        """(number of the algorithm, 0 for the host's own choice; job)"""
        parts = cut(self.points, _POINTS_OF_A_JOB)
        most = {part: max(len(self.settings_of(point)) for point in part) for part in parts}
        total = PASSES * sum(1 + most[part] for part in parts)
        seconds = max(1.0, self.budget / max(1, total))
        for _ in range(PASSES):
            for part in parts:
                for number in range(most[part] + 1):
                    mine = tuple(point for point in part if number == 0 or number <= len(self.settings_of(point)))
                    yield number, Job(mine, "", ROUNDS, seconds, _environment(self.settings_of, mine, number) if number else ())

    def measure(self) -> Iterator[Job]:
        for number, job in self.jobs():
            measured = self.run(job)
            self.host_version = measured.host_version or self.host_version
            if measured.why_not:
                self.refused.append(f"{dict(job.settings) or 'as it comes'}: {measured.why_not}")
            else:
                for sample in measured.samples:
                    self.us.setdefault((sample.key.point, number), []).append(sample.us)
            yield job

    def choices(self) -> list[Choice]:
        return [
            choose(self.settings_of(point), point, {n: us for (at, n), us in self.us.items() if at == point})
            for point in self.points
        ]


def choose(settings: Sequence[Setting], point: Point, us: dict[int, list[float]]) -> Choice:
    """Another algorithm only where its whole interval lies below that of the host's own choice."""
    own = interval(us.get(0, []), CONFIDENCE)
    found = [(each, n) for n, values in us.items() if n > 0 and (each := interval(values, CONFIDENCE)) is not None]
    if own is None or not found:
        return Choice(point, None, 0, None, own)
    best, number = min(found, key=lambda item: item[0].middle)
    if best.high > (1 - LEAST_GAIN) * own.low:
        return Choice(point, None, 0, best, own)
    return Choice(point, settings[number - 1], number, best, own)


def chosen(choices: Iterable[Choice]) -> list[Choice]:
    return [choice for choice in choices if choice.setting is not None]


def confirmed(choice: Choice, factor: Optional[float]) -> Choice:
    """The host's own choice in its place, unless the host was faster with it by what counts."""
    if choice.setting is None or (factor is not None and factor >= 1 / (1 - LEAST_GAIN)):
        return choice
    return choice._replace(setting=None, number=0)


def verified(choices: Sequence[Choice], kept: Measured, own: Measured) -> list[tuple[Choice, Optional[float]]]:
    """How many times as fast the host is with the file that was written; None: too few rounds."""
    found = []
    for choice in chosen(choices):
        with_file = interval([each.us for each in kept.samples if each.key == Key(choice.point)], CONFIDENCE)
        without = interval([each.us for each in own.samples if each.key == Key(choice.point)], CONFIDENCE)
        found.append((choice, without.middle / with_file.middle if with_file and without else None))
    return found
