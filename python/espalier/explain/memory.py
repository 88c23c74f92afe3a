"""`espalier explain memory`: what one job of so many ranks takes of this machine."""

from __future__ import annotations

from typing import Any, Optional

from espalier import terminal
from espalier.explain.explained import Explained, ask
from espalier.sizes import print_bytes


def _communicator(answer: dict[str, Any], ranks: int) -> tuple[str, str]:
    rings = f"{answer['slots']} slots of {print_bytes(answer['slot'])} a rank"
    cells = f", cells of {print_bytes(answer['cell'])} for each pair" if answer["cell"] else ""
    share = f"{print_bytes(answer['lines'])}; with slots {print_bytes(answer['bytes'])} ({rings}{cells})"
    name = answer["kind"] if answer["ranks"] == ranks else f"{answer['kind']} ({answer['ranks']})"
    return name, f"{share}; the budget holds {answer['at_once']} without slots"


def _heap(answer: dict[str, Any]) -> str:
    if answer["no_heap"]:
        return f"the host's alone: {answer['no_heap']}"
    return f"up to {print_bytes(answer['kept_of_a_rank'])} of freed blocks stay with each rank (ESPALIER_ALLOC_KEEP)"


def facts(answer: dict[str, Any]) -> list[tuple[str, Optional[str]]]:
    ranks = answer["ranks"]
    setting = f"ESPALIER_SHM={answer['setting']}, {answer['origin']}"
    notes = f"{print_bytes(answer['notes'])} of it: what ranks tell each other once, the machine, and their last calls"
    per_core = f"{answer['ranks_per_core']:g}"
    descriptors = str(answer["descriptors_of_a_rank"])
    pairs: list[tuple[str, Optional[str]]] = [("ranks per core", per_core)]
    pairs += [("arena", f"{print_bytes(answer['arena'])} of address space, pages as they are needed ({setting})")]
    life = "flag lines at its first collective, slots when a call needs some; kept for the next one of the same ranks"
    pairs += [("notes", notes), ("a communicator of", life)]
    for communicator in answer["communicators"]:
        name, words = _communicator(communicator, ranks)
        pairs.append((f"  {name}", words))
    pairs += [("  one rank", "nothing"), ("MPI_Alloc_mem", _heap(answer))]
    pairs += [("descriptors", f"{descriptors} of each rank"), ("measure", answer["measured_by"])]
    return pairs


def _show(_: dict[str, Any], answer: dict[str, Any]) -> None:
    ranks = answer["ranks"]
    print(f"memory, {ranks} rank{'s' if ranks > 1 else ''} on this node")
    terminal.print_facts(facts(answer))


def explained(ranks: int, cores: Optional[int]) -> Explained:
    return ask({"what": "memory", "ranks": ranks, "ranks_per_core": ranks / cores if cores else None}, _show)
