"""The MPI behind a launcher that starts ranks of any (srun, jsrun, flux run, PALS, prun): a program of two ranks says which."""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Optional

from espalier.bench import build, hosts, process
from espalier.bench.hosts import HOSTS, Batch, Host
from espalier.launch import launchers, starting
from espalier.launch.family import Family
from espalier.problem import Problem

_LIMIT = 60  # seconds
# What MPI_Get_library_version begins with.
_SAYS = {
    "openmpi": re.compile(r"Open MPI v?([\d.]+\d)"),
    "impi": re.compile(r"Intel\(R\) MPI Library ([\d.]+\d)"),
    "mpich": re.compile(r"(?:MPICH|MVAPICH\d?)\s+Version\s*:?\s*([\d.]+\d)", re.IGNORECASE),
}


def host(launcher: Path, family: Family, compiler: Path, options: tuple[str, ...]) -> Host:
    lacking = starting.lacking(family, os.environ, "bench")
    if lacking:
        raise Problem(f"{launcher}: {lacking}")
    start = [launcher.name, *(["run"] if family is launchers.FLUX else [])]
    options = options[1:] if options[:1] == tuple(start[1:]) else options
    found = Host(f"{launcher.name}-mpi", f"the MPI of {compiler}", "", own_launcher=launcher, own_compiler=compiler)
    trouble = ""
    for manager in [[]] if _names_manager(options) else starting.managers(family):
        found = replace(found, batch=Batch(family, (*manager, *options)))
        version, why = _version(found)
        if version:
            return _of_version(found, version, " ".join([*start, *manager]))
        trouble = trouble or why
    raise Problem(f"{launcher}: a job of two ranks built by {compiler} {trouble}")


def _names_manager(options: tuple[str, ...]) -> bool:
    return any(word.partition("=")[0] == "--mpi" for word in options)


def _version(found: Host) -> tuple[str, str]:
    """(what the MPI says of itself, why no job of two ranks came to its end)"""
    with tempfile.TemporaryDirectory(prefix="espalier-bench-") as folder:
        out = Path(folder) / "out.jsonl"
        program = [str(build.compare(found)), "--out", str(out), "--host-only", "--calls-only", "--collectives", "barrier"]
        outcome = process.run(*hosts.job(found, 2, program, {}), _LIMIT)
        text = out.read_text(encoding="utf-8") if out.exists() else ""
    if f"cannot write {out}" in outcome.output:
        return "", f"does not find {folder}: run this command on the node where the ranks are"
    if not outcome.fine:
        failure = outcome.failure()
        return "", f"{failure['why']}: {process.telling(failure['last_lines']) or 'it said nothing'}"
    run = _line(text)
    if run is None or run["ranks"] != 2:
        return "", "becomes two jobs of one rank: name the process manager of that MPI, as in --mpirun 'srun --mpi=pmix'"
    return run["host_version"], ""


def _line(text: str) -> Optional[dict]:
    """Of ranks that are jobs of their own each writes the file."""
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("kind") == "run":
            return entry
    return None


def _of_version(found: Host, version: str, launcher: str) -> Host:
    for kind, pattern in _SAYS.items():
        match = pattern.search(version)
        if match:
            return replace(
                found,
                name=f"{kind}-{match[1]}-{re.sub(r'[^A-Za-z0-9]+', '-', launcher)}",
                title=f"{HOSTS[kind].title} {match[1]} by {launcher}",
                interposer=HOSTS[kind].interposer,
                oversubscribed=HOSTS[kind].oversubscribed,
                wrong_persistent=HOSTS[kind].wrong_persistent,
                family=kind,
            )
    raise Problem(f"{found.own_compiler} is of an MPI that is not known here: it calls itself {version!r}")
