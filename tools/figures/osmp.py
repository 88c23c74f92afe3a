"""OSMP's figures 6 to 10: virtual domains, and trees that know the topology."""

from __future__ import annotations

from figures.outputs import Times
from figures.text import bold_least, span, table

SIZES = {"8 B": "8B", "64 B": "64B", "512 B": "512B", "2 KiB": "2KiB"}
MACHINES = ("EPYC 7742", "Xeon Platinum 8280", "POWER9", "A64FX")
PUBLISHED = {
    "reduce": ("(Fig. 7)", ["to 7", "to 3", "to 7.1", "to 4.7"]),
    "bcast": ("(Fig. 8)", ["to 2", "to 2", "to 4", "to 2.6"]),
    "allreduce": ("(Fig. 9)", ["to 3", "to 2", "to 2.3", "to 2"]),
    "barrier": ("(Fig. 10)", ["to 4", "to 1.2", "", ""]),
}


def degrees(output: str) -> list[list[str]]:
    t = Times(output)
    names = ["flat", "degree 2", "degree 4", "degree 7", "degree 14"]
    rows = [[title, *bold_least([t.us(bytes=size, variant=name) for name in names])] for title, size in SIZES.items()]
    return [table(["µs, 56 ranks", *names], rows)]


def ratios(t: Times, collective: str, machine: str, above: str, below: str) -> str:
    sizes = ["-"] if collective == "barrier" else list(SIZES.values())
    return span(t.ratio(above, below, collective=collective, machine=machine, bytes=size) for size in sizes)


def machines(output: str) -> list[list[str]]:
    t = Times(output)
    rows = []
    for collective, (figure, published) in PUBLISHED.items():
        there = [machine for machine, text in zip(MACHINES, published) if text]
        nothing = [""] * (len(MACHINES) - len(there))
        rows.append([f"{collective}, published {figure}", *published])
        rows.append([f"{collective}, simulated", *(ratios(t, collective, name, "unaware", "OSMP") for name in there), *nothing])
    for collective in ("reduce", "bcast", "allreduce"):
        rows.append([f"{collective}, OSMP / binomial", *(ratios(t, collective, name, "OSMP", "binomial") for name in MACHINES)])
    return [table(["unaware / OSMP", "EPYC 7742, 128", "Xeon 8280, 56 (degree 7)", "POWER9, 44", "A64FX, 48"], rows)]


TABLES = {"osmp-fig-6": degrees, "osmp-figs-7-10": machines}
