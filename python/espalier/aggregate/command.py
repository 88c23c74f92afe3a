"""`espalier aggregate`: a tree of aggregation nodes in software, for as long as a job or until Ctrl-C."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Optional

import typer

from espalier.aggregate import tree as aggregation_tree
from espalier.aggregate.daemons import Daemons
from espalier.bench.process import die_with_jobs
from espalier.install import library
from espalier.interface import outputs
from espalier.interface.help import examples
from espalier.problem import Problem, note


def settings(file: Path) -> dict[str, str]:
    """What a job's ranks need to use the tree."""
    return {
        "ESPALIER_SHARP": "on",
        "ESPALIER_SHARP_LIB": str(library("libespalier-sharp.so")),
        "ESPALIER_AGGREGATION": str(file),
    }


def aggregate(
    command: list[str] = typer.Argument(
        None, metavar="[-- COMMAND...]", help="Run this, then end the tree; without it the tree lasts until Ctrl-C."
    ),
    nodes: int = typer.Option(..., min=1, metavar="N", help="Nodes of the job, each of which has a leader."),
    radix: int = typer.Option(8, min=2, metavar="R", help="Children of an aggregation node."),
    file: Optional[Path] = typer.Option(None, metavar="FILE", help="Where to write the tree, for another shell."),
    hosts: str = typer.Option("127.0.0.1", metavar="HOST,...", help="Where aggregation nodes run and listen."),
    port: Optional[int] = typer.Option(
        None, min=1, max=65535, metavar="PORT", help="First port on each host; default: free ones of this machine."
    ),
    agent: Optional[str] = typer.Option(
        None, metavar="WORDS", help="What starts a command on another host, such as 'ssh {host}'."
    ),
    limit: list[str] = typer.Option([], metavar="KEY=NUMBER", help="A limit of the tree, such as payload=4096."),
    write_only: bool = typer.Option(False, "--write-only", help="Write FILE and start nothing."),
) -> None:
    """Start aggregation nodes for a job, and end them with it."""
    outputs.check_file("--file", file)
    if command and shutil.which(command[0]) is None:
        raise Problem(f"'{command[0]}' is no program that can be started", 127)
    above = aggregation_tree.parents(nodes, radix)
    where = aggregation_tree.places(len(above), [host for host in hosts.split(",") if host], port)
    tree = aggregation_tree.document(above, where, dict(map(aggregation_tree.limit, limit)))
    if write_only:
        if file is None:
            raise Problem("--write-only needs --file")
        aggregation_tree.write(tree, file.absolute())
        return
    with tempfile.TemporaryDirectory(prefix="espalier-aggregate-") as folder:
        path = file.absolute() if file else Path(folder) / "tree.json"
        aggregation_tree.write(tree, path)
        die_with_jobs()
        with Daemons(path, tree, agent) as daemons:
            sys.exit(_run(command, path) if command else _wait(daemons, path))


aggregate.typer_settings = {  # type: ignore[attr-defined]
    "context_settings": {"allow_interspersed_args": False},
    "epilog": examples(
        "espalier aggregate --nodes 16 -- espalier run -- mpirun -n 64 ./app",
        "espalier aggregate --nodes 16 --file tree.json --hosts n1,n2 --port 7100 --agent 'ssh {host}'",
    ),
}


def _run(command: list[str], path: Path) -> int:
    try:
        return subprocess.run(command, env={**os.environ, **settings(path)}).returncode
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        raise Problem(f"'{command[0]}' cannot be started ({error.strerror})", 127) from error


def _wait(daemons: Daemons, path: Path) -> int:
    try:
        for name, value in settings(path).items():
            print(f"export {name}={value}")
        print(f"# {len(daemons.processes)} aggregation nodes; Ctrl-C ends them", flush=True)
        while not (gone := daemons.ended()):
            time.sleep(0.5)
    except KeyboardInterrupt:
        return 0
    note(f"aggregation nodes {', '.join(gone)} ended by themselves; the others end, too")
    return 1
