"""Two ranks with a core each, job after job in turns: RG's configuration, then each ablation."""

from __future__ import annotations

from espalier.bench import one_job
from espalier.bench.hosts import Host
from espalier.bench.one_job import Times

from ablations.configurations import ABLATIONS, COLLECTIVES, RG, SIZES

RANKS = 2


def job(host: Host, settings: dict[str, str], seconds: float) -> Times:
    return one_job.times(host, RANKS, settings, COLLECTIVES, SIZES, seconds)


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
