"""`python bench/windows [--rounds N] [--cluster] [--out FILE.json]`: windows beside messages, every host and transport.

Two ranks on two pretended nodes, or (as root, --cluster) on two emulated ones. Transports are measured in turn, so that
what is compared was measured close together; within a job windows and messages alternate.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
for folder in ("tools", "python"):
    sys.path.insert(0, str(REPOSITORY / folder))

from emulated_cluster import Cluster, parse_layout  # noqa: E402
from emulated_cluster import hosts as on_cluster  # noqa: E402
from espalier.bench import file, hosts as bench_hosts, machine, process  # noqa: E402

SCHEMA = "espalier-windows-bench/1"
LAYOUT = parse_layout("2x1")
TRANSPORTS = {"mpich": ("message", "rma"), "openmpi": ("message", "rma"), "impi": ("message", "rma", "notify")}


def built(host):
    target = REPOSITORY / "build" / "bench" / host.name / "windows"
    target.parent.mkdir(parents=True, exist_ok=True)
    ours = bench_hosts.preload(host).parent
    words = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", f"-I{host.folder / 'include'}", f"-I{REPOSITORY / 'include'}"]
    words += [str(REPOSITORY / "bench" / "windows" / "windows.c"), "-o", str(target)]
    words += [f"-L{host.library_folder}", f"-Wl,-rpath,{host.library_folder}:{ours}", "-lmpi", f"-L{ours}", "-lespalier"]
    subprocess.run(words, check=True)
    return target


def measured(host, transport, rounds, cluster):
    settings = {"ESPALIER_WINDOW_TRANSPORT": transport}
    words = [str(built(host)), str(rounds)]
    if cluster:
        command = on_cluster.command(host, cluster, LAYOUT, words, settings, bench_hosts.preload(host))
        outcome = process.run(command, on_cluster.surroundings(host), 120)
        cluster.clear()
    else:
        settings |= {"ESPALIER_NODES": "2", **bench_hosts.preloaded(bench_hosts.preload(host))}
        outcome = process.run([*bench_hosts.launcher(host, 2), *words], bench_hosts.environment(host, 2) | settings, 120)
    if not outcome.fine:
        raise SystemExit(f"{host.title}, {transport}: {json.dumps(outcome.failure(), indent=1)}")
    rows = [json.loads(line) for line in outcome.output.splitlines() if line.startswith("{")]
    if rows[-1] != {"what": "end", "wrong": 0} or rows[0]["transport"] != transport or rows[0]["nodes"] != 2:
        raise SystemExit(f"{host.title}, {transport}: not as it should be: {rows[0]} {rows[-1]}")
    return {"host": host.name, "transport": transport, "rows": rows[1:-1]}


def table(jobs):
    names = list(dict.fromkeys((row["what"], row["bytes"]) for job in jobs for row in job["rows"]))
    print("| µs (median) | bytes |", " | ".join(f"{job['host']} {job['transport']}" for job in jobs), "|")
    print("|---" * (2 + len(jobs)) + "|")
    for name in names:
        cells = [f"{row['median_us']:.2f}" for job in jobs for row in job["rows"] if (row["what"], row["bytes"]) == name]
        print(f"| {name[0]} | {name[1]} |", " | ".join(cells), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--hosts", default="mpich,openmpi,impi")
    parser.add_argument("--cluster", action="store_true", help="two emulated nodes (root only)")
    parser.add_argument("--out", type=Path, help="write JSON here")
    given = parser.parse_args()
    os.environ.setdefault("ESPALIER_LIB", str(REPOSITORY / "build" / "lib"))
    hosts = bench_hosts.find(given.hosts)
    described = machine.describe()  # before: the load must not be our own
    keep = sorted({bench_hosts.preload(host).parent for host in hosts} | {REPOSITORY / "build"})
    with Cluster(LAYOUT.nodes, keep=keep) if given.cluster else contextlib.nullcontext() as cluster:
        jobs = [measured(host, kind, given.rounds, cluster) for host in hosts for kind in TRANSPORTS[host.name]]
    table(jobs)
    where = "emulated nodes" if given.cluster else "pretended nodes"
    document = {"schema": SCHEMA, "nodes": where, "machine": described, "jobs": jobs}
    if given.out:
        file.save(document, given.out)


sys.exit(main())
