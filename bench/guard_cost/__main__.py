"""`python bench/guard_cost [--jobs N]`: what ESPALIER_GUARD=on costs a short call that is settled, on two cores.

Each job turns the guard on and off within itself (guard_cost.c); printed are medians over the jobs. Needs `nm`.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "python"))

from espalier.bench import build, hosts as bench_hosts, process  # noqa: E402

LONGEST = 60  # seconds for a job


def place_of_variable(library):
    """Of `guard::is_on`, in hexadecimal. A release has its symbols in a file beside it."""
    beside = library.with_name(library.name + ".debug")
    symbols = subprocess.run(["nm", "-C", beside if beside.exists() else library], stdout=subprocess.PIPE, text=True, check=True)
    for line in symbols.stdout.splitlines():
        if line.endswith("mpi::guard::is_on"):
            return line.split()[0]
    raise SystemExit(f"{library} has no symbols")


def measured(host):
    files = [REPOSITORY / "bench" / "guard_cost" / "guard_cost.c", REPOSITORY / "bench" / "mpi" / "clock.c"]
    program = build.program(host, "guard_cost", files)
    library = bench_hosts.preload(host)
    settings = bench_hosts.environment(host, 2) | bench_hosts.preloaded(library) | {"ESPALIER_GUARD": "on"}
    command = [*bench_hosts.launcher(host, 2), str(program), place_of_variable(library)]
    outcome = process.run(command, settings, LONGEST)
    if not outcome.fine:
        raise SystemExit(f"{host.title}: {json.dumps(outcome.failure(), indent=1)}")
    for line in outcome.output.splitlines():
        name, *numbers = line.split()
        if len(numbers) == 5:
            yield name, list(map(float, numbers))


def main():
    parser = argparse.ArgumentParser(prog="python bench/guard_cost", description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", default="mpich")
    parser.add_argument("--jobs", type=int, default=30)
    options = parser.parse_args()
    print("| | single ns, off → on | more | in a row ns, off → on | more |")
    print("|---" * 5 + "|")
    for host in bench_hosts.find(options.hosts):
        jobs = defaultdict(list)
        for _ in range(options.jobs):
            for name, numbers in measured(host):
                jobs[name].append(numbers)
        for name, rows in jobs.items():
            off, on, row_off, row_on, more = map(statistics.median, zip(*rows))
            single_more = statistics.median(row[1] - row[0] for row in rows)
            print(f"| {host.title}, {name} | {off:.1f} → {on:.1f} | {single_more:.1f} | {row_off:.1f} → {row_on:.1f} | {more:.1f} |")


if __name__ == "__main__":
    main()
