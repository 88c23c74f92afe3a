"""What commands print with: a console for tables and trees, and aligned lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from rich.console import Console


def console() -> Console:
    """Never folds a line of a table or tree away when the output goes to a file."""
    plain = Console()
    return plain if plain.is_terminal else Console(width=max(plain.width, 200))


def facts(pairs: Iterable[tuple[str, Optional[str]]]) -> list[str]:
    """Aligned "name  value" lines; None is left out."""
    kept = [(name, value) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in kept), default=0)
    return [f"{name:<{width}}  {value}" for name, value in kept]
