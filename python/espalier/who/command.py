"""`espalier who`: which rank of a running job waits for which, from outside, also when every rank is stuck."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import typer

from espalier.interface import document, outputs
from espalier.interface.help import examples
from espalier.problem import Problem, note
from espalier.who import look


def who(
    job: Optional[str] = typer.Argument(
        None,
        metavar="[PID|JOB|FILE]",
        help="A rank's process, its launcher's, a job as `who` names it, or ESPALIER_FLIGHT's FILE; default: all of this user.",
    ),
    hosts: Optional[str] = typer.Option(
        None, "--hosts", metavar="A,B,...", help="Look on these machines, too, by ssh or --launcher: one table of all."
    ),
    launcher: Optional[str] = typer.Option(
        None,
        "--launcher",
        metavar="COMMAND",
        help='Ask the other nodes by it ("ssh -p 2222", srun, mpirun, "start {host}"); auto: by what started the job.',
    ),
    stacks: bool = typer.Option(True, "--stacks/--no-stacks", help="Ask gdb or eu-stack where the awaited ranks are."),
    wait: float = typer.Option(
        look.FOR_STACKS, "--wait", min=0.1, max=60, metavar="SECONDS", help="So long at most for the stacks."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print all of it as JSON (docs/command-line.md)."),
    dump: Optional[Path] = typer.Option(None, "--dump", metavar="FILE", help="Write the last calls of all ranks there."),
    pytorch: Optional[Path] = typer.Option(
        None, "--pytorch", metavar="PREFIX", help="The same for PyTorch's flight recorder viewer: PREFIX0, PREFIX1, ..."
    ),
) -> None:
    """Say which rank of a running job waits for which, and where.

    Ranks need not answer: they may be stopped, in an endless loop, or dead (docs/who.md).
    """
    from espalier.who import collect, show, waiting

    outputs.check_file("--dump", dump)
    found = collect.jobs(job, hosts, launcher)
    if stacks:
        look.add_stacks(found, wait)
    if as_json:
        document.print_json("who", show.document(found))
    else:
        for at, ranks in enumerate(found.values()):
            if at:
                print()
            show.text(ranks, waiting.analyse(ranks))
    if dump is not None or pytorch is not None:
        _write(found, dump, pytorch)


who.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples("espalier who", "espalier who 4711", "espalier who 4711 --dump flight.json")
}


def _write(found: dict[str, Any], dump: Optional[Path], pytorch: Optional[Path]) -> None:
    from espalier.who import flight

    if len(found) != 1:
        raise Problem(f"--dump and --pytorch take one job, and there are {len(found)}; name one: {', '.join(found)}")
    ranks = next(iter(found.values()))
    for path in flight.write(ranks, dump, pytorch):
        note(f"wrote {path}")
