"""`espalier explain --published`: the cost model beside what was measured on its machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from espalier import core
from espalier.explain.explained import Explained
from espalier.explain.nodes import microseconds as _us
from espalier.models import parameters
from espalier.problem import Problem
from espalier.sizes import print_bytes

Json = dict[str, Any]


def published(model: str) -> Explained:
    """The model beside what was measured: HIER's Table 1, for the model `opteron`."""
    path = parameters.path_of(model)
    found = parameters.published(path)
    rows = [_published_row(row, found, str(path)) for row in found["rows"]]
    about = {name: found[name] for name in ("source", "nodes", "ranks_per_node", "node_stage")}
    foreign = any(row["plan"] for row in found["rows"])

    def show(*_: Any) -> None:
        _show(rows, found, foreign)

    return Explained({"what": "published", "model": str(path)}, {**about, "rows": [row.as_json() for row in rows]}, show)


def _show(rows: list[_Row], found: Json, foreign: bool) -> None:
    from espalier import terminal

    columns = [terminal.Column("collective"), terminal.Column("size")]
    for whose in ("measured", "model", "Espalier") if foreign else ("measured", "model"):
        columns += [terminal.Column(f"{whose}\n{heading}", right=True) for heading in ("total", "node", "ideal")]
    terminal.print_lines([f"{found['source']}: {found['nodes']} nodes of {found['ranks_per_node']} ranks; times in µs"])
    terminal.print_table([*columns, terminal.Column("by")], [row.cells(foreign) for row in rows])
    terminal.print_lines(_legend(rows, found, foreign))


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
    bytes: int

    def cells(self, foreign: bool) -> list[str]:
        numbers = (self.measured, self.theirs, self.ours) if foreign else (self.measured, self.ours)
        return [*self.call, *(cell for each in numbers for cell in each.cells()), self.algorithm]

    def as_json(self) -> Json:
        times = {"measured": self.measured, "model": self.theirs, "espalier": self.ours}
        numbers = {name: {"total_ns": each.total, "node_ns": each.node} for name, each in times.items()}
        return {"collective": self.call[0], "bytes": self.bytes, "algorithm": self.algorithm, **numbers}


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
    return _Row([row["collective"], size], measured, _predicted(theirs), _predicted(ours), *names, row["bytes"])


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
