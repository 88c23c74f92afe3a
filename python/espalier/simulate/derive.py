"""Which plan is the best on a described machine, by the simulated one; and rules made of that, with the reasons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, Optional

from espalier.models import machine
from espalier.simulate import candidates
from espalier.simulate.run import ask
from espalier.sizes import print_bytes

Json = dict[str, Any]

_DEFAULT = "rules"  # the plan of the rules in force
# A plan that is no more than so much slower than the best is as good: the model is not better than that, and one rule
# for many sizes says more than one for each.
AS_GOOD = 1.03


class Where(NamedTuple):
    model: Path
    nodes: int
    ranks_per_node: int

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node


class Point(NamedTuple):
    """One size. `size` as simulate takes it: of all blocks for a reduce_scatter, else of a rank or block."""

    collective: str
    size: int
    default_ns: float
    default: str  # its algorithms in words
    times: dict[str, float]  # by plan, as JSON

    @property
    def best(self) -> str:
        return min(self.times, key=self.times.__getitem__)

    @property
    def behind(self) -> float:
        """How many times as long the default takes; 1 where no plan is faster."""
        return max(1.0, self.default_ns / self.times[self.best])


def size_in_rules(collective: str, size: int, where: Where) -> int:
    """Rules count what one rank contributes (docs/rules.md)."""
    return size * where.ranks if collective in ("alltoall", "alltoallv") else size


def size_of_rules(collective: str, size: int, where: Where) -> int:
    """The other way."""
    return max(8, size // where.ranks) if size_in_rules(collective, 1, where) > 1 else size


def in_words(plan: Json) -> str:
    return " ".join(f"{key}={value}" if " " not in str(value) else f'{key}="{value}"' for key, value in _shown(plan).items())


def point(where: Where, collective: str, size: int, calls: int = 1) -> Point:
    of_network = where.nodes > 1
    seen = size_in_rules(collective, size, where)
    plans = candidates.of_network(collective, seen) if of_network else candidates.of_node(collective, seen, where.ranks)
    scope = "network" if of_network else "node"
    names = {json.dumps(plan): plan for plan in plans}
    answer = ask({
        "model": str(where.model), "collective": collective, "bytes": [size], "nodes": [where.nodes],
        "ranks_per_node": [where.ranks_per_node], "calls": calls,
        "variants": [{"name": _DEFAULT}, *({"name": name, scope: plan} for name, plan in names.items())],
    })
    times = {row["variant"]: row["ns"] for row in answer["rows"]}
    default = next(row for row in answer["rows"] if row["variant"] == _DEFAULT)
    default_ns = times.pop(_DEFAULT)
    words = default["network"] if of_network else default["node"]
    return Point(collective, size, default_ns, words, times)


class Choice(NamedTuple):
    """One plan for some sizes that follow on each other."""

    plan: Json
    points: list[Point]

    def ns(self, at: Point) -> float:
        return at.times[json.dumps(self.plan)]


def choices(points: list[Point]) -> list[Choice]:
    """For each run of sizes a plan that is as good as the best at all of them: the longest runs, from the shortest size."""
    found: list[Choice] = []
    start = 0
    while start < len(points):
        good: Optional[set[str]] = None
        end = start
        while end < len(points):
            here = {name for name, ns in points[end].times.items() if ns <= AS_GOOD * points[end].times[points[end].best]}
            both = here if good is None else good & here
            if not both:
                break
            good, end = both, end + 1
        run = points[start:end]
        assert good
        plan = min(good, key=lambda name: sum(each.times[name] / each.times[each.best] for each in run))
        found.append(Choice(json.loads(plan), run))
        start = end
    return found


def _shown(plan: Json) -> Json:
    return {key: print_bytes(value) if key in ("chunk", "segment") else value for key, value in plan.items()}


def reason(choice: Choice) -> str:
    """The plan's time at its sizes, and the next best plan of another algorithm or tree there."""
    parts = []
    for each in choice.points:
        own = json.dumps(choice.plan)
        others = {name: ns for name, ns in each.times.items() if _kind(json.loads(name)) != _kind(choice.plan)}
        text = f"{print_bytes(each.size)} {each.times[own] / 1000:.3g} us"
        if others:
            other = min(others, key=others.__getitem__)
            text += f" ({others[other] / 1000:.3g} by {_kind(json.loads(other))})"
        parts.append(text + f", rules in force {each.default_ns / 1000:.3g}")
    return "; ".join(parts)


def _kind(plan: Json) -> str:
    trees = [str(plan[key]) for key in ("tree", "gather_tree", "release_tree") if key in plan]
    return " ".join([plan.get("algorithm") or plan["network"], *trees])


def rules(where: Where, collective: str, points: list[Point]) -> list[Json]:
    """As ESPALIER_RULES takes them, from the shortest size to the longest: each serves up to the size before the next."""
    name = machine.load(where.model)["name"]
    found = []
    first: int = 0
    made = choices(points)
    for i, choice in enumerate(made):
        last = size_in_rules(collective, made[i + 1].points[0].size, where) - 1 if i + 1 < len(made) else None
        rule: Json = {"collective": collective}
        if collective != "barrier":
            rule["bytes"] = [first, last]
        if where.nodes > 1:
            rule["nodes"] = [where.nodes, where.nodes]
        else:
            rule["ranks"] = [where.ranks, where.ranks]
        rule |= {"ranks_per_core": [0, 1], **_shown(choice.plan), "evidence": f"modelled: {name}: {reason(choice)}"}
        found.append(rule)
        first = (last or 0) + 1
    return found
