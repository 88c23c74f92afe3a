"""Runs random programs for hours (`make soak`).

    PYTHONPATH=python:tools .venv/command/bin/python -m soak [--seconds 7200] [--hosts mpich,openmpi,impi] [--ranks 2,3,4,5,8]
        [--nodes some|none|all] [--first SEED] [--state FOLDER]
    ... -m soak --case FOLDER      runs one that has failed again
    ... -m soak --minimise FOLDER  makes it short: minimal.txt, minimal.c

It goes on where it was: the folder (build/soak) keeps the next seed, and of each case that failed the program, what was wrong
and the shortest program that does it, as text and as C. Exit code 1 if any has failed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from soak import cases, run
from soak.cases import Case
from soak.minimise import Minimiser, as_c
from soak.steps import text_of

TRIES = 3  # of a program that may fail one time in a few


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="soak")
    parser.add_argument("--seconds", type=float, default=7200)
    parser.add_argument("--hosts", default="mpich,openmpi,impi")
    parser.add_argument("--ranks", default="2,3,4,5,8")
    parser.add_argument("--nodes", choices=["some", "none", "all"], default="some")
    parser.add_argument("--most", type=int, default=8 << 20, help="bytes of the longest buffer")
    parser.add_argument("--longest", type=int, default=64 << 20, help="the same, in one program in 40 of few ranks")
    parser.add_argument("--first", type=int, help="seed to begin with; default: where it ended")
    parser.add_argument("--compare", type=int, default=10, help="one case of so many is compared with the host's own results")
    parser.add_argument("--minutes-to-minimise", type=float, default=5)
    parser.add_argument("--state", type=Path, default=run.ROOT / "build" / "soak")
    parser.add_argument("--case", type=Path)
    parser.add_argument("--minimise", type=Path)
    return parser.parse_args()


def minimise(case: Case, folder: Path, minutes: float) -> None:
    def fails(changed: Case) -> bool:
        return any(run.run(changed, timeout=25)[0] for _ in range(TRIES))

    shortest = Minimiser(fails, 60 * minutes).minimise(case)
    (folder / "minimal.txt").write_text(text_of(shortest.steps))
    (folder / "minimal.c").write_text(as_c(shortest))
    print(f"  {len(shortest.steps)} steps of {len(case.steps)}, {shortest.ranks} ranks: {folder / 'minimal.c'}", flush=True)


@dataclass
class Progress:
    """What the folder keeps from one run to the next."""

    file: Path
    seed: int = 1
    cases: int = 0
    failed: list[int] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    of_host: list[int] = field(default_factory=list)  # the host alone fails, too

    @staticmethod
    def of(folder: Path) -> Progress:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "progress.json"
        return Progress(file, **(json.loads(file.read_text()) if file.exists() else {}))

    def write(self) -> None:
        self.file.write_text(json.dumps({key: value for key, value in vars(self).items() if key != "file"}) + "\n")


def report(case: Case, folder: Path, said: str, name: str) -> None:
    case.save(folder)
    (folder / name).write_text(said)
    what = f"{case.host}, {case.ranks} ranks, {case.env}, {case.harm or case.shortage or 'unharmed'}"
    print(f"seed {case.seed} ({what}): {said.splitlines()[0]}", flush=True)


def soak(chosen: argparse.Namespace) -> int:
    kept = Progress.of(chosen.state)
    kept.seed = chosen.first or kept.seed
    hosts, ranks = chosen.hosts.split(","), [int(number) for number in chosen.ranks.split(",")]
    until, done, failed = time.monotonic() + chosen.seconds, 0, 0
    while time.monotonic() < until:
        seed, folder = kept.seed, chosen.state / f"seed-{kept.seed}"
        case = cases.make(seed, hosts, ranks, chosen.most, nodes=chosen.nodes, longest=chosen.longest)
        verdict = run.judge(case, compare=seed % chosen.compare == 0)
        done += 1
        if verdict.late:
            kept.late.append(seed)
            report(case, folder, f"late once: {verdict.late}", "late.txt")
        if verdict.of_host:
            kept.of_host.append(seed)
        if verdict.wrong:
            failed += 1
            kept.failed.append(seed)
            report(case, folder, verdict.wrong, "wrong.txt")
            minimise(case, folder, min(chosen.minutes_to_minimise, (until - time.monotonic()) / 60))
        kept.seed, kept.cases = seed + 1, kept.cases + 1
        kept.write()
    print(f"soak: {done} cases, {failed} failed; {kept.cases} in all, {len(kept.failed)} failed, {len(kept.late)} late once, "
          f"{len(kept.of_host)} in which the host alone fails, too; next seed {kept.seed}")
    return 1 if failed else 0


def main() -> int:
    chosen = options()
    if chosen.case:
        wrong = run.run(Case.load(chosen.case))[0]
        print(wrong or "nothing is wrong")
        return 1 if wrong else 0
    if chosen.minimise:
        minimise(Case.load(chosen.minimise), chosen.minimise, chosen.minutes_to_minimise)
        return 0
    return soak(chosen)


if __name__ == "__main__":
    sys.exit(main())
