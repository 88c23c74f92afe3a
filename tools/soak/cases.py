"""A case: a program, under which host, on how many ranks, with which settings and what happens to it from outside."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from soak import shortages
from soak.programs import Generator
from soak.steps import MAKERS, Step, parse, text_of

LENGTH = 120  # steps
MOST_WITHOUT_MEMORY = 1 << 20
FEW_RANKS, FEW_STEPS, LONG_CALLS = 3, 40, (3, 0.15)  # of a program with very long calls


@dataclass(frozen=True)
class Case:
    seed: int
    host: str
    ranks: int
    env: dict[str, str]
    harm: str  # "", "stops" or "kill"
    steps: list[Step] = field(default_factory=list)
    shortage: str = ""  # or one of soak.shortages

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
    "ESPALIER_MEMFD": ("off",),
}


def settings(dice: random.Random, ranks: int, nodes: bool) -> dict[str, str]:
    env = {"ESPALIER_FALLBACK": "silent"}
    for name, values in SETTINGS.items():
        if dice.random() < 1 / 6:
            env[name] = dice.choice(values)
    if nodes and ranks > 2:
        env["ESPALIER_NODES"] = dice.choice(["2", "2:cyclic", str(min(ranks, 3)), str(ranks)])
    return env


def fewer_persistent(steps: list[Step]) -> list[Step]:
    """Intel MPI 2021.18 itself forgets a rank's own block when a persistent gather or allgather is started again, and fails at a
    persistent scatter of one rank."""
    verbs = ("GATHER", "GATHERV", "ALLGATHER", "ALLGATHERV", "SCATTER", "SCATTERV")
    return [replace(step, form=1) if step.verb in verbs and step.form == 2 else step for step in steps]


def nothing_over_topologies(steps: list[Step]) -> list[Step]:
    """Open MPI 5.0 itself crashes now and then on what is made from a communicator with a topology, but for its duplicates."""
    topologies: set[int] = set()
    result = []
    for step in steps:
        if step.verb in MAKERS and step.verb not in ("DUP", "MERGE") and step.comm in topologies:
            step = replace(step, comm=0)
        if step.verb in MAKERS:
            has_one = step.verb in ("CART", "GRAPH") or (step.verb == "DUP" and step.comm in topologies)
            (topologies.add if has_one else topologies.discard)(step.to)
        result.append(step)
    return result


def possible_with(shortage: str, host: str, steps: list[Step]) -> list[Step]:
    """Hosts abort, crash or hang where files and windows find no memory; where a window of Open MPI finds no descriptor, UCX
    aborts."""
    left_out: tuple[str, ...] = ("FILE_IO", "WINDOW") if shortage.startswith("memory") else ()
    if shortage.startswith("descriptors") and "openmpi" in host:
        left_out = ("WINDOW",)
    return [step for step in steps if step.verb not in left_out]


# What a host does wrong by itself, whatever the rest of the program is.
TAMED = {"impi": fewer_persistent, "openmpi": nothing_over_topologies}


def make(seed: int, hosts: list[str], ranks: list[int], most: int, harms: bool = True, nodes: str = "some",
         longest: int = 0) -> Case:
    """`nodes`: some, none or all of the cases pretend to have several. `longest`: bytes that a block may have now and then."""
    dice, rare = random.Random(f"case {seed}"), random.Random(f"rare {seed}")
    is_long = longest > most and rare.random() < 1 / 40
    number = dice.choice([few for few in ranks if few <= FEW_RANKS] or [min(ranks)] if is_long else ranks)
    pretends = nodes == "all" or (nodes == "some" and dice.random() < 0.35)
    case = Case(seed, dice.choice(hosts), number, settings(dice, number, pretends), "")
    if harms and not is_long:
        case = harmed(case, dice, rare)
    if case.shortage.startswith("memory"):  # the program's own buffers have to fit
        most = min(most, MOST_WITHOUT_MEMORY)
    generator = Generator(seed, number, 2 * longest, *LONG_CALLS) if is_long else Generator(seed, number, most)
    steps = generator.program(FEW_STEPS if is_long else LENGTH)
    tamed = TAMED.get(case.host.removesuffix("-abi").removeprefix("debian-"))
    return case.but(steps=possible_with(case.shortage, case.host, tamed(steps) if tamed else steps))


def harmed(case: Case, dice: random.Random, rare: random.Random) -> Case:
    """What happens to it: nothing, one kind of harm or a shortage."""
    harm = dice.choices(["", "stops", "kill"], [80, 14, 6])[0]
    if harm == "kill" and case.host.startswith("impi"):  # its launcher waits for ever for a rank that is killed in MPI_Init
        harm = ""
    if harm:
        # A rank that is killed between shm_open and unlink leaves a name (docs/memory.md).
        return case.but(harm=harm, env={key: value for key, value in case.env.items() if key != "ESPALIER_MEMFD"})
    return case.but(shortage=shortages.some(rare)) if rare.random() < 1 / 8 else case
