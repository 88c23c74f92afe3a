"""What `espalier explain` says of a call over nodes: its rules, and its time by the cost model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from espalier import core
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
    if ranks_per_node is None and ranks is None:
        raise Problem(f"how many ranks? espalier explain ... --nodes {nodes} --ranks-per-node 4")
    if ranks is None:
        return nodes, int(ranks_per_node or 1)
    if ranks % nodes or ranks_per_node not in (None, ranks // nodes):
        each = "equally many" if ranks_per_node is None else ranks_per_node
        raise Problem(f"{ranks} ranks are not {nodes} nodes with {each} each")
    return nodes, ranks // nodes


def explain(call: Json, where: Nodes, cores: Optional[int], model: str, sharp: bool = False) -> None:
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
    _print(request, core.describe(request))


def _print(request: Json, answer: Json) -> None:
    from espalier import terminal

    call = request["collective"]
    if call != "barrier":
        call += f", {print_bytes(request['bytes'])} per rank"
    print(f"{call}, {request['nodes']} nodes of {request['ranks_per_node']} ranks")
    for line in terminal.facts([*_network(answer), *_nodes(answer), *_prediction(answer)]):
        print(f"  {line}")


def _rule(rule: Optional[Json]) -> Iterator[Fact]:
    if rule and rule.get("file"):
        yield "rule", f"{rule['file']}:{rule['line']}" if rule.get("line") else rule["file"]
        yield "", rule.get("text") or None


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
        f"{_us(found['total_ns'])} µs, of which node stage {_us(found['node_ns'])} µs; "
        f"ideal speed-up if the node stage cost nothing: {found['ideal_speed_up']:.2f}"
    )
    messages = _count(found["rounds"], "message")
    yield "", f"{_count(found['segments'], 'segment')}, each {messages} one after the other between nodes"
    hidden = found["node_alone_ns"] - found["node_ns"]
    if hidden > 0.01 * found["node_alone_ns"]:
        alone = _us(found["node_alone_ns"])
        yield "", f"node stage alone {alone} µs, of which {_us(hidden)} µs pass while messages travel"
    yield "model", answer["model"]["name"]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _us(nanoseconds: float) -> str:
    """Three digits, as far as there are so many before the point."""
    value = nanoseconds / 1000
    for limit, digits in ((10, 2), (100, 1)):
        if abs(value) < limit:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"


def print_published(model: str) -> None:
    """The model beside what was measured: HIER's Table 1, for the model `opteron`."""
    from rich.table import Table

    from espalier import terminal

    path = parameters.path_of(model)
    found = parameters.published(path)
    rows = [_published_row(row, found, str(path)) for row in found["rows"]]
    foreign = any(row["plan"] for row in found["rows"])
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("collective", "size"):
        table.add_column(heading)
    for whose in ("measured", "model", "Espalier") if foreign else ("measured", "model"):
        for heading in ("total", "node", "ideal"):
            table.add_column(f"{whose}\n{heading}", justify="right")
    table.add_column("by")
    for row in rows:
        table.add_row(*row.cells(foreign))
    print(f"{found['source']}: {found['nodes']} nodes of {found['ranks_per_node']} ranks; times in µs")
    terminal.console().print(table)
    for line in _legend(rows, found, foreign):
        print(line)


class _Numbers(NamedTuple):
    """Nanoseconds; what of them the node stage is, where that was measured."""

    total: float
    node: Optional[float]

    def cells(self) -> list[str]:
        if self.node is None:
            return [_us(self.total), "–", "–"]
        return [_us(self.total), _us(self.node), f"{self.total / (self.total - self.node):.3f}"]


class _Row(NamedTuple):
    call: list[str]
    measured: _Numbers
    theirs: _Numbers  # by the plan that was measured
    ours: _Numbers  # by Espalier's rules
    algorithm: str
    model: str

    def cells(self, foreign: bool) -> list[str]:
        numbers = (self.measured, self.theirs, self.ours) if foreign else (self.measured, self.ours)
        return [*self.call, *(cell for each in numbers for cell in each.cells()), self.algorithm]


def _published_row(row: Json, found: Json, path: str) -> _Row:
    request = {
        "what": "network",
        "collective": row["collective"],
        "bytes": row["bytes"],
        "nodes": found["nodes"],
        "ranks_per_node": found["ranks_per_node"],
        "model": path,
    }
    theirs = core.describe({**request, "node_stage": found["node_stage"], "network": row["plan"]})
    ours = core.describe(request)
    size = "–" if row["collective"] == "barrier" else print_bytes(row["bytes"])
    measured = _Numbers(row["total_ns"], row["node_ns"])
    names = ours["network"]["algorithm"], ours["model"]["name"]
    return _Row([row["collective"], size], measured, _predicted(theirs), _predicted(ours), *names)


def _predicted(answer: Json) -> _Numbers:
    found = answer["prediction"]
    if not found:
        raise Problem(f"no prediction: {answer.get('no_prediction')}")
    return _Numbers(found["total_ns"], found["node_ns"])


def _legend(rows: list[_Row], found: Json, foreign: bool) -> Iterator[str]:
    yield f"model: {rows[0].model if rows else 'no rows'}"
    if foreign:
        yield f"  model: the plan that the model's file names for the row, node stages by {found['node_stage']}"
        yield "  Espalier: its own rules, node stages through shared memory, on the same machine by the model"
    yield "  node: the part of the node stage that shows; ideal: speed-up if it cost nothing"
