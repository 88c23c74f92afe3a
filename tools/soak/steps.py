"""A program as a list of steps, and as text: what tests/mpi/src/soak/step.h runs."""

from __future__ import annotations

from dataclasses import dataclass, fields

COMMUNICATORS = 16
REDUCTIONS = ("REDUCE", "ALLREDUCE", "SCAN", "EXSCAN", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK")
NEIGHBOURS = ("NEIGHBOR_ALLGATHER", "NEIGHBOR_ALLTOALL")
COLLECTIVES = ("BARRIER", "BCAST", *REDUCTIONS, "GATHER", "GATHERV", "SCATTER", "SCATTERV", "ALLGATHER", "ALLGATHERV", "ALLTOALL",
               "ALLTOALLV", "ALLTOALLW", *NEIGHBOURS)
MAKERS = ("DUP", "SPLIT", "CREATE", "CREATE_GROUP", "CART", "GRAPH", "INTER", "MERGE")
FORMS = ("BLOCKING", "NONBLOCKING", "PERSISTENT")
TYPES = ("BYTE_T", "SHORT_T", "INT_T", "LONG_T", "FLOAT_T", "DOUBLE_T", "PAIR_T", "AFFINE_T", "HOLES_T", "TRIPLE_T")
OPS = ("SUM", "PROD", "MAX", "MIN", "BAND", "BOR", "BXOR", "LAND", "LOR", "MINLOC", "MAXLOC", "AFFINE", "USER_SUM")
BYTES = dict(zip(TYPES, (1, 2, 4, 8, 4, 8, 8, 8, 28, 12)))  # of an item, with its holes
_NAMES = {"form": FORMS, "type": TYPES, "op": OPS}


@dataclass(frozen=True)
class Step:
    """What is 0 is not written."""

    verb: str
    comm: int = 0
    to: int = 0
    form: int = 0
    type: int = 0
    op: int = 0
    count: int = 0
    root: int = 0
    in_place: int = 0
    rank: int = 0
    us: int = 0
    thread: int = 0
    seed: int = 0

    def settings(self) -> list[tuple[str, int]]:
        return [(field.name, value) for field in fields(self)[1:] if (value := getattr(self, field.name))]

    def text(self) -> str:
        return " ".join([self.verb, *(f"{key}={value}" for key, value in self.settings())])

    def initialiser(self) -> str:
        """Of C, with names for what has names there."""
        words = [f".{key} = {_NAMES[key][value] if key in _NAMES else value}" for key, value in self.settings()]
        return "{" + ", ".join([f".verb = {self.verb}", *words]) + "}"


def text_of(steps: list[Step]) -> str:
    return "".join(step.text() + "\n" for step in steps)


def parse(text: str) -> list[Step]:
    steps = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            verb, *settings = line.split()
            steps.append(Step(verb, **{key: int(value) for key, value in (word.split("=") for word in settings)}))
    return steps
