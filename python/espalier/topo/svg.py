"""The picture of `espalier topo`: domains as nested boxes, the trees drawn over the ranks in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from espalier.topo import machine
from espalier.topo.layout import RADIUS, Block, Layout, Node

Json = dict[str, Any]

MARGIN = 24
HEADING = 9.6  # width of a character of the heading
_OF = {"gather": "reduce of 4KiB", "release": "bcast of 4KiB"}  # what the library composes where no tree is asked for
LEGEND = (
    ("rank", "a rank; below it the processors it may use, above it the place in which its parent takes or serves it"),
    ("root", "the root"),
    ("bundle", "ranks without children that have one parent: several in one place"),
    ("inner", "within a group: ranks that share the innermost box"),
    ("outer", "between groups"),
)


@dataclass
class Panel:
    title: str
    text: str
    top: float
    block: Block
    edges: list[tuple[str, str]]  # path and class


def _edges(tree: Json, block: Block) -> list[tuple[str, str]]:
    by_rank = {rank: node for node in block.nodes for rank in node.ranks}
    found = []
    for node in block.nodes:
        if not node.is_root:
            parent = by_rank[tree["parent"][node.ranks[0]]]
            found.append((_curve(parent, node), "inner" if parent.group == node.group else "outer"))
    return found


def _curve(parent: Node, child: Node) -> str:
    """Down to a child that stands below; over the ranks between to one that stands beside."""
    x1, x2 = round(parent.x, 1), round(child.x, 1)
    if child.y - parent.y < 2 * RADIUS:
        bend = min(10 + abs(x2 - x1) * 0.03, 26)  # stays below the titles of the boxes
        top, above = parent.y - RADIUS, child.y - RADIUS
        return f"M{x1},{top:.1f} C{x1},{top - bend:.1f} {x2},{above - bend:.1f} {x2},{above:.1f}"
    top, bottom = parent.y + RADIUS, child.y - RADIUS
    bend = max(22.0, (bottom - top) / 2)
    return f"M{x1},{top:.1f} C{x1},{top + bend:.1f} {x2},{bottom - bend:.1f} {x2},{bottom:.1f}"


def _panels(answer: Json, asked: bool) -> list[Panel]:
    gather, release = answer["gather"], answer["release"]
    trees = [("gather", gather), ("release", release)]
    if gather["children"] == release["children"]:
        trees = [("gather and release", gather)]
    cpus = machine.cpus_of_ranks(answer)
    panels: list[Panel] = []
    top = float(MARGIN + 44)
    for name, tree in trees:
        layout = Layout(tree, cpus, len(tree["children"]))
        block = Block()
        found = layout.block(answer["groups"])
        block.width, block.height = found.width, found.height
        block.put(found, MARGIN, top + 30)
        panels.append(Panel(_title(name, asked), tree.get("text", ""), top, block, _edges(tree, block)))
        top += found.height + 30 + MARGIN
    return panels


def _title(name: str, asked: bool) -> str:
    if asked:
        return f"{name}: the tree of --tree"
    return f"{name}: {' and '.join(words for part, words in _OF.items() if part in name)}"


def picture(answer: Json, asked: bool = False) -> str:
    """`asked`: the tree is not the rules', but one that the user has written."""
    panels = _panels(answer, asked)
    ranks = len(answer["gather"]["children"])
    heading = f"{answer.get('source', 'machine')} · {ranks} ranks"
    budget = answer.get("budget", {}).get("text", "")
    texts = [len(heading) * HEADING, len(budget) * 7, max(len(words) for _, words in LEGEND) * 6 + 40]
    texts += [len(panel.title) * 7.8 + len(panel.text) * 7.9 + 12 for panel in panels]
    bottom = panels[-1].top + 30 + panels[-1].block.height
    templates = Environment(
        loader=PackageLoader("espalier", "topo"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return templates.get_template("topology.svg.j2").render(
        heading=heading,
        budget=budget,
        panels=panels,
        legend=LEGEND,
        legend_top=bottom + MARGIN,
        width=max(*(panel.block.width for panel in panels), *texts) + 2 * MARGIN,
        height=bottom + 2 * MARGIN + 18 * len(LEGEND),
        left=MARGIN,
        radius=RADIUS,
    )
