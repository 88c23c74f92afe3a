"""The picture of `espalier topo`: domains as nested boxes, the trees drawn over the ranks in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from espalier.topo.text import depths, ranges

Json = dict[str, Any]

COLUMN = 34  # width of a rank
ROW = 46  # height of a level of the tree
RADIUS = 12
INSET = 7  # between a box and what it holds
TITLE = 19  # height of a box's label
MARGIN = 24
CHARACTER = 6.6  # width of a label's character
HEADING = 9.6  # and of the heading's


@dataclass
class Box:
    label: str
    depth: int
    left: float
    right: float = 0
    top: float = 0
    bottom: float = 0


@dataclass
class Layout:
    """Where every rank stands (by rank) and every box, from the left; boxes from the outside in."""

    boxes: list[Box] = field(default_factory=list)
    columns: dict[int, float] = field(default_factory=dict)
    deepest: int = 0
    width: float = 0


@dataclass
class Panel:
    title: str
    text: str
    top: float
    height: float
    nodes: list[tuple[int, float, float, bool]]
    edges: list[tuple[float, float, float, float]]
    boxes: list[Box]


def _place(group: Json, layout: Layout, left: float, depth: int) -> float:
    """Lays a group out from `left` on; returns its right side."""
    box = Box(f"{group['level']} · {ranges(group['ranks'])}", depth, left)
    layout.boxes.append(box)
    layout.deepest = max(layout.deepest, depth)
    x = left + INSET
    inner = group.get("groups", [])
    for child in inner:
        x = _place(child, layout, x, depth + 1) + INSET
    grouped = {rank for child in inner for rank in child["ranks"]}
    for rank in (rank for rank in group["ranks"] if rank not in grouped):
        layout.columns[rank] = x + COLUMN / 2
        x += COLUMN
    box.right = max(
        x if inner and len(grouped) == len(group["ranks"]) else x + INSET,
        left + 2 * INSET + len(box.label) * CHARACTER,
    )
    return box.right


def _panel(title: str, tree: Json, layout: Layout, top: float) -> Panel:
    levels = depths(tree)
    head = top + 34
    first = head + (layout.deepest + 1) * TITLE + RADIUS + 6
    bottom = first + max(levels, default=0) * ROW + RADIUS + 10
    boxes = [
        Box(
            box.label,
            box.depth,
            box.left,
            box.right,
            head + box.depth * TITLE,
            bottom + (layout.deepest - box.depth) * INSET,
        )
        for box in layout.boxes
    ]
    at = {rank: (x, first + levels[rank] * ROW) for rank, x in layout.columns.items()}
    return Panel(
        title=title,
        text=tree.get("text", ""),
        top=top,
        height=bottom + layout.deepest * INSET - top,
        nodes=[(rank, *at[rank], rank == tree["root"]) for rank in sorted(at)],
        edges=[
            (*at[parent], *at[child])
            for parent, children in enumerate(tree["children"])
            for child in children
        ],
        boxes=boxes,
    )


def _panels(answer: Json, layout: Layout) -> list[Panel]:
    gather, release = answer["gather"], answer["release"]
    trees = [("gather", gather), ("release", release)]
    if gather["children"] == release["children"]:
        trees = [("gather and release", gather)]
    panels: list[Panel] = []
    top = float(MARGIN + 22)
    for title, tree in trees:
        panels.append(_panel(title, tree, layout, top))
        top += panels[-1].height + MARGIN
    return panels


def picture(answer: Json) -> str:
    layout = Layout()
    layout.width = _place(answer["groups"], layout, MARGIN, 0)
    panels = _panels(answer, layout)
    heading = f"{answer.get('source', 'machine')} · {len(layout.columns)} ranks"
    texts = [
        len(heading) * HEADING,
        *(len(panel.title) * CHARACTER * 1.3 + len(panel.text) * 7.9 + 12 for panel in panels),
    ]
    templates = Environment(
        loader=PackageLoader("espalier", "topo"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    return templates.get_template("topology.svg.j2").render(
        heading=heading,
        panels=panels,
        width=max(layout.width, MARGIN + max(texts)) + MARGIN,
        height=panels[-1].top + panels[-1].height + MARGIN,
        left=MARGIN,
        radius=RADIUS,
        half=ROW / 2,
    )
