"""Saves a figure of matplotlib as a small PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = 256


def save_png(figure: Any, path: Path, dpi: int) -> None:
    """With a palette, in which no colour lies more than a few of 255 steps beside its own, a plot takes a third."""
    from PIL import Image  # matplotlib needs it, too

    figure.savefig(path, format="png", bbox_inches="tight", dpi=dpi)
    with Image.open(path) as drawn:
        few = drawn.convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True, dpi=(dpi, dpi))
