"""The cost model's parameter files: those that come with Espalier by name, others by path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from espalier.interface import suggest
from espalier.problem import Problem

_FOLDER = Path(__file__).resolve().parent


def names() -> list[str]:
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def path_of(model: str) -> Path:
    """`opteron` is one of Espalier's own; what has a suffix or a folder, or exists, is a file."""
    own = _FOLDER / f"{model}.json"
    if own.exists():
        return own
    path = Path(model)
    if not path.is_file():
        near = suggest.hint(model, names())
        raise Problem(f"--model {model}: there is no such file, and Espalier's own are {', '.join(names())}{near}")
    return path.absolute()


def published(path: Path) -> dict[str, Any]:
    """What was measured on a model's machine: the "published" part of its file (docs/cost-model.md)."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Problem(f"{path} cannot be read as JSON: {error}") from error
    found = document.get("published") if isinstance(document, dict) else None
    if not found:
        raise Problem(f'{path} has no measured calls ("published") to put the model beside; opteron has')
    try:
        _check(found)
    except (KeyError, TypeError) as error:
        raise Problem(f'{path}: "published" lacks {error}; docs/cost-model.md says what it holds') from error
    return found


def _check(found: dict[str, Any]) -> None:
    for key in ("source", "nodes", "ranks_per_node", "node_stage", "rows"):
        found[key]
    for row in found["rows"]:
        for key in ("collective", "bytes", "total_ns", "node_ns", "plan"):
            row[key]
        if row["node_ns"] is not None and not 0 <= row["node_ns"] < row["total_ns"]:
            raise TypeError(f"a node stage that is less than the whole: {row}")
