"""The command line of `make bench-cluster`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Optional, Sequence

from emulated_cluster import ClusterError, obstacle
from espalier.bench import build, machine as bench_machine, process
from espalier.problem import Problem
from rich.console import Console

from cluster import document as file
from cluster import jobs, plot, settings as wanted, summary, table


def _measure(settings: wanted.Settings, console: Console) -> dict:
    machine, why = bench_machine.describe(), ""
    done: list[dict] = []
    failures: list[dict] = []
    for host in settings.hosts:
        build.compare(host)
    with jobs.shared_folder() as folder:
        for layout, planned in jobs.plan(settings).items():
            with jobs.made_cluster(layout, settings, folder) as cluster:
                why = cluster.no_group
                for job in planned:
                    console.print(f"  {job.title}", highlight=False)
                    entry, failure = jobs.run(job, settings, cluster, folder)
                    (done if entry else failures).append(entry or failure)
    return file.make(settings, machine, why, done, failures)


def _show(document: dict, plots: Path, console: Console) -> None:
    points = summary.points(document)
    console.print(file.heading(document), highlight=False)
    table.print_points(points, console)
    table.print_stages(summary.stage_pairs(points), console)
    table.print_model(document["messages"], console)
    if bench_machine.busy_note(document["machine"]):
        console.print(f"note: {bench_machine.busy_note(document['machine'])}", highlight=False)
    if document["no_control_group"]:
        console.print(
            f"note: no CPU control group, so yields are weak between nodes: {document['no_control_group']}",
            highlight=False,
        )
    for path in plot.draw(document, points, plots):
        console.print(f"drawn: {path}", highlight=False)
    table.print_failures(document["failures"], console)


def _main(options) -> int:
    console = Console(width=None if Console().is_terminal else 150)
    target = options.json or wanted.default_json()
    if options.read:
        document = file.load(options.read)
        _show(document, options.plots or options.read.parent, console)
        return 0
    why = obstacle()
    if why:
        raise Problem(why)
    process.die_with_jobs()
    document = _measure(wanted.of_arguments(options), console)
    file.save(document, target)
    _show(document, options.plots or target.parent, console)
    console.print(f"written: {target}", highlight=False)
    return 1 if document["failures"] else 0


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """0: all was measured; 1: a job failed; 2: nothing could be measured."""
    try:
        return _main(wanted.parse(arguments))
    except (Problem, ClusterError) as error:
        print(f"bench-cluster: {error}", file=sys.stderr)
        return 2
