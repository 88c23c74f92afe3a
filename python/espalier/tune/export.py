"""What was found for a host by its own, in the words that the host reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from espalier.tune import export_mpich
from espalier.tune.export_parts import Export, by_collective, bytes_of_host
from espalier.tune.host_alone import Choice

# Open MPI's coll/base/coll_base_functions.h: COLLTYPE.
_OPEN_MPI_NUMBERS = {
    "allgather": 0, "allgatherv": 1, "allreduce": 2, "alltoall": 3, "alltoallv": 4, "barrier": 6, "bcast": 7, "exscan": 8,
    "gather": 9, "gatherv": 10, "reduce": 11, "reduce_scatter": 12, "reduce_scatter_block": 13, "scan": 14, "scatter": 15,
    "scatterv": 16,
}
_MOST_INT = 2147483647


def open_mpi(choices: Sequence[Choice]) -> Export:
    """The file of coll_tuned_dynamic_rules_filename: for each collective the numbers of ranks, for each of these the sizes from
    which an algorithm serves; 0 is the host's own choice."""
    collectives = by_collective(choices)
    lines = [f"{len(collectives)} # collectives"]
    for name, by_ranks in collectives:
        lines += [f"{_OPEN_MPI_NUMBERS[name]} # {name}", f"{len(by_ranks)} # numbers of ranks"]
        for ranks, each in by_ranks:
            sizes = [f"{0 if i == 0 else bytes_of_host(choice)} {choice.number} 0 0" for i, choice in enumerate(each)]
            lines += [f"{ranks} # ranks", f"{len(sizes)} # sizes: from bytes, algorithm, fan-out, segment", *sizes]
    environment = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_dynamic_rules_filename": "FILE"}
    return Export("\n".join(lines) + "\n", environment)


def intel(choices: Sequence[Choice]) -> Export:
    """Lines for a shell: I_MPI_ADJUST_BCAST='1:0-4095@2-2;...' names an algorithm for bytes and ranks."""
    environment = {}
    for name, by_ranks in by_collective(choices):
        parts = []
        for ranks, each in by_ranks:
            for i, choice in enumerate(each):
                if choice.setting is None:
                    continue
                low = 0 if i == 0 else bytes_of_host(choice)
                high = bytes_of_host(each[i + 1]) - 1 if i + 1 < len(each) else _MOST_INT
                parts.append(f"{choice.number}:{low}-{high}@{ranks}-{ranks}")
        environment[f"I_MPI_ADJUST_{name.upper()}"] = ";".join(parts)
    lines = ["# Made by `espalier tune --export`.", *(f"export {key}='{value}'" for key, value in environment.items())]
    return Export("\n".join(lines) + "\n", environment)


def of(kind: str, choices: Sequence[Choice], library: Optional[Path] = None) -> Export:
    """`library`: the host's, which MPICH's file is made from."""
    if kind == "mpich":
        assert library is not None
        return export_mpich.mpich(choices, export_mpich.own_choice(library))
    return open_mpi(choices) if kind == "openmpi" else intel(choices)
