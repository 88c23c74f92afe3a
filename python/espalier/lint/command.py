"""`espalier lint`: calls of an MPI that cost more than they should on this machine, and what helps."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import typer

from espalier.completion import words
from espalier.interface import measuring, outputs
from espalier.interface.help import examples
from espalier.problem import Problem

Json = dict[str, Any]

COLLECTIVES = "barrier,bcast,reduce,allreduce,allgather,gather,scatter,alltoall,reduce_scatter_block,scan,exscan"


def lint(
    mpirun: Optional[str] = typer.Option(
        None, metavar="PATH", help="The launcher of the MPI to look at (default: mpirun on PATH)."
    ),
    mpicc: Optional[Path] = measuring.MPICC,
    ranks: Optional[str] = measuring.RANKS,
    collectives: str = typer.Option(
        COLLECTIVES, autocompletion=words.listed(lambda: COLLECTIVES.split(",")), help="Which collectives."
    ),
    sizes: Optional[str] = typer.Option(None, metavar="BYTES", help="Bytes per rank (default: the powers of two from 8 to 1M)."),
    budget: str = measuring.BUDGET,
    ways: bool = typer.Option(True, "--ways/--no-ways", help="Also with shifted buffers, and with a datatype of its own."),
    remedies: bool = typer.Option(True, "--remedies/--no-remedies", help="Try what may help: Espalier, and the host's settings."),
    most: int = typer.Option(12, "--most", min=1, help="Try remedies for so many findings, the worst first."),
    plot: Optional[Path] = typer.Option(None, metavar="FILE", help="Draw the calls that were found: FILE.png or FILE.svg."),
    json: Optional[Path] = typer.Option(None, metavar="FILE", help="Write the findings, and all times."),
    when_busy: Optional[str] = measuring.WHEN_BUSY,
) -> None:
    """Find calls whose cost jumps against the trend, under any MPI, and try what helps.

    docs/lint.md says what counts as a finding. Without Espalier's libraries only the host is looked at.
    """
    from espalier.bench import hosts, idle, process
    from espalier.lint import run as lint_run, show
    from espalier.measured import asked as tune_asked

    for option, path in (("--plot", plot), ("--json", json)):
        outputs.check_tree(option, path)
    if plot is not None and plot.suffix not in (".png", ".svg"):
        raise Problem(f"--plot {plot}: the name ends in .png or .svg")
    way = idle.way_of(when_busy)
    cores = len(hosts.cores())
    asked = tune_asked.asked(ranks, collectives, sizes or lint_run.SIZES, budget, cores)
    host = tune_asked.host_of(mpirun, mpicc)
    process.die_with_jobs()
    idle.settle(way)
    found = lint_run.look(host, asked, cores, ways, most if remedies else 0)
    show.table(found.findings)
    print(show.summary(found))
    if json is not None:
        from espalier.bench import file

        file.save(show.document(found), json)
    if plot is not None:
        if found.findings:
            show.plot(found, plot)
        else:
            print(f"nothing to draw in {plot}")


lint.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples(
        "espalier lint",
        "espalier lint --mpirun mpirun.openmpi --ranks 2,8 --plot cliffs.png",
        "espalier lint --collectives scan,bcast --sizes 1K,2K,4K,8K --no-remedies",
    )
}
