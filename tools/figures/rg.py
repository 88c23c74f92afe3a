"""RG's figures 10 to 13: trees that know the sockets, and release/gather beside messages."""

from __future__ import annotations

from figures.outputs import Times
from figures.text import table, times

SIZES = {"8 B": "8B", "512 B": "512B", "4 KiB": "4KiB", "32 KiB": "32KiB", "256 KiB": "256KiB", "1 MiB": "1MiB"}


def trees(output: str) -> list[list[str]]:
    t = Times(output)
    sizes = {"512 B": "512B", "2 KiB": "2KiB", "8 KiB": "8KiB", "32 KiB": "32KiB", "128 KiB": "128KiB", "1 MiB": "1MiB"}
    rows = [["`knomial:2`", "–", *(times(t.ratio("unaware", "aware", bytes=size)) for size in sizes.values())],
            ["`knomial:8`", *(times(t.ratio("unaware of 8", "aware of 3", bytes=size)) for size in ("8B", "512B")),
             *["–"] * (len(sizes) - 1)]]
    return [table(["unaware / aware, simulated", "8 B", *sizes], rows)]


def over(t: Times, collective: str) -> list[str]:
    return [times(t.ratio("messages", "RG", collective=collective, bytes=size)) for size in SIZES.values()]


def nodes(output: str) -> list[list[str]]:
    t = Times(output)
    rows = [["bcast (Fig. 12)", *over(t, "bcast"), '"increases as the message size increases"'],
            ["allreduce (Fig. 13)", *over(t, "allreduce"), "1.30 to 2.34, increasing"]]
    return [table(["messages / RG, 32 nodes of 40 ranks", *SIZES, "published"], rows)]


def one_node(output: str) -> list[list[str]]:
    t = Times(output)
    rows = [["bcast", *over(t, "bcast"), "RG is the fastest at all sizes"],
            ["reduce", *over(t, "reduce"), "RG is the fastest from 128 B; below it MVAPICH by 10 %"],
            ["allreduce", *over(t, "allreduce"), "RG is the fastest from 64 B"]]
    return [table(["messages / RG, 40 ranks", *SIZES, "published"], rows)]


TABLES = {"rg-fig-11": trees, "rg-figs-12-13": nodes, "rg-fig-10": one_node}
