"""`espalier explain`: what a call would run and why; what each setting is and where it came from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Optional

import typer

from espalier import core
from espalier.explain import algorithms, memory as explain_memory, nodes as explain_nodes, sharp as explain_sharp
from espalier.problem import Problem
from espalier.sizes import parse_bytes, print_bytes

OPERATORS = (
    "sum",
    "prod",
    "min",
    "max",
    "land",
    "band",
    "lor",
    "bor",
    "lxor",
    "bxor",
    "minloc",
    "maxloc",
    "replace",
    "no_op",
)
TYPES = {
    "byte": 1,
    "char": 1,
    "short": 2,
    "int": 4,
    "long": 8,
    "float": 4,
    "double": 8,
    "long_double": 16,
    "double_complex": 16,
}
# Fields of a plan that count bytes.
BYTES = ("bytes", "chunk", "slot", "segment")


def explain(
    collective: Optional[str] = typer.Argument(
        None, metavar="[COLLECTIVE]", help="Such as scan; or `window`, `memory`, `algorithms`."
    ),
    size: Optional[str] = typer.Argument(None, metavar="[SIZE]", help="Bytes per rank, such as 64KiB."),
    ranks: Optional[int] = typer.Option(
        None, "-n", "--ranks", min=1, metavar="RANKS", help="How many ranks."
    ),
    cores: Optional[int] = typer.Option(
        None, min=1, metavar="CORES", help="Usable cores; default: this machine's."
    ),
    datatype: Optional[str] = typer.Option(
        None, "--type", metavar="TYPE", help="Element type, such as double."
    ),
    operator: str = typer.Option(
        "sum", "--op", metavar="OP", help="Operator; `user` is one that does not commute."
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
        "shared", metavar="HOW", help="With --nodes: within the nodes by `shared` memory or by `messages`."
    ),
    cyclic: bool = typer.Option(
        False, "--cyclic", help="With --nodes: the ranks of a node do not follow on each other."
    ),
    model: str = typer.Option(
        "opteron", metavar="NAME|FILE", help="With --nodes: what messages and copies cost."
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
) -> None:
    """Print the plan of a call with the rule it came from: espalier explain allreduce 64KiB -n 8"""
    if config:
        answer = core.describe({"what": "config"})
        _print_config(answer["values"])
        for warning in answer.get("warnings", []):
            print(f"espalier: {warning}", file=sys.stderr)
        return
    if published:
        explain_nodes.print_published(model)
        return
    if collective == "window":
        _print_window(core.describe({"what": "window", "nodes": nodes or 1}))
        return
    if collective == "memory":
        explain_memory.explain(ranks or 1, cores)
        return
    if collective == "algorithms":
        print(algorithms.markdown()) if markdown else algorithms.print_table()
        return
    if collective is None or (ranks is None and nodes is None):
        raise Problem(
            "say what to explain: espalier explain allreduce 64KiB -n 8, or espalier explain --config"
        )
    if node_stage not in ("shared", "messages"):
        raise Problem(f"--node-stage {node_stage}: it is shared or messages")
    where = explain_nodes.Nodes(1, ranks or 1)
    if nodes is not None:
        where = explain_nodes.Nodes(
            *explain_nodes.shape(nodes, ranks_per_node, ranks), node_stage, not cyclic
        )
    request = _request(collective, size, where.ranks_per_node, cores, datatype, operator, synthetic)
    if where.nodes > 1:
        explain_nodes.explain(request, where, cores, model, sharp or run is not None)
        if run is not None:
            explain_sharp.print_passed_over(run, collective)
        return
    _print_plan(request, core.describe(request))


def _request(
    collective: str,
    size: Optional[str],
    ranks: int,
    cores: Optional[int],
    datatype: Optional[str],
    operator: str,
    synthetic: Optional[str],
) -> dict[str, Any]:
    known = algorithms.collectives()
    if collective not in known:
        raise Problem(f"'{collective}' is no collective that Espalier takes; those are {', '.join(known)}")
    if operator not in (*OPERATORS, "user"):
        raise Problem(f"--op {operator}: it is one of {', '.join(OPERATORS)} or user")
    if size is None and collective != "barrier":
        raise Problem(f"how many bytes per rank? espalier explain {collective} 64KiB -n {ranks}")
    count = parse_bytes(size or "0")
    if datatype is not None:
        _check_type(datatype, count)
    return {
        "what": "plan",
        "collective": collective,
        "bytes": count,
        "ranks": ranks,
        "ranks_per_core": ranks / cores if cores else None,
        "commutative": operator != "user",
        "synthetic": synthetic,
    }


def _check_type(datatype: str, count: int) -> None:
    extent = TYPES.get(datatype)
    if extent is None:
        raise Problem(f"--type {datatype}: it is one of {', '.join(TYPES)}")
    if count % extent:
        raise Problem(f"{count} bytes are no whole number of {datatype} ({extent} bytes each)")


def _value(name: str, value: Any) -> Optional[str]:
    if value is None or value == "":
        return None
    if isinstance(value, list):
        return "\n".join(str(item) for item in value) or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return print_bytes(value) if name in BYTES and isinstance(value, int) else str(value)


def _print_plan(request: dict[str, Any], plan: dict[str, Any]) -> None:
    from espalier import terminal

    call = request["collective"]
    if call != "barrier":
        call += f", {print_bytes(request['bytes'])} per rank"
    print(f"{call}, {request['ranks']} ranks")
    known = [(name, _value(name, value)) for name, value in plan.items() if name not in ("rule", "why")]
    rule = plan.get("rule") or {}
    place = f"{rule['file']}:{rule['line']}" if rule.get("line") else rule.get("file")
    for line in terminal.facts([*known, ("rule", place), ("", rule.get("text")), ("why", plan.get("why"))]):
        print(f"  {line}")


def _print_window(answer: dict[str, Any]) -> None:
    from espalier import terminal

    nodes = answer["nodes"]
    print(f"window, {nodes} node{'s' if nodes > 1 else ''}")
    setting = f"ESPALIER_WINDOW_TRANSPORT={answer['setting']} ({answer['origin']})"
    for line in terminal.facts([("transport", answer["transport"]), ("setting", setting), ("why", answer["why"])]):
        print(f"  {line}")


def _print_config(values: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from espalier import terminal

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("setting", "value", "from", "default", "meaning"):
        table.add_column(heading)
    for value in values:
        cells = [str(value[name]) for name in ("key", "value", "origin", "default", "help")]
        style = None if value["origin"] == "default" else "bold"
        table.add_row(*(escape(cell) for cell in cells), style=style)
    terminal.console().print(table)
