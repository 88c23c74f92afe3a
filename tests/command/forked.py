"""The command in a process of its own, without that process's start-up: one that has imported what commands need forks for each
call, with the words, environment, folder and open files that it is given.

    forked.py DESCRIPTOR    serves the calls that come through that socket
"""

import contextlib
import importlib.util
import io
import json
import os
import pkgutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

# Programs that others start, and what not every environment has.
NOT_IMPORTED = ("espalier.__main__", "espalier.torch", "espalier.doctor.rank", "espalier.demo.collectives")
BESIDE = ("jinja2", "rich.console", "rich.progress", "rich.table")
# What an interpreter, or the loader, looks at when it starts.
AT_START = ("PYTHON", "LD_", "LC_", "LANG", "GLIBC_", "MALLOC_")


def fits(environment):
    """Whether a fork can stand for a process that starts in this environment."""
    return all(environment.get(name) == os.environ.get(name) for name in {*environment, *os.environ} if name.startswith(AT_START))


class Server:
    """Of one test worker."""

    def __init__(self):
        self._mine, theirs = socket.socketpair()
        words = [sys.executable, str(Path(__file__).resolve()), str(theirs.fileno())]
        self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self._answers = self._mine.makefile("r")

    def close(self):
        self._mine.close()
        self._answers.close()
        self._process.wait()

    def run(self, words, env, stdin, timeout, cwd):
        """As subprocess.run(..., capture_output=True, text=True)."""
        ends = [os.pipe() for _ in range(3)]
        theirs, mine = [ends[0][0], ends[1][1], ends[2][1]], [ends[0][1], ends[1][0], ends[2][0]]
        call = json.dumps({"words": words, "env": env, "cwd": str(cwd or os.getcwd())}).encode()
        socket.send_fds(self._mine, [len(call).to_bytes(4, "big")], theirs)
        self._mine.sendall(call)
        for end in theirs:
            os.close(end)
        pid = int(self._answers.readline())
        with contextlib.suppress(BrokenPipeError), open(mine[0], "w") as file:
            file.write(stdin)
        said = ["", ""]

        def read(number):
            with open(mine[1 + number], errors="strict") as file:
                said[number] = file.read()

        readers = [threading.Thread(target=read, args=(number,)) for number in (0, 1)]
        for reader in readers:
            reader.start()
        readers[0].join(timeout)
        readers[1].join(timeout if not readers[0].is_alive() else 0)
        late = any(reader.is_alive() for reader in readers)
        if late:
            os.kill(pid, 9)
        code = int(self._answers.readline())
        if late:
            raise subprocess.TimeoutExpired(words, timeout)
        return subprocess.CompletedProcess(words, code, *said)


def become(call, ends):
    """In the fork: the command."""
    for number, end in enumerate(ends):
        os.dup2(end, number)
        if end > 2:
            os.close(end)
    os.chdir(call["cwd"])
    os.environ.clear()
    os.environ.update(call["env"])
    sys.argv = [importlib.util.find_spec("espalier.__main__").origin, *call["words"]]
    sys.stdin = open(0, closefd=False)
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), line_buffering=False)
    sys.stderr = io.TextIOWrapper(open(2, "wb", closefd=False), errors="backslashreplace", line_buffering=True)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.modules["espalier.app"].main()


def serve(channel):
    package = importlib.import_module("espalier")
    found = [module.name for module in pkgutil.walk_packages(package.__path__, "espalier.") if module.name not in NOT_IMPORTED]
    for name in [*BESIDE, *(name for name in found if not name.startswith("espalier.torch."))]:
        importlib.import_module(name)
    while True:
        head, ends, _, _ = socket.recv_fds(channel, 4, 3)
        if not head:
            return
        call = json.loads(channel.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
        pid = os.fork()
        if pid == 0:
            channel.close()
            become(call, ends)
            sys.exit()
        for end in ends:
            os.close(end)
        channel.sendall(f"{pid}\n".encode())
        channel.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
