"""Who served the calls of each collective: Espalier, the host, or both, from Espalier's own statistics."""

from __future__ import annotations

import json
from pathlib import Path


def of_statistics(text: str, collectives: tuple[str, ...]) -> dict[str, dict]:
    """{collective: {"by": ..., "calls", "espalier"}} from the file that ESPALIER_STATS names. What it does not
    mention never was Espalier's."""
    found: dict[str, dict] = {name: {"by": "host", "calls": 0, "espalier": 0} for name in collectives}
    for row in json.loads(text)["rows"]:
        entry = found.get(row["collective"])
        if entry is None:
            continue
        entry["calls"] += row["calls"]
        entry["espalier"] += 0 if row.get("fallback") else row["calls"]
    for entry in found.values():
        if entry["espalier"]:
            entry["by"] = "espalier" if entry["espalier"] == entry["calls"] else "both"
    return found


def read(path: Path, collectives: tuple[str, ...]) -> dict[str, dict]:
    try:
        return of_statistics(path.read_text(), collectives)
    except (OSError, ValueError, KeyError):
        return {}


def table(document: dict) -> dict[tuple[str, int, str, str], str]:
    """(host, ranks, mode, collective) to "espalier", "host" or "both"."""
    found = {}
    for job in document["jobs"]:
        for name, entry in (job.get("served") or {}).items():
            found[job["host"], job["ranks"], job.get("mode", "blocking"), name] = entry["by"]
    return found
