"""Jobs that hang or crawl, and `espalier who` asked about them: for the tests of one machine and of emulated nodes."""

import contextlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import hosts
import pytest

RANKS = 4
WHO = [sys.executable, "-c", "from espalier.app import main; main()", "who"]
NUMBERS = (b"PMI_RANK=", b"OMPI_COMM_WORLD_RANK=")

# What the line says of the rank that is to blame. A stack that cannot be had says less.
SAID = {
    "pause": r"sleeps outside (MPI|Espalier's calls)",
    "loop": r"computes outside MPI|runs outside",
    "stopped": r"is stopped \(SIGSTOP",
    "dead": r"died",
    "recv": r"waits in MPI_\w*[Rr]ecv of the host MPI|outside",
    "wait": r"waits in MPI_Wait of the host MPI|MPI_Wait and the like",
    "order": r"is in barrier #2 of comm b",
    "root": r"computes outside MPI|runs outside",
    "crawl": r"computes outside MPI|runs outside",
    "paging": r"reads its memory back: [\d,]+ major faults? in \d+ ms",
    "oversubscribed": r"waits for its processor: \d+ of \d+ ms, beside ",
}


def who(*words, env=None):
    settings = {**os.environ, "PYTHONPATH": str(hosts.REPOSITORY / "python"), "COLUMNS": "200", **(env or {})}
    return subprocess.run([*WHO, *map(str, words)], capture_output=True, text=True, env=settings, timeout=120)


def below(pid):
    """The process and all that it has started."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    family = [pid]
    for each in family:
        family += [child for child, parent in parents.items() if parent == each]
    return family


def ranks_below(launcher):
    """rank -> process, as this machine counts processes: emulated nodes count for themselves."""
    found = {}
    for pid in below(launcher):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().strip() == "stuck":
                words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                found.update({int(word.partition(b"=")[2]): pid for word in words if word.startswith(NUMBERS)})
    return found


@contextlib.contextmanager
def stuck(host, how, guilty, nodes=1, ranks=RANKS, settings=None, wrap=(), placement=()):
    """The launcher of a job whose ranks have all come to where they hang. `wrap` and `placement` put it on other nodes."""
    settings = {**({"ESPALIER_NODES": str(nodes)} if nodes > 1 else {}), **(settings or {})}
    words = [hosts.program(host, "stuck"), how, guilty, hosts.BUILT]
    command = [*wrap, *hosts.command_for(host, ranks, words, hosts.preload_of(host, host.library), settings, placement)]
    process = subprocess.Popen(command, env=hosts.environment(host, ranks), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL, text=True, start_new_session=True)
    beside = []
    try:
        said = ""
        while said.count("waits") < ranks:  # launchers mix what ranks write
            line = process.stdout.readline()
            assert line, f"the job ended: {said}"
            said += line
        if "cannot page" in said:
            pytest.skip("files of the build folder are not paged out here")
        if how == "oversubscribed":
            beside += programs_beside(ranks_below(process.pid)[guilty])
        time.sleep(0.3)
        if how == "dead":
            kill(process.pid, guilty)
        yield process.pid
    finally:
        for each in beside:
            each.kill()
            each.wait()
        for pid in below(process.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)
        hosts.stop(process)
        process.communicate()


def programs_beside(pid):
    """Three programs on the core of that process, and on its node."""
    core = str(max(os.sched_getaffinity(pid)))
    inside = ["nsenter", "-t", str(pid), "-p", "-m"] if os.readlink(f"/proc/{pid}/ns/pid") != os.readlink("/proc/self/ns/pid") else []
    words = ["taskset", "-c", core, *inside, "sh", "-c", "while :; do :; done"]
    return [subprocess.Popen(words, start_new_session=True) for _ in range(3)]


def kill(launcher, guilty):
    """One rank alone: a launcher that is stopped cleans nothing up."""
    pids = ranks_below(launcher)
    for pid in set(below(launcher)) - set(pids.values()):
        os.kill(pid, signal.SIGSTOP)
    os.kill(pids[guilty], signal.SIGKILL)
    time.sleep(0.1)


def job_of(pid, *options):
    done = who(pid, "--json", *options)
    assert done.returncode == 0, done.stderr
    (job,) = json.loads(done.stdout)["jobs"]
    return job


def looked(hang, ask):
    """What `ask` returns, one look. How long that took is printed (pytest -s): a busy machine has it take longer than it works."""
    used = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    begun = time.monotonic()
    job = ask()
    took, used = time.monotonic() - begun, sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - used
    print(f"\nseed {hang}: {took:.2f} s, {used:.2f} s of work: {job['verdict'][0]}", flush=True)
    return job


def check(how, guilty, job, ranks=RANKS):
    said = "\n".join(job["verdict"])
    assert job["ranks"] == ranks and [seen["rank"] for seen in job["seen"]] == list(range(ranks)), job
    if how == "order":
        assert guilty in job["circle"] and "wait for each other" in job["verdict"][0], said
    elif not (how == "dead" and not job["guilty"] or said.startswith("the job goes on")):
        # the survivors of a death may have found out, and one that crawls has come to its call just then
        assert job["guilty"] == [guilty], said
    assert re.search(rf"rank {guilty}\b", job["verdict"][0]), said
    assert re.search(SAID[how], job["verdict"][0]), said
    if how == "oversubscribed":
        assert any(re.fullmatch(r"sh \(process \d+\)", name) for name in job["seen"][guilty]["beside"]), job["seen"][guilty]


# A missing rank, wrong order, a dead one, a stopped one, an endless loop, a message that does not come, a rank whose memory
# is paged out, one with other programs on its core.
KINDS = ("pause", "order", "dead", "stopped", "loop", "recv", "paging", "oversubscribed")


@dataclass(frozen=True)
class Hang:
    """`seed` says all of it: each kind comes under each host, on one machine and over emulated nodes."""

    seed: int

    @property
    def how(self):
        return KINDS[self.seed % len(KINDS)]

    @property
    def host(self):
        return hosts.THREE[self.seed // len(KINDS) % len(hosts.THREE)]

    @property
    def is_emulated(self):
        return self.seed // (len(KINDS) * len(hosts.THREE)) % 2 == 1

    @property
    def guilty(self):
        return random.Random(self.seed).randrange(RANKS)

    def __str__(self):
        return f"{self.seed}-{self.how}-{self.host}-rank{self.guilty}"


def seeds(is_emulated, short):
    """100 in all. `short`: those that `make test` runs, too."""
    return [
        pytest.param(hang, id=str(hang), marks=[] if hang.seed in short else [pytest.mark.full])
        for hang in map(Hang, range(100))
        if hang.is_emulated == is_emulated
    ]
