"""`espalier bench`: the host MPIs and Espalier, in one process and in turns, against the goals."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Optional

import typer

from espalier import __version__
from espalier.install import source_tree
from espalier.problem import Problem
from espalier.sizes import parse_bytes

_COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce")
_SIZES = "8,64,512,2048,8192,32K,128K,256K,1M,4M"
_QUICK_SIZES = "8,1024,32K,1M"


def _numbers(text: str, what: str, low: int, high: int) -> tuple[int, ...]:
    try:
        found = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise Problem(f"'{text}' is no list of {what}; write it as 2,4,8") from None
    if not found or not all(low <= value <= high for value in found):
        raise Problem(f"{what} must lie between {low} and {high}, not '{text}'")
    return found


def _sizes(text: str) -> tuple[int, ...]:
    found = tuple(sorted({parse_bytes(part) for part in text.split(",") if part.strip()}))
    if not found or any(value <= 0 or value % 8 for value in found):
        raise Problem(f"sizes are whole numbers of doubles: multiples of 8 bytes, not '{text}'")
    if len(found) > 32:
        raise Problem(f"{len(found)} sizes are too many; at most 32")
    return found


def _collectives(text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in found:
        if name not in _COLLECTIVES:
            raise Problem(f"'{name}' is no collective that is measured; choose from {', '.join(_COLLECTIVES)}")
    return found


def _buffers(text: str) -> tuple[str, ...]:
    kinds = {"written": ("written",), "reused": ("reused",), "both": ("written", "reused")}
    if text not in kinds:
        raise Problem(f"--buffers {text}: choose written, reused or both")
    return kinds[text]


def _document(settings, machine: dict, jobs: list[dict], failures: list[dict]) -> dict:
    from espalier import bench_file, bench_stats

    flags = [r["f_ns"] for job in jobs for r in job["rounds"]]
    return {
        "schema": bench_file.SCHEMA,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "espalier": __version__,
        "machine": machine,
        "near_below_ns": round(bench_stats.near_below(flags), 1),
        "settings": {"rounds": settings.rounds, "passes": settings.passes, "seconds": settings.seconds, "pin": settings.pin},
        "jobs": jobs,
        "failures": failures,
    }


def _measure(settings, console) -> dict:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from espalier import bench_jobs, bench_machine

    bench_jobs.check_ready(settings)
    machine = bench_machine.describe()  # now: the load must not be our own
    todo, done, failures = list(bench_jobs.plan(settings)), [], []
    columns = (BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(todo))
        for job in todo:
            progress.update(task, description=job.title)
            if not console.is_terminal:
                console.print(f"  {job.title}", highlight=False)
            entry, failure = bench_jobs.run(job, settings)
            (done if entry else failures).append(entry or failure)
            progress.advance(task)
    return _document(settings, machine, done, failures)


def show(document: dict, console) -> None:
    """The tables of a document and its verdict."""
    from espalier import bench_machine, bench_stats, bench_table, bench_verdict

    summaries = bench_stats.summarise(document)
    cores = document["machine"].get("cores", 0)
    console.print(f"{bench_machine.in_words(document['machine'])}; {document['date']}", highlight=False)
    flags = [r["f_ns"] for job in document["jobs"] for r in job["rounds"] if r["f_ns"] > 0]
    if flags:
        spread = bench_stats.Spread.of(flags)
        console.print(
            f"flag exchange F: median {spread.mid:.0f} ns, quartiles {spread.low:.0f}–{spread.high:.0f}; "
            f"near below {document['near_below_ns']:.0f} ns"
        )
    bench_table.print_points(summaries, console)
    bench_table.print_best(summaries, cores, console)
    bench_table.print_verdict(bench_verdict.verdict(summaries, cores), console)
    if bench_machine.busy_note(document["machine"]):
        console.print(f"note: {bench_machine.busy_note(document['machine'])}", highlight=False)
    bench_table.print_failures(document.get("failures", []), console)


def bench(
    hosts: str = typer.Option("mpich,openmpi,impi", help="Host MPIs, separated by commas."),
    ranks: str = typer.Option("2,4,8", help="Numbers of ranks."),
    sizes: Optional[str] = typer.Option(None, help="Bytes per rank, such as 8,4K,1M."),
    collectives: str = typer.Option(",".join(_COLLECTIVES), help="Which collectives."),
    rounds: Optional[int] = typer.Option(None, help="Rounds in one job (default 12, quick 5)."),
    passes: Optional[int] = typer.Option(None, help="Jobs of each kind, all hosts in turn (default 3, quick 1)."),
    seconds: Optional[float] = typer.Option(None, help="A job starts no new round after this (default 8, quick 3)."),
    buffers: str = typer.Option("written", help="Send buffers: written before every call, reused, or both."),
    pin: str = typer.Option("auto", help="Pin ranks: yes, no, or auto (when there are enough cores)."),
    limits: bool = typer.Option(False, "--limits", help="Also measure memcpy and copy-in-copy-out."),
    host_only: bool = typer.Option(False, "--host-only", help="Measure the hosts without Espalier."),
    quick: bool = typer.Option(False, "--quick", help="Few sizes, few rounds: about a minute."),
    json: Optional[Path] = typer.Option(None, help="Where to write the result (default build/bench/bench.json)."),
    compare: Optional[Path] = typer.Option(None, help="A kept result to compare with."),
) -> None:
    """Measure Espalier against the host MPIs, alternating in one process, and judge it by the goals."""
    from rich.console import Console

    from espalier import bench_compare, bench_file, bench_hosts, bench_jobs, bench_process, bench_stats

    if pin not in ("auto", "yes", "no"):
        raise Problem(f"--pin {pin}: choose auto, yes or no")
    settings = bench_jobs.Settings(
        hosts=tuple(bench_hosts.find(hosts)),
        ranks=_numbers(ranks, "numbers of ranks", 1, 256),
        sizes=_sizes(sizes or (_QUICK_SIZES if quick else _SIZES)),
        collectives=_collectives(collectives),
        buffers=_buffers(buffers),
        rounds=rounds or (5 if quick else 12),
        passes=passes or (1 if quick else 3),
        seconds=seconds or (3 if quick else 8),
        pin=pin,
        limits=limits,
        host_only=host_only,
    )
    target = json or source_tree() / "build" / "bench" / "bench.json"
    bench_process.die_with_jobs()
    kept = bench_file.load(compare) if compare else None  # a bad file is told before the long part, not after it
    console = Console(width=None if Console().is_terminal else 130)
    document = _measure(settings, console)
    bench_file.save(document, target)
    show(document, console)
    if kept:
        found = bench_compare.changes(bench_stats.summarise(kept), bench_stats.summarise(document))
        bench_compare.print_changes(found, console)
    console.print(f"written: {target} (espalier report {target} makes a page of it)", highlight=False)
    if document["failures"]:
        raise Problem(f"{len(document['failures'])} jobs failed, see above", code=1)
