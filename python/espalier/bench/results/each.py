"""The distribution of single calls: what a program notices of a neighbour is not the median."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Optional

from espalier.bench.results.stats import quantile

_SHARES = {"low": 0.25, "median": 0.5, "high": 0.75, "p95": 0.95, "p99": 0.99}


def reduced(lines: Iterable[dict]) -> list[dict]:
    """The lines of `compare --each`, blocks of calls, as one entry for each (collective, bytes, side)."""
    times: dict[tuple, list[float]] = defaultdict(list)
    for line in lines:
        times[line["collective"], line["bytes"], line["side"]] += line["us"]
    return [
        {
            "collective": collective,
            "bytes": size,
            "side": side,
            "calls": len(us),
            **{name: round(quantile(us, share), 3) for name, share in _SHARES.items()},
            "least": min(us),
            "most": max(us),
        }
        for (collective, size, side), us in times.items()
    ]


def _merged(entries: list[dict]) -> dict:
    """Of several jobs: the median of each quantile, the largest and the smallest of all."""
    found = {name: quantile([entry[name] for entry in entries], 0.5) for name in _SHARES}
    found |= {"calls": sum(entry["calls"] for entry in entries)}
    return found | {"least": min(e["least"] for e in entries), "most": max(e["most"] for e in entries)}


def beside_neighbour(document: dict) -> dict[tuple[str, str, str], dict]:
    """(how the calls follow each other, host, side) to the quantiles of calls beside a computing process."""
    groups: dict[tuple[str, str, str], list[dict]] = defaultdict(list)
    for job in document["jobs"]:
        words = f"one rank {job['place']}" if job.get("place") else "back to back"
        for entry in job.get("each") or []:
            groups[words, job["host"], entry["side"]].append(entry)
    return {key: _merged(groups[key]) for key in sorted(groups)}


def best_peer(found: dict[tuple[str, str, str], dict], words: str) -> Optional[tuple[str, dict]]:
    """The host whose p95 is the lowest."""
    hosts = [(host, entry) for (how, host, side), entry in found.items() if side == "host" and how == words]
    return min(hosts, key=lambda pair: pair[1]["p95"], default=None)
