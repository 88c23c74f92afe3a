"""The file of a bench run: JSON of one schema, described in bench/README.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from espalier import install, text_file
from espalier.problem import Problem

SCHEMA = "espalier-bench/1"
_JOB: dict[str, Any] = {"host": str, "variant": str, "ranks": int, "buffers": str, "command": str, "rounds": list}
_SPREADS: dict[str, Any] = {"host_us": dict, "espalier_us": (dict, type(None)), "ratio": (dict, type(None))}
_POINT: dict[str, Any] = {"host": str, "variant": str, "ranks": int, "buffers": str, "collective": str, "bytes": int}
_POINT |= {"state": str, "rounds": int, "served": str} | _SPREADS
_SPREAD = {name: (int, float) for name in ("low", "median", "high", "least")}
_ROUND = {"collective": str, "bytes": int, "host_us": (int, float), "f_ns": (int, float)}


def _demand(value: Any, fields: dict, path: Path, where: str) -> None:
    for name, kind in fields.items():
        if not isinstance(value, dict) or name not in value or not isinstance(value[name], kind):
            raise Problem(f"{path}: {where} has no proper '{name}'; the file is not what `espalier bench --json` writes")


def _check(document: Any, path: Path) -> None:
    if not isinstance(document, dict) or "schema" not in document:
        raise Problem(f"{path} is not a bench result (it names no schema); `espalier bench --json FILE` writes one")
    if document["schema"] != SCHEMA:
        raise Problem(f"{path} has schema '{document['schema']}', this command reads '{SCHEMA}'; run the bench again")
    alone = "points" in document and "jobs" not in document
    parts = "points" if alone else "jobs"
    _demand(document, {"date": str, "machine": dict, "near_below_ns": (int, float), parts: list}, path, "the file")
    (_check_points if alone else _check_jobs)(document[parts], path)


def _check_points(points: list, path: Path) -> None:
    for number, point in enumerate(points):
        _demand(point, _POINT, path, f"point {number}")
        for name in _SPREADS:
            if point[name] is not None:
                _demand(point[name], _SPREAD, path, f"{name} of point {number}")


def _check_jobs(jobs: list, path: Path) -> None:
    for number, job in enumerate(jobs):
        _demand(job, _JOB, path, f"job {number}")
        for at, r in enumerate(job["rounds"]):
            _demand(r, _ROUND, path, f"job {number} round {at}")


def read_json(path: Path) -> Any:
    """Of a plain or a compressed file (text_file)."""
    try:
        return json.loads(text_file.read(path))
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise Problem(f"{path} is not JSON: {error}") from error


def load(path: Path) -> dict:
    """Of a run, or of its points alone, as points_alone() keeps them: then there are no jobs."""
    document = read_json(path)
    _check(document, path)
    document.setdefault("jobs", [])
    return document


def points_alone(document: dict) -> dict:
    """What is worth keeping of a long run: a tenth of the file, without the rounds and limits."""
    from espalier.bench.results import stats

    return {name: value for name, value in document.items() if name != "jobs"} | {"points": stats.points(document)}


def _flat(value: Any) -> bool:
    return not isinstance(value, (dict, list)) or not any(isinstance(part, (dict, list)) for part in _parts(value))


def _parts(value: Any) -> list:
    return list(value.values()) if isinstance(value, dict) else value


def text_of(value: Any, indent: str = "") -> str:
    """JSON with one line for each innermost list or object, such as a round."""
    if _flat(value):
        return json.dumps(value)
    more = indent + " "
    if isinstance(value, dict):
        lines = [f"{json.dumps(str(name))}: {text_of(part, more)}" for name, part in value.items()]
        opening, closing = "{", "}"
    else:
        lines = [text_of(part, more) for part in value]
        opening, closing = "[", "]"
    inside = f",\n{more}".join(lines)
    return f"{opening}\n{more}{inside}\n{indent}{closing}"


def save(document: dict, path: Path) -> None:
    """Paths within this tree are written relative to it: a kept result says nothing of a machine's folders.
    A path that ends in .xz gets a compressed file."""
    text = text_of(document)
    if tree := install.clone():
        text = text.replace(json.dumps(f"{tree}/")[1:-1], "")
    write(text + "\n", path)


def write(text: str, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        text_file.write(text, path)
    except OSError as error:
        raise Problem(f"cannot write {path}: {error.strerror}") from error
