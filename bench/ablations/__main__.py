"""`python bench/ablations [--turns N] [--seconds S] [--json FILE]`: RG's optimisations, one by one taken away (RG VI).

What two ranks with a core each can show: slots, skipped gathers, data in the flag line, copy avoidance. Skew, leaders and the
branching factor need more ranks: they are simulated (docs/performance-ablations.md has both).
"""

import argparse
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
for folder in ("bench", "python"):
    sys.path.insert(0, str(REPOSITORY / folder))

from ablations import document, measure  # noqa: E402
from espalier.bench import file, machine, process  # noqa: E402
from espalier.bench.hosts import cores, find  # noqa: E402
from espalier.problem import Problem  # noqa: E402


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measured(options) -> dict:
    if len(cores()) < measure.RANKS:
        raise Problem("a core for each of two ranks is needed; there is one")
    process.die_with_jobs()
    (host,) = find(options.host)
    described = machine.describe()  # before: the load must not be our own
    found = document.make(host.name, described, measure.turns(host, options.turns, options.seconds, tell))
    file.save(found, options.json)
    tell(f"written: {options.json}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python bench/ablations", description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="mpich", help="host MPI (default mpich)")
    parser.add_argument("--turns", type=int, default=5, help="how often each configuration has its turn (default 5)")
    parser.add_argument("--seconds", type=float, default=4, help="of a job (default 4)")
    default = REPOSITORY / "build" / "bench" / "ablations.json"
    parser.add_argument("--json", type=Path, default=default, help="where to write the result")
    parser.add_argument("--read", type=Path, metavar="FILE", help="measure nothing: the table of a kept result")
    options = parser.parse_args()
    try:
        found = document.load(options.read) if options.read else measured(options)
    except Problem as problem:
        print(f"ablations: {problem}", file=sys.stderr)
        return 2
    note = machine.busy_note(found["machine"])
    print("\n".join([*document.table(found), *(["", f"note: {note}"] if note else [])]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
