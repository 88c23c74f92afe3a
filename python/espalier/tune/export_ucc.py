"""UCC, which serves collectives of Open MPI (its component coll_ucc): its algorithms, and the setting that chooses among them.

UCC_TL_UCP_TUNE is a list of tokens such as bcast:4096-65535:[4-4]:@sag_knomial, between them "#" (UCC's docs/user_guide.md);
both ends of a range of bytes belong to it. Algorithms are asked of UCC itself, since each version has others.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from espalier.measured.host_settings import Setting
from espalier.measured.point import Point
from espalier.problem import Problem
from espalier.tune.export_parts import Export, by_collective
from espalier.tune.host_alone import Choice

TUNE = "UCC_TL_UCP_TUNE"
# Open MPI hands its collectives to UCC. The priority is above that of all others of its components.
BASE = {"OMPI_MCA_coll_ucc_enable": "1", "OMPI_MCA_coll_ucc_priority": "100"}
VERBOSE = {"OMPI_MCA_coll_ucc_verbose": "3"}  # it says of each call who serves it
_NAMES = {"reduce_scatter_block": "reduce_scatter", "reduce_scatter": "reduce_scatterv"}  # where UCC's are others
# UCC has no size for these that all ranks know, and one algorithm for all of them.
_SIZELESS = ("alltoallv", "gatherv", "scatterv")

Algorithms = dict[str, list[str]]  # by UCC's name of a collective, in small letters


def algorithms_of(text: str) -> Algorithms:
    """What `ucc_info -A` prints of the layer over UCX."""
    found: Algorithms = {}
    part, name = "", ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"(\S+) algorithms:", line.strip()):
            part = heading[1]
        elif collective := re.fullmatch(r"  (\w+)", line.rstrip()):
            name = collective[1].lower()
        elif (each := re.match(r"\s+\d+\s*:\s*(\w+)\s*:", line)) and part == "tl/ucp":
            found.setdefault(name, []).append(each[1])
    return found


def ask() -> Algorithms:
    program = shutil.which("ucc_info")
    if program is None:
        raise Problem("--ucc: ucc_info is not on PATH; it is a part of UCC, and says which algorithms that has")
    done = subprocess.run([program, "-A"], capture_output=True, text=True)
    found = algorithms_of(done.stdout)
    if done.returncode != 0 or not found:
        raise Problem(f"--ucc: {program} -A names no algorithms ({done.stderr.strip() or 'of tl/ucp'})")
    return found


def name_of(collective: str) -> str:
    return _NAMES.get(collective, collective)


def settings(algorithms: Algorithms, point: Point) -> list[Setting]:
    """None where there is nothing to choose."""
    name = name_of(point.collective)
    names = algorithms.get(name, [])
    if len(names) < 2 or point.collective in _SIZELESS:
        return []
    return [Setting(f"{name}:@{each}", {TUNE: f"{name}:@{each}"}) for each in names]


def bytes_of_ucc(point: Point) -> int:
    """As UCC counts them: what a rank receives, or sends, in all."""
    if point.collective in ("allgather", "allgatherv", "gather", "scatter"):
        return point.size * point.ranks
    return point.size // point.ranks if point.collective == "reduce_scatter_block" else point.size


class Served(NamedTuple):
    by_ucc: frozenset[str]
    fallen_back: frozenset[str]  # UCC refused some of these calls


def served(output: str) -> Served:
    """Of what a job printed with VERBOSE."""
    told = re.findall(r"running (ucc|fallback) (\w+)", output)
    names = {who: frozenset(name for each, name in told if each == who) for who in ("ucc", "fallback")}
    return Served(names["ucc"], names["fallback"])


def refusal(output: str) -> str:
    """What UCC says where it does not understand its setting, and goes on as if there were none; "": it understands."""
    found = re.search(r"ERROR (failed to parse UCC_\S+_TUNE.*|incorrect algorithm id.*|modifying algorithm id.*)", output)
    return found[1].strip() if found else ""


def is_served(point: Point, told: Served) -> bool:
    """By either name: Open MPI's messages have its own or UCC's, by version."""
    names = {point.collective, name_of(point.collective)}
    return bool(names & told.by_ucc) and not names & told.fallen_back


def ucc(choices: Sequence[Choice]) -> Export:
    """Lines for a shell."""
    tokens = []
    for _, by_ranks in by_collective(choices):
        for ranks, each in by_ranks:
            for at, choice in enumerate(each):
                if choice.setting is None:
                    continue
                name, _, algorithm = choice.setting.environment[TUNE].partition(":")
                low = 0 if at == 0 else bytes_of_ucc(choice.point)
                high = str(bytes_of_ucc(each[at + 1].point) - 1) if at + 1 < len(each) else "inf"
                tokens.append(f"{name}:{low}-{high}:[{ranks}-{ranks}]:{algorithm}")
    environment = {**BASE, **({TUNE: "#".join(tokens)} if tokens else {})}
    lines = ["# Made by `espalier tune --export --ucc`.", *(f"export {key}='{value}'" for key, value in environment.items())]
    return Export("\n".join(lines) + "\n", environment)
