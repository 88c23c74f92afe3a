"""The jobs of a run: for each layout one cluster, and on it each host in turn."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Iterator, Optional

from emulated_cluster import Cluster, Layout, launchers
from emulated_cluster import hosts as on_cluster
from espalier.bench import build, jobs, process, served as bench_served
from espalier.bench.hosts import Host, cores, preload

from cluster.settings import NODE_STAGES, Settings

_STARTING = 60  # seconds for a job beyond what it was given to measure


@dataclass(frozen=True)
class Job:
    host: Host
    layout: Layout
    served: bool = False  # who serves which call, instead of times
    collectives: tuple[str, ...] = ()
    shape: str = ""  # of an allgatherv
    network: str = ""  # what they are told to take: algorithm[:leaders]
    node_stage: str = ""  # of NODE_STAGES

    @property
    def title(self) -> str:
        special = [f"allgatherv {self.shape}" if self.shape else "", self.network, self.node_stage]
        special.append("who serves what" if self.served else "")
        return ", ".join([self.host.title, str(self.layout), *filter(None, special)])

    @property
    def environment(self) -> dict[str, str]:
        algorithm, _, leaders = self.network.partition(":")
        found = {f"ESPALIER_NETWORK_{name.upper()}": algorithm for name in self.collectives} if algorithm else {}
        stage = {"ESPALIER_NODE_STAGE": NODE_STAGES[self.node_stage]} if self.node_stage else {}
        return found | ({"ESPALIER_LEADERS": leaders} if leaders else {}) | stage


def plan(settings: Settings) -> dict[Layout, list[Job]]:
    """Hosts one after the other on each layout, so that what is compared was measured close together."""
    found = {}
    for layout in dict.fromkeys((*settings.layouts, *settings.root_layouts)):
        hosts = [host for host in settings.hosts if not launchers.refusal(on_cluster.KIND[host.name], layout)]
        collectives = settings.collectives_of(layout)
        served = [] if settings.host_only else [Job(host, layout, True, collectives) for host in hosts]
        told = product(settings.shapes or ("",), hosts, settings.networks or ("",), settings.node_stages or ("",))
        found[layout] = served + [Job(host, layout, False, collectives, shape, *more) for shape, host, *more in told]
    return found


@contextmanager
def shared_folder() -> Iterator[Path]:
    """In memory, and seen by all nodes: the ranks' common clock and start, and what they write."""
    with tempfile.TemporaryDirectory(
        prefix="espalier-cluster-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    ) as folder:
        yield Path(folder)


def made_cluster(layout: Layout, settings: Settings, folder: Path) -> Cluster:
    keep = [folder] if settings.host_only else [folder, *{preload(host).parent for host in settings.hosts}]
    return Cluster(layout.nodes, settings.delay_us, settings.rate_mbit, keep)


def _sizes(job: Job, settings: Settings) -> list[int]:
    """Bytes per rank, in whole doubles."""
    if not settings.shapes:
        return list(settings.sizes)
    return [max(8, total // job.layout.ranks // 8 * 8) for total in settings.totals]


def _arguments(job: Job, settings: Settings, folder: Path) -> list[str]:
    words = ["--out", str(folder / "out.jsonl"), "--area", str(folder / "area"), "--pin", "no"]
    words += ["--cpus", ",".join(map(str, cores())), "--seconds", str(settings.seconds)]
    words += ["--rotate-roots", "--rounds", str(settings.rounds * job.layout.ranks)]
    words += ["--shape", job.shape] if job.shape else []
    words += [
        "--sizes",
        ",".join(map(str, _sizes(job, settings))),
        "--collectives",
        ",".join(job.collectives),
    ]
    words += ["--host-only"] if settings.host_only else []
    return words + (["--calls-only"] if job.served else ["--messages"])


def _trouble(found: dict, outcome: process.Outcome, job: Job, host_only: bool) -> Optional[str]:
    """As of any job; and its ranks must lie where they should."""
    if what := jobs.trouble(found, outcome, host_only):
        return what
    if found["run"]["nodes"] != job.layout.node_of_ranks():
        return f"the ranks lie on nodes {found['run']['nodes']}, not as {job.layout}"
    return None


def run(
    job: Job, settings: Settings, cluster: Cluster, folder: Path, environment: Optional[dict] = None
) -> tuple[Optional[dict], Optional[dict]]:
    """(job entry, None) or (None, failure entry) for the document. `environment`: more of it, for the ranks."""
    program = [str(build.compare(job.host)), *_arguments(job, settings, folder)]
    statistics = folder / "statistics.json"
    more = job.environment | dict(environment or {})
    more.update({"ESPALIER_STATS": str(statistics)} if job.served else {})
    library = None if settings.host_only else preload(job.host)
    command = on_cluster.command(job.host, cluster, job.layout, program, more, library)
    for old in folder.iterdir():
        old.unlink()
    outcome = process.run(command, on_cluster.surroundings(job.host), _STARTING + 6 * settings.seconds)
    cluster.clear()
    out = folder / "out.jsonl"
    found = jobs.read_lines(out.read_text() if out.exists() else "")
    trouble = _trouble(found, outcome, job, settings.host_only)
    if trouble:
        return None, {**outcome.failure(), "why": trouble, "host": job.host.name, "layout": str(job.layout)}
    served = bench_served.read(statistics, job.collectives) if job.served else {}
    return _entry(job, found, outcome, served), None


_KEPT = ("collective", "bytes", "root", "round", "calls", "espalier_first", "host_us", "espalier_us")


def _entry(job: Job, found: dict, outcome: process.Outcome, served: dict) -> dict:
    return {
        "host": job.host.name,
        "layout": str(job.layout),
        "shape": job.shape,
        "network": job.network,
        "node_stage": job.node_stage,
        "ranks": job.layout.ranks,
        "settings": on_cluster.oversubscribed_settings(job.host.name),
        "seconds": round(outcome.seconds, 2),
        "run": found["run"],
        "served": served,
        "messages": found["messages"],
        "rounds": [{name: r[name] for name in _KEPT if name in r} for r in found["rounds"]],
    }
