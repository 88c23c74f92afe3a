"""Which rank lies on which node."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """`per_node[i]` ranks on node i; ranks in blocks (0 1 | 2 3 | …) or cyclic (0 4 | 1 5 | …)."""

    per_node: tuple[int, ...]
    cyclic: bool = False

    @property
    def nodes(self) -> int:
        return len(self.per_node)

    @property
    def ranks(self) -> int:
        return sum(self.per_node)

    def node_of_ranks(self) -> list[int]:
        """The node of every rank, in rank order."""
        if not self.cyclic:
            return [node for node, ranks in enumerate(self.per_node) for _ in range(ranks)]
        rounds = range(max(self.per_node))
        return [node for turn in rounds for node, ranks in enumerate(self.per_node) if turn < ranks]

    def __str__(self) -> str:
        even = len(set(self.per_node)) == 1
        sizes = f"{self.nodes}x{self.per_node[0]}" if even else "+".join(map(str, self.per_node))
        return sizes + ("-cyclic" if self.cyclic else "")


def parse_layout(text: str) -> Layout:
    """ "4x2" (4 nodes of 2 ranks), "3+1+3" (ranks of each node), either with "-cyclic". ValueError on anything else."""
    match = re.fullmatch(r"(?:(\d+)x(\d+)|(\d+(?:\+\d+)*))(-cyclic)?", text)
    if not match:
        raise ValueError(f"'{text}' is no layout; write 4x2, 3+1+3 or 4x2-cyclic")
    even = match[1] is not None
    per_node = (int(match[2]),) * int(match[1]) if even else tuple(map(int, match[3].split("+")))
    if not per_node or 0 in per_node:
        raise ValueError(f"'{text}': every node needs a rank, and there must be a node")
    return Layout(per_node, bool(match[4]))
