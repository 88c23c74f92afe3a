"""Random programs: the same seed, the same program."""

from __future__ import annotations

import random

from soak.steps import BYTES, COLLECTIVES, COMMUNICATORS, MAKERS, NEIGHBOURS, OPS, REDUCTIONS, TYPES, Step

INTEGERS = ("BYTE_T", "SHORT_T", "INT_T", "LONG_T")
# What each operator is for. Products of 16 ranks and sums of bytes have to fit.
TYPES_OF = {"SUM": (*INTEGERS[1:], "FLOAT_T", "DOUBLE_T"), "PROD": ("INT_T", "LONG_T", "DOUBLE_T"),
            "MAX": (*INTEGERS, "FLOAT_T", "DOUBLE_T"), "MIN": (*INTEGERS, "FLOAT_T", "DOUBLE_T"),
            "BAND": INTEGERS, "BOR": INTEGERS, "BXOR": INTEGERS,
            "LAND": INTEGERS[1:], "LOR": INTEGERS[1:], "MINLOC": ("PAIR_T",), "MAXLOC": ("PAIR_T",),
            "AFFINE": ("AFFINE_T",), "USER_SUM": ("INT_T",)}
BY_SIZE = {"ALLGATHER", "ALLGATHERV", "ALLTOALL", "ALLTOALLV", "ALLTOALLW", "GATHER", "GATHERV", "SCATTER", "SCATTERV",
           "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", *NEIGHBOURS}


class Generator:
    """`most`: bytes of the longest buffer of a call. So many calls may come near it, for they take most of the time; each with
    this probability."""

    def __init__(self, seed: int, ranks: int, most: int, long_calls: int = 6, probability: float = 0.03):
        self.dice = random.Random(f"soak {seed}")
        self.ranks, self.most = ranks, most
        self.kinds = {0: "WORLD"}  # number of a communicator -> how it was made
        self.long_left, self.probability = long_calls, probability

    def program(self, length: int) -> list[Step]:
        steps: list[Step] = []
        while len(steps) < length:
            steps += self._some()
        return steps

    def _some(self) -> list[Step]:
        what = self.dice.random()
        if what < 0.70:
            return [self._collective(self.dice.choice(list(self.kinds)))]
        if what < 0.80:
            return [self._made()]
        if what < 0.84:
            return self._threads()
        if what < 0.91:
            return self._message()
        if what < 0.93:
            return [Step("WINDOW", self._plain(), seed=self._seed())]
        if what < 0.94:
            return [self._file()]
        if what < 0.96:
            return [Step("WAIT")]
        if what < 0.985:
            return [Step("DELAY", rank=self.dice.randrange(self.ranks), us=self.dice.choice([10, 200, 3000, 30000]))]
        if what < 0.993:
            return [Step("TIMER", us=self.dice.choice([0, 0, 300, 5000]))]
        return [Step("FORK", rank=self.dice.randrange(self.ranks))]

    def _seed(self) -> int:
        return self.dice.randrange(1, 1 << 40)

    def _plain(self) -> int:
        return self.dice.choice([number for number, kind in self.kinds.items() if kind != "INTER"])

    def _made(self) -> Step:
        if len(self.kinds) > 4 and self.dice.random() < 0.3:
            gone = self.dice.choice([number for number in self.kinds if number])
            del self.kinds[gone]
            return Step("FREE", to=gone)
        source = self.dice.choice(list(self.kinds))
        verb = "MERGE" if self.kinds[source] == "INTER" else self.dice.choice([name for name in MAKERS if name != "MERGE"])
        target = self.dice.choice([number for number in range(1, COMMUNICATORS) if number != source])
        self.kinds[target] = verb
        return Step(verb, source, target, seed=self._seed())

    def _count(self, item: int, blocks: int) -> int:
        kind = self.dice.random()
        most = max(1, self.most // (2 * item * blocks))  # the forms with counts take up to twice as many
        if kind < 0.1:
            return self.dice.choice([0, 0, 1])
        if kind < 0.6:
            return min(most, self.dice.randrange(1, 40))
        if kind < 1 - self.probability or not self.long_left:
            return min(most, int(2 ** self.dice.uniform(0, 15)) + self.dice.randrange(3))
        self.long_left -= 1
        return self.dice.randrange(most // 8, most + 1)

    def _collective(self, number: int, thread: int = 0) -> Step:
        kind = self.kinds[number]
        dice = self.dice
        if kind == "INTER":
            verb = dice.choice(["BARRIER", "BCAST", "ALLREDUCE"])
        elif kind in ("CART", "GRAPH") and dice.random() < 0.4:
            verb = dice.choice(NEIGHBOURS)
        else:
            often = ["BARRIER", "BCAST", "ALLREDUCE", "REDUCE"]
            verb = dice.choice([name for name in COLLECTIVES if name not in NEIGHBOURS] + often)
        op = dice.choice(list(TYPES_OF)) if verb in REDUCTIONS else "SUM"
        kinds = TYPES_OF[op] if verb in REDUCTIONS else TYPES
        datatype = dice.choice(kinds)
        # Between two groups all is the host's, and Intel MPI's nonblocking ones are wrong.
        form = 0 if kind == "INTER" else dice.choices([0, 1, 2], [75, 17, 8])[0]
        return Step(verb, number, form=form, type=TYPES.index(datatype), op=OPS.index(op),
                    count=0 if verb == "BARRIER" else self._count(BYTES[datatype], self.ranks if verb in BY_SIZE else 1),
                    root=dice.randrange(self.ranks), in_place=int(verb not in NEIGHBOURS and dice.random() < 0.25), thread=thread,
                    seed=self._seed())

    def _threads(self) -> list[Step]:
        """Two threads, each on communicators of its own."""
        numbers = list(self.kinds)
        self.dice.shuffle(numbers)
        if len(numbers) < 2:
            return []
        half = len(numbers) // 2
        steps = [self._collective(self.dice.choice(numbers[:half] if thread == 1 else numbers[half:]), thread)
                 for thread in self.dice.choices([1, 2], k=self.dice.randrange(4, 16))]
        return [*steps, Step("JOIN")]

    def _file(self) -> Step:
        datatype = self.dice.choice(TYPES)
        return Step("FILE_IO", self._plain(), form=self.dice.choice([0, 1]), type=TYPES.index(datatype),
                    count=min(self._count(BYTES[datatype], self.ranks), 1 << 14), seed=self._seed())

    def _message(self) -> list[Step]:
        datatype = self.dice.choice(TYPES)
        step = Step(self.dice.choice(["RING", "POST"]), self._plain(), type=TYPES.index(datatype),
                    count=self._count(BYTES[datatype], 1), seed=self._seed())
        return [step] if step.verb == "RING" or self.dice.random() < 0.5 else [step, *self._some(), Step("COMPLETE")]
