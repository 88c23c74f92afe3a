"""Bits of reductions over a matrix of hosts, ranks, nodes, placements, algorithms and lengths (docs/reproducible.md).

    PYTHONPATH=python:tools .venv/command/bin/python -m placements [--seconds 3600] [--levels placement,exact] [--hosts ...]
        [--ranks 2,...,16] [--state FOLDER]

Each launch is a cell: a level, a host, a number of ranks and of pretended nodes, a choice of one algorithm for every
collective, and short or long vectors. In it tests/mpi/src/placements.c compares every result with what the level promises,
with the ranks in many orders on the nodes. What the results hash to must be the same in all cells of a level, a number of
ranks and lengths. The order of cells is random but fixed, so a part of them is a sample of all. It goes on where it was: the
folder (build/placements) has a line for each cell that is done. Exit code 1 if any is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "mpi"), str(ROOT / "python")]
import algorithms  # noqa: E402
import hosts  # noqa: E402

# How many orders of the ranks for each length. The world's own comes first.
LENGTHS = {"short": ("20:1", "20:7", "20:100", "20:1000", "5:10000"), "long": ("2:100000", "1:1000000")}
MOST_NODES = 4
SAID = re.compile(r"^placements: (\d+) results are right, (\d+) wrong, digest (\w+)$", re.M)
ROUNDS = {scope: algorithms.rounds(scope, algorithms.COLLECTIVES if scope == "node" else algorithms.SPANNING, without=("sharp",))
          for scope in ("node", "network")}


@dataclass(frozen=True)
class Cell:
    level: str
    host: str
    ranks: int
    nodes: int
    round: int
    lengths: str

    @property
    def layout(self) -> str:
        """How many ranks each node has, or whether ranks go around the nodes: each round has another one."""
        if self.nodes == 1:
            return ""
        dice = random.Random(f"{self.ranks} {self.nodes} {self.round}")
        if dice.random() < 0.2:
            return f"{self.nodes}:cyclic"
        cuts = sorted(dice.sample(range(1, self.ranks), self.nodes - 1))
        return "+".join(str(end - begin) for begin, end in zip([0, *cuts], [*cuts, self.ranks]))

    @property
    def settings(self) -> dict[str, str]:
        env = {"ESPALIER_REPRODUCIBLE": self.level, "ESPALIER_FALLBACK": "error"}
        if self.nodes > 1:
            env["ESPALIER_NODES"] = self.layout
        for scope, prefix in (("node", "ESPALIER_"), ("network", "ESPALIER_NETWORK_")):
            if scope == "node" or self.nodes > 1:
                chosen = ROUNDS[scope][self.round % len(ROUNDS[scope])]
                env |= {prefix + name.upper(): algorithm for name, algorithm in chosen.items()}
        return env


def cells(levels, names, ranks) -> list[Cell]:
    found = [Cell(level, host, count, nodes, number, lengths)
             for level in levels for host in names for count in ranks for nodes in range(1, min(MOST_NODES, count) + 1)
             for number in range(max(map(len, ROUNDS.values())) if nodes > 1 else len(ROUNDS["node"]))
             for lengths in LENGTHS]
    random.Random("placements").shuffle(found)
    return found


def run(cell: Cell) -> dict:
    """What came of it: `right`, `wrong`, `digest`; with `error` if it did not end as it should."""
    try:
        done = hosts.launch(hosts.HOSTS[cell.host], cell.ranks, "placements", cell.level, cell.round, *LENGTHS[cell.lengths],
                            env=cell.settings, timeout=900)
    except hosts.TimedOut as late:
        return {"right": 0, "wrong": 0, "digest": "", "error": str(late)}
    said = SAID.search(done.out)
    if done.status != 0 or not said or int(said[1]) == 0:
        return {"right": 0, "wrong": 0, "digest": "", "error": str(done)}
    found = {"right": int(said[1]), "wrong": int(said[2]), "digest": said[3]}
    return found | ({"error": str(done)} if found["wrong"] else {})


def disagreements(done: list[dict]) -> list[str]:
    """Cells whose results hash to something else than others' of the same level, ranks and lengths."""
    digests: dict[tuple, Counter] = {}
    for row in done:
        if row["digest"]:
            digests.setdefault((row["level"], row["ranks"], row["lengths"]), Counter())[row["digest"]] += 1
    return [f"{key}: {dict(found)}" for key, found in digests.items() if len(found) > 1]


def summary(done: list[dict], all_cells: list[Cell]) -> str:
    lines = []
    for level in sorted({cell.level for cell in all_cells}):
        rows = [row for row in done if row["level"] == level]
        total = sum(cell.level == level for cell in all_cells)
        hosts_of = Counter(row["host"] for row in rows)
        combinations = {(row["host"], row["ranks"], row["nodes"]) for row in rows}
        lines.append(f"{level}: {len(rows)} of {total} cells, {sum(row['right'] for row in rows)} results right, "
                     f"{sum(row['wrong'] for row in rows)} wrong, {sum('error' in row for row in rows)} cells failed; "
                     f"{len(combinations)} of {len({(c.host, c.ranks, c.nodes) for c in all_cells if c.level == level})} "
                     f"combinations of host, ranks and nodes; {dict(hosts_of)}")
    return "\n".join(lines)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="placements")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--levels", default="placement,exact")
    parser.add_argument("--hosts", default=",".join(hosts.THREE))
    parser.add_argument("--ranks", default=",".join(map(str, range(2, 17))))
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "placements")
    return parser.parse_args()


def main() -> int:
    chosen = options()
    chosen.state.mkdir(parents=True, exist_ok=True)
    kept = chosen.state / "cells.jsonl"
    done = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    all_cells = cells(chosen.levels.split(","), chosen.hosts.split(","), [int(count) for count in chosen.ranks.split(",")])
    names = list(asdict(all_cells[0]))
    known = {tuple(row[name] for name in names) for row in done}
    until = time.monotonic() + chosen.seconds
    for cell in all_cells:
        if time.monotonic() > until:
            break
        if tuple(asdict(cell).values()) in known:
            continue
        row = asdict(cell) | run(cell)
        done.append(row)
        with kept.open("a") as file:
            file.write(json.dumps(row) + "\n")
        if "error" in row:
            print(f"{cell}, {cell.settings}:\n{row['error']}", flush=True)
    differ = disagreements(done)
    print(summary(done, all_cells))
    print("\n".join(["results that differ between cells:", *differ] if differ else ["no two cells differ in a bit"]))
    return 1 if differ or any("error" in row for row in done) else 0


if __name__ == "__main__":
    sys.exit(main())
