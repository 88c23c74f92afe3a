"""`python bench/beside [--ranks 2,4,8] [--out FILE.json]`: what a rank in a barrier costs those that need it.

Rank 0 waits in a barrier; the others lock, put to and get from its window, or receive a long message that it has begun to
send. Each host alone and with Espalier, in turn.
"""

import argparse
import json
import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "python"))

from espalier.bench import build, file, hosts, process  # noqa: E402

SCHEMA = "espalier-beside-bench/1"
LINE = re.compile(r"^(\w+) +(\d+) ranks: each ([\d.]+) us \(most ([\d.]+)\), after a pause ([\d.]+) us \(most ([\d.]+)\)$", re.M)
LONGEST = 180  # seconds for a job


def built(host):
    return build.program(host, "beside", [REPOSITORY / "bench" / "beside" / "beside.c"])


def measured(host, ranks, with_espalier, times):
    settings = hosts.preloaded(hosts.preload(host)) if with_espalier else {}
    command = [*hosts.launcher(host, ranks), str(built(host)), str(times)]
    outcome = process.run(command, hosts.environment(host, ranks) | settings, LONGEST)
    if not outcome.fine:
        raise SystemExit(f"{host.title}, {ranks} ranks: {json.dumps(outcome.failure(), indent=1)}")
    numbers = ("each_us", "each_most_us", "first_us", "first_most_us")
    return {name: dict(zip(numbers, map(float, rest))) for name, _, *rest in LINE.findall(outcome.output)}


def row(host, ranks, work, alone, with_espalier):
    ratio = with_espalier["each_us"] / alone["each_us"]
    return (f"| {host.title} | {ranks} | {work} | {alone['each_us']:.1f} | {with_espalier['each_us']:.1f} | {ratio:.2f} "
            f"| {alone['first_us']:.1f} | {with_espalier['first_us']:.1f} |")


def main():
    parser = argparse.ArgumentParser(prog="python bench/beside", description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", default=",".join(hosts.HOSTS))
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    print("| host | ranks | work | µs alone | with Espalier | ratio | after a pause alone | with Espalier |")
    print("|---" * 8 + "|")
    for host in (hosts.HOSTS[name] for name in options.hosts.split(",")):
        for ranks in map(int, options.ranks.split(",")):
            alone, ours = (measured(host, ranks, espalier, options.times) for espalier in (False, True))
            for work in alone:
                print(row(host, ranks, work, alone[work], ours[work]), flush=True)
                rows.append({"host": host.name, "ranks": ranks, "work": work, "alone": alone[work], "espalier": ours[work]})
    if options.out:
        file.write(json.dumps({"schema": SCHEMA, "rows": rows}, indent=1) + "\n", options.out)


if __name__ == "__main__":
    main()
