"""`espalier demo`: programs that exist already, IMB-MPI1 and mpi4py, under MPICH with and without Espalier."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Optional

import typer

from espalier import __version__
from espalier.install import results
from espalier.interface import outputs
from espalier.interface.help import examples
from espalier.problem import Problem

if TYPE_CHECKING:
    from rich.console import Console

    from espalier.demo.mpis import Mpi
    from espalier.demo.rounds import Collected
    from espalier.report.rows import Row

_NAMES = {"imb": "IMB-MPI1", "mpi4py": "mpi4py"}
_PROGRAMS = {
    "imb": "IMB-MPI1, Intel's benchmark program (its time: the slowest rank's mean; it sends the same buffers again and again)",
    "mpi4py": "An mpi4py program on numpy arrays (arrays written before every call)",
}


def _mpi(mpirun: Optional[str], mpicc: Optional[Path], folder: Path) -> Mpi:
    """With everything the jobs need, told before the first of them runs."""
    from espalier.bench import hosts, own_mpi
    from espalier.demo import mpis

    mpirun = mpirun or own_mpi.if_installed()
    if mpicc and not mpirun:
        raise Problem("--mpicc goes with --mpirun: it is the compiler of that MPI")
    mpi = mpis.of_user(mpirun, mpicc, folder) if mpirun else mpis.of_this_project()
    hosts.preload(mpi.host)
    return mpi


def _measure(mpi: Mpi, rounds: int, ranks: tuple[int, ...], seconds: float, console: Console) -> Collected:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from espalier.demo import plan

    todo = plan.steps(mpi, rounds, ranks)
    columns = (BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=len(todo))

        def progress(step: plan.Step, number: int) -> None:
            bar.update(task, completed=number, description=step.title)
            if not console.is_terminal:
                console.print(f"  {number + 1}/{len(todo)} {step.title}", highlight=False)

        collected = plan.run(todo, seconds, progress)
        bar.update(task, completed=len(todo), description="done")
    return collected


def _print_rows(mpi: Mpi, title: str, rows: list[Row], console: Console) -> None:
    from espalier.terminal import Column, print_table

    has_default = any(row.default for row in rows)
    names = ["collective", "ranks", "bytes", f"{mpi.title} µs", "Espalier µs", "ratio (quartiles)"]
    names[4:4] = ["as it comes µs"] if has_default else []
    colours = {"better": "green", "even": "yellow", "worse": "red", "none": ""}
    cells = []
    for row in rows:
        words = [row.collective, str(row.ranks), row.size, row.host_words]
        words += [row.default_words] if has_default else []
        cells.append([*words, row.espalier_words, row.ratio_words])
    columns = [Column(name, right=name != "collective") for name in names]
    print_table(columns, cells, title, [colours[row.mood] for row in rows], console)


def _sections(mpi: Mpi, collected: Collected) -> list[dict]:
    from espalier.bench import hosts
    from espalier.demo import rounds as demo_rounds
    from espalier.report import plots, rows as report_rows

    sections = []
    for program, text in _PROGRAMS.items():
        all_rows = demo_rounds.rows(collected, program)
        for ranks in sorted({row.ranks for row in all_rows}):
            rows = [row for row in all_rows if row.ranks == ranks]
            cores = len(hosts.cores())
            told = f", {mpi.title} told to yield" if mpi.host.oversubscribed else ""
            state = "pinned" if ranks <= cores else f"on {cores} cores{told}"
            sections.append(
                {
                    "program": _NAMES[program],
                    "title": f"{_NAMES[program]}, {ranks} ranks, {state}",
                    "note": text,
                    "rows": rows,
                    "overall": report_rows.overall(rows),
                    "times": plots.times(rows, f"{program}{ranks}t", mpi.title),
                    "ratios": plots.ratios(rows, f"{program}{ranks}r", mpi.title),
                }
            )
    return sections


def page(mpi: Mpi, collected: Collected, sections: list[dict], machine: dict, date: str) -> str:
    from espalier.bench import machine as bench_machine
    from espalier.report import page as report_page, verdict

    return report_page.render(
        "demo.html.j2",
        mpi=mpi.title,
        verdict=verdict.of_rows((section["program"], section["rows"]) for section in sections),
        date=date,
        version=__version__,
        machine=bench_machine.in_words(machine),
        sections=sections,
        commands=[f"# {title}\n{command}" for title, command in collected.commands.items()],
        failures=collected.failures,
        notes=collected.notes,
    )


def _write(mpi: Mpi, collected: Collected, sections: list[dict], machine: dict, folder: Path) -> None:
    from espalier.bench import file
    from espalier.demo import rounds as demo_rounds

    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    document = {"schema": "espalier-demo/1", "date": date, "espalier": __version__, "machine": machine, "mpi": mpi.title}
    document |= {"points": demo_rounds.as_json(collected), "commands": collected.commands}
    document |= {"failures": collected.failures, "notes": collected.notes}
    file.save(document, folder / "demo.json")
    file.write(page(mpi, collected, sections, machine, date), folder / "index.html")


def demo(
    rounds: int = typer.Option(5, min=1, help="Rounds: each runs every job once, host and Espalier in turns."),
    seconds: float = typer.Option(170, min=1, help="After this long only the first round is completed."),
    mpirun: Optional[str] = typer.Option(None, metavar="PATH", help="Run under this launcher's MPI, such as mpirun.openmpi."),
    mpicc: Optional[Path] = typer.Option(None, metavar="PATH", help="Its compiler (default: the mpicc beside it)."),
    output: Optional[Path] = typer.Option(
        None, help="Folder for index.html and demo.json (default espalier-demo; of a clone build/demo)."
    ),
) -> None:
    """Run IMB-MPI1 and an mpi4py program under MPICH, with and without Espalier: a table and a page with plots."""
    outputs.check_tree("--output", output, is_folder=True)
    with tempfile.TemporaryDirectory(prefix="espalier-demo-") as links:
        _demo(_mpi(mpirun, mpicc, Path(links)), rounds, seconds, output or results("demo"))


def _demo(mpi: Mpi, rounds: int, seconds: float, folder: Path) -> None:
    from espalier import terminal
    from espalier.bench import machine as bench_machine, process
    from espalier.bench.results import table as bench_table

    process.die_with_jobs()
    machine = bench_machine.describe()
    console = terminal.console(file_columns=130)
    collected = _measure(mpi, rounds, (2, 4), seconds, console)
    collected.notes += [*mpi.notes, *filter(None, [bench_machine.busy_note(machine)])]
    sections = _sections(mpi, collected)
    _write(mpi, collected, sections, machine, folder)
    for section in sections:
        _print_rows(mpi, section["title"], section["rows"], console)
        if section["overall"]:
            console.print(f"geometric mean of the ratios: {section['overall']:.2f}")
    for text in collected.notes:
        console.print(f"note: {text}", highlight=False)
    bench_table.print_failures(collected.failures, console)
    console.print(f"plots: {folder / 'index.html'}   (make bench measures against three MPIs, more strictly)", highlight=False)
    if not sections or not any(row.ratio for section in sections for row in section["rows"]):
        raise Problem("no job of the demo gave a comparison; see the failures above", code=1)
    if collected.failures:
        raise Problem(f"{len(collected.failures)} jobs of the demo failed, see above", code=1)


demo.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples("espalier demo", "espalier demo --rounds 2 --output demo", "espalier demo --mpirun mpirun.openmpi")
}
