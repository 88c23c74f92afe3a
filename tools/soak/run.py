"""Runs a case and says what was wrong, if anything was."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from soak import shortages
from soak.cases import Case
from soak.left import MARK, behind, names, ranks_with
from soak.steps import text_of

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "mpi"), str(ROOT / "python")]
import hosts  # noqa: E402

HANGS, LEAVES = "hangs", "left behind"
HOST_TRIES = 3  # where a call just gets its memory or does not
LINE = re.compile(r"^soak: (\d+) results on (\d+) ranks, (\d+) wrong, digest ([0-9a-f]{16})$", re.M)


def send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class Harm(threading.Thread):
    """Stops ranks for a while, again and again, or kills one of them."""

    def __init__(self, case: Case, mark: str):
        super().__init__(daemon=True)
        self.case, self.mark, self.over = case, mark, threading.Event()
        self.dice = random.Random(f"harm {case.seed}")

    def run(self) -> None:
        self.over.wait(self.dice.uniform(0.2, 1.5))
        while not self.over.is_set():
            victims = ranks_with(self.mark)
            if victims and self.case.harm == "kill":
                return send(self.dice.choice(victims), signal.SIGKILL)
            if victims:
                self._pause(self.dice.choice(victims))
            self.over.wait(self.dice.uniform(0.01, 0.3))

    def _pause(self, victim: int) -> None:
        send(victim, signal.SIGSTOP)
        self.over.wait(self.dice.choice([0.001, 0.02, 0.3]))
        send(victim, signal.SIGCONT)

    def __enter__(self) -> Harm:
        if self.case.harm:
            self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        if self.case.harm:
            self.join()


def run(case: Case, timeout: float = 90, espalier: bool = True) -> tuple[Optional[str], Optional[str]]:
    """(what is wrong, the digest of all results). A job that loses a rank has to end and to leave nothing."""
    mark, before = f"soak-{os.getpid()}-{time.monotonic_ns()}", names()
    timeout *= 3 if case.shortage.startswith("quota") else 1
    with tempfile.TemporaryDirectory(prefix="espalier-soak-") as folder, shortages.around(case.shortage) as wrap:
        file = Path(folder) / "program.txt"
        file.write_text(text_of(case.steps))
        env = {**(case.env if espalier else {}), **shortages.settings(case.shortage), MARK: mark, "SOAK_FOLDER": folder}
        try:
            with Harm(case, mark):
                outcome = hosts.launch(hosts.HOSTS[case.host], case.ranks, "soak", file, env=env, timeout=timeout,
                                       espalier=espalier, wrap=wrap)
            left = behind(before, mark)
        except hosts.TimedOut as late:
            return f"{HANGS}\n{late}", None
        finally:
            for pid in ranks_with(mark):
                send(pid, signal.SIGKILL)
    left += shortages.LEFT.findall(outcome.err)
    if left:
        return f"{LEAVES}: {', '.join(left)}\n{outcome}", None
    return (None, None) if case.harm == "kill" else result(case, outcome)


def result(case: Case, outcome: hosts.Outcome) -> tuple[Optional[str], Optional[str]]:
    line, said = LINE.search(outcome.out), outcome.err + outcome.out
    if outcome.status == 0 and line and int(line[3]) == 0 and int(line[2]) == case.ranks:
        return None, line[4]
    wrong = re.findall(r"^.*WRONG: (.*)$", said, re.M)
    if not wrong and shortages.is_an_answer(case.shortage, said):
        return None, None
    return f"{wrong[0] if wrong else 'fails'}\n{outcome}", line[4] if line else None


@dataclass(frozen=True)
class Verdict:
    """What is wrong with Espalier. `late`: the case hung, and ended when it was run again: the time that the machine or the job
    was stopped counts, too. `of_host`: the host alone fails, too, so the case says nothing."""

    wrong: Optional[str]
    late: Optional[str] = None
    of_host: Optional[str] = None


def is_ours(case: Case, wrong: str, of_host: str) -> bool:
    """Though the host alone fails, too: a shortage that ends a job excuses no wrong result, and names in /dev/shm are ours."""
    if wrong.startswith(LEAVES):
        return "espalier-" in wrong.splitlines()[0]
    return bool(case.shortage) and "WRONG: " in wrong and "WRONG: " not in of_host


def run_host(case: Case, wrong: Optional[str]) -> tuple[Optional[str], Optional[str]]:
    """The host alone, as run(). It may lack more than with Espalier before it crashes as it did there."""
    if not wrong or not case.shortage:
        return run(case if case.harm == "kill" else case.but(harm="", shortage=""), espalier=False)
    for _ in range(HOST_TRIES):
        of_host, digest = run(case, espalier=False)
        if of_host:
            return of_host, digest
    for shortage in shortages.smaller(case.shortage) if shortages.crashed_in_host(case.shortage, wrong) else []:
        of_host, digest = run(case.but(shortage=shortage), espalier=False)
        if of_host and shortages.crashed_in_host(shortage, of_host):
            return f"with {shortage}: {of_host}", digest
    return None, None


def judge(case: Case, compare: bool) -> Verdict:
    """`compare`: the results with the host's, too."""
    wrong, digest = run(case)
    late = wrong if wrong and wrong.startswith(HANGS) else None
    if late:
        wrong, digest = run(case)
        late = None if wrong and wrong.startswith(HANGS) else late
    if not wrong and not (compare and digest):
        return Verdict(None, late)
    of_host, expected = run_host(case, wrong)
    if of_host and not (wrong and is_ours(case, wrong, of_host)):
        return Verdict(None, late, of_host if wrong else None)
    if not wrong and expected != digest:
        wrong = f"results differ from the host's: {digest} and {expected}"
    return Verdict(wrong, late)
