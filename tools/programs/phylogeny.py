"""An alignment that grew along a tree, and another tree to begin the search with: the same each time."""

from __future__ import annotations

import random
from pathlib import Path

MUTATION = 0.08  # of a site, on each branch


def _mutated(sequence: str, chance: random.Random) -> str:
    return "".join(chance.choice("ACGT") if chance.random() < MUTATION else base for base in sequence)


def _leaves(sequence: str, taxa: int, chance: random.Random) -> list[str]:
    if taxa == 1:
        return [sequence]
    half = taxa // 2
    return _leaves(_mutated(sequence, chance), half, chance) + _leaves(_mutated(sequence, chance), taxa - half, chance)


def write(folder: Path, taxa: int, sites: int) -> None:
    chance = random.Random(1)
    sequences = _leaves("".join(chance.choice("ACGT") for _ in range(sites)), taxa, chance)
    rows = [f"t{number} {sequence}" for number, sequence in enumerate(sequences)]
    (folder / "alignment.phy").write_text(f"{taxa} {sites}\n" + "\n".join(rows) + "\n")
    rest = "t2"
    for number in range(3, taxa):
        rest = f"({rest},t{number})"
    (folder / "start.nwk").write_text(f"(t0,t1,{rest});\n")
    for old in folder.glob("RAxML_info.*"):  # parse-examl refuses to write over it
        old.unlink()
