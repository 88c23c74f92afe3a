"""The jobs of a bench run: every host in turn, in short jobs, several times over."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from espalier.bench import build, hosts, neighbour as bench_neighbour, process, served
from espalier.bench.hosts import Host, cores, environment, preload, preloaded
from espalier.bench.quota import Quota
from espalier.bench.results import each
from espalier.bench.results.stats import BLOCKING, PERSISTENT
from espalier.problem import Problem

QUOTA_RANKS = 4
NEIGHBOUR_LATE_US = 500  # beside a neighbour: so long that a rank that waits without sleeping uses up its share
OVERSUBSCRIBED_PASSES = 2  # calls take longer there, and a round has more of them
NO_QUOTA = Quota(None, 0, "not asked for")
AS_IT_COMES = ("barrier", "bcast", "reduce", "allreduce")


@dataclass(frozen=True)
class Settings:
    hosts: tuple[Host, ...]
    ranks: tuple[int, ...]
    sizes: tuple[int, ...]
    collectives: tuple[str, ...]
    buffers: tuple[str, ...]
    rounds: int  # in one job
    passes: int  # jobs of each kind
    seconds: float  # a job starts no new point after this long, once every point has had its first round
    pin: str  # auto: when there are enough cores
    limits: bool
    host_only: bool
    mode: str = "blocking"  # or another one of stats.MODES
    oversubscribed_sizes: tuple[int, ...] = ()  # above the number of cores; (): sizes
    cpus: tuple[int, ...] = ()  # (): all that this process may use
    sessions: str = "launcher"  # or own: each rank in a session of its own
    compute_us: float = 0  # also measure with so much computing between the start of a call and its wait
    late_us: float = 0  # also measure with one rank that comes so much later
    quota: Optional[Quota] = None  # also measure 4 ranks under a quota of one core, or on one core if it was not made
    neighbour: bool = False  # also measure beside a computing process
    memory: int = 256 << 20  # bytes of all buffers of a job

    @property
    def usable(self) -> tuple[int, ...]:
        return self.cpus or tuple(cores())


@dataclass(frozen=True)
class Job:
    host: Host
    variant: str  # "best" or "default": the host as it comes, shown beside it above the number of cores
    ranks: int
    buffers: str
    number: int  # of the pass
    kind: str = "points"  # or "served": who serves which call; "neighbour": single calls beside a computing process
    place: str = ""  # "", "quota", "one core", "late" or "computing"

    @property
    def title(self) -> str:
        extra = " as it comes" if self.variant == "default" else ""
        what = {"points": "", "served": ", who serves what", "neighbour": ", a computing neighbour"}[self.kind]
        places = {"quota": "quota of one core", "one core": "all on one core", "late": "one late", "computing": "computing"}
        place = f", {places[self.place]}" if self.place else ""
        return f"{self.host.title}{extra}, {self.ranks} ranks{place}{what}, buffers {self.buffers}"


def _oversubscribed(ranks: int, settings: Settings) -> bool:
    return ranks > len(settings.usable)


def _of_hosts(settings: Settings, *words: Any, **more: Any) -> Iterator[Job]:
    for host in settings.hosts:
        yield Job(host, *words, **more)


def _points(settings: Settings, number: int) -> Iterator[Job]:
    """Hosts in the innermost loop: jobs that will be compared run close together."""
    for ranks in settings.ranks:
        oversubscribed = _oversubscribed(ranks, settings)
        if oversubscribed and number >= OVERSUBSCRIBED_PASSES:
            continue
        for buffers in settings.buffers:
            yield from _of_hosts(settings, "best", ranks, buffers, number)
        if settings.late_us:
            yield from _of_hosts(settings, "best", ranks, "written", number, place="late")
        if settings.compute_us:
            yield from _of_hosts(settings, "best", ranks, "written", number, place="computing")
        if number == 0 and oversubscribed and set(settings.collectives) & set(AS_IT_COMES):
            yield from (job for job in _of_hosts(settings, "default", ranks, "written", number) if job.host.oversubscribed)


def _special(settings: Settings, number: int) -> Iterator[Job]:
    if settings.quota and number < OVERSUBSCRIBED_PASSES:
        place = "quota" if settings.quota.made else "one core"
        yield from _of_hosts(settings, "best", QUOTA_RANKS, "written", number, place=place)
    if settings.neighbour:
        yield from _of_hosts(settings, "best", 2, "written", number, kind="neighbour")
        yield from _of_hosts(settings, "best", 2, "written", number, kind="neighbour", place="late")


def plan(settings: Settings) -> Iterator[Job]:
    for ranks in settings.ranks if not settings.host_only else ():
        yield from _of_hosts(settings, "best", ranks, "written", 0, kind="served")
    for number in range(settings.passes):
        yield from _points(settings, number)
        yield from _special(settings, number)


def _usable(job: Job, settings: Settings) -> tuple[int, ...]:
    return settings.usable[:1] if job.place == "one core" else settings.usable


def _sizes(job: Job, settings: Settings) -> tuple[int, ...]:
    many = _oversubscribed(job.ranks, settings)
    sizes = settings.oversubscribed_sizes if many and settings.oversubscribed_sizes else settings.sizes
    return sizes[:1] if job.variant == "default" else sizes


def _host_wrong(job: Job, settings: Settings) -> list[str]:
    """Collectives that the host gets wrong in this mode, at any of the sizes."""
    if settings.mode != PERSISTENT:
        return []
    most = max(_sizes(job, settings))
    bounds = job.host.wrong_persistent.items()
    wrong = {name for name, (ranks, size) in bounds if job.ranks >= ranks and most >= size}
    return [name for name in settings.collectives if name in wrong]


def _collectives(job: Job, settings: Settings) -> list[str]:
    names = settings.collectives if job.variant != "default" else AS_IT_COMES
    left_out = _host_wrong(job, settings)
    return [name for name in settings.collectives if name in names and name not in left_out]


def _late_us(job: Job, settings: Settings) -> float:
    return NEIGHBOUR_LATE_US if job.kind == "neighbour" else settings.late_us


def _late(job: Job, settings: Settings) -> list[str]:
    return ["--late", f"{_late_us(job, settings):g}"] if job.place == "late" else []


def _what(job: Job, settings: Settings) -> list[str]:
    if job.kind == "neighbour":
        return ["--each", "--sizes", "8", "--collectives", "allreduce", "--rounds", "40", *_late(job, settings)]
    words = ["--sizes", ",".join(map(str, _sizes(job, settings)))]
    words += ["--collectives", ",".join(_collectives(job, settings))]
    words += ["--rounds", "3" if job.variant == "default" else str(settings.rounds)]
    words += ["--calls-only"] if job.kind == "served" else []
    words += [] if job.buffers == "written" else [f"--{job.buffers}"]
    words += _late(job, settings)
    enough = job.ranks == 2 or _oversubscribed(job.ranks, settings)
    words += ["--limits"] if settings.limits and enough and job.variant == "best" and not job.place else []
    return words


def _arguments(job: Job, settings: Settings, out: str) -> list[str]:
    words = ["--out", out, "--cpus", ",".join(map(str, _usable(job, settings)))]
    words += ["--pin", "yes" if job.place == "one core" else settings.pin]
    words += ["--seconds", str(settings.seconds), "--memory", str(settings.memory), "--sessions", settings.sessions]
    words += [] if settings.mode == BLOCKING else [f"--{settings.mode}"]
    words += ["--compute", f"{settings.compute_us:g}"] if job.place == "computing" else []
    words += ["--host-only"] if job.variant == "default" or settings.host_only else []
    return words + _what(job, settings)


_LISTS = {"round": "rounds", "limits": "limits", "switches": "switches", "each": "each", "messages": "messages"}


def read_lines(text: str) -> dict:
    """What bench/mpi/compare writes, sorted by kind. A job that was cut short has no "end"."""
    found: dict = {"run": None, "end": None, **{name: [] for name in _LISTS.values()}}
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        kind = entry.pop("kind", "") if isinstance(entry, dict) else ""
        if kind in _LISTS:
            found[_LISTS[kind]].append(entry)
        elif kind in ("run", "end"):
            found[kind] = entry
    return found


def trouble(found: dict, outcome: process.Outcome, host_only: bool) -> Optional[str]:
    """A job counts only if it ended well, and its results were right. What was wrong, or None."""
    if not outcome.fine:
        return outcome.failure()["why"]
    if found["end"] is None or found["run"] is None:
        return "wrote no complete result"
    if found["end"]["wrong"]:
        return f"{found['end']['wrong']} wrong elements in the results"
    if not host_only and found["run"]["mpi_library"] == found["run"]["host_library"]:
        return "Espalier was preloaded, but the MPI names still lead to the host"
    return None


def _session_trouble(found: dict, sessions: str) -> Optional[str]:
    if sessions == "own" and not found["run"]["own_sessions"]:
        return "not every rank could leave its launcher's session (--sessions own)"
    return None


def _surroundings(job: Job, settings: Settings, statistics: Path) -> dict[str, str]:
    usable = len(_usable(job, settings))
    found = environment(job.host, job.ranks, default=job.variant == "default", usable=usable)
    found |= {} if _is_host_only(job, settings) else preloaded(preload(job.host))
    return found | ({"ESPALIER_STATS": str(statistics)} if job.kind == "served" else {})


def _is_host_only(job: Job, settings: Settings) -> bool:
    return settings.host_only or job.variant == "default"


def _beside(job: Job, settings: Settings) -> AbstractContextManager[object]:
    """The neighbour sits on the last rank's core."""
    return bench_neighbour.neighbour(settings.usable[:2][-1]) if job.kind == "neighbour" else nullcontext()


def run(job: Job, settings: Settings) -> tuple[Optional[dict], Optional[dict]]:
    """(job entry, None) or (None, failure entry) for the document."""
    with tempfile.TemporaryDirectory(prefix="espalier-bench-") as folder:
        out, statistics = Path(folder) / "out.jsonl", Path(folder) / "statistics.json"
        program = [str(build.compare(job.host)), *_arguments(job, settings, str(out))]
        surroundings = _surroundings(job, settings, statistics)
        command, surroundings = hosts.job(job.host, job.ranks, program, surroundings, len(_usable(job, settings)))
        if job.place == "quota":
            assert settings.quota is not None, "only a run with a quota has such jobs"
            command = settings.quota.wrapped(command)
        with _beside(job, settings):
            outcome = process.run(command, surroundings, 60 + 6 * settings.seconds)
        found = read_lines(out.read_text() if out.exists() else "")
        if job.kind == "served":
            found["served"] = served.read(statistics, tuple(_collectives(job, settings)))
    what = trouble(found, outcome, _is_host_only(job, settings)) or _session_trouble(found, settings.sessions)
    if what:
        return None, {**outcome.failure(), "why": what}
    return _entry(job, settings, found, outcome), None


def _place(job: Job, settings: Settings) -> str:
    us = {"late": _late_us(job, settings), "computing": settings.compute_us}
    return f"{job.place} {us[job.place]:g} µs" if job.place in us else job.place


def _entry(job: Job, settings: Settings, found: dict, outcome: process.Outcome) -> dict:
    return {
        "host": job.host.name,
        "variant": job.variant,
        "ranks": job.ranks,
        "buffers": job.buffers,
        "mode": settings.mode,
        "host_wrong": _host_wrong(job, settings),
        "kind": job.kind,
        "place": _place(job, settings),
        "pass": job.number,
        "command": outcome.command,
        "seconds": round(outcome.seconds, 2),
        "run": found["run"],
        "rounds": found["rounds"],
        "limits": found["limits"],
        "switches": found["switches"],
        "each": each.reduced(found["each"]),
        "served": found.get("served", {}),
    }


def check_ready(settings: Settings) -> None:
    """Builds the programs and looks for the libraries before anything is measured."""
    for host in settings.hosts:
        build.compare(host)
        if not settings.host_only:
            preload(host)
    if not settings.ranks or not settings.sizes or not settings.collectives:
        raise Problem("nothing to measure; name at least one number of ranks, one size and one collective")
