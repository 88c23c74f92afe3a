"""Scores Espalier on public suites of wrong MPI programs, as tools that look for mistakes are scored: recall and false alarms.

    export PYTHONPATH=python; .venv/command/bin/python tools/wrong_programs.py --mbi MBI/gencodes --corrbench FOLDER/0-level

The MPI Bugs Initiative's programs say in their headers what is wrong with them; of its folder those are run whose features name
collectives. Of MPI-CorrBench's the folders coll and correct/coll are. Each program runs without Espalier and with it, and ends
in one of four ways: *named* (Espalier says which ranks called what), *host* (the host MPI reports an error, or the program
crashes), *hangs* (until --timeout), *silent* (it ends well). docs/mistakes.md has the outcome."""

from __future__ import annotations

import argparse
import collections
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "mpi"))
import hosts  # noqa: E402

NAMED = re.compile(r"espalier: rank \d+ of \d+: MPI_\w+ .* failed: ")
ENDS = ("named", "host", "hangs", "silent")


@dataclass
class Program:
    path: str
    suite: str
    mistake: str  # "" for a right one
    ranks: int = 2


@dataclass
class Ended:
    program: Program
    alone: str
    espalier: str
    seconds: float  # with Espalier


def of_mbi(folder: Path) -> list[Program]:
    found = []
    for path in sorted(folder.glob("*.c")):
        text = path.read_text(errors="replace")
        collective = re.search(r"COLL!\w+: +(?:Yes|Correct|Incorrect)", text)
        test = re.search(r"mpirun -np (\d+) \$\{EXE\}.*\n +\| (OK|ERROR: *(\w+))", text)
        if collective and test:
            found.append(Program(str(path), "MBI", test[3] or "", int(test[1])))
    return found


def of_corrbench(folder: Path) -> list[Program]:
    wrong = [Program(str(path), "CorrBench", path.name.split("-")[0]) for path in sorted((folder / "coll").glob("*.c"))]
    return wrong + [Program(str(path), "CorrBench", "", 4) for path in sorted((folder / "correct/coll").glob("*.c"))]


def compiled(host: hosts.Host, program: Program, target: Path) -> bool:
    include = [f"-I{parent / 'include'}" for parent in Path(program.path).parents[:2]]
    command = [host.c, "-w", "-O1", *host.flags, *include, program.path, "-o", str(target), *host.libraries, "-lm", "-pthread"]
    return subprocess.run(command, capture_output=True).returncode == 0


def end(host: hosts.Host, program: Program, executable: Path, espalier: bool, timeout: float) -> str:
    preload = hosts.preload_of(host, host.library if espalier else None)
    command = hosts.command_for(host, program.ranks, [executable], preload, {})
    with tempfile.TemporaryFile("w+", errors="replace") as said:  # a pipe would stay open where a rank outlives its launcher
        process = subprocess.Popen(command, env=hosts.environment(host, program.ranks), stdin=subprocess.DEVNULL, stdout=said,
                                   stderr=said, start_new_session=True)  # fmt: skip
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
        hosts.stop(process)
        said.seek(0)
        text = said.read()
    if NAMED.search(text):
        return "named"
    return "hangs" if status is None else "host" if status != 0 else "silent"


def table(ended: list[Ended]) -> str:
    """By suite and mistake: how many, and how they ended without Espalier and with it."""
    counts: dict[tuple[str, str], list[collections.Counter]] = {}
    for one in ended:
        pair = counts.setdefault((one.program.suite, one.program.mistake), [collections.Counter(), collections.Counter()])
        pair[0][one.alone] += 1
        pair[1][one.espalier] += 1
    lines = ["suite      mistake              programs   alone: " + " ".join(ENDS[1:]) + "   with Espalier: " + " ".join(ENDS)]
    for (suite, mistake), (alone, espalier) in sorted(counts.items()):
        without = " ".join(f"{alone[way]:4}" for way in ENDS[1:])
        with_it = " ".join(f"{espalier[way]:4}" for way in ENDS)
        lines.append(f"{suite:10} {mistake or '(right)':20} {alone.total():8}   {without}   {with_it}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mbi", type=Path, help="folder with the programs that the suite's generators have written")
    parser.add_argument("--corrbench", type=Path, help="the suite's folder 0-level")
    parser.add_argument("--host", default="mpich", choices=sorted(hosts.HOSTS))
    parser.add_argument("--timeout", type=float, default=5, help="seconds until a program hangs")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one program of N")
    parser.add_argument("--json", type=Path, help="write what each program did")
    asked = parser.parse_args()
    programs = (of_mbi(asked.mbi) if asked.mbi else []) + (of_corrbench(asked.corrbench) if asked.corrbench else [])
    if not programs:
        parser.error("no programs: give --mbi or --corrbench the folder of a suite")
    host, ended, left_out = hosts.HOSTS[asked.host], [], 0
    with tempfile.TemporaryDirectory() as folder:
        executable = Path(folder) / "program"
        for number, program in enumerate(programs[:: asked.every], 1):
            if not compiled(host, program, executable):
                left_out += 1
                continue
            alone = end(host, program, executable, False, asked.timeout)
            begun = time.monotonic()
            with_it = end(host, program, executable, True, asked.timeout)
            ended.append(Ended(program, alone, with_it, round(time.monotonic() - begun, 2)))
            if sys.stderr.isatty() or number % 100 == 0:
                print(f"{number} of {len(programs[::asked.every])}", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr)
    print(table(ended))
    print(f"{left_out} did not compile")
    if asked.json:
        for one in ended:
            one.program.path = Path(one.program.path).name
        document = {"schema": "espalier-wrong-programs-1", "host": asked.host, "timeout": asked.timeout, "left_out": left_out,
                    "programs": [asdict(one) for one in ended]}  # fmt: skip
        asked.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
