"""One job of `compare` under some settings: what a call of Espalier's takes."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from espalier.bench import build, jobs, process
from espalier.bench.hosts import Host, cores, environment, launcher, preload, preloaded
from espalier.bench.results.stats import quantile
from espalier.problem import Problem

STARTING = 60  # seconds beyond what a job is given to measure

Times = dict[tuple[str, int], float]  # by collective and bytes: the median of a job's rounds in us


def times(host: Host, ranks: int, settings: Mapping[str, str], collectives: Sequence[str], sizes: Sequence[int],
          seconds: float) -> Times:
    """Ranks have a core each if there are so many. The host's own calls alternate with Espalier's, and are left out."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        words = [str(build.compare(host)), "--out", str(out), "--seconds", str(seconds), "--rounds", "1000"]
        if ranks <= len(cores()):
            words += ["--pin", "yes", "--cpus", ",".join(map(str, cores()[:ranks]))]
        words += ["--collectives", ",".join(collectives), "--sizes", ",".join(map(str, sizes))]
        told = environment(host, ranks) | preloaded(preload(host)) | dict(settings) | {"ESPALIER_FALLBACK": "error"}
        outcome = process.run([*launcher(host, ranks), *words], told, STARTING + seconds)
        found = jobs.read_lines(out.read_text() if out.exists() else "")
    if why := jobs.trouble(found, outcome, host_only=False):
        raise Problem(f"{host.title}, {ranks} ranks, {dict(settings)}: {why}")
    rounds: dict[tuple[str, int], list[float]] = defaultdict(list)
    for entry in found["rounds"]:
        rounds[entry["collective"], entry["bytes"]].append(entry["espalier_us"])
    return {key: quantile(values, 0.5) for key, values in rounds.items()}
