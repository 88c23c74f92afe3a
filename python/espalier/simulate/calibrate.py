"""`espalier simulate --calibrate`: a model file of this machine, measured."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

from espalier.bench import machine as bench_machine
from espalier.models import parameters
from espalier.simulate import run

Json = dict[str, Any]


def model(measured: Json, machine: Json, base: Json, base_name: str) -> Json:
    """What was measured, with the network of another model: one machine has none to measure."""
    of_others = f"not measured: those of {base_name}; one machine has no network"
    messages = {key: base["node"][key] for key in ("message_ns", "message_ns_per_byte")}
    today = datetime.date.today().isoformat()
    return {
        "schema": 1,
        "name": f"{bench_machine.in_words(machine)}, measured {today}",
        "comment": "Made by `espalier simulate --calibrate`. Nanoseconds and bytes.",
        "network": base["network"],
        "node": {**measured["node"], **messages},
        "simulate": measured["simulate"],
        "origin": {**measured["origin"], "network": of_others, "node.message_ns": of_others},
    }


def summary(made: Json) -> str:
    part = made["simulate"]
    lines = [
        f"{level['name']:8} {level['cores']:4} cores  line {level['line_ns']:g} ns, copy {level['copy_ns_per_byte']:g} ns/B"
        for level in part["levels"]
    ]
    lines.append(
        f"copy of its own {part['own_copy_ns_per_byte']:g} ns/B, fold {made['node']['reduce_ns_per_byte']:g} ns/B, "
        f"all cores at once {part['controller_ns_per_byte']:g} ns/B, switch {part['wake_ns']:g} ns"
    )
    return "\n".join([made["name"], *lines])


def calibrate(out: Path, network_of: str) -> str:
    machine = bench_machine.describe()
    measured = run.ask({"calibrate": True}, run.MEASURE)
    base = json.loads(parameters.path_of(network_of).read_text(encoding="utf-8"))
    made = model(measured, machine, base, network_of)
    out.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    notes = [summary(made), bench_machine.busy_note(machine), f"wrote {out}: espalier simulate ... --machine {out}"]
    return "\n".join(filter(None, notes))
