"""The collectives that are measured, in the order of tables, and what "bytes" means for each."""

from __future__ import annotations

BYTES = {
    "barrier": "none",
    "bcast": "the message",
    "reduce": "each rank's vector",
    "allreduce": "each rank's vector",
    "allgather": "each rank's block; every rank receives that times the ranks",
    "allgatherv": "the mean block; rank 0's is longest, the last rank's shortest, linearly",
    "gather": "each rank's block; the root receives that times the ranks",
    "gatherv": "the mean block, lengths as for allgatherv",
    "scatter": "each rank's block; the root sends that times the ranks",
    "scatterv": "the mean block, lengths as for allgatherv",
    "alltoall": "all that one rank sends: bytes of a pair times ranks",
    "alltoallv": "all that one rank sends; most to itself, linearly less to each further rank",
    "reduce_scatter_block": "each rank's vector; it receives that divided by the ranks",
    "reduce_scatter": "each rank's vector; of the result rank 0 receives most, linearly less the others",
    "scan": "each rank's vector",
    "exscan": "each rank's vector",
}
NAMES = tuple(BYTES)
# Measured only where they are asked for. Neighbours are measured on a ring: each rank has the one below and the one above.
ALLTOALLW = ("alltoallw",)
NEIGHBOURS = ("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw")
BYTES["alltoallw"] = "as alltoallv"
BYTES |= {name: "each rank's block, to both neighbours" for name in NEIGHBOURS[:2]}
BYTES |= {name: "all that one rank sends: half to either neighbour" for name in NEIGHBOURS[2:]}
ALL = tuple(BYTES)
# No rank leaves before all have come: only these are timed in blocks, too, and only so short.
HOLD_TOGETHER = frozenset(
    "barrier allreduce allgather allgatherv alltoall alltoallv alltoallw reduce_scatter_block reduce_scatter".split()
)
BLOCK_BYTES = 1024


def place_of(name: str) -> int:
    return ALL.index(name) if name in BYTES else len(ALL)
