"""Makes a cost model of what `make bench-cluster` measured: parameters, and the measured calls to put the model beside.

    .venv/command/bin/python tools/cost_model.py RESULT.json --host mpich --layout 4x2 \\
        --flag-ns 150 --copy-ns-per-byte 0.06 --reduce-ns-per-byte 0.08 --output emulated-mpich.json
    bin/espalier explain --published --model emulated-mpich.json

What messages cost is in the result ("messages"). What flags, copies and reductions within a node cost is not:
build/bin/bench_kernels measures it. The CPU time of a message is not measured by itself; without --overhead-ns it
counts as part of the latency.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from statistics import median
from typing import Any

from espalier import text_file
from espalier.problem import Problem, run_tool

SCHEMA = "espalier-cluster-bench/1"
LAYOUT = re.compile(r"(\d+)x(\d+)")

Json = dict[str, Any]


def load(path: Path) -> Json:
    try:
        document = json.loads(text_file.read(path))
    except (OSError, ValueError) as error:
        raise Problem(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise Problem(f"{path} is no result of bench-cluster (schema {SCHEMA}); `make bench-cluster` writes one")
    return document


def shape(layout: str) -> tuple[int, int]:
    """Nodes and ranks on each."""
    match = LAYOUT.fullmatch(layout)
    if not match:
        raise Problem(f"--layout {layout}: the model is about equally many consecutive ranks on each node, as in 4x2")
    return int(match[1]), int(match[2])


def messages(document: Json, host: str, layout: str, where: str) -> Json:
    for found in document["messages"]:
        if (found["host"], found["layout"], found["where"]) == (host, layout, where):
            return found
    there = sorted({f"{found['host']} {found['layout']}" for found in document["messages"]})
    raise Problem(f"no messages {where} of {host} on {layout} were measured; there are those of {', '.join(there)}")


def network(between: Json, overhead_ns: float) -> Json:
    latency = 1000 * between["latency_us"] - 2 * overhead_ns
    if latency < 0:
        whole = f"{between['latency_us']:g} µs"
        raise Problem(f"--overhead-ns {overhead_ns:g}: two of them are more than the {whole} of a message")
    return {
        "latency_ns": round(latency, 1),
        "overhead_ns": overhead_ns,
        "gap_ns": round(1000 * between["gap_us"], 1),
        "ns_per_byte": between["ns_per_byte"],
        **handshake(between),
    }


def handshake(between: Json) -> Json:
    """Of hosts that ask before they send a long message: what such ones take beyond latency and bytes, at least another
    latency, and the longest message that takes no more."""
    latency, per_byte = between["latency_us"], between["ns_per_byte"] / 1000
    beyond = {
        size["bytes"]: size["half_trip_us"]["median"] - latency - size["bytes"] * per_byte for size in between["sizes"]
    }
    asked = [size for size, more in beyond.items() if more >= latency]
    if not asked:
        return {}
    eager = max((size for size in beyond if size < min(asked)), default=0)
    return {"eager_bytes": eager, "handshake_ns": round(1000 * median(beyond[size] for size in asked), 1)}


def published(document: Json, host: str, layout: str, source: str) -> Json:
    nodes, ranks = shape(layout)
    rows = [
        {
            "collective": point["collective"],
            "bytes": point["bytes"],
            "total_ns": round(1000 * point["espalier_us"]["median"]),
            "node_ns": None,
            "plan": None,
        }
        for point in document["points"]
        if (point["host"], point["layout"], point["served"]) == (host, layout, "espalier")
    ]
    return {"source": source, "nodes": nodes, "ranks_per_node": ranks, "node_stage": "shared", "rows": rows}


def model(document: Json, options: argparse.Namespace) -> Json:
    host, layout = options.host, options.layout
    nodes, ranks = shape(layout)
    within = messages(document, host, layout, "within a node")
    between = messages(document, host, layout, "between nodes")
    settings, date = document["settings"], document["date"][:10]
    wires = f"{settings['delay_us']:g} µs delay, {settings['rate_mbit']:g} Mbit/s"
    return {
        "schema": 1,
        "name": f"emulated cluster, {nodes} nodes of {ranks} ranks, {wires}, {host}'s messages, measured {date}",
        "comment": f"Made by tools/cost_model.py of {options.result.name}. Nanoseconds and bytes.",
        "network": network(between, options.overhead_ns),
        "node": {
            "flag_ns": options.flag_ns,
            "copy_ns_per_byte": options.copy_ns_per_byte,
            "reduce_ns_per_byte": options.reduce_ns_per_byte,
            "message_ns": round(1000 * within["latency_us"], 1),
            "message_ns_per_byte": within["ns_per_byte"],
        },
        "published": published(document, host, layout, f"bench-cluster, {date}, medians"),
    }


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("result", type=Path, help="what make bench-cluster wrote")
    add("--host", required=True, help="whose messages: mpich, openmpi or impi")
    add("--layout", required=True, help="such as 4x2")
    add("--flag-ns", type=float, required=True, help="from a rank's store until another rank sees it")
    add("--copy-ns-per-byte", type=float, required=True, help="into or out of a slot")
    add("--reduce-ns-per-byte", type=float, required=True, help="of one source")
    add("--overhead-ns", type=float, default=0, help="CPU time of a message between nodes, at each end (default 0)")
    add("--output", type=Path, required=True, help="the model's file")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    try:
        made = model(load(chosen.result), chosen)
    except KeyError as error:
        raise Problem(f"{chosen.result} lacks {error}; bench-cluster and this tool may differ") from error
    chosen.output.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{chosen.output}: {made['name']}; {len(made['published']['rows'])} measured calls")


if __name__ == "__main__":
    run_tool("cost_model", main)
