"""`python bench/reproducible [--turns N] [--seconds S] [--json FILE]`: what the levels of ESPALIER_REPRODUCIBLE cost.

Ranks that share a node's memory, and pretended nodes; then sums of local arrays (docs/reproducible.md has the tables).
"""

import argparse
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
for folder in ("bench", "python"):
    sys.path.insert(0, str(REPOSITORY / folder))

from espalier.bench import file, machine, process  # noqa: E402
from espalier.bench.hosts import find  # noqa: E402
from espalier.problem import Problem  # noqa: E402
from reproducible import document, measure  # noqa: E402


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measured(options) -> dict:
    process.die_with_jobs()
    (host,) = find(options.host)
    described = machine.describe()  # before: the load must not be our own
    found = document.make(host.name, described, measure.turns(host, options.turns, options.seconds, tell), measure.arrays())
    file.save(found, options.json)
    tell(f"written: {options.json}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python bench/reproducible", description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="mpich", help="host MPI (default mpich)")
    parser.add_argument("--turns", type=int, default=5, help="how often each level has its turn (default 5)")
    parser.add_argument("--seconds", type=float, default=3, help="of a job (default 3)")
    default = REPOSITORY / "build" / "bench" / "reproducible.json"
    parser.add_argument("--json", type=Path, default=default, help="where to write the result")
    parser.add_argument("--read", type=Path, metavar="FILE", help="measure nothing: the tables of a kept result")
    options = parser.parse_args()
    try:
        found = document.load(options.read) if options.read else measured(options)
    except Problem as problem:
        print(f"reproducible: {problem}", file=sys.stderr)
        return 2
    note = machine.busy_note(found["machine"])
    print("\n".join([*document.table(found), "", *document.arrays_table(found), *(["", f"note: {note}"] if note else [])]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
