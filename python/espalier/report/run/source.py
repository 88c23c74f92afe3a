"""What `espalier report` was given: statistics, or flight records, which two kinds of files have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

from espalier.plain import plain_values
from espalier.problem import Problem
from espalier.who.seen import Seen, from_document

Json = dict[str, Any]
FLIGHT = "espalier-flight/"
STATISTICS = 1  # their schema


def peek(path: Path) -> Optional[Json]:
    """The file as JSON, if it is a plain one that holds an object."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def is_statistics(path: Path) -> bool:
    """A file of ESPALIER_STATS, or what the ranks of a run have left that did not end well."""
    from espalier.stats.parts import parts_of

    found = peek(path)
    return bool(parts_of(path)) or (found is not None and found.get("schema") == STATISTICS)


def is_flight(path: Path) -> bool:
    from espalier.who import dumped

    found = peek(path)
    if found is not None:
        return str(found.get("schema")).startswith(FLIGHT)
    return not path.exists() and dumped.is_there(str(path))


def statistics(path: Path) -> Json:
    from espalier.stats import command

    return plain_values(command.load(path))


def flight(path: Path) -> list[Seen]:
    """The ranks of the one job, or of the one that wrote last."""
    from espalier.who import dumped

    if (found := peek(path)) is not None:
        try:
            return [from_document(item) for item in plain_values(found)["seen"]]
        except (KeyError, TypeError) as error:
            raise Problem(f"{path}: a part of the flight records is missing or of the wrong kind ({error})") from error
    if not dumped.is_there(str(path)):
        raise Problem(f"there is neither {path} nor {path}.rank-N; they are written by: espalier run --flight={path} -- ...")
    return max(dumped.jobs(str(path)).values(), key=lambda ranks: max(seen.at_ns for seen in ranks))
