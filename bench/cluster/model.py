"""Latency, time per byte and gap of the hosts' messages within a node and between nodes, to feed a cost model."""

from __future__ import annotations

from collections import defaultdict
from typing import Sequence

from espalier.bench.results.stats import Spread

_SHORT, _LONG = 1024, 65536  # bytes: up to here the latency shows, from here on the rate


def _described(values: Sequence[float]) -> dict:
    spread = Spread.of(values)
    return {"low": round(spread.low, 3), "median": round(spread.mid, 3), "high": round(spread.high, 3)}


def _slope(points: Sequence[tuple[int, float]]) -> float:
    """Least squares, microseconds per byte."""
    if len(points) < 2:
        return 0.0
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def _of_place(measured: Sequence[dict]) -> dict:
    trips = [(m["bytes"], Spread.of(m["half_trip_us"]).mid) for m in measured]
    gaps = [(m["bytes"], Spread.of(m["gap_us"]).mid) for m in measured]
    return {
        "latency_us": round(min(us for size, us in trips if size <= _SHORT), 3),
        "ns_per_byte": round(1000 * _slope([point for point in trips if point[0] >= _LONG]), 4),
        "gap_us": round(min(us for size, us in gaps if size <= _SHORT), 3),
        "gap_ns_per_byte": round(1000 * _slope([point for point in gaps if point[0] >= _LONG]), 4),
        "sizes": [
            {"bytes": m["bytes"], "half_trip_us": _described(m["half_trip_us"]), "gap_us": _described(m["gap_us"])}
            for m in measured
        ],
    }


def of_jobs(jobs: Sequence[dict]) -> list[dict]:
    """One entry for each host, layout and place ("within a node", "between nodes").

    latency_us: half of the shortest message's round trip. ns_per_byte: slope of that over the long messages. gap_us,
    gap_ns_per_byte: likewise for the distance of two messages of a row sent in one direction.
    """
    found = []
    for job in jobs:
        places = defaultdict(list)
        for measured in job["messages"]:
            places[measured["where"]].append(measured)
        found += [
            {"host": job["host"], "layout": job["layout"], "where": place, **_of_place(measured)}
            for place, measured in places.items()
        ]
    return found
