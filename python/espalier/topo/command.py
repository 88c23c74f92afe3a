"""`espalier topo`: the machine, the ranks on it, and the trees they use."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import typer

from espalier import core
from espalier.interface import document, outputs
from espalier.interface.help import examples
from espalier.problem import Problem, note
from espalier.topo import machine


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
    as_json: bool = typer.Option(False, "--json", help="Print all of it as JSON (docs/command-line.md)."),
) -> None:
    """Print the machine, the ranks and their gather and release trees."""
    outputs.check_file("--svg", svg)
    if ranks is not None and root >= ranks:
        raise Problem(f"--root {root}: the ranks are 0 to {ranks - 1}")
    request = {"what": "topology", "synthetic": synthetic, "affinity": None, "tree": tree, "root": root}
    if ranks is None:
        ranks = machine.cores(core.describe({**request, "ranks": 1, "root": 0})["topology"])
    answer = core.describe({**request, "ranks": ranks})
    _complete(answer["groups"])
    if as_json:
        document.print_json("topo", {"ranks": ranks, "root": root, **answer})
    else:
        _print(answer)
    if svg is not None:
        _write(svg, answer, tree is not None)


topo.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples("espalier topo", "espalier topo -n 64 --synthetic 'package:2 numa:4 core:8 pu:1' --svg trees.svg")
}


def _complete(group: dict) -> list[int]:
    """The library names each rank once, in its innermost group; people want to see all ranks of each group."""
    inner = [rank for each in group.get("groups", []) for rank in _complete(each)]
    group["ranks"] = sorted({*group["ranks"], *inner})
    return group["ranks"]


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


def _write(path: Path, answer: dict, asked: bool) -> None:
    from espalier.topo import svg

    try:
        path.write_text(svg.picture(answer, asked), encoding="utf-8")
    except OSError as error:
        raise Problem(f"--svg {path}: {error.strerror}") from error
    note(f"wrote {path}")
