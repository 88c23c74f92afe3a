"""`espalier explain --machine`: the plan of a call on a machine that is only described, what the simulated machine says of
it, and what it says is best there."""

from __future__ import annotations

import json
from typing import Any, Optional

from espalier import terminal
from espalier.explain.explained import Explained
from espalier.explain.nodes import Nodes
from espalier.models import machine as machines
from espalier.problem import Problem
from espalier.simulate import derive

Json = dict[str, Any]

# Beyond that the difference counts: no model of a machine is better than that.
WORTH_SAYING = 1.1


class Machine:
    def __init__(self, name: str) -> None:
        self.path = machines.path_of(name)
        self.model = machines.load(self.path)
        self.cores = machines.cores_of(self.model)

    def synthetic(self) -> str:
        """The cores in hwloc's notation, so that trees follow them."""
        return machines.synthetic(self.model)

    def modelled(self, collective: str, size: int, where: Nodes) -> Json:
        """What the simulated machine says of this plan and of all others. `size`: as the user gives it."""
        place = derive.Where(self.path, where.nodes, where.ranks_per_node)
        found = derive.point(place, collective, derive.size_of_rules(collective, size, place))
        choice = derive.Choice(json.loads(found.best), [found])
        answer: Json = {
            "name": self.model["name"],
            "default_us": found.default_ns / 1000,
            "best_us": choice.ns(found) / 1000,
            "plans": len(found.times),
        }
        if found.behind > WORTH_SAYING:
            answer |= {"better": derive.in_words(choice.plan), "because": derive.reason(choice)}
        return answer

    def added_to(self, found: Explained, where: Nodes) -> Explained:
        request = found.request
        machine = self.modelled(request["collective"], request["bytes"], where)

        def show(request: Json, answer: Json) -> None:
            found.show(request, answer)
            terminal.print_facts(facts(answer["machine"]))

        return Explained(request, {**found.answer, "machine": machine}, show)


def described(name: str, synthetic: Optional[str], sharp: bool) -> Machine:
    if synthetic or sharp:
        raise Problem(f"--machine {name} describes the machine: leave out --synthetic and --sharp")
    return Machine(name)


def facts(machine: Json) -> list[tuple[str, Optional[str]]]:
    best = f"{machine['best_us']:.3g} µs"
    first: list[tuple[str, Optional[str]]] = [
        ("machine", machine["name"]),
        ("modelled", f"{machine['default_us']:.3g} µs by this plan"),
    ]
    if "better" not in machine:
        return [*first, ("best there", f"it is: the fastest of {machine['plans']} plans takes {best}")]
    return [
        *first,
        ("better there", f"{best} by {machine['better']}"),
        ("because", machine["because"]),
        ("", "a model's word: measure before you rely on it (tools/derive_rules.py writes the rules)"),
    ]
