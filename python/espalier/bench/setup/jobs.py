"""The jobs of a set-up run: host and Espalier in turns, each in processes of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from espalier import install
from espalier.bench import build, hosts, process
from espalier.bench.hosts import Host, cores, environment, preload, preloaded
from espalier.launch.preload import VARIABLE
from espalier.problem import Problem

CASES = 10  # of bench/setup/cases.c
CYCLES = 100  # of a case in a round
CHURN_RANKS = 2  # of the numbers of ranks so many, the smallest ones
SIDES = ("host", "espalier")
# Intel MPI 2021.18 by itself aborts in a collective of a communicator beyond some 300 that live and were used.
MOST_LIVE = {"impi": 250}
PARTS = ("start", "cycles", "live", "churn")
_FROM_COMPARE = ("area", "clock", "flag_exchange", "progress", "session", "team")


@dataclass(frozen=True)
class Settings:
    hosts: tuple[Host, ...]
    ranks: tuple[int, ...]
    start_ranks: tuple[int, ...]
    rounds: int  # of each case, in one job
    passes: int
    seconds: float  # for all cases of a job, about
    communicators: int  # that live at once
    churn: int  # cycles after which memory must be as it was
    parts: tuple[str, ...] = PARTS


@dataclass(frozen=True)
class Job:
    kind: str  # one of PARTS
    host: Host
    ranks: int
    side: str
    number: int  # of the pass

    @property
    def title(self) -> str:
        who = self.host.title if self.side == "host" else f"Espalier under {self.host.title}"
        return f"{self.kind}, {self.ranks} ranks, {who}"


def _in_turns(settings: Settings, kind: str, ranks: int, number: int) -> Iterator[Job]:
    """What will be compared runs close together; the first side changes from pass to pass."""
    for host in settings.hosts:
        for side in SIDES if number % 2 == 0 else reversed(SIDES):
            yield Job(kind, host, ranks, side, number)


def plan(settings: Settings) -> Iterator[Job]:
    yield from (job for job in _all_parts(settings) if job.kind in settings.parts)


def _all_parts(settings: Settings) -> Iterator[Job]:
    for number in range(settings.passes):
        for ranks in settings.start_ranks:
            yield from _in_turns(settings, "start", ranks, number)
        for ranks in settings.ranks:
            yield from _in_turns(settings, "cycles", ranks, number)
    for ranks in settings.ranks:
        yield from _in_turns(settings, "live", ranks, 0)
    for ranks in sorted(settings.ranks)[:CHURN_RANKS]:
        yield from _in_turns(settings, "churn", ranks, 0)


def program(host: Host, name: str) -> Path:
    """ "setup" or "start", built for this host."""
    folder = install.measuring() / "setup"
    parts = ("usage", "start") if name == "start" else ("usage", "cases", "setup")
    files = [folder / f"{part}.c" for part in parts]
    files += [install.measuring() / "mpi" / f"{part}.c" for part in _FROM_COMPARE if name != "start"]
    if not files[0].exists():
        raise Problem(f"{folder} holds no sources; {install.repair()}")
    return build.program(host, f"setup-{name}", files)


def _words(job: Job, settings: Settings) -> list[str]:
    if job.kind == "start":
        return [str(program(job.host, "start"))]
    words = [str(program(job.host, "setup")), ",".join(map(str, cores())), job.kind]
    if job.kind == "cycles":
        return [*words, str(CYCLES), str(settings.rounds), f"{settings.seconds / settings.rounds / CASES:.3f}"]
    if job.kind == "live":
        return [*words, str(min(settings.communicators, MOST_LIVE.get(job.host.kind, settings.communicators)))]
    return [*words, str(settings.churn)]


def command(job: Job, settings: Settings) -> tuple[list[str], dict[str, str]]:
    """The command and its environment. Above the number of cores MPICH's launcher has Espalier also where the ranks are
    the host's alone: it then keeps them in one session (docs/waiting.md), so that both sides share cores alike."""
    words, surroundings = _words(job, settings), environment(job.host, job.ranks)
    if job.side == "espalier":
        surroundings |= preloaded(preload(job.host))
    elif job.host.kind == "mpich" and not job.host.batch and job.ranks > len(cores()) and job.kind != "start":
        surroundings |= preloaded(preload(job.host))
        words = ["env", "-u", VARIABLE, *words]
    return hosts.job(job.host, job.ranks, words, surroundings)


def read_lines(text: str) -> list[dict]:
    """The objects that the program has printed."""
    found = []
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and "kind" in entry:
            found.append(entry)
    return found


def _limit(job: Job, settings: Settings) -> float:
    return {"live": 60 + 0.2 * settings.communicators, "churn": 60 + 0.05 * settings.churn}.get(
        job.kind, 60 + 6 * settings.seconds
    )


def run(job: Job, settings: Settings) -> tuple[Optional[dict], Optional[dict]]:
    """(job entry, None) or (None, failure entry) for the document."""
    words, surroundings = command(job, settings)
    outcome = process.run(words, surroundings, _limit(job, settings))
    lines = read_lines(outcome.output)
    ended = {"start": "start"}.get(job.kind, "end")
    if not outcome.fine or not any(line["kind"] == ended for line in lines):
        why = outcome.failure()["why"] if not outcome.fine else "wrote no complete result"
        return None, {**outcome.failure(), "why": why}
    entry = {"kind": job.kind, "host": job.host.name, "ranks": job.ranks, "side": job.side, "pass": job.number}
    return entry | {"command": outcome.command, "wall_ms": round(outcome.seconds * 1000, 1), "lines": lines}, None


def check_ready(settings: Settings) -> None:
    """Builds the programs and looks for the libraries before anything is measured."""
    for host in settings.hosts:
        preload(host)
        for name in ("setup", "start"):
            program(host, name)
