"""Starts and ends the aggregation nodes of a tree."""

from __future__ import annotations

import os
import selectors
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Optional

from espalier.install import daemon, repair
from espalier.problem import Problem

_PATIENCE = 20  # seconds to be ready


def words(agent: Optional[str], host: str) -> list[str]:
    """What is put before a command so that it runs on a host: `ssh {host}`; nothing for this machine."""
    return shlex.split(agent.replace("{host}", host)) if agent else []


def _output(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None  # each is started with a pipe
    return process.stdout


def become_one() -> None:
    """espalier-aggd of a wheel, whose programs lie in the package's folder."""
    os.execv(daemon(), [str(daemon()), *sys.argv[1:]])


class Daemons:
    """One process for each aggregation node, for as long as the `with` block lasts. Raises Problem where one does not start."""

    def __init__(self, file: Path, tree: dict[str, Any], agent: Optional[str] = None):
        self.file, self.tree, self.agent = file, tree, agent
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> Daemons:
        if not daemon().exists() and not self.agent:
            raise Problem(f"{daemon()} is not there; {repair()} (its build needs libasio-dev)")
        try:
            for node in self.tree["nodes"]:
                self._start(node["name"], node["address"].rpartition(":")[0])
            self._await_ready()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _start(self, name: str, host: str) -> None:
        command = [*words(self.agent, host), str(daemon()), str(self.file), name]
        # Where it is our child it ends with us, even if we are killed.
        command += [] if self.agent else ["--with-parent"]
        try:
            # The standard output stays open: a remote agent ends with it.
            self.processes[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            raise Problem(f"{command[0]} cannot be started ({error.strerror})") from error

    def _await_ready(self) -> None:
        waiting = dict(self.processes)
        until = time.monotonic() + _PATIENCE
        with selectors.DefaultSelector() as ready:
            for name, process in waiting.items():
                ready.register(_output(process), selectors.EVENT_READ, name)
            while waiting:
                found = ready.select(max(0.0, until - time.monotonic()))
                if not found:
                    raise Problem(f"aggregation nodes {', '.join(waiting)} are not ready after {_PATIENCE} s")
                for key, _ in found:
                    name = key.data
                    if f"{name}: ready" not in _output(waiting.pop(name)).readline():
                        raise Problem(f"aggregation node {name} did not start; its reason is above")
                    ready.unregister(key.fileobj)

    def ended(self) -> Sequence[str]:
        """Those that are there no more."""
        return [name for name, process in self.processes.items() if process.poll() is not None]

    def _end(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            _output(process).close()
