"""SHARP's figures 3 and 6 to 9: hosts and aggregation nodes."""

from __future__ import annotations

from figures.outputs import Times
from figures.text import table, times, us

LARGEST = 7861  # nodes


def scaling(output: str) -> list[list[str]]:
    t = Times(output)
    shapes = {"ranks": 1}

    def between(collective: str, variant: str, size: str, first: int, last: int) -> str:
        return f"{us(t.us(collective=collective, variant=variant, bytes=size, nodes=first, **shapes))} to " \
               f"{us(t.us(collective=collective, variant=variant, bytes=size, nodes=last, **shapes))}"

    def ratio(collective: str, size: str, nodes: int) -> str:
        return times(t.ratio("host", "sharp", collective=collective, bytes=size, nodes=nodes, **shapes))

    rows = [
        ["reduce 16 B, host, 4 nodes", "3.17", us(t.us(collective="reduce", variant="host", nodes=4)) +
         " (**fitted**, without the last fold and a child's turn)"],
        ["the same, 7,861 nodes", "126.12", us(t.us(collective="reduce", variant="host", nodes=LARGEST))],
        ["reduce 16 B, aggregated, 4 nodes", "1.86", us(t.us(collective="reduce", variant="sharp", nodes=4)) + " (**fitted**)"],
        ["the same, up to 4,096 nodes", "1.86 to 6.9", between("reduce", "sharp", "16B", 4, 4096)],
        ["reduce 16 B, host / aggregated, largest", "9.5 (text), 13.5 (caption)", ratio("reduce", "16B", LARGEST)],
        ["allreduce 16 B, host / aggregated, 2,048 nodes", "6.69", ratio("allreduce", "16B", 2048)],
        ["allreduce 2 KiB, host, 4 and 7,861 nodes", "3.66 to 61", between("allreduce", "host", "2KiB", 4, LARGEST)],
        ["allreduce 2 KiB, host / aggregated, 7,861 nodes", "5.1", ratio("allreduce", "2KiB", LARGEST)],
        ["barrier, aggregated, up to 4,096 nodes", "1.7 to 8.2", between("barrier", "sharp", "-", 4, 4096)],
        ["barrier, host / aggregated, largest", "11.5", ratio("barrier", "-", LARGEST) +
         " (the host's is Espalier's four-way dissemination)"],
    ]
    return [table(["µs (SHARP V-C to V-E; 1 rank a node)", "published", "simulated"], rows)]


def ranks(output: str) -> list[list[str]]:
    t = Times(output)
    found = [times(t.ratio("host", "sharp", collective="allreduce", ranks=n)) for n in (1, 2, 16)]
    head = ["allreduce 16 B, host / aggregated, 1,024 nodes", "1 rank a node", "2", "16"]
    published = ["published (V-D 2; largest in the captions)", "9 (6.69)", "4 (4.8)", "2 (2.5)"]
    return [table(head, [published, ["simulated", *found]])]


def noise(output: str) -> list[list[str]]:
    t = Times(output)
    found = [us(t.us(collective="reduce", variant=name, nodes=LARGEST)) for name in ("host", "sharp")]
    return [table(["reduce 16 B, rows of 20 calls, 7,861 nodes, µs", "host", "aggregated"], [["with noise", *found]])]


TABLES = {"sharp-scaling": scaling, "sharp-ranks": ranks, "sharp-noise": noise}
