"""`espalier bench`: the host MPIs and Espalier, in one process and in turns, against the goals."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Optional

import typer

from espalier import __version__, install
from espalier.bench.collectives import ALL, NAMES
from espalier.completion import words
from espalier.interface import measuring, outputs
from espalier.interface.help import examples
from espalier.problem import Problem

if TYPE_CHECKING:
    from rich.console import Console

    from espalier.bench.jobs import Settings


def _document(settings: Settings, machine: dict, jobs: list[dict], failures: list[dict]) -> dict:
    from espalier.bench import file
    from espalier.bench.results import stats

    flags = [r["f_ns"] for job in jobs for r in job["rounds"]]
    return {
        "schema": file.SCHEMA,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "espalier": __version__,
        "machine": machine,
        "near_below_ns": round(stats.near_below(flags), 1),
        "settings": {
            "rounds": settings.rounds,
            "passes": settings.passes,
            "seconds": settings.seconds,
            "pin": settings.pin,
            "cpus": list(settings.usable),
            "sessions": settings.sessions,
            "mode": settings.mode,
            "memory": settings.memory,
        },
        "quota": settings.quota.described() if settings.quota else {"made": False, "why": "not asked for"},
        "failures": failures,
        "jobs": jobs,
    }


def _measure(settings: Settings, console: Console) -> dict:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from espalier.bench import jobs as bench_jobs, machine as bench_machine
    from espalier.bench.results import stats

    bench_jobs.check_ready(settings)
    machine = bench_machine.describe() | {"cores": len(settings.usable)}  # now: the load must not be our own
    todo = list(bench_jobs.plan(settings))
    done: list[dict] = []
    failures: list[dict] = []
    columns = (BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(todo))
        for job in todo:
            progress.update(task, description=job.title)
            if not console.is_terminal:
                console.print(f"  {job.title}", highlight=False)
            entry, failure = bench_jobs.run(job, settings)
            if entry:
                done.append(entry)
            elif failure:
                failures.append(failure)
            progress.advance(task)
    document = _document(settings, machine, done, failures)
    return document | {"points": stats.points(document)}


def _show_goals(document: dict, mode: str, console: Console) -> None:
    from espalier.bench.results import means, special, stats, table, verdict

    summaries = stats.summarise(document)
    cores = document["machine"].get("cores", 0)
    table.print_best(summaries, cores, console)
    for buffers in dict.fromkeys(s.key.buffers for s in summaries):
        means.print_means(verdict.usable(summaries, buffers), summaries, cores, console)
    special.print_all(document, console)
    table.print_verdict(verdict.verdict(document), mode, console)


def show(document: dict, console: Console, details: bool = False, goals: bool = False) -> None:
    """The times of a document; `details`: with quartiles, and what each failed job said; `goals`: this project's own, and what
    they are judged by."""
    from espalier.bench import machine as bench_machine
    from espalier.bench.results import osu, overall, stats, table

    console.print(f"{bench_machine.in_words(document['machine'])}; {document['date']}", highlight=False)
    flags = [r["f_ns"] for job in document["jobs"] for r in job["rounds"] if r["f_ns"] > 0]
    if flags:
        spread = stats.Spread.of(flags)
        console.print(
            f"flag exchange F: median {spread.mid:.0f} ns, quartiles {spread.low:.0f}–{spread.high:.0f}; "
            f"near below {document['near_below_ns']:.0f} ns"
        )
    parts = {mode: stats.of_mode(document, mode) for mode in stats.modes(document)}
    for part in parts.values():
        osu.print_tables(part, console)
        if details:
            table.print_points(stats.summarise(part), console)
        overall.print_overall(part, console)
    for mode, part in parts.items() if goals else ():
        _show_goals(part, mode, console)
    if bench_machine.busy_note(document["machine"]):
        console.print(f"note: {bench_machine.busy_note(document['machine'])}", highlight=False)
    table.print_failures(document.get("failures", []), console, details)


def _measure_under(quota: bool, settings: Settings, console: Console) -> dict:
    """The control group lasts as long as the measuring."""
    from dataclasses import replace

    from espalier.bench import quota as bench_quota

    if not quota:
        return _measure(settings, console)
    with bench_quota.quota(1) as made:
        if not made.made:
            console.print(f"no CPU quota can be set here ({made.why}); 4 ranks on one core instead", highlight=False)
        return _measure(replace(settings, quota=made), console)


def _bench_setup(asked: SimpleNamespace, way: str) -> None:
    from espalier.bench import idle, process
    from espalier.bench.setup import command as setup_command
    from espalier.terminal import console

    target = asked.json or install.results("bench/setup.json")
    settings = setup_command.settings(asked)
    process.die_with_jobs()
    idle.settle(way)
    document = setup_command.run(settings, target, console())
    print(f"written: {target}")
    if document["failures"]:
        raise Problem(f"{len(document['failures'])} jobs failed, see above", code=1)


def _bench_torch(asked: SimpleNamespace) -> None:
    from rich.console import Console

    from espalier.bench import process, torch_backends

    target = asked.json or install.results("bench/torch.json")
    process.die_with_jobs()
    torch_backends.run(asked, target, Console(width=None if Console().is_terminal else 150))
    print(f"written: {target}")


def bench(
    hosts: Optional[str] = typer.Option(
        None,
        autocompletion=words.listed(lambda: ("mpich", "openmpi", "impi")),
        help="Host MPIs, separated by commas: names, or paths of launchers (default: mpirun on PATH; of a clone, its three).",
    ),
    mpirun: Optional[str] = typer.Option(
        None, metavar="PATH", help="Measure this launcher's MPI instead, such as mpirun.mpich or 'srun --mpi=pmix'."
    ),
    mpicc: Optional[Path] = typer.Option(
        None, metavar="PATH", help="Its compiler (default: the mpicc beside it; of srun and its like the one on PATH)."
    ),
    ranks: Optional[str] = typer.Option(None, help="Numbers of ranks (default 2,4,8,16, quick 2,4)."),
    sizes: Optional[str] = typer.Option(None, help="Bytes per rank, such as 8,4K,1M."),
    oversubscribed_sizes: Optional[str] = typer.Option(None, help="Bytes per rank where there are more ranks than cores."),
    crowded_sizes: Optional[str] = typer.Option(None, hidden=True, help="--oversubscribed-sizes until version 0.1."),
    collectives: str = typer.Option(
        ",".join(NAMES), autocompletion=words.listed(lambda: ALL), help="Which collectives."
    ),
    alltoallw: bool = typer.Option(False, "--alltoallw", help="Measure MPI_Alltoallw, instead of --collectives."),
    neighbour_collectives: bool = typer.Option(
        False, "--neighbour-collectives", help="Measure neighbourhood collectives on a ring, instead of --collectives."
    ),
    rounds: Optional[int] = typer.Option(None, min=1, help="Rounds in one job (default 12, quick 4)."),
    passes: Optional[int] = typer.Option(None, min=1, help="Jobs of each kind, all hosts in turn (default 3, quick 1)."),
    seconds: Optional[float] = typer.Option(
        None, min=0, help="A job ends after this, at the earliest after a round (default 8, quick 3)."
    ),
    buffers: str = typer.Option(
        "written",
        autocompletion=words.one_of("written", "reused", "both", "allocated"),
        help="Send buffers: written before every call, reused, or both; or allocated: written, and all by MPI_Alloc_mem.",
    ),
    persistent: bool = typer.Option(
        False,
        "--persistent",
        help="Time MPI_Start and MPI_Wait of persistent requests, made before, instead of blocking calls.",
    ),
    nonblocking: bool = typer.Option(
        False, "--nonblocking", help="Time nonblocking collectives (MPI_Iallreduce, ...) and MPI_Wait instead of blocking calls."
    ),
    computing: float = typer.Option(
        0, metavar="MICROSECONDS", help="Also measure with so much computing between the start of a call and its wait."
    ),
    pin: str = typer.Option(
        "auto",
        autocompletion=words.one_of("auto", "yes", "no"),
        help="Pin ranks: yes, no, or auto (when there are enough cores).",
    ),
    cpus: Optional[str] = typer.Option(None, help="Processors to use, such as 0 or 0,1 (default: all)."),
    sessions: str = typer.Option("launcher", help="Sessions of the ranks: as the launcher makes them, or own: one for each."),
    quota: Optional[bool] = typer.Option(
        None, "--quota/--no-quota", help="4 ranks under a CPU quota of one core (default, but not quick)."
    ),
    late: float = typer.Option(0, metavar="MICROSECONDS", help="Also measure with one rank, in turn, that comes so much later."),
    neighbour: bool = typer.Option(False, "--neighbour", help="Also measure single calls beside a computing process."),
    limits: bool = typer.Option(True, "--limits/--no-limits", help="Measure what the machine can: F, M, C and S."),
    memory: str = typer.Option("256M", help="Leave out points whose buffers, all ranks together, need more."),
    host_only: bool = typer.Option(False, "--host-only", help="Measure the hosts without Espalier."),
    details: bool = typer.Option(False, "--details", help="Print quartiles too, and all that a failed job said."),
    goals: bool = typer.Option(False, "--goals", help="Judge the times by this project's goals."),
    key_value: bool = typer.Option(
        False, "--key-value", help="Print key=value lines to stdout, one for each point (ReFrame); all else to stderr."
    ),
    when_busy: Optional[str] = measuring.WHEN_BUSY,
    quick: bool = typer.Option(False, "--quick", help="Few sizes, few rounds: about a minute."),
    json: Optional[Path] = typer.Option(
        None, help="Where to write the result (default espalier-bench.json; of a clone build/bench/bench.json)."
    ),
    against: Optional[Path] = typer.Option(None, "--against", "--compare", help="A kept result to compare with."),
    setup: bool = typer.Option(
        False, "--setup", help="Measure the making of communicators, requests and windows, and start-up, instead of calls."
    ),
    parts: str = typer.Option("start,cycles,live,churn", help="With --setup: which parts."),
    torch: bool = typer.Option(
        False, "--torch", help="Measure torch.distributed by gloo and by Espalier (ranks, sizes, rounds and json as given)."
    ),
    communicators: Optional[str] = typer.Option(None, help="With --setup: how many live at once (default 1000, quick 100)."),
) -> None:
    """Measure Espalier against the host MPIs, in turns in one process: times and their ratio."""
    asked = dict(locals())
    from espalier import terminal
    from espalier.bench import file, idle, options, process
    from espalier.bench.results import compare, osu

    if crowded_sizes:
        print("espalier: --crowded-sizes is --oversubscribed-sizes now; the next version has that name alone", file=sys.stderr)
        asked["oversubscribed_sizes"] = oversubscribed_sizes or crowded_sizes
    outputs.check_tree("--json", json)
    way = idle.way_of(when_busy)
    if setup:
        return _bench_setup(SimpleNamespace(**asked), way)
    if torch:
        idle.settle(way)
        return _bench_torch(SimpleNamespace(**asked))
    kept = file.load(against) if against else None  # a bad file is told before the long part, not after it
    settings = options.settings(SimpleNamespace(**asked))
    under_quota = options.with_quota(quota, quick, settings.hosts)
    target = json or install.results("bench/bench.json")
    process.die_with_jobs()
    console = terminal.console(file_columns=150, errors=key_value)
    idle.settle(way)
    document = _measure_under(under_quota, settings, console)
    file.save(document, target)
    show(document, console, details, goals)
    if key_value:
        print("\n".join(osu.key_values(document)))
    if kept:
        compare.print_all(kept, document, console)
    console.print(f"written: {target} (espalier report {target} makes a page of it)", highlight=False)
    if document["failures"]:
        raise Problem(f"{len(document['failures'])} jobs failed, see above", code=1)


bench.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples("espalier bench --quick", "espalier bench --hosts mpich --ranks 2,4 --collectives allreduce --sizes 8,64K")
}
