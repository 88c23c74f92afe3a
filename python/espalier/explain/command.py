"""`espalier explain`: what a call would run and why; what each setting is and where it came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import typer

from espalier.completion import words
from espalier.explain import (
    algorithms,
    call,
    machine as explain_machine,
    memory as explain_memory,
    nodes as explain_nodes,
    published as explain_published,
    sharp as explain_sharp,
    show,
)
from espalier.explain.explained import Explained, ask
from espalier.interface import suggest
from espalier.interface.help import examples
from espalier.problem import note
from espalier.tune import place


def explain(
    collective: Optional[str] = typer.Argument(
        None, metavar="[COLLECTIVE]", autocompletion=words.explained, help="Such as scan; or `window`, `memory`, `algorithms`."
    ),
    size: Optional[str] = typer.Argument(None, metavar="[SIZE]", help="Bytes per rank, such as 64KiB."),
    ranks: Optional[int] = typer.Option(
        None, "-n", "--ranks", min=1, metavar="RANKS", help="How many ranks; default: the usable cores."
    ),
    cores: Optional[int] = typer.Option(
        None, min=1, metavar="CORES", help="Usable cores; default: this machine's."
    ),
    datatype: Optional[str] = typer.Option(
        None, "--type", metavar="TYPE", autocompletion=words.one_of(*call.TYPES), help="Element type, such as double."
    ),
    operator: str = typer.Option(
        "sum",
        "--op",
        metavar="OP",
        autocompletion=words.one_of(*call.OPERATORS, "user"),
        help="Operator; `user` is one that does not commute.",
    ),
    synthetic: Optional[str] = typer.Option(
        None, metavar="TEXT", help="A made-up machine in hwloc's notation."
    ),
    nodes: Optional[int] = typer.Option(
        None, min=1, metavar="NODES", help="A communicator over so many nodes, with a predicted time."
    ),
    ranks_per_node: Optional[int] = typer.Option(
        None, min=1, metavar="RANKS", help="With --nodes, instead of -n; --cores then are those of each node."
    ),
    node_stage: str = typer.Option(
        "shared",
        metavar="HOW",
        autocompletion=words.one_of("shared", "messages"),
        help="With --nodes: within the nodes by `shared` memory or by `messages`.",
    ),
    cyclic: bool = typer.Option(
        False, "--cyclic", help="With --nodes: the ranks of a node do not follow on each other."
    ),
    model: str = typer.Option(
        "opteron", metavar="NAME|FILE", autocompletion=words.machines, help="With --nodes: what messages and copies cost."
    ),
    machine: Optional[str] = typer.Option(
        None,
        metavar="NAME|FILE",
        autocompletion=words.machines,
        help="Of a machine that is described: a model, or hwloc's XML; with its time there, and what would be faster.",
    ),
    published: bool = typer.Option(
        False, "--published", help="The model beside what was measured on its machine, such as HIER's Table 1."
    ),
    sharp: bool = typer.Option(
        False, "--sharp", help="With --nodes: of a job that has aggregation nodes (ESPALIER_SHARP=on)."
    ),
    run: Optional[Path] = typer.Option(
        None,
        metavar="FILE",
        help="With --nodes: statistics of a run (--stats=FILE); says why aggregation nodes were passed over in it.",
    ),
    markdown: bool = typer.Option(False, "--markdown", help="With `algorithms`: as in docs/algorithms.md."),
    config: bool = typer.Option(
        False, "--config", help="Every setting, its value, and where the value came from."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the answer as JSON (docs/command-line.md)."),
) -> None:
    """Print the plan of a call with the rule it came from."""
    if config:
        return ask({"what": "config"}, show.config).print(as_json)
    if published:
        return explain_published.published(model).print(as_json)
    if collective == "window":
        return ask({"what": "window", "nodes": nodes or 1}, show.window).print(as_json)
    if collective == "memory":
        return explain_memory.explained(call.ranks_of(ranks, cores, synthetic), cores).print(as_json)
    if collective == "algorithms":
        return ask({"what": "algorithms"}, algorithms.show_markdown if markdown else algorithms.show).print(as_json)
    name = call.checked_collective(collective)
    suggest.one_of("--node-stage", node_stage, ("shared", "messages"))
    described = None if machine is None else explain_machine.described(machine, synthetic, sharp)
    if described is not None:
        cores, synthetic, model = described.cores, described.synthetic(), str(described.path)
    where = explain_nodes.Nodes(1, 1)
    if nodes is None:
        where = where._replace(ranks_per_node=call.ranks_of(ranks, cores, synthetic))
    else:
        each = ranks_per_node or (call.ranks_of(None, cores, synthetic) if ranks is None else None)
        where = explain_nodes.Nodes(*explain_nodes.shape(nodes, each, ranks), node_stage, not cyclic)
    request = call.request(name, size, where.ranks_per_node, cores, datatype, operator, synthetic)
    found = _explained(request, where, cores, model, sharp, run)
    (found if described is None else described.added_to(found, where)).print(as_json)


explain.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples(
        "espalier explain allreduce 64KiB",
        "espalier explain bcast 1MiB -n 64 --cores 16 --type double",
        "espalier explain allreduce 8 --nodes 16 --ranks-per-node 4 --model opteron",
        "espalier explain reduce 8KiB --machine epyc-9654",
        "espalier explain --config",
    )
}


def _tuned(request: dict[str, Any]) -> dict[str, Any]:
    """The file of `espalier tune` for this machine. A job finds the one of its own MPI."""
    if request["synthetic"] is not None:
        return {}
    found = place.tuned_here()
    if len(found) > 1:
        note(f"rules were tuned for {len(found)} MPIs; these are those for {found[0].host}, in {found[0].path}")
    return {"tuned": str(found[0].path)} if found else {}


def _explained(
    request: dict[str, Any], where: explain_nodes.Nodes, cores: Optional[int], model: str, sharp: bool, run: Optional[Path]
) -> Explained:
    if where.nodes == 1:
        return ask(request | _tuned(request), show.plan)
    found = explain_nodes.explained(request, where, cores, model, sharp or run is not None)
    return found if run is None else explain_sharp.with_run(found, run)
