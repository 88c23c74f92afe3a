"""What `espalier explain` says of a call over nodes: its rules, and its time by the cost model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from espalier.explain.explained import Explained, ask
from espalier.models import parameters
from espalier.problem import Problem
from espalier.sizes import print_bytes

Json = dict[str, Any]
Fact = tuple[str, Optional[str]]


class Nodes(NamedTuple):
    """Where the ranks are."""

    nodes: int
    ranks_per_node: int
    node_stage: str = "shared"
    consecutive: bool = True


def shape(nodes: int, ranks_per_node: Optional[int], ranks: Optional[int]) -> tuple[int, int]:
    """Nodes and ranks on each, out of two of the three."""
    if ranks is None:
        return nodes, int(ranks_per_node or 1)
    if ranks % nodes or ranks_per_node not in (None, ranks // nodes):
        each = "equally many" if ranks_per_node is None else ranks_per_node
        raise Problem(f"{ranks} ranks are not {nodes} nodes with {each} each")
    return nodes, ranks // nodes


def explained(call: Json, where: Nodes, cores: Optional[int], model: str, sharp: bool = False) -> Explained:
    """`call`: the request for a plan on one node; `cores`: usable ones of each node; `sharp`: with aggregation nodes."""
    request = {
        "what": "network",
        "collective": call["collective"],
        "bytes": call["bytes"],
        "commutative": call["commutative"],
        "ranks_per_core": where.ranks_per_node / cores if cores else None,
        **where._asdict(),
        "model": str(parameters.path_of(model)),
        **({"sharp": True} if sharp else {}),
    }
    return ask(request, _show)


def _show(request: Json, answer: Json) -> None:
    from espalier import terminal

    call = request["collective"]
    if call != "barrier":
        call += f", {print_bytes(request['bytes'])} per rank"
    terminal.print_lines([f"{call}, {request['nodes']} nodes of {request['ranks_per_node']} ranks"])
    terminal.print_facts([*_network(answer), *_nodes(answer), *_prediction(answer)])


def _rule(rule: Optional[Json]) -> Iterator[Fact]:
    if rule and rule.get("file"):
        yield "rule", f"{rule['file']}:{rule['line']}" if rule.get("line") else rule["file"]
        yield "", rule.get("text") or None
        yield "evidence", rule.get("evidence") or None


def _network(answer: Json) -> Iterator[Fact]:
    yield from _between("network", answer["network"])
    if "allreduce" in answer:
        yield from _between("allreduce", answer["allreduce"])
    if "window" in answer:
        yield "window", f"{answer['window']['transport']}: {answer['window']['why']}"
        yield "", answer["window"]["otherwise"]
    yield "why", answer.get("why")
    for warning in answer.get("warnings", []):
        yield "warning", warning


def _between(name: str, network: Json) -> Iterator[Fact]:
    yield name, network["algorithm"]
    if network["algorithm"] not in ("host", "dissemination", "allreduce"):
        yield "segment", print_bytes(network["segment"])
        yield "leaders", str(network["leaders"])
        yield "tree", network.get("tree")
    yield from _rule(network.get("rule"))


def _nodes(answer: Json) -> Iterator[Fact]:
    for step in answer["node"]:
        size = "" if step["collective"] == "barrier" else f" of {print_bytes(step['bytes'])}"
        chunk = f", chunk {print_bytes(step['chunk'])}" if step.get("chunk") and size else ""
        yield "node", f"{step['collective']}{size}, {step['when']}: {step['algorithm']}{chunk}"
        yield from _rule(step.get("rule"))


def _prediction(answer: Json) -> Iterator[Fact]:
    found = answer.get("prediction")
    if not found:
        yield "predicted", f"nothing: {answer.get('no_prediction')}"
        return
    yield "predicted", (
        f"{microseconds(found['total_ns'])} µs, of which node stage {microseconds(found['node_ns'])} µs; "
        f"ideal speed-up if the node stage cost nothing: {found['ideal_speed_up']:.2f}"
    )
    messages = _count(found["rounds"], "message")
    yield "", f"{_count(found['segments'], 'segment')}, each {messages} one after the other between nodes"
    hidden = found["node_alone_ns"] - found["node_ns"]
    if hidden > 0.01 * found["node_alone_ns"]:
        alone = microseconds(found["node_alone_ns"])
        yield "", f"node stage alone {alone} µs, of which {microseconds(hidden)} µs pass while messages travel"
    yield "model", answer["model"]["name"]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def microseconds(nanoseconds: float) -> str:
    """Three digits, as far as there are so many before the point."""
    value = nanoseconds / 1000
    for limit, digits in ((10, 2), (100, 1)):
        if abs(value) < limit:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"
