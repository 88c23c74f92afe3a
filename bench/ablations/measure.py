"""Two ranks with a core each, job after job in turns: RG's configuration, then each ablation."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path

from espalier.bench import build, jobs, process
from espalier.bench.hosts import Host, cores, environment, launcher, preload, preloaded
from espalier.bench.results.stats import quantile
from espalier.problem import Problem

from ablations.configurations import ABLATIONS, COLLECTIVES, RG, SIZES

RANKS = 2
STARTING = 60  # seconds beyond what a job is given to measure

Times = dict[tuple[str, int], float]  # by collective and bytes: the median of a job's rounds in us


def job(host: Host, settings: dict[str, str], seconds: float) -> Times:
    """A call of Espalier under these settings, in us. The host's own calls alternate with it, and are left out."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        words = [str(build.compare(host)), "--out", str(out), "--pin", "yes", "--cpus", ",".join(map(str, cores()[:RANKS]))]
        words += ["--seconds", str(seconds), "--rounds", "1000", "--collectives", ",".join(COLLECTIVES)]
        words += ["--sizes", ",".join(map(str, SIZES))]
        told = environment(host, RANKS) | preloaded(preload(host)) | settings | {"ESPALIER_FALLBACK": "error"}
        outcome = process.run([*launcher(host, RANKS), *words], told, STARTING + seconds)
        found = jobs.read_lines(out.read_text() if out.exists() else "")
    if why := jobs.trouble(found, outcome, host_only=False):
        raise Problem(f"{host.title}, {settings}: {why}")
    rounds: dict[tuple[str, int], list[float]] = defaultdict(list)
    for entry in found["rounds"]:
        rounds[entry["collective"], entry["bytes"]].append(entry["espalier_us"])
    return {key: quantile(values, 0.5) for key, values in rounds.items()}


def turns(host: Host, number: int, seconds: float, tell) -> list[dict[str, Times]]:
    """For each turn the times of RG's configuration and of all ablations, which begin at another one each time."""
    configurations = [("RG", RG), *((one.title, RG | one.settings) for one in ABLATIONS)]
    found = []
    for turn in range(number):
        first = turn % len(configurations)
        order = configurations[first:] + configurations[:first]
        found.append({title: job(host, settings, seconds) for title, settings in order})
        tell(f"turn {turn + 1} of {number} done")
    return found
