"""MPICH's own file of choices. It takes the place of all that the library would choose by, so it is that of the library itself,
with what was found put before it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from espalier.problem import Problem
from espalier.tune.export_parts import Export, by_collective, bytes_of_host
from espalier.tune.host_alone import Choice

Json = dict[str, Any]

_EMBEDDED = re.compile(rb'\{"collective=bcast":[^\x00]*\}')
_FOR_ALL = "algorithm=MPIR_Bcast_"  # of three such texts in the library the one that every device comes to


def own_choice(library: Path) -> Json:
    """The conditions that the library carries within itself."""
    for text in _EMBEDDED.findall(library.read_bytes()):
        if _FOR_ALL.encode() in text:
            return json.loads(text)
    raise Problem(f"{library} carries no table of choices such as MPICH 4 and 5 have; --export knows no file for it")


def mpich(choices: Sequence[Choice], own: Json) -> Export:
    """The file of MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE: a tree of conditions, asked in order."""
    tree = json.loads(json.dumps(own))
    for name, by_ranks in by_collective(choices):
        of_name = tree[f"collective={name}"]
        below = "comm_type=intra" in of_name
        default = of_name["comm_type=intra"] if below else of_name
        conditions: Json = {}
        for ranks, each in by_ranks:
            conditions[f"comm_size<{ranks}"] = default
            conditions[f"comm_size<={ranks}"] = _sizes(name, each, default)
        conditions["comm_size=any"] = default
        if below:
            of_name["comm_type=intra"] = conditions
        else:
            tree[f"collective={name}"] = conditions
    return Export(json.dumps(tree, indent=1) + "\n", {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "FILE"})


def _sizes(name: str, choices: Sequence[Choice], default: Json) -> Json:
    found: Json = {}
    for choice, following in zip(choices, [*choices[1:], None]):
        most = f"avg_msg_size<={bytes_of_host(following) - 1}" if following else "avg_msg_size=any"
        found[most] = default
        if choice.setting is not None:
            value = next(iter(choice.setting.environment.values()))
            found[most] = {f"algorithm=MPIR_{name.capitalize()}_intra_{value}": {}}
    return found
