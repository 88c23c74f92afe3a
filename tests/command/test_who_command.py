"""`espalier who` as a user types it, without a job: mistakes, help, and who may look."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from espalier.problem import Problem
from espalier.stats import sites
from espalier.who import collect, look, places, processes, record, stacks

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["4000000"], 2, "there is no process 4000000"),
        (["1234567890abcdef"], 1, "there is no job 1234567890abcdef here"),
        (["nonsense"], 1, "there is no job nonsense here"),
        (["--hosts", "-oProxyCommand=x"], 2, "is no name of a machine"),
        (["--hosts", "n1", "--launcher", ""], 2, "--launcher names no command"),
        (["--hosts", "n1", "--launcher", "'ssh"], 2, "cannot be read"),
        (["1234567890abcdef", "--launcher", "auto"], 2, "name it, or the nodes with --hosts"),
        (["--dump", "/no/such/folder/x"], 2, "there is no folder"),
        (["--wait", "0"], 2, "--wait"),
        (["--bogus"], 2, "No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes(espalier, words, code, said):
    done = espalier("who", *words)
    assert done.returncode == code and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert done.stdout == ""


def test_a_process_that_is_no_rank(espalier):
    done = espalier("who", str(os.getpid()))
    assert done.returncode == 1 and "is no rank of a job that runs with Espalier" in done.stderr and done.stdout == ""


def test_help_names_its_page(espalier):
    done = espalier("who", "-h")
    assert done.returncode == 0 and "docs/who.md" in done.stdout and "espalier who 4711" in done.stdout


@needs_root
def test_another_users_process(espalier):
    """Root may look; that user may not look at root's."""
    words = ["setpriv", f"--reuid={NOBODY}", "--clear-groups", sys.executable, "-c", "from espalier.app import main; main()"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*words, "who", str(os.getpid())], capture_output=True, text=True, env=env, cwd="/")
    if "ModuleNotFoundError" in done.stderr or "PermissionError" in done.stderr:
        pytest.skip("that user cannot read this tree")
    assert done.returncode == 2 and "is another user's" in done.stderr, done.stderr


def test_without_any_job(monkeypatch):
    monkeypatch.setattr(look, "candidates", lambda asked: [])
    with pytest.raises(Problem, match="no job of this user runs here"):
        collect.jobs(None, None)


def test_collectives_are_numbered_as_the_library_does():
    text = (ROOT / "src/base/collective.hpp").read_text(encoding="utf-8")
    names = re.search(r"enum class Collective[^{]*\{([^}]*)\}", text)[1]
    assert tuple(re.findall(r"\w+", names)) == record.COLLECTIVES


def test_what_is_no_record_is_none():
    assert record.ranks_of(lambda at, size: b"") == []
    assert record.ranks_of(lambda at, size: bytes(size)) == []
    assert record.ranks_of(lambda at, size: (record.MAGIC + bytes(size))[:size]) == []
    # an arena whose notes are said to lie before it
    head = record._ARENA.pack(b"espalier", 1, 10, 4096, 1 << 40)
    assert record.ranks_of(lambda at, size: head[:size]) == []


def test_the_state_of_processes():
    own = processes.look(os.getpid())
    assert own.is_alive and not own.is_stopped and own.parent == os.getppid()
    assert processes.look(os.getpid(), own.started + 1).state == ""
    with subprocess.Popen(["sleep", "60"]) as child:
        child.send_signal(19)
        os.waitpid(child.pid, os.WUNTRACED)
        assert processes.look(child.pid).is_stopped
        assert child.pid in processes.with_children(os.getpid())
        child.kill()
    assert not processes.look(child.pid).is_alive


def test_places_in_this_python():
    """A return address right behind the first byte of a function leads to its name."""
    mappings = places.of_process(os.getpid())
    assert mappings and all(each.path.startswith("/") for each in mappings)
    inside = mappings[0].begin + 0x100
    named, unknown = places.names_of(places.Addresses(mappings, frozenset([address, 0])) for address in (inside, 1))
    assert named[inside] and not named[inside].startswith("0x"), named
    assert unknown == {1: "0x1"}


def test_places_of_all_processes_are_asked_for_at_once(monkeypatch):
    """Each start of a program that reads symbols takes longer than its answers."""
    asked = []
    monkeypatch.setattr(sites, "names", lambda frames: asked.append(frames) or {sites.key(each): "f" for each in frames})
    mappings = places.of_process(os.getpid())
    inside = mappings[0].begin + 0x100
    assert places.names_of([places.Addresses(mappings, frozenset([inside]))] * 3) == [{inside: "f"}] * 3
    assert len(asked) == 1


GDB = """[New LWP 22681]
0x00007f01d9b0c017 in __GI_sched_yield () at ../sysdeps/unix/syscall-template.S:120
#0  0x00007f01d9b0c017 in __GI_sched_yield () at ../sysdeps/unix/syscall-template.S:120
#1  0x00007f01d9f1bf95 in ?? () from .venv/mpich/lib/libmpi.so.12
#2  0x00007f01d9d4e7e0 in PMPI_Recv () from .venv/mpich/lib/libmpi.so.12
#3  0x0000556ce8dc078c in receive_nothing (count=...) at /home/me/stuck.c:21
#4  main () at stuck.c:81
"""
EU_STACK = """PID 4711 - process
TID 4711:
#0  0x00007f01d9b0c017 __sched_yield
#1  0x00007f01d9d4e7e0 PMPI_Recv@@V1
#2  0x0000556ce8dc078c receive_nothing
    /home/me/stuck.c:21:3
#3  0x0000556ce8dc03a8 main
    stuck.c:81
"""


@pytest.mark.parametrize("text, first", [(GDB, "__GI_sched_yield (syscall-template.S:120)"), (EU_STACK, "__sched_yield")])
def test_frames_of_both_tools(text, first):
    frames = stacks.frames_of(text)
    assert frames[0] == first
    assert frames[-3:] == ["PMPI_Recv", "receive_nothing (stuck.c:21)", "main (stuck.c:81)"]
    assert stacks.frames_of("ptrace: Operation not permitted.\n") == []


def test_json_of_no_job_is_nothing(espalier):
    done = espalier("who", "nonsense", "--json")
    assert done.returncode == 1 and done.stdout == ""
    json.loads((ROOT / "python/espalier/schemas/who.json").read_text(encoding="utf-8"))


def a_ring(state, calls):
    """As a rank writes it: `calls` by number."""
    entries = bytearray(record._ENTRIES)
    for number, (handle, timed) in calls.items():
        record._ENTRY.pack_into(entries, number % record._KEPT * record._ENTRY.size, 0, handle, 0, 0, number, 8, timed, 5, 6)
    return bytes(entries) + record._RING.pack(state, 0, 1)


def test_calls_that_a_rank_overwrites_meanwhile_are_left_out():
    before = a_ring(2 * 100 + 1, {number: (7, 0) for number in range(37, 101)})
    now = a_ring(2 * 103 + 1, {number: (7, 0) for number in range(40, 104)})
    still = record._thread(now, now, 0)
    assert (still.current.number, still.current.sequence) == (103, 103)
    assert [call.number for call in still.last] == list(range(40, 103))
    moving = record._thread(before, now, 0)
    assert moving.current is None
    assert [call.number for call in moving.last] == list(range(41, 101))


def test_times_are_those_of_a_calls_own():
    """An entry keeps the times of the call that had it before."""
    thread = record._thread(*[a_ring(6, {1: (7, 3), 2: (7, 0), 3: (7, 135)})] * 2, 0)
    assert [call.begin for call in thread.last] == [5, None, None]
