"""A described machine as a model: a model file as it is; of hwloc's XML the shape, with assumed times."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from espalier.models import parameters
from espalier.problem import Problem

Json = dict[str, Any]

# From the innermost out: the level's name, hwloc's type, and what is assumed to pass between two of its cores.
_LEVELS = (
    ("l2", "L2Cache", {"line_ns": 30, "copy_ns_per_byte": 0.05}),
    ("l3", "L3Cache", {"line_ns": 60, "copy_ns_per_byte": 0.08}),
    ("numa", "NUMANode", {"line_ns": 90, "copy_ns_per_byte": 0.1}),
    ("package", "Package", {"line_ns": 120, "copy_ns_per_byte": 0.13}),
    ("machine", "Machine", {"line_ns": 220, "copy_ns_per_byte": 0.22}),
)
_NETWORK_OF = "frontera"
_ASSUMED = "assumed, whatever the machine: XML says what shares what, not how long it takes"


class Shape(NamedTuple):
    """Cores in all, and by level in one domain; domains of one core, and those that are no others, are left out."""

    cores: int
    levels: list[tuple[str, int]]


def path_of(machine: str) -> Path:
    """The model file of that name or path; of an XML file, one that is made for this run."""
    path = Path(machine)
    if path.suffix != ".xml":
        return parameters.path_of(machine)
    if not path.is_file():
        raise Problem(f"--machine {machine}: there is no such file")
    made = Path(tempfile.mkdtemp(prefix="espalier-model-")) / f"{path.stem}.json"
    made.write_text(json.dumps(from_xml(path), indent=2) + "\n", encoding="utf-8")
    return made


def load(path: Path) -> Json:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Problem(f"{path} cannot be read as JSON: {error}") from error


def cores_of(model: Json) -> int:
    levels = model.get("simulate", {}).get("levels")
    if not levels:
        raise Problem(f"{model.get('name', 'the model')} has no levels (simulate.levels): it says nothing of a node")
    return int(levels[-1]["cores"])


def synthetic(model: Json) -> str:
    """The shape in hwloc's notation, for trees: from the machine in, levels that divide each other."""
    text = []
    around = cores_of(model)
    for level in reversed(model["simulate"]["levels"]):
        cores = int(level["cores"])
        if level["name"] == "machine" or around % cores:
            continue
        text.append(f"{level['name']}:{around // cores}")
        around = cores
    return " ".join([*text, f"core:{around}", "pu:1"])


def _cpus(text: str) -> int:
    """hwloc's list of 32-bit words, the highest first, as one bit mask."""
    mask = 0
    for word in text.split(","):
        mask = mask << 32 | int(word or "0", 16)
    return mask


def shape_of(root: ElementTree.Element) -> Shape:
    found: dict[str, set[int]] = {}
    for each in root.iter("object"):
        if each.get("cpuset"):
            found.setdefault(each.get("type", ""), set()).add(_cpus(each.get("cpuset", "")))
    cores = found.get("Core") or found.get("PU") or set()
    if not cores:
        raise Problem("no cores in it: is it the XML of hwloc, as `lstopo --of xml` writes it?")
    levels: list[tuple[str, int]] = []
    for name, kind, _ in _LEVELS:
        most = max((sum(core & domain == core for core in cores) for domain in found.get(kind, ())), default=0)
        if most <= 1:
            continue
        if levels and levels[-1][1] == most:
            levels[-1] = (name, most)  # the outer name of what is one domain
        else:
            levels.append((name, most))
    if not levels or levels[-1][1] < len(cores):
        levels.append(("machine", len(cores)))
    return Shape(len(cores), levels)


def from_xml(path: Path) -> Json:
    try:
        shape = shape_of(ElementTree.parse(path).getroot())
    except ElementTree.ParseError as error:
        raise Problem(f"{path} cannot be read as XML: {error}") from error
    base = load(parameters.path_of(_NETWORK_OF))
    times = {name: time for name, _, time in _LEVELS}
    levels = [{"name": name, "cores": cores, **times[name]} for name, cores in shape.levels]
    part = {key: base["simulate"][key] for key in (
        "claim_part", "reads_under_way", "stores_under_way", "reader_gap_ns", "own_copy_ns_per_byte",
        "controller_ns_per_byte", "wake_ns")}
    package = next((cores for name, cores in shape.levels if name == "package"), shape.cores)
    return {
        "schema": 1,
        "name": f"{path.name}: {shape.cores} cores, " + ", ".join(f"{name} of {cores}" for name, cores in shape.levels),
        "comment": "Made of hwloc's XML. Nanoseconds and bytes.",
        "network": base["network"],
        "node": base["node"],
        "simulate": {"levels": levels, **part, "controller_cores": package},
        "origin": {
            "simulate.levels": f"the cores are the XML's; the times are {_ASSUMED}",
            "simulate": f"those of {_NETWORK_OF}: {_ASSUMED}", "network": f"those of {_NETWORK_OF}: {_ASSUMED}",
            "node": f"those of {_NETWORK_OF}: {_ASSUMED}",
        },
    }
