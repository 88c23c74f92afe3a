"""What `espalier simulate` compares: named variants, each a rule for the nodes and one for what is between them."""

from __future__ import annotations

import shlex
from typing import Any

from espalier.problem import Problem
from espalier.sizes import parse_bytes

Json = dict[str, Any]
NAMED = ("rules", "host", "sharp")

# What host MPIs do by default with short messages (HIER's [15]), without a tree for the machine: ranks of a node in a flat
# one.
_HOST_NETWORK: dict[str, Json] = {
    "barrier": {"network": "dissemination"},
    "bcast": {"network": "tree", "tree": "knomial:2"},
    "reduce": {"network": "tree", "tree": "knomial:2"},
    "allreduce": {"network": "recursive-doubling"},
}
_NETWORK_KEYS = ("network", "segment", "leaders")


def variants_of(collective: str, versus: str, plans: list[str]) -> list[Json]:
    named = [name for name in versus.split(",") if name]
    found = [_named(collective, name) for name in named] + [_written(plan) for plan in plans]
    if not found:
        raise Problem("nothing to simulate: --versus rules, or --plan NAME:...")
    return found


def _named(collective: str, name: str) -> Json:
    if name == "rules":
        return {"name": name}
    if name == "host":
        if collective not in _HOST_NETWORK:
            raise Problem(f"--versus host knows {', '.join(_HOST_NETWORK)}; write what you mean with --plan")
        node = {"algorithm": "tree", "tree": "knomial:2 levels=none"}
        return {"name": name, "node": node, "network": _HOST_NETWORK[collective]}
    if name == "sharp":
        return {"name": name, "node": {"algorithm": "tree", "tree": "flat"}, "aggregated": True}
    raise Problem(f"--versus {name}: there are rules, host and sharp; others are written with --plan")


def _written(text: str) -> Json:
    """`NAME:key=value ...`; with `network=` the keys are the network's, but for those that begin with `node.`, and `stage`."""
    name, colon, rest = text.partition(":")
    if not colon or not rest:
        raise Problem(f"--plan {text!r} should look like 'flat:algorithm=tree tree=flat'")
    keys: dict[str, str] = {}
    for piece in shlex.split(rest):
        key, equals, value = piece.partition("=")
        if not equals:
            raise Problem(f"--plan {text!r}: {piece!r} is no KEY=VALUE (quote values with blanks)")
        keys[key] = value
    between = "network" in keys
    variant: Json = {"name": name}
    if "stage" in keys:
        variant["stage"] = keys.pop("stage")
    if "slots" in keys:
        variant["slots"] = int(keys.pop("slots"))
    if "slot" in keys:
        variant["slot_bytes"] = parse_bytes(keys.pop("slot"))
    for key, value in keys.items():
        inner = key.startswith("node.") or not between
        part = variant.setdefault("node" if inner else "network", {})
        part[key.removeprefix("node.")] = _value(value)
    for key in _NETWORK_KEYS:
        if key in variant.get("node", {}):
            raise Problem(f"--plan {text!r}: {key} is the network's, which needs network=ALGORITHM")
    return variant


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdigit() else text
