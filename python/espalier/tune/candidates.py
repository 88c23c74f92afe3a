"""The plans that are worth measuring for a call: those that the cost model finds fast, and those that it does not know."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Optional

from espalier import core
from espalier.explain import algorithms
from espalier.measured.point import Point, bytes_of_rules
from espalier.problem import Problem
from espalier.simulate import candidates as simulated, derive

Json = dict[str, Any]

WITHIN = 2.0  # times the time of the model's best: what is slower there is not measured
MOST = 5  # plans of a call that are measured, beside the default and the host
_LONG = 32 * 1024  # from there on the chunk of an algorithm that the model does not know is varied
_KEPT_KEYS = ("zero_copy", "or_slots")  # of the default's rule: a rule gives all of its results


def _kind(plan: Json) -> str:
    return " ".join(str(plan[key]) for key in ("algorithm", "tree", "gather_tree", "release_tree") if key in plan)


def unknown_to_the_model(collective: str, size: int, known: Iterable[Json]) -> list[Json]:
    """Every algorithm that there is no candidate of, with the chunk of the rules or a longer one."""
    there = {plan["algorithm"] for plan in known} | {"host"}
    chunks = (32 * 1024, 128 * 1024) if size >= _LONG else (32 * 1024,)
    missing = [name for name in algorithms.of("node", collective) if name not in there]
    return [{"algorithm": name, "chunk": chunk} for name in missing for chunk in chunks]


def varied(times: dict[str, float], most: int) -> list[Json]:
    """Of the model's times by plan (JSON) the best ones, of which no two are of one kind unless kinds run out: its order of
    kinds is worth more than its order of chunks."""
    if not times:
        return []
    best = min(times.values())
    near = sorted((ns, name) for name, ns in times.items() if ns <= WITHIN * best)
    plans = [json.loads(name) for _, name in near]
    seen: set[str] = set()
    first = [plan for plan in plans if _kind(plan) not in seen and not seen.add(_kind(plan))]  # type: ignore[func-returns-value]
    return (first + [plan for plan in plans if plan not in first])[:most]


def default_plan(point: Point, ranks_per_core: float) -> Json:
    """What `espalier explain` says of the rules in force."""
    return core.describe({
        "what": "plan", "collective": point.collective, "bytes": bytes_of_rules(point) or 0, "ranks": point.ranks,
        "ranks_per_core": ranks_per_core,
    })


def kept_of(default: Json) -> Json:
    """What a rule in the default's place has to say for buffers and calls that are not measured here."""
    try:
        rule = json.loads((default.get("rule") or {}).get("text") or "{}")
    except ValueError:
        return {}
    return {key: rule[key] for key in _KEPT_KEYS if key in rule}


def is_default(plan: Json, default: Json, size: int) -> bool:
    """Also where both have chunks that the message does not fill."""
    chunks = {plan.get("chunk", default["chunk"]), default["chunk"]}
    if plan["algorithm"] != default["algorithm"] or (len(chunks) > 1 and size > min(chunks)):
        return False
    trees = {"gather_tree": plan.get("gather_tree", plan.get("tree")), "release_tree": plan.get("release_tree", plan.get("tree"))}
    return all(tree is None or tree == default[key] for key, tree in trees.items())


def model_times(point: Point, model: Optional[Path]) -> dict[str, float]:
    """By plan; without a model the middle one of each kind, all alike."""
    size = bytes_of_rules(point) or 0
    if model is None:
        plans = simulated.of_node(point.collective, size, point.ranks)
        return {json.dumps(plan): 1.0 for plan in plans}
    where = derive.Where(model, 1, point.ranks)
    try:
        return derive.point(where, point.collective, derive.size_of_rules(point.collective, size, where)).times
    except Problem:
        return {}  # the model cannot run it; all its algorithms are measured


def of_point(point: Point, model: Optional[Path], ranks_per_core: float, most: int = MOST) -> list[Json]:
    default = default_plan(point, ranks_per_core)
    size = bytes_of_rules(point) or point.size
    times = {name: ns for name, ns in model_times(point, model).items() if not is_default(json.loads(name), default, size)}
    known = varied(times, most)
    others = unknown_to_the_model(point.collective, size, [*known, *map(json.loads, times), {"algorithm": default["algorithm"]}])
    room = max(2, math.ceil(most / 2)) if others else most
    kept = kept_of(default)
    return [{**kept, **plan} for plan in [*known[:room], *others][: most + 1]]
