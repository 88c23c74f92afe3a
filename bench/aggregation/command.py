"""make bench-aggregation: allreduce and barrier at n nodes of one rank, by aggregation nodes, by messages, by the host."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Optional, Sequence

from aggregation import trees
from cluster import jobs, summary
from cluster.settings import Settings
from emulated_cluster import Cluster, ClusterError, obstacle, parse_layout
from espalier.aggregate import tree
from espalier.bench import build, file, machine, process
from espalier.bench.hosts import find, preload
from espalier.install import library
from espalier.problem import Problem

MESSAGES, TREE = "messages", "aggregation nodes"


def _options(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-aggregation", description=__doc__)
    add = parser.add_argument
    add("--host", default="mpich", help="host MPI (default mpich)")
    add("--nodes", default="4,8,16", help="numbers of nodes (default 4,8,16)")
    add("--radix", type=int, default=8, help="children of an aggregation node (default 8)")
    add("--sizes", default="8,2048", help="bytes of the allreduce (default 8,2048)")
    add("--delay", type=float, default=500, metavar="MICROSECONDS", help="of each frame, one way (default 500)")
    add("--rounds", type=int, default=4, help="rounds for each rank (default 4)")
    add("--seconds", type=float, default=40, help="a job ends after so long (default 40)")
    add("--json", type=Path, default=None, help="where to write (default build/bench/aggregation.json)")
    return parser.parse_args(arguments)


def _settings(options: argparse.Namespace, nodes: int) -> Settings:
    return Settings(
        hosts=tuple(find(options.host)),
        layouts=(parse_layout(f"{nodes}x1"),),
        root_layouts=(),
        collectives=("barrier", "allreduce"),
        sizes=tuple(int(size) for size in options.sizes.split(",")),
        delay_us=options.delay,
        rate_mbit=0,
        rounds=options.rounds,
        seconds=options.seconds,
        host_only=False,
    )


def _measure(settings: Settings, radix: int) -> list[dict]:
    """Both ways in turns, twice, on one cluster: what is compared was measured close together."""
    layout, host = settings.layouts[0], settings.hosts[0]
    parents = tree.parents(layout.nodes, radix)
    found = []
    with ExitStack() as stack:
        folder = stack.enter_context(jobs.shared_folder())
        kept = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="espalier-aggregation-")))
        keep = [folder, kept, preload(host).parent]
        cluster = stack.enter_context(Cluster(layout.nodes + len(parents), settings.delay_us, settings.rate_mbit, keep))
        ways = {
            MESSAGES: {},
            TREE: {
                "ESPALIER_SHARP": "on",
                "ESPALIER_SHARP_CALLS": "0",
                "ESPALIER_SHARP_LIB": str(library("libespalier-sharp.so")),
                "ESPALIER_AGGREGATION": str(kept / "tree.json"),
            },
        }
        for turn in range(2):
            for way, environment in ways.items():
                with ExitStack() as around:
                    if environment:  # for each job anew: what is left on the nodes after a job is killed
                        around.enter_context(trees.running(cluster, layout.nodes, parents, kept / "tree.json"))
                    found.append({**_job(host, layout, settings, cluster, folder, environment), "way": way, "turn": turn})
    for entry in found:
        entry.update(depth=trees.depth(parents), aggregation_nodes=len(parents))
    return found


def _job(host, layout, settings: Settings, cluster: Cluster, folder: Path, environment: dict) -> dict:
    """With what really ran: an aggregation tree that failed would else pass for a slow one."""
    statistics = folder / "statistics.json"
    more = {**environment, "ESPALIER_STATS": str(statistics)}
    entry, failure = jobs.run(jobs.Job(host, layout), settings, cluster, folder, more)
    if entry is None:
        raise Problem(f"{layout}: {failure['why']}: {' / '.join(failure['last_lines'][-3:])}")
    algorithms: dict[str, dict[str, int]] = {}
    for row in json.loads(statistics.read_text())["rows"]:
        calls = algorithms.setdefault(row["collective"], {})
        calls[row["algorithm"]] = calls.get(row["algorithm"], 0) + row["calls"]
    by_tree = all("sharp" in algorithms[name] for name in settings.collectives)
    if by_tree != bool(environment):
        raise Problem(f"{layout}: not the algorithms that were asked for ran: {algorithms}")
    return {**entry, "algorithms": algorithms}


def _points(entries: list[dict]) -> list[dict]:
    rows = []
    for way in (MESSAGES, TREE):
        chosen = [entry for entry in entries if entry["way"] == way]
        merged = {**chosen[0], "rounds": [r for entry in chosen for r in entry["rounds"]]}
        for point in summary.points({"jobs": [{**merged, "served": {}}]}):
            rows.append({**summary.described(point), "way": way, "depth": merged["depth"], "algorithms": merged["algorithms"]})
    return rows


def _print(points: list[dict]) -> None:
    print(f"{'nodes':>6} {'collective':<10} {'bytes':>6}  {'host':>18}  {'Espalier, messages':>20}  {'aggregation nodes':>20}  depth")
    messages = {(p["layout"], p["collective"], p["bytes"]): p for p in points if p["way"] == MESSAGES}
    for point in points:
        if point["way"] != TREE:
            continue
        own = messages[point["layout"], point["collective"], point["bytes"]]
        cell = lambda over: f"{over['median']:,.0f} ({over['least']:,.0f}–{over['most']:,.0f})"
        print(
            f"{point['layout']:>6} {point['collective']:<10} {point['bytes']:>6}  {cell(own['host_us']):>18}  "
            f"{cell(own['espalier_us']):>20}  {cell(point['espalier_us']):>20}  {point['depth']}"
        )


def _main(options: argparse.Namespace) -> int:
    why = obstacle()
    if why:
        raise Problem(why)
    process.die_with_jobs()
    build.compare(find(options.host)[0])
    described = machine.describe()  # before: the load must not be our own
    entries, points = [], []
    for nodes in (int(word) for word in options.nodes.split(",")):
        found = _measure(_settings(options, nodes), options.radix)
        entries += found
        points += _points(found)
    document = {
        "schema": "espalier-aggregation-bench/1",
        "machine": described,
        "settings": {"delay_us": options.delay, "radix": options.radix, "host": options.host},
        "points": points,
        "jobs": entries,
    }
    target = options.json or Path(__file__).resolve().parents[2] / "build" / "bench" / "aggregation.json"
    file.save(document, target)
    _print(points)
    print(f"written: {target}")
    return 0


def main(arguments: Optional[Sequence[str]] = None) -> int:
    try:
        return _main(_options(arguments))
    except (Problem, ClusterError) as error:
        print(f"bench-aggregation: {error}", file=sys.stderr)
        return 2
