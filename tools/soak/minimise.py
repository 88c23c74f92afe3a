"""Makes a failing program as short as it can, and prints it as C."""

from __future__ import annotations

import re
import time
from typing import Callable

from soak import shortages
from soak.cases import Case
from soak.run import ROOT
from soak.steps import Step

SOURCES = ROOT / "tests" / "mpi" / "src"


class Minimiser:
    """`fails` says whether a case still fails; what is intermittent is tried several times. `seconds`: in all."""

    def __init__(self, fails: Callable[[Case], bool], seconds: float):
        self.fails, self.until = fails, time.monotonic() + seconds

    def minimise(self, case: Case) -> Case:
        case = self._fewer_steps(case)
        for name in list(case.env):
            case = self._try(case, env={key: value for key, value in case.env.items() if key != name})
        if case.harm:
            case = self._try(case, harm="")
        if case.shortage:
            case = self._try(case, shortage="")
        for ranks in range(2, case.ranks):
            smaller = self._try(case, ranks=ranks)
            if smaller is not case:
                case = smaller
                break
        return self._smaller_steps(self._fewer_steps(case))

    def _try(self, case: Case, **changes: object) -> Case:
        changed = case.but(**changes)
        return changed if time.monotonic() < self.until and self.fails(changed) else case

    def _fewer_steps(self, case: Case) -> Case:
        """Delta debugging: without each of ever smaller pieces."""
        piece = max(1, len(case.steps) // 2)
        while True:
            at = 0
            while at < len(case.steps) and time.monotonic() < self.until:
                shorter = self._try(case, steps=case.steps[:at] + case.steps[at + piece:])
                at += 0 if shorter is not case else piece
                case = shorter
            if piece == 1 or time.monotonic() >= self.until:
                return case
            piece = max(1, piece // 2)

    def _smaller_steps(self, case: Case) -> Case:
        for at in range(len(case.steps)):
            for change in ({"form": 0}, {"in_place": 0}, {"thread": 0}, {"root": 0}):
                case = self._replace(case, at, **change)
            while (count := case.steps[at].count) > 1:
                if (smaller := self._replace(case, at, count=count // 2)) is case:
                    break
                case = smaller
        return case

    def _replace(self, case: Case, at: int, **change: int) -> Case:
        step = case.steps[at]
        if all(getattr(step, key) == value for key, value in change.items()):
            return case
        changed = Step(**{**step.__dict__, **change})
        return self._try(case, steps=[*case.steps[:at], changed, *case.steps[at + 1:]])


def as_c(case: Case) -> str:
    """One file that needs an MPI alone: the steps, behind what runs them."""
    seen: set[str] = set()

    def text_of(name: str) -> str:
        def included(match: re.Match[str]) -> str:
            if match[1] in seen:
                return ""
            seen.add(match[1])
            return text_of(match[1])
        return re.sub(r'^#include "(?:soak/)?(\w+\.h)"\n', included, (SOURCES / "soak" / name).read_text(), flags=re.M)

    settings = " ".join(f"{key}={value}" for key, value in {**case.env, **shortages.settings(case.shortage)}.items())
    outside = case.harm or ("" if "SOAK_SHORTAGE" in settings else case.shortage)
    steps = "".join(f"    {step.initialiser()},\n" for step in case.steps)
    return (f"/* Seed {case.seed}, under {case.host}: cc -pthread this.c; {settings} mpirun -n {case.ranks} ./a.out"
            f"{f'; from outside: {outside}' if outside else ''} */\n#define _GNU_SOURCE\n{text_of('run.h')}\n"
            f"static const Step program[] = {{\n{steps}}};\n\n"
            "int main(int argc, char** argv) { return soak(argc, argv, program, (int)(sizeof program / sizeof *program)); }\n")
