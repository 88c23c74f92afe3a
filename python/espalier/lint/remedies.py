"""What helps a finding: Espalier, or a setting of the host. Each is tried, and what it does to the call is written down."""

from __future__ import annotations

from typing import Callable, NamedTuple, Optional

from espalier.lint.findings import SURELY, Finding
from espalier.measured import host_settings
from espalier.measured.host_jobs import Job, Measured
from espalier.measured.interval import interval
from espalier.measured.point import Point
from espalier.measured.times import CONFIDENCE, Sample

ROUNDS = 8
SECONDS = 3.0
_HELPS = 0.9  # of its time: what is less of a change is within the noise

Run = Callable[[Job], Measured]


class Tried(NamedTuple):
    title: str
    us: Optional[float]  # None: it could not be measured
    factor: float  # times as fast as the host as it comes
    removes: bool  # the call costs no more than it should
    why_not: str = ""

    def document(self) -> dict:
        return self._asdict()


def _median(samples: list[Sample], finding: Finding) -> Optional[float]:
    mine = [sample for sample in samples if sample.key == finding.key and finding.root in (None, sample.root)]
    found = interval([sample.us for sample in mine], CONFIDENCE if finding.root is None else 0.0)
    return found.middle if found else None


def _as_it_comes(finding: Finding) -> float:
    """What the jobs with settings, which make no other call either, are put beside: the less of what was measured."""
    return min(finding.us, finding.alone_us or finding.us)


def _judged(title: str, us: Optional[float], finding: Finding, why_not: str) -> Tried:
    if us is None or us <= 0:
        return Tried(title, None, 0.0, False, why_not or "too few rounds")
    return Tried(title, us, _as_it_comes(finding) / us, us <= SURELY * finding.expected)


def alone(finding: Finding, run: Run) -> Optional[float]:
    """The host as it comes, in a job that makes this call only; None: it could not be measured."""
    measured = run(Job(_points(finding), finding.key.way, ROUNDS, SECONDS))
    return None if measured.why_not else _median(measured.samples, finding)


def _points(finding: Finding) -> tuple[Point, ...]:
    return (finding.key.point,)


def espalier(finding: Finding, run: Run) -> Tried:
    """Beside the host, in one job."""
    measured = run(Job(_points(finding), finding.key.way, ROUNDS, SECONDS, (), True))
    return _judged("Espalier", _median(measured.espalier, finding), finding, measured.why_not)


def of_host(finding: Finding, setting: host_settings.Setting, run: Run) -> Tried:
    measured = run(Job(_points(finding), finding.key.way, ROUNDS, SECONDS, tuple(setting.environment.items())))
    return _judged(setting.title, None if measured.why_not else _median(measured.samples, finding), finding, measured.why_not)


def tried(
    finding: Finding, kind: str, cores: int, run: Run, with_espalier: bool, time_left: Callable[[], float]
) -> list[Tried]:
    """Espalier first, then the host's settings until one removes it or the time is up. The best first; what does not help is
    left out, but for Espalier."""
    found = [espalier(finding, run)] if with_espalier else []
    point = finding.key.point
    for setting in host_settings.of(kind, point.collective, point.size, point.ranks, cores):
        if time_left() <= 0 or any(each.removes for each in found if each.title != "Espalier"):
            break
        found.append(of_host(finding, setting, run))
    enough = _HELPS * _as_it_comes(finding)
    useful = [each for each in found if each.title == "Espalier" or (each.us is not None and each.us < enough)]
    return sorted(useful, key=lambda each: -each.factor)
