"""Derives rules for a machine that is only described, by simulation, and says why.

    .venv/command/bin/python tools/derive_rules.py epyc-9654 reduce,bcast --sizes 8,512,8KiB,64KiB,1MiB --output rules.json
    .venv/command/bin/python tools/derive_rules.py machine.xml barrier -n 64
    .venv/command/bin/python tools/derive_rules.py frontera allreduce --nodes 64 --ppn 4

A machine is a model file (docs/simulation.md), the name of one that comes with Espalier, or hwloc's XML (`lstopo --of xml`),
to which times are assumed. The rules are modelled, not measured: measure them before you rely on them. PYTHONPATH=python.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from espalier.bench import file
from espalier.models import machine
from espalier.problem import run_tool
from espalier.simulate import derive
from espalier.sizes import parse_bytes

SIZES = "8,64,512,4KiB,32KiB,256KiB,1MiB"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", metavar="NAME|FILE")
    parser.add_argument("collectives", type=lambda text: text.split(","))
    parser.add_argument("--sizes", default=SIZES, type=lambda text: [parse_bytes(size) for size in text.split(",")])
    parser.add_argument("-n", "--ranks", type=int, help="on the node; default: one for each core")
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--ppn", type=int, help="with --nodes: ranks on each; default: one for each core")
    parser.add_argument("--output", type=Path, help="rules, as ESPALIER_RULES takes them")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    path = machine.path_of(options.machine)
    ranks = options.ppn or options.ranks or machine.cores_of(machine.load(path))
    where = derive.Where(path, options.nodes, ranks)
    found = []
    for collective in options.collectives:
        sizes = [0] if collective == "barrier" else options.sizes
        points = [derive.point(where, collective, size) for size in sizes]
        for choice, rule in zip(derive.choices(points), derive.rules(where, collective, points)):
            found.append(rule)
            print(f"{collective}: {json.dumps(choice.plan)}\n    {derive.reason(choice)}")
    if options.output:
        lines = ",\n  ".join(json.dumps(rule) for rule in found)
        file.write('{"schema": 1, "rules": [\n  ' + lines + "\n ]}\n", options.output)


if __name__ == "__main__":
    run_tool("derive_rules", main)
