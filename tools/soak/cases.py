"""A case: a program, under which host, on how many ranks, with which settings and what happens to it from outside."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from soak.programs import Generator
from soak.steps import Step, parse, text_of

LENGTH = 120  # steps


@dataclass(frozen=True)
class Case:
    seed: int
    host: str
    ranks: int
    env: dict[str, str]
    harm: str  # "", "stops" or "kill"
    steps: list[Step] = field(default_factory=list)

    def but(self, **changes: Any) -> Case:
        return replace(self, **changes)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        about = {key: value for key, value in asdict(self).items() if key != "steps"}
        (folder / "case.json").write_text(json.dumps(about, indent=1) + "\n")
        (folder / "program.txt").write_text(text_of(self.steps))

    @staticmethod
    def load(folder: Path) -> Case:
        about = json.loads((folder / "case.json").read_text())
        return Case(**about, steps=parse((folder / "program.txt").read_text()))


# Settings that change the way of many calls. Each comes up one time in six.
SETTINGS = {
    "ESPALIER_WAIT": ("spin", "sleep"),
    "ESPALIER_INLINE": ("off",),
    "ESPALIER_SETUP": ("agree",),
    "ESPALIER_SHM": ("700KiB", "4MiB"),
    "ESPALIER_NODE_STAGE": ("p2p", "shared"),
    "ESPALIER_NONBLOCKING": ("on",),
    "ESPALIER_PROGRESS": ("thread",),
}


def settings(dice: random.Random, ranks: int, nodes: bool) -> dict[str, str]:
    env = {"ESPALIER_FALLBACK": "silent"}
    for name, values in SETTINGS.items():
        if dice.random() < 1 / 6:
            env[name] = dice.choice(values)
    if nodes and ranks > 2:
        env["ESPALIER_NODES"] = dice.choice(["2", "2:cyclic", str(min(ranks, 3)), str(ranks)])
    return env


def tamed(step: Step) -> Step:
    """Intel MPI 2021.18 itself forgets a rank's own block when a persistent gather or allgather is started again."""
    gathers = step.verb in ("GATHER", "GATHERV", "ALLGATHER", "ALLGATHERV")
    return replace(step, form=1) if gathers and step.form == 2 else step


def make(seed: int, hosts: list[str], ranks: list[int], most: int, harms: bool = True, nodes: str = "some") -> Case:
    """`nodes`: some, none or all of the cases pretend to have several."""
    dice = random.Random(f"case {seed}")
    number = dice.choice(ranks)
    pretends = nodes == "all" or (nodes == "some" and dice.random() < 0.35)
    harm = dice.choices(["", "stops", "kill"], [80, 14, 6])[0] if harms else ""
    case = Case(seed, dice.choice(hosts), number, settings(dice, number, pretends), harm)
    if harm == "kill" and case.host.startswith("impi"):  # its launcher waits for ever for a rank that is killed in MPI_Init
        case = case.but(harm="")
    steps = Generator(seed, number, most).program(LENGTH)
    return case.but(steps=[tamed(step) for step in steps] if case.host.startswith("impi") else steps)
