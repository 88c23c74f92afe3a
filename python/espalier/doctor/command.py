"""`espalier doctor`: looks at everything that Espalier needs on this machine, and says what to do where it is missing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Optional

import typer

from espalier.doctor.check import Check
from espalier.doctor.checks import all_checks
from espalier.interface import document, outputs
from espalier.interface.help import examples
from espalier.problem import Problem, note

if TYPE_CHECKING:
    from espalier.doctor.latencies import Latencies


def doctor(
    command: list[str] = typer.Argument(
        None, metavar="[[--] COMMAND...]", help="A job to run once: which of its calls Espalier gets, and which not."
    ),
    quick: bool = typer.Option(False, "--quick", help="Look at this machine alone: start no job of its MPIs."),
    mpirun: Optional[str] = typer.Option(
        None, metavar="PATH", help="Try this launcher alone, such as mpirun.mpich, and not each that is found."
    ),
    html: Optional[Path] = typer.Option(
        None, "--html", metavar="PAGE", help="Write the findings as a page, with the cores' latencies as a map."
    ),
    as_json: bool = typer.Option(
        False, "--json", help="Print the findings as JSON (docs/command-line.md); what a job prints then goes to stderr."
    ),
) -> None:
    """Check libraries, memory, processors and MPIs, or one job; exit code 1 when something needed is missing."""
    from espalier.doctor import job, show

    if mpirun and (command or quick):
        raise Problem(f"--mpirun names whose job is tried; with {'a job' if command else '--quick'} none is")
    outputs.check_tree("--html", html)
    launcher = _launcher(mpirun)
    found, measured = (None, []) if command or quick else _measured()
    checks = list(job.checks(list(command), apart=as_json) if command else all_checks(not quick, launcher, measured))
    failed = any(check.good is False for check in checks)
    if html:
        _write(checks, found, html)
    if as_json:
        latencies = {"latencies": found.as_json()} if found else {}
        document.print_json("doctor", {"good": not failed, "checks": [_as_json(check) for check in checks], **latencies})
    elif not html:
        show.show(checks, found)
    if failed:
        raise typer.Exit(1)


doctor.typer_settings = {  # type: ignore[attr-defined]
    "context_settings": {"allow_interspersed_args": False},
    "epilog": examples(
        "espalier doctor",
        "espalier doctor --quick --json",
        "espalier doctor --mpirun mpirun.openmpi",
        "espalier doctor --html doctor.html",
        "espalier doctor -- mpirun -n 4 ./app",
    ),
}


def _measured() -> tuple[Optional[Latencies], list[Check]]:
    from espalier.doctor import latencies

    found, check = latencies.measured()
    return found, [check]


def _write(checks: list[Check], found: Optional[Latencies], path: Path) -> None:
    from espalier.bench import file as bench_file
    from espalier.doctor import page

    bench_file.write(page.page(checks, found), path)
    note(f"wrote {path}")


def _as_json(check: Check) -> dict[str, object]:
    return {"name": check.name, "state": check.state, "found": check.found, "todo": check.todo if check.good is not True else ""}


def _launcher(named: Optional[str]) -> Optional[Path]:
    """Not resolved: Debian's launchers find their MPI by the name they are called by."""
    if named is None:
        return None
    found = shutil.which(named)
    if found is None:
        raise Problem(f"--mpirun {named}: there is no such program")
    return Path(found).absolute()
