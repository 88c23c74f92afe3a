"""The jobs of a bench run: every host in turn, in short jobs, several times over."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional

from espalier import bench_build, bench_process
from espalier.bench_hosts import Host, cores, environment, launcher, preload
from espalier.problem import Problem


@dataclass(frozen=True)
class Settings:
    hosts: tuple[Host, ...]
    ranks: tuple[int, ...]
    sizes: tuple[int, ...]
    collectives: tuple[str, ...]
    buffers: tuple[str, ...]
    rounds: int  # in one job
    passes: int  # jobs of each kind
    seconds: float  # a job starts no new round after this long
    pin: str  # auto: when there are enough cores
    limits: bool
    host_only: bool


@dataclass(frozen=True)
class Job:
    host: Host
    variant: str  # "best" or "default": the host as it comes, shown beside it above the number of cores
    ranks: int
    buffers: str
    number: int  # of the pass

    @property
    def title(self) -> str:
        extra = " as it comes" if self.variant == "default" else ""
        return f"{self.host.title}{extra}, {self.ranks} ranks, buffers {self.buffers}"


def plan(settings: Settings) -> Iterator[Job]:
    """Hosts in the innermost loop: jobs that will be compared run close together."""
    for number in range(settings.passes):
        for ranks in settings.ranks:
            for buffers in settings.buffers:
                for host in settings.hosts:
                    yield Job(host, "best", ranks, buffers, number)
            if number == 0 and ranks > len(cores()):
                for host in settings.hosts:
                    if host.crowded:
                        yield Job(host, "default", ranks, "written", number)


def _arguments(job: Job, settings: Settings, out: str) -> list[str]:
    default = job.variant == "default"
    sizes = settings.sizes[:1] if default else settings.sizes
    words = ["--out", out, "--cpus", ",".join(map(str, cores())), "--pin", settings.pin]
    words += ["--sizes", ",".join(map(str, sizes)), "--collectives", ",".join(settings.collectives)]
    words += ["--rounds", "3" if default else str(settings.rounds), "--seconds", str(settings.seconds)]
    words += ["--host-only"] if default or settings.host_only else []
    words += ["--reused"] if job.buffers == "reused" else []
    words += ["--limits"] if settings.limits and job.ranks == 2 and not default else []
    return words


def read_lines(text: str) -> dict:
    """What bench/mpi/compare writes, sorted by kind. A job that was cut short has no "end"."""
    found: dict = {"run": None, "rounds": [], "limits": [], "end": None}
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        kind = entry.pop("kind", "") if isinstance(entry, dict) else ""
        if kind in ("round", "limits"):
            found["rounds" if kind == "round" else "limits"].append(entry)
        elif kind in ("run", "end"):
            found[kind] = entry
    return found


def _trouble(found: dict, outcome: bench_process.Outcome, host_only: bool) -> Optional[str]:
    if not outcome.fine:
        return outcome.failure()["why"]
    if found["end"] is None or found["run"] is None:
        return "wrote no complete result"
    if found["end"]["wrong"]:
        return f"{found['end']['wrong']} wrong elements in the results"
    if not host_only and found["run"]["mpi_library"] == found["run"]["host_library"]:
        return "Espalier was preloaded, but the MPI names still lead to the host"
    return None


def run(job: Job, settings: Settings) -> tuple[Optional[dict], Optional[dict]]:
    """(job entry, None) or (None, failure entry) for the document."""
    host_only = settings.host_only or job.variant == "default"
    surroundings = environment(job.host, job.ranks, default=job.variant == "default")
    with tempfile.TemporaryDirectory(prefix="espalier-bench-") as folder:
        out = Path(folder) / "out.jsonl"
        program = [str(bench_build.compare(job.host)), *_arguments(job, settings, str(out))]
        program = bench_process.wrapped({}, None if host_only else preload(job.host), program)
        outcome = bench_process.run(launcher(job.host, job.ranks) + program, surroundings, 60 + 6 * settings.seconds)
        found = read_lines(out.read_text() if out.exists() else "")
    trouble = _trouble(found, outcome, host_only)
    if trouble:
        return None, {**outcome.failure(), "why": trouble}
    return _entry(job, found, outcome), None


def _entry(job: Job, found: dict, outcome: bench_process.Outcome) -> dict:
    return {
        "host": job.host.name,
        "variant": job.variant,
        "ranks": job.ranks,
        "buffers": job.buffers,
        "pass": job.number,
        "command": outcome.command,
        "seconds": round(outcome.seconds, 2),
        "run": found["run"],
        "rounds": found["rounds"],
        "limits": found["limits"],
    }


def check_ready(settings: Settings) -> None:
    """Builds the programs and looks for the libraries before anything is measured."""
    for host in settings.hosts:
        bench_build.compare(host)
        if not settings.host_only:
            preload(host)
    if not settings.ranks or not settings.sizes or not settings.collectives:
        raise Problem("nothing to measure; name at least one number of ranks, one size and one collective")
