"""The course of `espalier lint`: times, findings, remedies, within a budget."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Optional

from espalier import terminal
from espalier.bench import build, hosts
from espalier.lint import findings as lint_findings, remedies
from espalier.lint.findings import Finding
from espalier.measured import host_jobs
from espalier.measured.asked import Asked
from espalier.measured.host_jobs import Job
from espalier.measured.point import Point
from espalier.measured.time_left import time_left
from espalier.measured.times import Sample, Times
from espalier.problem import Problem
from espalier.sizes import print_bytes

SIZES = ",".join(str(8 << i) for i in range(18))  # to 1 MiB
ROUNDS = 8
_POINTS_OF_A_JOB = 36
_WAY_SIZES = (64, 4096, 65536)  # at which the other ways are looked at
_MOVES = ("bcast", "allgather", "gather", "scatter", "alltoall")  # without an operator, so that any datatype will do
_SHARE_OF_TIMES = 0.6  # of the budget; the rest is for remedies
_LONG = 131072  # glibc's M_MMAP_THRESHOLD as it comes
_OVERSUBSCRIBED = 3  # of the sizes every third, where ranks share cores: calls take long there


@dataclass
class Found:
    host: hosts.Host
    cores: int
    host_version: str = ""
    times: Times = field(default_factory=lambda: Times([]))
    findings: list[Finding] = field(default_factory=list)
    not_measured: list[str] = field(default_factory=list)
    seconds: float = 0


def _thinned(points: list[Point], cores: int) -> list[Point]:
    sizes = sorted({point.size for point in points if point.size})
    few = set(sizes[::_OVERSUBSCRIBED]) | {0}
    return [point for point in points if point.ranks <= cores or point.size in few]


def all_jobs(points: list[Point], cores: int, ways: bool, seconds: float) -> list[Job]:
    some = _thinned(points, cores)
    short = [point for point in some if point.size < _LONG]
    plain = [(each, "") for each in (*host_jobs.cut(short, _POINTS_OF_A_JOB), *_by_size(some))]
    if ways:
        some = [point for point in points if point.size in _WAY_SIZES and point.ranks <= cores]
        plain += [(each, "shifted") for each in host_jobs.cut(some, _POINTS_OF_A_JOB)]
        moves = [point for point in some if point.collective in _MOVES]
        plain += [(each, "derived") for each in host_jobs.cut(moves, _POINTS_OF_A_JOB)]
    each_seconds = max(2.0, seconds / max(1, len(plain)))
    return [Job(each, way, ROUNDS, each_seconds) for each, way in plain if each]


def _by_size(points: list[Point]) -> list[tuple[Point, ...]]:
    """Long messages: each size in a job of its own. An MPI that takes a buffer from the C library in each call gets it from the
    system each time, unless the program has freed a longer one before (mallopt(3), M_MMAP_THRESHOLD): so in a job with longer
    messages it would look well."""
    groups: dict[tuple[int, int], list[Point]] = {}
    for point in points:
        if point.size >= _LONG:
            groups.setdefault((point.ranks, point.size), []).append(point)
    return [tuple(groups[key]) for key in sorted(groups)]


def _title(job: Job) -> str:
    names = list(dict.fromkeys(point.collective for point in job.points))
    way = {"": "", "shifted": ", shifted buffers", "derived": ", derived datatype"}[job.way]
    sizes = {point.size for point in job.points}
    size = f" {print_bytes(min(sizes))}" if len(sizes) == 1 and min(sizes) else ""
    return f"{job.points[0].ranks} ranks{way}: {names[0]}{' to ' + names[-1] if len(names) > 1 else ''}{size}"


class _Bar:
    """On a terminal a bar on stderr; else a line a step."""

    def __init__(self, budget: int):
        from rich.progress import BarColumn, Progress, TextColumn

        self.end = time.monotonic() + budget
        self.out = terminal.console(errors=True)
        self.bar = Progress(BarColumn(24), TextColumn("{task.fields[left]}  {task.description}"), console=self.out)
        self.task = self.bar.add_task("", total=budget, left=time_left(budget))
        self.budget = budget

    def left(self) -> float:
        return self.end - time.monotonic()

    def say(self, text: str) -> None:
        self.bar.update(self.task, completed=self.budget - self.left(), description=text, left=time_left(max(0.0, self.left())))
        if not self.out.is_terminal:
            self.out.print(f"  {text}")


def look(host: hosts.Host, asked: Asked, cores: int, ways: bool, most_remedies: int) -> Found:
    build.trials(host)
    found = Found(host, cores)
    begin = time.monotonic()
    bar = _Bar(asked.budget)
    with bar.bar:
        found.times = Times(_measured(host, asked, ways, found, bar))
        found.findings = lint_findings.all_of(found.times, cores)
        with_espalier = _has_espalier(host)
        for finding in in_turn(found.findings)[:most_remedies]:
            if bar.left() <= 0:
                break
            bar.say(f"remedies: {finding.call}")
            finding.alone_us = remedies.alone(finding, lambda job: host_jobs.run(host, job))
            if finding.is_gone_alone:
                continue
            tried = remedies.tried(finding, host.kind, cores, lambda job: host_jobs.run(host, job), with_espalier, bar.left)
            finding.remedies = [each.document() for each in tried]
    found.seconds = time.monotonic() - begin
    return found


def in_turn(findings: list[Finding]) -> list[Finding]:
    """The worst of each kind, collective and number of ranks before the next ones: what is wrong with a collective is mostly the
    same at its other sizes."""
    counts: Counter[tuple[str, str, int]] = Counter()
    ordered = []
    for finding in findings:
        key = (finding.kind, finding.key.point.collective, finding.key.point.ranks)
        ordered.append((counts[key], finding))
        counts[key] += 1
    return [finding for _, finding in sorted(ordered, key=lambda each: each[0])]


def _measured(host: hosts.Host, asked: Asked, ways: bool, found: Found, bar: _Bar) -> Iterator[Sample]:
    todo = all_jobs(asked.points, found.cores, ways, _SHARE_OF_TIMES * asked.budget)
    for job in todo:
        if bar.left() <= (1 - _SHARE_OF_TIMES) * asked.budget:
            found.not_measured.append(f"{_title(job)}: the budget was spent")
            continue
        bar.say(_title(job))
        measured = host_jobs.run(host, job)
        found.host_version = measured.host_version or found.host_version
        if measured.why_not:
            found.not_measured.append(f"{_title(job)}: {measured.why_not}")
        yield from measured.samples
    if not found.host_version:
        raise Problem(f"no job ran: {found.not_measured[0] if found.not_measured else 'there is nothing to measure'}", code=1)


def _has_espalier(host: hosts.Host) -> bool:
    try:
        hosts.preload(host)
    except Problem:
        return False
    return True


def of(found: Found, call: str) -> Optional[Finding]:
    return next((finding for finding in found.findings if finding.call == call), None)
