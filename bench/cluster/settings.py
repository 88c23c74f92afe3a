"""What a run measures."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from emulated_cluster import Layout, parse_layout
from espalier.bench.collectives import NAMES
from espalier.bench.hosts import Host, find
from espalier.problem import Problem
from espalier.sizes import parse_bytes

ROOTED = ("bcast", "reduce", "gather", "gatherv", "scatter", "scatterv")
# HIER section 4 measures these. On layouts that serve to compare roots only the rooted ones.
COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce", "scan")
SIZES = "8,64K,256K,1M"
LAYOUTS = "4x2,8x2"
ROOT_LAYOUTS = "3+1+3,4x2-cyclic"
# HIER 4.4: what ranks of a node do among themselves, and what tells Espalier so.
NODE_STAGES = {"shared": "shared", "messages": "p2p"}
# NOTIFY II-B: how the data of an allgatherv are distributed, and how much they are together.
SHAPES = ("regular", "decreasing", "one")


@dataclass(frozen=True)
class Settings:
    hosts: tuple[Host, ...]
    layouts: tuple[Layout, ...]  # all collectives
    root_layouts: tuple[Layout, ...]  # the rooted collectives only
    collectives: tuple[str, ...]
    sizes: tuple[int, ...]
    delay_us: float  # of a frame, one way
    rate_mbit: float  # of each node's wire; 0: no limit
    rounds: int  # with each root
    seconds: float  # a job starts no new point after this long, but each is measured once
    host_only: bool
    shapes: tuple[str, ...] = ()  # of an allgatherv, on all layouts; instead of `collectives` and `sizes`
    totals: tuple[int, ...] = ()  # bytes of all ranks together
    networks: tuple[str, ...] = ()  # algorithms between nodes that all are told to take, one after the other
    node_stages: tuple[str, ...] = ()  # of NODE_STAGES, one after the other

    def collectives_of(self, layout: Layout) -> tuple[str, ...]:
        if self.shapes:
            return ("allgatherv",)
        return self.collectives if layout in self.layouts else tuple(c for c in self.collectives if c in ROOTED)

    def described(self) -> dict:
        return {
            "delay_us": self.delay_us,
            "rate_mbit": self.rate_mbit,
            "rounds_per_root": self.rounds,
            "seconds": self.seconds,
            "sizes": list(self.sizes),
            "host_only": self.host_only,
            "shapes": list(self.shapes),
            "totals": list(self.totals),
            "networks": list(self.networks),
            "node_stages": list(self.node_stages),
        }


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="bench-cluster", description="Host MPIs and Espalier across emulated nodes, in turns in one process."
    )
    add = made.add_argument
    add("--hosts", default="mpich,openmpi,impi", help="host MPIs (default all three)")
    add("--layouts", default=LAYOUTS, help=f"nodes and ranks, all collectives (default {LAYOUTS}; none: '')")
    add(
        "--root-layouts",
        default=ROOT_LAYOUTS,
        help=f"rooted collectives only, to compare roots (default {ROOT_LAYOUTS})",
    )
    add("--collectives", default=",".join(COLLECTIVES), help=f"which collectives (default {','.join(COLLECTIVES)})")
    add("--sizes", default=SIZES, help=f"bytes per rank (default {SIZES})")
    add(
        "--delay",
        type=float,
        default=500,
        metavar="MICROSECONDS",
        help="of each frame, one way (default 500; 0 and no rate: the kernel's bridge)",
    )
    add(
        "--rate",
        type=float,
        default=1000,
        metavar="MBIT",
        help="million bits a second of each node's wire (default 1000; 0: no limit)",
    )
    add("--rounds", type=int, default=2, help="rounds with each root (default 2)")
    add(
        "--seconds",
        type=float,
        default=120,
        help="a job ends after this many seconds, but not before every point had a round (default 120)",
    )
    add(
        "--shapes",
        default="",
        help=f"allgatherv with its data distributed in these ways ({','.join(SHAPES)}), instead of all else",
    )
    add("--totals", default="64K,1M", help="with --shapes: bytes of all ranks together (default 64K,1M)")
    add(
        "--networks",
        default="",
        metavar="NAME[:LEADERS],...",
        help="algorithms between nodes, one after the other (ring,notified-ring,notified-ring:all) instead of the rules'",
    )
    add(
        "--node-stage",
        default="",
        metavar="NAME,...",
        help="within the nodes shared memory or messages, one after the other: shared,messages",
    )
    add("--host-only", action="store_true", help="the hosts alone, without Espalier")
    add("--json", type=Path, help="where to write the result (default build/bench/cluster.json)")
    add("--plots", type=Path, help="folder for the plots over roots (default beside the result)")
    add("--read", type=Path, metavar="FILE", help="measure nothing: table and plots of a kept result")
    return made


def _layouts(text: str) -> tuple[Layout, ...]:
    try:
        return tuple(parse_layout(word) for word in text.split(",") if word)
    except ValueError as error:
        raise Problem(str(error)) from error


def of_arguments(options: argparse.Namespace) -> Settings:
    collectives = tuple(word for word in options.collectives.split(",") if word)
    unknown = [name for name in collectives if name not in NAMES]
    if unknown:
        raise Problem(f"'{unknown[0]}' is no collective that can be measured; choose from {', '.join(NAMES)}")
    shapes = tuple(word for word in options.shapes.split(",") if word)
    unknown = [name for name in shapes if name not in SHAPES]
    if unknown:
        raise Problem(f"'{unknown[0]}' is no distribution; choose from {', '.join(SHAPES)}")
    node_stages = tuple(word for word in options.node_stage.split(",") if word)
    unknown = [name for name in node_stages if name not in NODE_STAGES]
    if unknown:
        raise Problem(f"'{unknown[0]}' is no node stage; choose from {', '.join(NODE_STAGES)}")
    return Settings(
        hosts=tuple(find(options.hosts)),
        layouts=_layouts(options.layouts),
        root_layouts=_layouts(options.root_layouts),
        collectives=collectives,
        sizes=tuple(parse_bytes(word) for word in options.sizes.split(",")),
        delay_us=options.delay,
        rate_mbit=options.rate,
        rounds=options.rounds,
        seconds=options.seconds,
        host_only=options.host_only,
        shapes=shapes,
        networks=tuple(word for word in options.networks.split(",") if word),
        node_stages=node_stages,
        totals=tuple(parse_bytes(word) for word in options.totals.split(",")) if shapes else (),
    )


def default_json() -> Path:
    return Path(__file__).resolve().parents[2] / "build" / "bench" / "cluster.json"


def parse(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    return parser().parse_args(arguments)
