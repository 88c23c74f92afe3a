"""`espalier simulate`: the algorithms on a simulated machine, to a million ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import typer

from espalier.completion import words
from espalier.explain import algorithms
from espalier.interface import outputs
from espalier.interface.help import examples
from espalier.models import parameters
from espalier.problem import Problem, note
from espalier.simulate import calibrate as simulate_calibrate
from espalier.simulate.plans import NAMED, variants_of
from espalier.simulate.run import ask
from espalier.sizes import parse_bytes

Json = dict[str, Any]


def numbers(text: str) -> list[int]:
    """`4,16`, or `4..7861`: both ends and the powers of two between."""
    found: list[int] = []
    for piece in text.split(","):
        first, dots, last = piece.partition("..")
        try:
            low, high = int(first), int(last) if dots else int(first)
        except ValueError as error:
            raise Problem(f"{piece!r} is no number, and no range such as 4..7861") from error
        if low < 1 or high < low:
            raise Problem(f"{piece!r} must go from 1 or more to no less")
        powers = [1 << i for i in range(high.bit_length()) if low < 1 << i < high]
        found += [low, *powers, *([high] if high > low else [])]
    return found


def noise_of(text: str) -> Json:
    """`1000x2us`: so many interruptions a second of each core, of that length."""
    rate, times, length = text.partition("x")
    try:
        if not times or not length.endswith("us"):
            raise ValueError
        return {"rate_hz": float(rate), "duration_ns": float(length.removesuffix("us")) * 1000, "skew_ns": 0.0}
    except ValueError as error:
        raise Problem(f"--noise {text}: should look like 100x4us, 100 interruptions a second of 4 us each") from error


def simulate(
    collective: Optional[str] = typer.Argument(
        None, metavar="COLLECTIVE", autocompletion=words.collectives, help="barrier, bcast, reduce, allreduce, ..."
    ),
    sizes: str = typer.Argument("8", metavar="BYTES", help="of each rank: 16, or 16,2KiB"),
    machine: str = typer.Option(
        "frontera", "--machine", metavar="NAME|FILE", autocompletion=words.machines, help="The parameters."
    ),
    nodes: str = typer.Option("1", metavar="N,N..N", help="How many nodes; a range takes powers of two."),
    ppn: str = typer.Option("1", metavar="N,N..N", help="Ranks on each."),
    versus: str = typer.Option(
        "rules",
        metavar="NAMES",
        autocompletion=words.listed(lambda: NAMED),
        help="What to compare: rules, host, sharp.",
    ),
    plan: list[str] = typer.Option(
        [],
        metavar="NAME:KEY=VALUE ...",
        autocompletion=words.plans,
        help="One more to compare, written as a rule: 'flat:algorithm=tree tree=flat'.",
    ),
    root: int = typer.Option(0, min=0, help="Of a rooted collective."),
    slots: int = typer.Option(8, min=1, help="Slots of each rank, as ESPALIER_SLOTS."),
    slot: str = typer.Option("32KiB", metavar="BYTES", help="Bytes of one, as ESPALIER_SLOT."),
    runs: int = typer.Option(1, min=1, help="With noise: so many seeds; the median counts."),
    calls: int = typer.Option(1, min=1, help="So many calls in a row; the time of one counts."),
    seed: int = typer.Option(1, help="Where chance begins."),
    noise: Optional[str] = typer.Option(None, metavar="RATExLENGTH", help="In place of the machine's: 100x4us."),
    spread: bool = typer.Option(False, "--spread", help="Fewer ranks than cores: evenly over all cores."),
    timeline: bool = typer.Option(False, "--timeline", help="Draw what each rank does when; for small runs."),
    out: Optional[Path] = typer.Option(None, metavar="NAME", help="Write NAME.json, NAME.png and NAME.svg."),
    calibrate: Optional[Path] = typer.Option(
        None, metavar="FILE", help="Measure this machine instead, into a model file; its network is --machine's."
    ),
) -> None:
    """Run a collective's own text on a simulated machine: how long would it take there?

    docs/simulation.md says what is simulated, and what not.
    """
    outputs.check_file("--calibrate", calibrate)
    if calibrate:
        print(simulate_calibrate.calibrate(calibrate, machine))
        return
    if collective is None:
        raise Problem("simulate what? A collective such as allreduce; or --calibrate FILE to measure this machine")
    if timeline and out is None:
        raise Problem("--timeline draws into a file: add --out NAME")
    outputs.check_file("--out", out and Path(f"{out}.json"))
    algorithms.check(collective)
    request: Json = {
        "model": str(parameters.path_of(machine)),
        "collective": collective,
        "bytes": [parse_bytes(size) for size in sizes.split(",")],
        "nodes": numbers(nodes),
        "ranks_per_node": numbers(ppn),
        "root": root,
        "runs": runs,
        "calls": calls,
        "seed": seed,
        "spread": spread,
        "slots": slots,
        "slot_bytes": parse_bytes(slot),
        "timeline": timeline,
        "variants": variants_of(collective, versus, plan),
    }
    if noise:
        request["noise"] = noise_of(noise)
    answer = ask(request)
    from espalier.simulate import show

    print(show.table(request, answer))
    if out:
        # Files that are kept and shown to others name the machine, not where its file lies on this one.
        kept = {"request": {**request, "model": machine}, **answer, "file": machine}
        Path(f"{out}.json").write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        show.plot(request, answer, out)
        note(f"wrote {out}.json, {out}.png and {out}.svg")


simulate.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples(
        "espalier simulate allreduce 8 --machine frontera --nodes 16..4096",
        "espalier simulate bcast 64KiB --ppn 8 --timeline --out bcast",
        "espalier simulate reduce 8 --ppn 64 --plan 'flat:algorithm=tree tree=flat'",
        "espalier simulate --calibrate here.json",
    )
}
