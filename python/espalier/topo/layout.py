"""Where everything of the picture stands: nested boxes that flow into rows, the ranks in them by their depth in the tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from espalier.topo.machine import ranges
from espalier.topo.text import depths

Json = dict[str, Any]

WIDTH = 1360  # of a panel, if it can be
ROW = 56  # height of a level of the tree
DEEP = 4  # levels; with more they lie closer
RADIUS = 12
INSET = 8  # between a box and what it holds
TITLE = 19  # height of a box's label
CHARACTER = 6.6  # width of a label's character
HEAD = 30  # above the first level, for lines that go over ranks and below titles
SMALL = 5.2  # and of a small one's
EACH_ALONE = 24  # with more ranks, leaves of one parent stand together


@dataclass
class Box:
    label: str
    depth: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass
class Node:
    """A rank, or several without children that have one parent and stand in one group."""

    ranks: list[int]
    group: int
    x: float
    y: float
    label: str
    cpus: str
    order: str  # the place among its parent's children
    is_root: bool
    half: float  # of its width


@dataclass
class Block:
    """A part with its own origin at the top left."""

    width: float = 0
    height: float = 0
    boxes: list[Box] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)

    def put(self, other: Block, x: float, y: float) -> None:
        for box in other.boxes:
            self.boxes.append(Box(box.label, box.depth, box.left + x, box.top + y, box.right + x, box.bottom + y))
        for node in other.nodes:
            node.x, node.y = node.x + x, node.y + y
            self.nodes.append(node)


class Layout:
    def __init__(self, tree: Json, cpus: list[str], ranks: int):
        self.tree, self.cpus, self.together = tree, cpus, ranks > EACH_ALONE
        self.depths = depths(tree)
        self.groups = 0

    def block(self, group: Json, depth: int = 0, room: float = WIDTH) -> Block:
        inner = group.get("groups", [])
        grouped = {rank for child in inner for rank in child["ranks"]}
        own = [rank for rank in group["ranks"] if rank not in grouped]
        parts = self._own(own, room - 2 * INSET)
        parts += [self.block(child, depth + 1, room - 2 * INSET) for child in inner]
        label = f"{group['level']} · {ranges(group['ranks'])}"
        found = _flow(parts, room - 2 * INSET)
        width = max(found.width, len(label) * CHARACTER) + 2 * INSET
        whole = Block(width, found.height + TITLE + INSET)
        whole.boxes.append(Box(label, depth, 0, 0, whole.width, whole.height))
        whole.put(found, INSET, TITLE)
        return whole

    def _own(self, ranks: list[int], room: float) -> list[Block]:
        """The ranks that stand in no inner group, side by side; as many parts as the room takes."""
        self.groups += 1
        parts: list[list[Node]] = []
        width = room
        for unit in self._units(ranks):
            node = self._node(unit)
            if width + 2 * node.half > room:
                parts.append([])
                width = 0
            parts[-1].append(node)
            width += 2 * node.half
        return [self._side_by_side(nodes) for nodes in parts]

    def _side_by_side(self, nodes: list[Node]) -> Block:
        first = min(self.depths[node.ranks[0]] for node in nodes)
        levels = max(self.depths[node.ranks[0]] for node in nodes) - first
        # Each has a column of its own, so that a chain may be flat.
        row = ROW if levels <= DEEP else 2 * ROW / levels
        block, x = Block(nodes=nodes), 0.0
        for node in nodes:
            level = self.depths[node.ranks[0]] - first
            node.x, node.y = x + node.half, RADIUS + HEAD + level * row
            x += 2 * node.half
            block.height = max(block.height, node.y + RADIUS + 16)
        block.width = x
        return block

    def _units(self, ranks: list[int]) -> list[list[int]]:
        units: dict[Any, list[int]] = {}
        for rank in sorted(ranks):
            leaf = self.together and not self.tree["children"][rank] and rank != self.tree["root"]
            units.setdefault(("leaves of", self.tree["parent"][rank]) if leaf else rank, []).append(rank)
        return list(units.values())

    def _node(self, unit: list[int]) -> Node:
        root = unit[0] == self.tree["root"]
        siblings = [] if root else self.tree["children"][self.tree["parent"][unit[0]]]
        order = ranges([siblings.index(rank) + 1 for rank in unit]) if siblings else ""
        label, cpus = ranges(unit), ranges(_numbers([self.cpus[rank] for rank in unit]))
        words = cpus if self.together or not cpus else f"cpu {cpus}"
        inside = RADIUS + 3 if len(unit) == 1 else len(label) * CHARACTER / 2 + 8
        half = max(inside, len(words) * SMALL / 2 + 2)
        return Node(unit, self.groups, 0, 0, label, words, order, root, half)


def _numbers(texts: list[str]) -> list[int]:
    """ "0-3" and "8" to 0, 1, 2, 3, 8."""
    found = set()
    for text in texts:
        for piece in filter(None, text.split(",")):
            low, _, high = piece.partition("-")
            found |= set(range(int(low), int(high or low) + 1))
    return sorted(found)


def _flow(parts: list[Block], room: float) -> Block:
    """In rows, as words in a text."""
    whole, x, y, height = Block(), 0.0, 0.0, 0.0
    for part in parts:
        if x > 0 and x + part.width > room:
            x, y, height = 0.0, y + height + INSET, 0.0
        whole.put(part, x, y)
        whole.width = max(whole.width, x + part.width)
        x, height = x + part.width + INSET, max(height, part.height)
        whole.height = y + height
    return whole
