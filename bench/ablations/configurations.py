"""RG's configuration, and what its section VI takes out of it or changes, one thing at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

COLLECTIVES = ("bcast", "reduce", "allreduce")
SIZES = (8, 64, 512, 4096, 65536, 1 << 20)

# RG VI: four buffers of 8 KiB for each rank, pipelined in chunks of one; data in the flag line. What Espalier adds to it
# (short rings, streaming copies) is off. With two ranks every tree is the same.
RG = {
    **{f"ESPALIER_{name.upper()}": "tree" for name in COLLECTIVES},
    "ESPALIER_SLOTS": "4",
    "ESPALIER_SLOT": "8KiB",
    "ESPALIER_CHUNK": "8KiB",
    "ESPALIER_STREAMING": "off",
    "ESPALIER_SHORT_RINGS": "off",
}


def slots(number: int) -> dict[str, str]:
    """So many buffers in the same 32 KiB."""
    size = f"{32 // number}KiB"
    return {"ESPALIER_SLOTS": str(number), "ESPALIER_SLOT": size, "ESPALIER_CHUNK": size}


@dataclass(frozen=True)
class Ablation:
    """One row of the table for each of its collectives."""

    title: str  # RG's section and what is different
    collectives: tuple[str, ...]
    settings: dict[str, str] = field(default_factory=dict)  # beside RG's
    published: str = ""  # how much slower RG measured it on 40 ranks
    sizes: tuple[int, ...] = SIZES


ABLATIONS = (
    Ablation("III-C: 1 slot of 32 KiB", ("bcast", "reduce"), slots(1),
             "bcast below 8 KiB up to 1.9; reduce up to 1.2 (short), 2.3 (long)"),
    Ablation("III-C: 2 slots of 16 KiB", ("bcast", "reduce"), slots(2), "the same as 4"),
    Ablation("III-C: 8 slots of 4 KiB", ("bcast", "reduce"), slots(8), "long bcasts up to 1.35, reduce above 32 KiB up to 1.25"),
    Ablation("III-C: the root waits for all readers", ("bcast",), {"ESPALIER_SKIP_GATHER": "off"}, "no difference seen"),
    Ablation("III-D: no data in the flag line", COLLECTIVES, {"ESPALIER_INLINE": "off"},
             "bcast no benefit of it, reduce a small one", (8, 64)),
    Ablation("III-E: no copy avoidance", ("reduce", "allreduce"), {"ESPALIER_COPY_AVOIDANCE": "off"}, "reduce up to 1.08"),
)
