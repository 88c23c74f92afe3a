"""How good is the simulated machine? Measures this one, then predicts and measures every plan within a node.

    .venv/command/bin/python simulation/prediction.py --rounds 25 --output docs/results/prediction.json.xz
    .venv/command/bin/python simulation/prediction.py --measured docs/results/prediction.json.xz --with claim_part=0.53

Every collective that is simulated on one node, by every algorithm and some trees and chunks, from 8 B to 1 MiB, with as
many ranks as cores and with more. Prediction and measurement run the same text on the same plans (espalier-simulate,
espalier-measure). Takes a minute and a half; the machine must have nothing else to do. With --measured a kept run's
measurements are predicted again, by its model with some other parameters: that needs no quiet machine.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from espalier.bench import file, machine as bench_machine
from espalier.problem import Problem, run_tool
from espalier.simulate import calibrate, run
from espalier.simulate.plans import variants_of
from espalier.sizes import print_bytes

SCHEMA = "espalier-prediction/1"
SIZES = [8, 512, 8192, 65536, 1048576]
SHORT = 1024  # bytes up to which calls are timed as a block, where no rank can run ahead
BLOCK = 20
MEET = ("barrier", "allreduce", "allgather", "alltoall")

PLANS: dict[str, list[str]] = {
    "barrier": ["exchange", "central", "tree tree=flat", "tree tree=kary:2", "tree tree=knomial:2"],
    "bcast": [f"tree tree={tree} chunk={chunk}" for tree in ("flat", "kary:2") for chunk in ("4KiB", "32KiB", "128KiB")],
    "reduce": [f"tree tree={tree} chunk={chunk}" for tree in ("flat", "kary:2") for chunk in ("4KiB", "32KiB", "128KiB")],
    "allreduce": [
        "exchange chunk=4KiB", "exchange chunk=32KiB", "central chunk=32KiB", "tree tree=flat chunk=32KiB",
        "tree tree=kary:2 chunk=32KiB", "sliced chunk=16KiB", "sliced chunk=64KiB",
    ],
    "allgather": ["exchange chunk=4KiB", "exchange chunk=32KiB", "central chunk=128KiB"],
    "alltoall": ["exchange chunk=32KiB", "central chunk=128KiB"],
    "gather": ["direct chunk=16KiB", "direct chunk=128KiB"],
    "scatter": ["direct chunk=16KiB", "direct chunk=128KiB"],
    "scan": ["exchange chunk=4KiB", "exchange chunk=32KiB", "central chunk=128KiB", "sliced chunk=32KiB"],
}

Json = dict[str, Any]


def requests(collective: str, ranks: list[int], model: Path, rounds: int) -> list[Json]:
    """Short calls and long ones."""
    sizes = [0] if collective == "barrier" else SIZES
    blocks = {size: BLOCK if collective in MEET and size <= SHORT else 1 for size in sizes}
    variants = [{**variants_of(collective, "", [f"plan:algorithm={plan}"])[0], "name": plan} for plan in PLANS[collective]]
    return [
        {
            "model": str(model), "collective": collective, "ranks_per_node": ranks, "calls": calls, "rounds": rounds,
            "bytes": [size for size in sizes if blocks[size] == calls], "variants": variants,
        }
        for calls in sorted(set(blocks.values()))
    ]


def points(request: Json) -> list[Json]:
    """Predicted and measured, side by side."""
    key = lambda row: (row["variant"], row["bytes"], row["ranks_per_node"])
    predicted = {key(row): row["ns"] for row in run.ask(request)["rows"]}
    measured = run.ask(request, run.MEASURE)["rows"]
    return [
        {
            "collective": request["collective"], "plan": row["variant"], "bytes": row["bytes"],
            "ranks": row["ranks_per_node"], "predicted_ns": round(predicted[key(row)], 1), "measured_ns": round(row["ns"], 1),
            "low_ns": round(row["lowest_ns"], 1), "high_ns": round(row["highest_ns"], 1),
        }
        for row in measured
    ]


def off_by(point: Json) -> float:
    ratio = point["predicted_ns"] / point["measured_ns"]
    return max(ratio, 1 / ratio)


def choices(all_points: list[Json]) -> list[Json]:
    """For each call: how much slower than the best plan is the one that the model ranks first?"""
    calls: dict[tuple, list[Json]] = {}
    for point in all_points:
        calls.setdefault((point["collective"], point["bytes"], point["ranks"]), []).append(point)
    found = []
    for (collective, size, ranks), plans in calls.items():
        chosen = min(plans, key=lambda point: point["predicted_ns"])
        best = min(plans, key=lambda point: point["measured_ns"])
        found.append({
            "collective": collective, "bytes": size, "ranks": ranks, "chosen": chosen["plan"], "best": best["plan"],
            "slower": round(chosen["measured_ns"] / best["measured_ns"], 3),
        })
    return found


def summary(all_points: list[Json]) -> list[Json]:
    """By number of ranks and collective, and for all collectives."""
    lines = []
    for ranks in sorted({point["ranks"] for point in all_points}):
        there = [point for point in all_points if point["ranks"] == ranks]
        for name in [*dict.fromkeys(point["collective"] for point in there), "all"]:
            of = [point for point in there if name in (point["collective"], "all")]
            picked = choices(of)
            lines.append({
                "ranks": ranks, "collective": name, "points": len(of),
                "off_by": round(statistics.median(off_by(point) for point in of), 2),
                "ratio": round(statistics.median(point["predicted_ns"] / point["measured_ns"] for point in of), 2),
                "within_1.5": round(sum(off_by(point) <= 1.5 for point in of) / len(of), 2),
                "good_choices": round(sum(pick["slower"] <= 1.15 for pick in picked) / len(picked), 2),
                "calls": len(picked),
            })
    return lines


def table(lines: list[Json]) -> str:
    """For docs/simulation.md."""
    ranks = sorted({line["ranks"] for line in lines})
    text = ["| | " + " | ".join(f"{count} ranks: off by, within 1.5, good choices" for count in ranks) + " |"]
    text.append("|---" * (len(ranks) + 1) + "|")
    for name in dict.fromkeys(line["collective"] for line in lines):
        cells = [line for line in lines if line["collective"] == name]
        text.append(f"| {name} | " + " | ".join(
            f"{cell['off_by']:.2f}, {100 * cell['within_1.5']:.0f} %, {100 * cell['good_choices']:.0f} % of {cell['calls']}"
            for cell in cells) + " |")
    return "\n".join(text)


def document(options: argparse.Namespace) -> Json:
    machine = bench_machine.describe()
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or Path(folder) / "here.json"
        if not options.model:
            print(calibrate.calibrate(model, "frontera"))
        found: list[Json] = []
        for collective in options.collectives.split(","):
            for request in requests(collective, options.ranks, model.absolute(), options.rounds):
                found += points(request)
                print(f"{collective}: {len(found)} points so far", file=sys.stderr)
        return {
            "schema": SCHEMA, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": machine, "model": json.loads(model.read_text(encoding="utf-8")), "summary": summary(found),
            "choices": choices(found), "points": found,
        }


def worst(all_points: list[Json]) -> str:
    lines = sorted(all_points, key=off_by, reverse=True)[:12]
    return "\n".join(
        f"{point['ranks']} ranks, {point['collective']} {print_bytes(point['bytes'])} {point['plan']}: "
        f"{point['predicted_ns'] / 1000:.2f} us predicted, {point['measured_ns'] / 1000:.2f} measured"
        for point in lines
    )


def predicted_again(kept: Json, changes: list[str]) -> list[Json]:
    """The points of a kept run, predicted by today's engine."""
    model = json.loads(json.dumps(kept["model"]))
    for change in changes:
        name, _, value = change.partition("=")
        model["simulate"][name] = float(value)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept.json"
        path.write_text(json.dumps(model), encoding="utf-8")
        ranks = sorted({point["ranks"] for point in kept["points"]})
        found = {
            (collective, row["variant"], row["bytes"], row["ranks_per_node"]): row["ns"]
            for collective in PLANS for request in requests(collective, ranks, path, 1) for row in run.ask(request)["rows"]
        }
    return [
        {**point, "predicted_ns": round(found[point["collective"], point["plan"], point["bytes"], point["ranks"]], 1)}
        for point in kept["points"]
    ]


def save(made: Json, path: Path) -> None:
    """One point a line, so that two runs can be compared."""
    rows = {name: made.pop(name) for name in ("summary", "choices", "points")}
    text = json.dumps(made, indent=1)[:-2]
    for name, lines in rows.items():
        text += f',\n "{name}": [\n  ' + ",\n  ".join(json.dumps(line) for line in lines) + "\n ]"
    file.write(text + "\n}\n", path)
    made.update(rows)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--measured", type=Path, help="a kept run, to predict again")
    parser.add_argument("--with", dest="changes", nargs="*", default=[], metavar="NAME=VALUE", help="of its model")
    parser.add_argument("--model", type=Path, help="in place of a fresh one (espalier simulate --calibrate FILE)")
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[2, 4, 8])
    parser.add_argument("--collectives", default=",".join(PLANS))
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if options.measured:
        points_again = predicted_again(file.read_json(options.measured), options.changes)
        print(table(summary(points_again)))
        print(worst(points_again))
        return
    if not options.output:
        raise Problem("where to? --output FILE")
    made = document(options)
    save(made, options.output)
    print(table(made["summary"]))
    print(worst(made["points"]))
    print(f"wrote {options.output}")


if __name__ == "__main__":
    run_tool("prediction", main)
