"""What the engine leaves out: messages that share cables inside the network. SimGrid has them.

    .venv/command/bin/python simulation/contention.py --output docs/results/contention.json

Long messages on fat trees of two levels, with as many spines as a leaf has nodes, half and a quarter of them; ranks that
follow on each other, and ranks strewn over the whole tree. Needs SimGrid (libsimgrid-dev): build/bin/espalier-simgrid.

The engine's times are beside: cards take one message after the other, and nothing inside the network is ever full. Takes
minutes.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

from espalier.bench import file
from espalier.models import parameters
from espalier.problem import run_tool
from espalier.simulate import run as simulate_run

Json = dict[str, Any]
SIMGRID = "espalier-simgrid"
NODES, LEAF = 128, 16
BYTES = 1 << 20
SEEDS = (1, 2, 3, 4, 5)  # strewn in so many ways; the median counts
CALLS = [
    ("bcast", "tree"), ("bcast", "scatter-allgather"), ("reduce", "rabenseifner"), ("allreduce", "recursive-doubling"),
    ("allreduce", "rabenseifner"), ("allreduce", "ring"),
]


def run(spines: int, strewn: int) -> list[Json]:
    calls = [{"collective": collective, "algorithm": algorithm, "bytes": BYTES} for collective, algorithm in CALLS]
    model = str(parameters.path_of("frontera"))
    request = {"model": model, "nodes": NODES, "leaf": LEAF, "spines": spines, "strewn": strewn, "calls": calls}
    return simulate_run.ask(request, SIMGRID)["calls"]


def points() -> list[Json]:
    """For each call, wiring and placement: by the engine, and by SimGrid with cables that messages share."""
    found = []
    for spines in (LEAF, LEAF // 2, LEAF // 4):
        for placement, seeds in (("in order", (0,)), ("strewn", SEEDS)):
            runs = [run(spines, seed) for seed in seeds]
            for i, (collective, algorithm) in enumerate(CALLS):
                found.append({
                    "collective": collective, "algorithm": algorithm, "bytes": BYTES, "nodes": NODES, "leaf": LEAF,
                    "spines": spines, "placement": placement, "engine_ns": round(runs[0][i]["engine_ns"]),
                    "simgrid_ns": round(statistics.median(calls[i]["simgrid_ns"] for calls in runs)),
                })
    return found


def table(found: list[Json]) -> str:
    """For docs/simulation.md: how many times as long as the engine says, which knows of no contention."""
    columns = list(dict.fromkeys((point["placement"], point["spines"]) for point in found))
    columns.sort(key=lambda column: column[0])
    text = ["| | engine, µs | " + " | ".join(f"{place}, {LEAF // spines}:1" for place, spines in columns) + " |"]
    text.append("|---" * (len(columns) + 2) + "|")
    for collective, algorithm in CALLS:
        of = {
            (point["placement"], point["spines"]): point for point in found
            if (point["collective"], point["algorithm"]) == (collective, algorithm)
        }
        engine = of["in order", LEAF]["engine_ns"] / 1000
        text.append(f"| {collective} `{algorithm}` | {engine:.0f} | " + " | ".join(
            f"{of[column]['simgrid_ns'] / of[column]['engine_ns']:.2f}" for column in columns) + " |")
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    found = points()
    lines = ",\n  ".join(json.dumps(point) for point in found)
    file.write('{"schema": "espalier-contention/1", "model": "frontera",\n "points": [\n  ' + lines + "\n ]}\n", options.output)
    print(table(found))


if __name__ == "__main__":
    run_tool("contention", main)
