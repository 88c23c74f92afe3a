"""What was found for a host by its own, in the words that the host reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from espalier.problem import Problem
from espalier.tune.host_alone import Choice

Json = dict[str, Any]

# Open MPI's coll/base/coll_base_functions.h: COLLTYPE.
_OPEN_MPI_NUMBERS = {
    "allgather": 0, "allgatherv": 1, "allreduce": 2, "alltoall": 3, "alltoallv": 4, "barrier": 6, "bcast": 7, "exscan": 8,
    "gather": 9, "gatherv": 10, "reduce": 11, "reduce_scatter": 12, "reduce_scatter_block": 13, "scan": 14, "scatter": 15,
    "scatterv": 16,
}
_MOST_INT = 2147483647
_AUTO: Json = {"algorithm=MPIR_Coll_auto": {}}  # MPICH: its own choice


class Export(NamedTuple):
    text: str  # of the file
    environment: dict[str, str]  # with FILE where the file's path goes


def _bytes_of_host(choice: Choice) -> int:
    """Hosts count an alltoall's block for one rank."""
    point = choice.point
    return point.size // point.ranks if point.collective == "alltoall" else point.size


def _by_collective(choices: Sequence[Choice]) -> list[tuple[str, list[tuple[int, list[Choice]]]]]:
    """(collective, [(ranks, choices by size)])"""
    ordered = sorted(choices, key=lambda choice: (choice.point.collective, choice.point.ranks, choice.point.size))
    found = []
    for name, each in groupby(ordered, key=lambda choice: choice.point.collective):
        group = list(each)
        if any(choice.setting for choice in group):
            found.append((name, [(ranks, list(part)) for ranks, part in groupby(group, key=lambda choice: choice.point.ranks)]))
    return found


def open_mpi(choices: Sequence[Choice]) -> Export:
    """The file of coll_tuned_dynamic_rules_filename: for each collective the numbers of ranks, for each of these the sizes from
    which an algorithm serves; 0 is the host's own choice."""
    collectives = _by_collective(choices)
    lines = [f"{len(collectives)} # collectives"]
    for name, by_ranks in collectives:
        lines += [f"{_OPEN_MPI_NUMBERS[name]} # {name}", f"{len(by_ranks)} # numbers of ranks"]
        for ranks, each in by_ranks:
            sizes = [f"{0 if i == 0 else _bytes_of_host(choice)} {choice.number} 0 0" for i, choice in enumerate(each)]
            lines += [f"{ranks} # ranks", f"{len(sizes)} # sizes: from bytes, algorithm, fan-out, segment", *sizes]
    environment = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_dynamic_rules_filename": "FILE"}
    return Export("\n".join(lines) + "\n", environment)


def intel(choices: Sequence[Choice]) -> Export:
    """Lines for a shell: I_MPI_ADJUST_BCAST='1:0-4095@2-2;...' names an algorithm for bytes and ranks."""
    environment = {}
    for name, by_ranks in _by_collective(choices):
        parts = []
        for ranks, each in by_ranks:
            for i, choice in enumerate(each):
                if choice.setting is None:
                    continue
                low = 0 if i == 0 else _bytes_of_host(choice)
                high = _bytes_of_host(each[i + 1]) - 1 if i + 1 < len(each) else _MOST_INT
                parts.append(f"{choice.number}:{low}-{high}@{ranks}-{ranks}")
        environment[f"I_MPI_ADJUST_{name.upper()}"] = ";".join(parts)
    lines = [f"export {key}='{value}'" for key, value in environment.items()]
    return Export("\n".join(lines) + "\n", environment)


def mpich(choices: Sequence[Choice]) -> Export:
    """The file of MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE: a tree of conditions, asked in order."""
    tree: Json = {}
    for name, by_ranks in _by_collective(choices):
        conditions: Json = {}
        for ranks, each in by_ranks:
            conditions[f"comm_size<{ranks}"] = dict(_AUTO)
            conditions[f"comm_size<={ranks}"] = _mpich_sizes(name, each)
        conditions["comm_size=any"] = dict(_AUTO)
        tree[f"collective={name}"] = {"comm_type=intra": conditions}
    return Export(json.dumps(tree, indent=1) + "\n", {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "FILE"})


def _mpich_sizes(name: str, choices: Sequence[Choice]) -> Json:
    found: Json = {}
    for choice, following in zip(choices, [*choices[1:], None]):
        most = f"avg_msg_size<={_bytes_of_host(following) - 1}" if following else "avg_msg_size=any"
        setting = choice.setting
        value = next(iter(setting.environment.values())) if setting else ""
        found[most] = {f"algorithm=MPIR_{name.capitalize()}_intra_{value}" if setting else "algorithm=MPIR_Coll_auto": {}}
    return found


WRITERS = {"openmpi": open_mpi, "impi": intel, "mpich": mpich}


def of(kind: str, choices: Sequence[Choice]) -> Export:
    if kind not in WRITERS:
        raise Problem(f"there is no --export for {kind}")
    return WRITERS[kind](choices)
