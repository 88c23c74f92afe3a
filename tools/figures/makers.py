"""Which tables each block of the pages has: one function a block, from what its commands print."""

from __future__ import annotations

from collections.abc import Callable

from figures import cost_model, hier, node_stages, notify, osmp, page, rg, rg_ablations, sharp
from figures.run import ROOT

_NAMES = ("results/papers.md", "cost-model.md", "performance-ablations.md", "performance-across-nodes.md")
PAGES = [ROOT / "docs" / name for name in _NAMES]
Tables = list[list[str]]
_MODULES = (sharp, osmp, rg, rg_ablations, hier, node_stages, notify, cost_model)
MAKERS: dict[str, Callable[[str], Tables]] = {
    name: maker for module in _MODULES for name, maker in module.TABLES.items()
}


def all_blocks() -> list[page.Block]:
    return [block for path in PAGES for block in page.blocks(path)]


def make(block: page.Block, output: str) -> Tables:
    return MAKERS[block.name](output)
