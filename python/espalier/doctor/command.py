"""`espalier doctor`: looks at everything that Espalier needs on this machine, and says what to do where it is missing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Optional

import typer

from espalier.doctor.check import Check
from espalier.doctor.checks import all_checks
from espalier.interface import document
from espalier.interface.help import examples
from espalier.problem import Problem


def doctor(
    command: list[str] = typer.Argument(
        None, metavar="[[--] COMMAND...]", help="A job to run once: which of its calls Espalier gets, and which not."
    ),
    quick: bool = typer.Option(False, "--quick", help="Look at this machine alone: start no job of its MPIs."),
    mpirun: Optional[str] = typer.Option(
        None, metavar="PATH", help="Try this launcher alone, such as mpirun.mpich, and not each that is found."
    ),
    as_json: bool = typer.Option(
        False, "--json", help="Print the findings as JSON (docs/command-line.md); what a job prints then goes to stderr."
    ),
) -> None:
    """Check libraries, memory, processors and MPIs, or one job; exit code 1 when something needed is missing."""
    from espalier.doctor import job, show

    if mpirun and (command or quick):
        raise Problem(f"--mpirun names whose job is tried; with {'a job' if command else '--quick'} none is")
    launcher = _launcher(mpirun)
    checks = list(job.checks(list(command), apart=as_json) if command else all_checks(runs=not quick, launcher=launcher))
    failed = any(check.good is False for check in checks)
    if as_json:
        document.print_json("doctor", {"good": not failed, "checks": [_as_json(check) for check in checks]})
    else:
        show.show(checks)
    if failed:
        raise typer.Exit(1)


doctor.typer_settings = {  # type: ignore[attr-defined]
    "context_settings": {"allow_interspersed_args": False},
    "epilog": examples(
        "espalier doctor",
        "espalier doctor --quick --json",
        "espalier doctor --mpirun mpirun.openmpi",
        "espalier doctor -- mpirun -n 4 ./app",
    ),
}


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
