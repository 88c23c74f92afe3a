"""`python bench/allocation [--rounds N] [--hosts LIST]`: MPI_Alloc_mem and MPI_Free_mem of one block, host and Espalier in turns.

One rank; microseconds of a pair, the median of the rounds. *written*: one byte of each page is written in between.
"""

import argparse
import json
import os
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "python"))

from espalier.bench import build, hosts as bench_hosts, process  # noqa: E402


def built(host):
    return build.program(host, "allocation", [REPOSITORY / "bench" / "allocation" / "allocation.c"])


def measured(host, rounds):
    settings = bench_hosts.environment(host, 1) | bench_hosts.preloaded(bench_hosts.preload(host))
    outcome = process.run([*bench_hosts.launcher(host, 1), str(built(host)), str(rounds)], settings, 120)
    if not outcome.fine:
        raise SystemExit(f"{host.title}: {json.dumps(outcome.failure(), indent=1)}")
    return [json.loads(line) for line in outcome.output.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--hosts", default="mpich,openmpi,impi")
    given = parser.parse_args()
    os.environ.setdefault("ESPALIER_LIB", str(REPOSITORY / "build" / "lib"))
    hosts = bench_hosts.find(given.hosts)
    runs = [measured(host, given.rounds) for host in hosts]
    print("| bytes | written |", " | ".join(f"{host.name} | Espalier" for host in hosts), "|")
    print("|---" * (2 + 2 * len(hosts)) + "|")
    for rows in zip(*runs, strict=True):
        cells = [f"{row['host_us']:.3f} | {row['espalier_us']:.3f}" for row in rows]
        print(f"| {rows[0]['bytes']} | {'yes' if rows[0]['written'] else 'no'} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
