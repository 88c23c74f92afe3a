"""Settings of the hosts that may help a call: which algorithm serves it, how messages go, how ranks wait."""

from __future__ import annotations

from typing import NamedTuple

Environment = dict[str, str]


class Setting(NamedTuple):
    title: str
    environment: Environment


# MPICH's manual of control variables (MPIR_CVAR_..._INTRA_ALGORITHM).
_MPICH = {
    "barrier": ("k_dissemination", "recexch", "smp"),
    "bcast": ("binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather", "pipelined_tree", "smp"),
    "reduce": ("binomial", "reduce_scatter_gather", "smp"),
    "allreduce": ("recursive_doubling", "reduce_scatter_allgather", "smp"),
    "allgather": ("brucks", "recursive_doubling", "ring"),
    "allgatherv": ("brucks", "recursive_doubling", "ring"),
    "gather": ("binomial",),
    "scatter": ("binomial",),
    "alltoall": ("brucks", "pairwise", "scattered"),
    "alltoallv": ("scattered", "pairwise_sendrecv_replace"),
    "reduce_scatter": ("pairwise", "recursive_doubling", "recursive_halving"),
    "reduce_scatter_block": ("pairwise", "recursive_doubling", "recursive_halving"),
    "scan": ("recursive_doubling", "smp"),
    "exscan": ("recursive_doubling",),
}
# `ompi_info --param coll tuned --level 9`: how many algorithms there are, numbered from 1.
_OPEN_MPI = {
    "barrier": 6, "bcast": 9, "reduce": 7, "allreduce": 6, "allgather": 7, "allgatherv": 6, "gather": 3, "scatter": 3,
    "alltoall": 5, "alltoallv": 2, "reduce_scatter": 4, "reduce_scatter_block": 4, "scan": 2, "exscan": 2,
}
_FOR_TWO = {"barrier": 5, "allgather": 6, "allgatherv": 5, "alltoall": 5}  # of them, those that take two ranks alone
# Intel's developer reference (I_MPI_ADJUST family): the first algorithms of each.
_INTEL = {
    "barrier": 6, "bcast": 9, "reduce": 7, "allreduce": 9, "allgather": 5, "allgatherv": 4, "gather": 3, "gatherv": 2,
    "scatter": 3, "scatterv": 2, "alltoall": 4, "alltoallv": 2, "reduce_scatter": 5, "scan": 2, "exscan": 2,
}
_ALLOCATED = 65536  # bytes from which buffers of so many may be taken from the system
_LONG = 1024  # bytes from which the way of a message matters


def algorithms(kind: str, collective: str, ranks: int) -> list[Setting]:
    name = collective.upper()
    if kind == "mpich":
        key = f"MPIR_CVAR_{name}_INTRA_ALGORITHM"
        return [Setting(f"{key}={value}", {key: value}) for value in _MPICH.get(collective, ())]
    if kind == "openmpi":
        key = f"OMPI_MCA_coll_tuned_{collective}_algorithm"
        numbers = [i for i in range(1, _OPEN_MPI.get(collective, 0) + 1) if ranks == 2 or i != _FOR_TWO.get(collective)]
        return [Setting(f"{key}={i}", {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", key: str(i)}) for i in numbers]
    key = f"I_MPI_ADJUST_{name}"
    return [Setting(f"{key}={i}", {key: str(i)}) for i in range(1, _INTEL.get(collective, 0) + 1)]


def _messages(kind: str) -> list[Setting]:
    found: dict[str, list[Environment]] = {
        "mpich": [{"MPIR_CVAR_CH4_CMA_ENABLE": "0"}],
        "openmpi": [{"OMPI_MCA_btl_sm_eager_limit": "65536"}, {"OMPI_MCA_smsc": "none"}],
        "impi": [{"I_MPI_SHM_CELL_FWD_SIZE": "65536"}, {"I_MPI_SHM": "off"}],
    }
    return [_named(environment) for environment in found[kind]]


def _memory() -> list[Setting]:
    """glibc's malloc: what a call takes and frees stays with the process, and is not taken from the system each time."""
    return [_named({"MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TRIM_THRESHOLD_": "268435456"})]


def _waiting(kind: str) -> list[Setting]:
    """Where ranks share cores."""
    found: dict[str, list[Environment]] = {
        "mpich": [{"MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE"}],
        "openmpi": [{"OMPI_MCA_mpi_yield_when_idle": "1"}],
        "impi": [{"I_MPI_WAIT_MODE": "1"}, {"I_MPI_THREAD_YIELD": "3"}],
    }
    return [_named(environment) for environment in found[kind]]


def _named(environment: Environment) -> Setting:
    return Setting(" ".join(f"{key}={value}" for key, value in environment.items()), environment)


def of(kind: str, collective: str, size: int, ranks: int, cores: int) -> list[Setting]:
    """What may help this call under that host ("mpich", "openmpi" or "impi"), what is likeliest first."""
    found = _waiting(kind) if ranks > cores else []
    found += _memory() if size >= _ALLOCATED else []
    found += algorithms(kind, collective, ranks)
    return found + (_messages(kind) if size >= _LONG else [])
