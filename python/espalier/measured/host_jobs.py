"""Jobs of bench/trials for `espalier lint`: the host by its own, with a setting, or beside Espalier."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Optional

from espalier.bench import build, hosts, process
from espalier.measured.point import DEFAULT, HOST, Point
from espalier.measured.times import Key, Sample

_LAUNCH_SECONDS = 60
WAYS = {"": [], "shifted": ["--shift", "8"], "derived": ["--derived"]}


class Job(NamedTuple):
    points: tuple[Point, ...]  # of one number of ranks
    way: str
    rounds: int
    seconds: float
    settings: tuple[tuple[str, str], ...] = ()
    beside_espalier: bool = False


class Measured(NamedTuple):
    samples: list[Sample]  # the host's
    espalier: list[Sample]
    host_version: str
    why_not: str  # "": it ran to its end
    output: str = ""  # what its ranks and its launcher printed


def read(text: str, ranks: int, way: str) -> tuple[list[Sample], list[Sample], str]:
    """What of it is whole: also of a job that was cut off."""
    samples: dict[str, list[Sample]] = {HOST: [], DEFAULT: []}
    version = ""
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry["kind"] == "run":
            version = entry["host_version"]
        if entry["kind"] != "trials":
            continue
        key = Key(Point(ranks, entry["collective"], entry["bytes"]), way)
        for side, us in zip(entry["sides"], entry["us"]):
            samples[side].append(Sample(key, entry["root"], us))
    return samples[HOST], samples[DEFAULT], version


def _surroundings(host: hosts.Host, job: Job, ranks: int) -> dict[str, str]:
    """The host as it comes: without what `espalier bench` sets where ranks share cores."""
    found = hosts.environment(host, ranks, default=True) | dict(job.settings)
    return found | (hosts.preloaded(hosts.preload(host)) if job.beside_espalier else {})


def run(host: hosts.Host, job: Job) -> Measured:
    ranks = job.points[0].ranks
    sides = f"{HOST} {DEFAULT}" if job.beside_espalier else HOST
    with tempfile.TemporaryDirectory(prefix="espalier-lint-") as name:
        folder = Path(name)
        lines = [f"{point.collective} {point.size} {sides}\n" for point in job.points]
        (folder / "points").write_text("".join(lines), encoding="utf-8")
        words = ["--points", str(folder / "points"), "--out", str(folder / "out"), "--rounds", str(job.rounds)]
        words += ["--seconds", f"{job.seconds:.1f}", "--cpus", ",".join(map(str, hosts.cores())), *WAYS[job.way]]
        command, settings = hosts.job(host, ranks, [str(build.trials(host)), *words], _surroundings(host, job, ranks))
        outcome = process.run(command, settings, _LAUNCH_SECONDS + 3 * job.seconds)
        out = folder / "out"
        text = out.read_text(encoding="utf-8") if out.exists() else ""
    samples, espalier, version = read(text, ranks, job.way)
    return Measured(samples, espalier, version, _trouble(outcome, text), outcome.output)


def _trouble(outcome: process.Outcome, text: str) -> str:
    if not outcome.fine:
        failure = outcome.failure()
        return f"{failure['why']}: {process.telling(failure['last_lines'])}"
    end = next((json.loads(line) for line in text.splitlines() if '"end"' in line), None)
    if end is None:
        return "wrote no complete result"
    return f"{end['wrong']} wrong elements in the results" if end["wrong"] else ""


def cut(points: Sequence[Point], most: int) -> list[tuple[Point, ...]]:
    """Into jobs: the sizes of a collective stay together, as their times are compared."""
    found: list[list[Point]] = []
    last: Optional[tuple[int, str]] = None
    for point in points:
        is_same = last == point[:2]
        if not found or found[-1][0].ranks != point.ranks or (not is_same and len(found[-1]) >= most):
            found.append([])
        found[-1].append(point)
        last = (point.ranks, point.collective)
    return [tuple(each) for each in found]
