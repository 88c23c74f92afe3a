"""Runs one command on an emulated cluster that lasts as long as the command.

sudo .venv/command/bin/python tools/emulated_cluster --layout 4x2 --delay 500 --mpi mpich -- ./app ARGUMENTS
sudo .venv/command/bin/python tools/emulated_cluster --layout 4x2 --mpi openmpi --espalier -- ./app
sudo .venv/command/bin/python tools/emulated_cluster --layout 2x1 --node n0 -- ip addr
sudo .venv/command/bin/python tools/emulated_cluster --layout 2x1 --node head -- bash
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Optional, Sequence

from espalier.problem import Problem

from emulated_cluster import hosts
from emulated_cluster.cluster import Cluster, ClusterError
from emulated_cluster.layout import parse_layout
from emulated_cluster.obstacle import obstacle


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="emulated_cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--layout", default="4x2", help="nodes x ranks, or ranks of each node: 4x2, 3+1+3, 4x2-cyclic (default 4x2)"
    )
    parser.add_argument(
        "--delay",
        type=float,
        default=0,
        metavar="MICROSECONDS",
        help="of every frame, one way (default: a bridge without delay)",
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=0,
        metavar="MBIT",
        help="million bits a second of each node's wire (default: no limit)",
    )
    parser.add_argument(
        "--keep", action="append", default=[], metavar="FOLDER", help="a folder below /tmp that the nodes must see"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--mpi", choices=hosts.HOSTS, help="run the command as ranks of this MPI, placed as the layout says"
    )
    where.add_argument("--node", default="head", help="run the command once, on this node (default head)")
    parser.add_argument("--espalier", action="store_true", help="with --mpi: preload Espalier into the ranks")
    parser.add_argument("command", nargs="+", help="after --: what to run")
    return parser


def _program(words: Sequence[str]) -> list[str]:
    """The nodes start it in the present folder if they see that; a relative path is made certain."""
    found = shutil.which(words[0])
    return [os.path.abspath(found) if found and os.sep in words[0] else words[0], *words[1:]]


def _words(options: argparse.Namespace, cluster: Cluster) -> tuple[list[str], dict[str, str]]:
    if not options.mpi:
        if options.node not in cluster.pids:
            raise Problem(f"there is no node '{options.node}'; the nodes are {', '.join(cluster.pids)}")
        return cluster.words(options.node) + options.command, {}
    host = hosts.HOSTS[options.mpi]
    library: Optional[Path] = hosts.preload(host) if options.espalier else None
    words = hosts.command(host, cluster, parse_layout(options.layout), _program(options.command), espalier=library)
    return words, hosts.surroundings(host)


def _run(options: argparse.Namespace) -> int:
    layout = parse_layout(options.layout)
    with Cluster(layout.nodes, options.delay, options.rate, [Path(folder) for folder in options.keep]) as cluster:
        if not cluster.group:
            print(f"no CPU control group, so yields are weak between nodes: {cluster.no_group}", file=sys.stderr)
        words, more = _words(options, cluster)
        return subprocess.run(words, env={**os.environ, **more}).returncode


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """0 or the command's exit status; 2 and one line on standard error where it could not be run."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    options = _parser().parse_args(arguments)
    why = obstacle()
    try:
        if why:
            raise Problem(why)
        return _run(options)
    except KeyboardInterrupt:
        return 130
    except (Problem, ClusterError, ValueError) as error:
        print(f"emulated_cluster: {error}", file=sys.stderr)
        return 2
