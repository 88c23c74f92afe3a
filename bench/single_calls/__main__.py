"""`python bench/single_calls [--ranks 16,32,64] [--busy N]`: single calls of many ranks, host and Espalier in turns.

Barrier, allreduce and bcast of 8 bytes, alltoall of 64. `--busy`: beside so many processes that compute.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "python"))

from espalier.bench import build, hosts as bench_hosts, process  # noqa: E402

LONGEST = 180  # seconds for a job


def measured(host, ranks, calls):
    program = build.program(host, "single_calls", [REPOSITORY / "bench" / "single_calls" / "single_calls.c"])
    settings = bench_hosts.environment(host, ranks) | bench_hosts.preloaded(bench_hosts.preload(host))
    outcome = process.run([*bench_hosts.launcher(host, ranks), str(program), str(calls)], settings, LONGEST)
    if not outcome.fine:
        raise SystemExit(f"{host.title}, {ranks} ranks: {json.dumps(outcome.failure(), indent=1)}")
    for line in outcome.output.splitlines():
        name, *numbers = line.split()
        if len(numbers) == 4:
            yield name, *map(float, numbers)


def main():
    parser = argparse.ArgumentParser(prog="python bench/single_calls", description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", default=",".join(bench_hosts.HOSTS))
    parser.add_argument("--ranks", default="16,32,64")
    parser.add_argument("--calls", type=int, default=150)
    parser.add_argument("--busy", type=int, default=0)
    options = parser.parse_args()
    print("| host | ranks | collective | median µs, host → Espalier | ratio | mean | ratio |")
    print("|---" * 7 + "|")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)]
    try:
        for host in bench_hosts.find(options.hosts):
            for ranks in map(int, options.ranks.split(",")):
                for name, median, mean, our_median, our_mean in measured(host, ranks, options.calls):
                    print(f"| {host.title} | {ranks} | {name} | {median:.1f} → {our_median:.1f} | {our_median / median:.2f} "
                          f"| {mean:.1f} → {our_mean:.1f} | {our_mean / mean:.2f} |", flush=True)
    finally:
        for one in busy:
            one.kill()


if __name__ == "__main__":
    main()
