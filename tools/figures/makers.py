"""Which tables each block of the pages has: one function a block, from what its commands print."""

from __future__ import annotations

from collections.abc import Callable

from figures import cost_model, hier, notify, osmp, page, rg, rg_ablations, sharp
from figures.run import ROOT

PAGES = [ROOT / "docs" / name for name in ("results/papers.md", "cost-model.md", "performance-ablations.md")]
Tables = list[list[str]]
MAKERS: dict[str, Callable[[str], Tables]] = {
    name: maker for module in (sharp, osmp, rg, rg_ablations, hier, notify, cost_model) for name, maker in module.TABLES.items()
}


def all_blocks() -> list[page.Block]:
    return [block for path in PAGES for block in page.blocks(path)]


def make(block: page.Block, output: str) -> Tables:
    return MAKERS[block.name](output)
