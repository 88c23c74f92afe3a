"""Files and pictures of `espalier simulate --out` that docs/results keeps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from figures.run import ROOT

RESULTS = ROOT / "docs" / "results"
NAMES = "simulated-*.json"
TOLERANCE = 1e-3  # other compilers round otherwise


def take(folder: Path) -> bool:
    """Moves what the commands wrote to where it is kept, where its times have changed; whether any has."""
    changed = False
    for file in sorted(folder.glob(NAMES)):
        if differences(file):
            changed = True
            for one in (file, file.with_suffix(".png")):
                shutil.copyfile(one, RESULTS / one.name)
    return changed


def rows_of(file: Path) -> dict[tuple[object, ...], float]:
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    return {(row["variant"], row["bytes"], row["nodes"], row["ranks_per_node"]): row["ns"] for row in rows}


def differences(made: Path) -> list[str]:
    """How the kept file of that name differs from the one that was made."""
    old = RESULTS / made.name
    if not old.exists():
        return [f"{made.name} is not in docs/results"]
    before, now = rows_of(old), rows_of(made)
    if before.keys() != now.keys():
        return [f"{made.name}: other rows than before"]
    return [f"{made.name}: {key}: {before[key]:.0f} ns kept, {now[key]:.0f} now" for key in now
            if abs(before[key] - now[key]) > TOLERANCE * before[key]]
