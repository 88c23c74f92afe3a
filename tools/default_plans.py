"""How far are the built-in rules from the best plan of the model, on machines that were not at hand?

    .venv/command/bin/python tools/default_plans.py --output docs/results/default-plans.json.xz    # simulates all; minutes
    .venv/command/bin/python tools/default_plans.py --table docs/results/default-plans.json.xz     # the tables of the page

All collectives, 8 B to 4 MiB, on one node of 16 to 128 ranks and on 4 to 1,024 nodes: the plan of the rules against every plan
of espalier/simulate/candidates.py on the simulated machine. PYTHONPATH=python; the library's rules are those of the build.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Optional

from espalier.bench import file
from espalier.models import parameters
from espalier.problem import run_tool
from espalier.simulate import derive
from espalier.sizes import print_bytes

Json = dict[str, Any]

SCHEMA = "espalier-default-plans/1"
SIZES = [8, 512, 8192, 65536, 524288, 4194304]
BEHIND = 1.25
# v forms run their sibling's text with equal blocks; alltoallv and the like are simulated live, and are left out of the long
# runs for that.
COLLECTIVES = ["barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter", "reduce_scatter", "scan",
               "exscan"]
BLOCKS = ("allgather", "alltoall", "gather", "scatter")  # whose memory grows with the ranks
MOST = 1 << 30  # bytes of a rank's buffer: what is longer no program calls


class Shape(NamedTuple):
    machine: str
    nodes: int
    ppn: int

    def title(self) -> str:
        if self.nodes == 1:
            return f"{self.ppn} ranks on a node ({self.machine})"
        return f"{self.nodes} nodes of {self.ppn} ({self.machine})"

    def short(self) -> str:
        return f"{self.ppn} ranks" if self.nodes == 1 else f"{self.nodes} × {self.ppn}"


ONE_NODE = [Shape("skylake-6138f", 1, 16), Shape("skylake-6138f", 1, 40), Shape("frontera", 1, 56), Shape("epyc-7742", 1, 128)]
MANY = [Shape("frontera", nodes, 4) for nodes in (4, 8, 16, 64)] + [Shape("frontera", nodes, 1) for nodes in (256, 1024)]


def is_called(collective: str, size: int, shape: Shape) -> bool:
    """An alltoall over nodes runs with data, all of which are in memory here."""
    ranks = shape.nodes * shape.ppn
    if collective in BLOCKS and size * ranks > MOST:
        return False
    return collective != "alltoall" or shape.nodes == 1 or size * ranks * ranks <= MOST // 4


def row(shape: Shape, collective: str, size: int) -> Optional[Json]:
    where = derive.Where(parameters.path_of(shape.machine), shape.nodes, shape.ppn)
    # A reduce_scatter's size is that of all blocks: 8 B for each rank at least.
    asked = max(size, 8 * where.ranks) if collective == "reduce_scatter" else size
    found = derive.point(where, collective, asked)
    return {
        "machine": shape.machine, "nodes": shape.nodes, "ppn": shape.ppn, "collective": collective, "bytes": size,
        "default": found.default, "default_ns": round(found.default_ns), "best_ns": round(found.times[found.best]),
        "best": derive.in_words(json.loads(found.best)), "plans": len(found.times),
    }


def key(each: Json) -> tuple:
    return each["machine"], each["nodes"], each["ppn"], each["collective"], each["bytes"]


def rows(shapes: list[Shape], collectives: list[str], kept: list[Json]) -> Iterator[Json]:
    """Those that are not kept, one by one."""
    there = {key(each) for each in kept}
    for shape in shapes:
        for collective in collectives:
            for size in [0] if collective == "barrier" else SIZES:
                if is_called(collective, size, shape) and (*shape, collective, size) not in there:
                    yield row(shape, collective, size)


def behind(each: Json) -> float:
    return max(1.0, each["default_ns"] / each["best_ns"])


def save(found: list[Json], path: Path) -> None:
    lines = ",\n  ".join(json.dumps(each) for each in found)
    file.write(f'{{"schema": "{SCHEMA}", "rows": [\n  {lines}\n ]}}\n', path)


def table(found: list[Json]) -> str:
    """A table for each shape: default / best; what is more than BEHIND in bold."""
    text = []
    for shape in dict.fromkeys(Shape(each["machine"], each["nodes"], each["ppn"]) for each in found):
        of = {(each["collective"], each["bytes"]): each for each in found
              if (each["machine"], each["nodes"], each["ppn"]) == shape}
        text += [f"**{shape.title()}**", "", "| | " + " | ".join(print_bytes(size) for size in SIZES) + " |",
                 "|---" * (len(SIZES) + 1) + "|"]
        for name in dict.fromkeys(collective for collective, _ in of):
            cells = [of.get((name, size)) or (of.get((name, 0)) if size == SIZES[0] else None) for size in SIZES]
            text.append(f"| {name} | " + " | ".join(_cell(cell) for cell in cells) + " |")
        text.append("")
    return "\n".join(text)


def overview(found: list[Json]) -> str:
    """A row for each collective: the worst of its sizes on each shape."""
    worst: dict[tuple[str, Shape], float] = {}
    for each in found:
        at = each["collective"], Shape(each["machine"], each["nodes"], each["ppn"])
        worst[at] = max(worst.get(at, 1.0), behind(each))
    shapes = [shape for shape in [*ONE_NODE, *MANY] if any(shape == there for _, there in worst)]
    text = ["| | " + " | ".join(shape.short() for shape in shapes) + " |", "|---" * (len(shapes) + 1) + "|"]
    for name in COLLECTIVES:
        cells = [f"{worst[name, shape]:.2f}" if (name, shape) in worst else "" for shape in shapes]
        if any(cells):
            text.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*text, ""])


def _cell(each: Optional[Json]) -> str:
    if each is None:
        return ""
    ratio = f"{behind(each):.2f}"
    return f"**{ratio}**" if behind(each) > BEHIND else ratio


def summary(found: list[Json]) -> str:
    above = [each for each in found if behind(each) > BEHIND]
    lines = [f"{len(found)} calls, {len(above)} of which the default takes more than {BEHIND} times the best plan"]
    for each in sorted(above, key=behind, reverse=True):
        lines.append(f"{behind(each):6.2f} {each['machine']} {each['nodes']}x{each['ppn']} {each['collective']} "
                     f"{print_bytes(each['bytes'])}: {each['default']} {each['default_ns'] / 1000:.3g} us, "
                     f"{each['best']} {each['best_ns'] / 1000:.3g}")
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--table", type=Path, help="prints the tables of a kept run")
    parser.add_argument("--collectives", type=lambda text: text.split(","), default=COLLECTIVES)
    parser.add_argument("--resume", action="store_true", help="goes on where --output ends")
    parser.add_argument("--shapes", choices=("node", "nodes", "all"), default="all")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if options.table:
        kept = file.read_json(options.table)["rows"]
        print(overview(kept))
        print(table(kept))
        print(summary(kept))
        return
    shapes = {"node": ONE_NODE, "nodes": MANY, "all": ONE_NODE + MANY}[options.shapes]
    resumes = options.resume and options.output and options.output.exists()
    found = file.read_json(options.output)["rows"] if resumes else []
    for each in rows(shapes, options.collectives, list(found)):
        found.append(each)
        shape = Shape(each["machine"], each["nodes"], each["ppn"])
        print(f"{shape.title()}: {each['collective']} {print_bytes(each['bytes'])} {behind(each):.2f}", file=sys.stderr)
        if options.output:
            save(found, options.output)
    print(summary(found))


if __name__ == "__main__":
    run_tool("default_plans", main)
