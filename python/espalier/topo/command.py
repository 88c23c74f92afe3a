"""`espalier topo`: the machine, the ranks on it, and the trees they use."""

from __future__ import annotations

from pathlib import Path
from typing import Optional, Union

import typer

from espalier import core
from espalier.problem import Problem


def topo(
    synthetic: Optional[str] = typer.Option(
        None,
        metavar="TEXT",
        help='A made-up machine in hwloc\'s notation, such as "package:2 numa:4 core:4 pu:1".',
    ),
    ranks: Optional[int] = typer.Option(
        None, "-n", "--ranks", min=1, metavar="RANKS", help="How many; default: one per core."
    ),
    tree: Optional[str] = typer.Option(None, metavar="SPEC", help='Such as "numa=flat socket=kary:2".'),
    root: int = typer.Option(0, min=0, help="The rank at the root."),
    svg: Optional[Path] = typer.Option(None, metavar="FILE", help="Write the picture there."),
) -> None:
    """Print the machine, the ranks and their gather and release trees."""
    if ranks is not None and root >= ranks:
        raise Problem(f"--root {root}: the ranks are 0 to {ranks - 1}")
    request = {"what": "topology", "synthetic": synthetic, "affinity": None, "tree": tree, "root": root}
    if ranks is None:
        ranks = _cores(core.describe({**request, "ranks": 1, "root": 0})["topology"])
    answer = core.describe({**request, "ranks": ranks})
    _complete(answer["groups"])
    _print(answer)
    if svg is not None:
        _write(svg, answer)


def _complete(group: dict) -> list[int]:
    """The library names each rank once, in its innermost group; people want to see all ranks of each group."""
    inner = [rank for each in group.get("groups", []) for rank in _complete(each)]
    group["ranks"] = sorted({*group["ranks"], *inner})
    return group["ranks"]


def _cores(domain: dict) -> int:
    """The innermost domains of the machine; a machine without any is one core."""
    children = domain.get("children", [])
    if children:
        return sum(_cores(child) for child in children)
    return 1 if domain["level"] == "core" else max(1, _count(domain["cpus"]))


def _count(cpus: Union[str, list[int]]) -> int:
    if not isinstance(cpus, str):
        return len(cpus)
    pairs = [part.split("-") for part in cpus.split(",") if part]
    return sum(int(pair[-1]) - int(pair[0]) + 1 for pair in pairs)


def _print(answer: dict) -> None:
    from rich.markup import escape

    from espalier.terminal import console
    from espalier.topo import text

    out = console()
    out.print(f"[bold]machine[/bold]  {escape(answer.get('source', ''))}")
    out.print(text.machine(answer["topology"]))
    budget = answer.get("budget", {}).get("text")
    if budget:
        out.print(f"[bold]processors[/bold]  {escape(budget)}")
    out.print("\n[bold]ranks[/bold]")
    out.print(text.groups(answer["groups"]))
    for name in ("gather", "release"):
        out.print(f"\n[bold]{name}[/bold]  {escape(answer[name].get('text', ''))}")
        out.print(text.rank_tree(answer[name]))


def _write(path: Path, answer: dict) -> None:
    from espalier.topo import svg

    try:
        path.write_text(svg.picture(answer), encoding="utf-8")
    except OSError as error:
        raise Problem(f"--svg {path}: {error.strerror}") from error
    print(f"\npicture: {path}")
