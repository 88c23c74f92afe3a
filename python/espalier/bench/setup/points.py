"""From the lines of a set-up run to points: host and Espalier side by side, with the goal of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Optional

from espalier.bench.results.stats import Spread, near_below, state

# Above the host's time: what a cycle may take at most, as a ratio or as so many microseconds more.
MAKES = (1.5, 5.0)
INITS = (2.0, 0.0)
PASSES_THROUGH = (1.1, 5.0)
# Milliseconds above the host's from the first rank's start to the last one's first result; the ratio with many ranks.
START_MS, START_RATIO, START_MANY = 5.0, 1.1, 64
# How much a process may grow in thousands of cycles: the breathing of malloc.
GROWN_KIB, GROWN_MAPS = 4096, 2


def goal_of(case: str) -> tuple[float, float]:
    if case.endswith("_init"):
        return INITS
    return MAKES if "allreduce" in case else PASSES_THROUGH


def within(goal: tuple[float, float], host_us: float, espalier_us: float) -> bool:
    ratio, more = goal
    return espalier_us <= ratio * host_us or espalier_us <= host_us + more


def spread(values: list[float]) -> dict:
    found = Spread.of(values)
    return {"low": round(found.low, 3), "median": round(found.mid, 3), "high": round(found.high, 3)}


def _lines(jobs: list[dict], kind: str) -> Iterator[tuple[dict, dict]]:
    for job in jobs:
        for line in job["lines"]:
            if line["kind"] == kind:
                yield job, line


def _both(host: list, espalier: list) -> bool:
    return bool(host) and bool(espalier)


def _states(rounds: dict[str, list[dict]], border: float) -> Iterable[tuple[str, list[dict], list[dict]]]:
    """The rounds of each state of the cores that both sides met; all together if they met none alike."""
    found = []
    for name in ("near", "far", "unknown"):
        of = {side: [r for r in rounds[side] if state(r["f_ns"], border) == name] for side in ("host", "espalier")}
        if _both(of["host"], of["espalier"]):
            found.append((name, of["host"], of["espalier"]))
    if not found and _both(rounds["host"], rounds["espalier"]):
        found.append(("mixed", rounds["host"], rounds["espalier"]))
    return found


def cycles(jobs: list[dict]) -> tuple[list[dict], float]:
    """The points of the cases, and the flag exchange that parts near rounds from far ones."""
    border = near_below(line["f_ns"] for _, line in _lines(jobs, "case"))
    rounds: dict[tuple, dict[str, list[dict]]] = defaultdict(lambda: {"host": [], "espalier": []})
    for job, line in _lines(jobs, "case"):
        rounds[job["ranks"], line["case"], job["host"]][job["side"]].append(line)
    points = []
    for (ranks, case, host), sides in rounds.items():
        for name, of_host, ours in _states(sides, border):
            point = {"host": host, "ranks": ranks, "case": case, "state": name, "rounds": len(ours)}
            point |= {"cycles": sum(r["cycles"] for r in ours)}
            point |= {"host_us": spread([r["us"] for r in of_host]), "espalier_us": spread([r["us"] for r in ours])}
            points.append(point | _judged(case, point["host_us"]["median"], point["espalier_us"]["median"]))
    return points, border


def _judged(case: str, host_us: float, espalier_us: float) -> dict:
    goal = goal_of(case)
    return {"ratio": round(espalier_us / host_us, 3), "goal": list(goal), "met": within(goal, host_us, espalier_us)}


def _pairs(jobs: list[dict], kind: str) -> dict[tuple[int, str], dict[str, list[tuple[dict, dict]]]]:
    found: dict[tuple[int, str], dict[str, list[tuple[dict, dict]]]] = defaultdict(lambda: {"host": [], "espalier": []})
    for job, line in _lines(jobs, kind):
        found[job["ranks"], job["host"]][job["side"]].append((job, line))
    return found


def live(jobs: list[dict]) -> list[dict]:
    """What each communicator of many takes: time, and memory of a rank."""
    points = []
    for (ranks, host), sides in _pairs(jobs, "live").items():
        for side, found in sides.items():
            for _, line in found:
                point = {"host": host, "ranks": ranks, "side": side, "number": line["number"], "us": line.get("us")}
                points.append(point | {name: line[name] for name in ("before", "after", "freed")})
    return points


def grown(line: dict) -> Optional[str]:
    """What has grown in the cycles of a line of churn, or None."""
    before, after = line["before"], line["after"]
    if after["rss_kib"] > before["rss_kib"] + GROWN_KIB:
        return f"resident memory by {after['rss_kib'] - before['rss_kib']:.0f} KiB"
    if after["descriptors"] > before["descriptors"]:
        return f"descriptors from {before['descriptors']:.0f} to {after['descriptors']:.0f}"
    if after["maps"] > before["maps"] + GROWN_MAPS:
        return f"maps from {before['maps']:.0f} to {after['maps']:.0f}"
    return None


def churn(jobs: list[dict]) -> list[dict]:
    points = []
    for job, line in _lines(jobs, "churn"):
        point = {"host": job["host"], "ranks": job["ranks"], "side": job["side"], "cycles": line["cycles"]}
        points.append(point | {"us": line["mean_us"], "grown": grown(line), "before": line["before"], "after": line["after"]})
    return points


def start_met(ranks: int, host_ms: float, espalier_ms: float) -> bool:
    many = espalier_ms <= START_RATIO * host_ms
    return many if ranks >= START_MANY else many or espalier_ms <= host_ms + START_MS


def _start_side(found: list[tuple[dict, dict]]) -> dict:
    times = {name: spread([line[name] for _, line in found]) for name in ("init_ms", "first_ms", "span_ms", "cpu_ms")}
    usage = {name: found[0][1]["usage"][name] for name in found[0][1]["usage"]}
    # What each rank holds is asked between the first collective and the end: with many ranks that takes seconds.
    return times | {"wall_ms": spread([job["wall_ms"] - line["usage_ms"] for job, line in found]), "usage": usage}


def start(jobs: list[dict]) -> list[dict]:
    points = []
    for (ranks, host), sides in _pairs(jobs, "start").items():
        if not _both(sides["host"], sides["espalier"]):
            continue
        of = {side: _start_side(found) for side, found in sides.items()}
        met = start_met(ranks, of["host"]["span_ms"]["median"], of["espalier"]["span_ms"]["median"])
        points.append({"host": host, "ranks": ranks, "runs": len(sides["host"]), "of_host": of["host"],
                       "of_espalier": of["espalier"], "met": met})
    return points


def all_points(jobs: list[dict]) -> dict:
    cases, border = cycles(jobs)
    parts = {"cases": cases, "start": start(jobs), "live": live(jobs), "churn": churn(jobs)}
    return {"near_below_ns": round(border, 1), **parts}
