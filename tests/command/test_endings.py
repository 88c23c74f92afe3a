"""Closed pipes and Ctrl-C: no traceback, and the status that a shell expects."""

import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import LIB, RECORDED, clean_environment

COMMAND = [sys.executable, "-m", "espalier"]


def start(*words, lib=LIB, **more):
    environment = clean_environment(ESPALIER_LIB=str(lib))
    return subprocess.Popen([*COMMAND, *map(str, words)], env=environment, stderr=subprocess.PIPE, text=True, **more)


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["bench", "-h"],
        ["topo", "-n", 4],
        ["topo", "-n", 4, "--json"],
        ["explain", "algorithms"],
        ["explain", "--config"],
        ["explain", "allreduce", "64KiB"],
        ["stats", RECORDED / "stats.json"],
        ["doctor", "--quick"],
    ],
    ids=lambda words: " ".join(map(str, words[:2])),
)
def test_a_closed_pipe(words):
    reader, writer = os.pipe()
    os.close(reader)
    process = start(*words, stdout=writer)
    os.close(writer)
    errors = process.communicate(timeout=60)[1]
    assert (process.returncode, errors) == (-signal.SIGPIPE, "")


def test_a_pipe_that_reads_all(espalier):
    done = espalier("topo", "-n", 4, lib=LIB)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_program_gets_sigpipe_as_from_a_shell(espalier):
    """Python ignores the signal; the program that `espalier run` becomes does not."""
    done = espalier("run", "-q", "--", "sh", "-c", "grep SigIgn /proc/self/status")
    assert int(done.stdout.split()[1], 16) & 1 << (signal.SIGPIPE - 1) == 0


def interrupted(process, is_ready):
    """Its errors and exit code after a Ctrl-C, which goes to the whole group."""
    until = time.monotonic() + 60
    while not is_ready():
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=60)[1]
    return process.returncode, errors


def test_ctrl_c_while_it_reads():
    process = start("stats", "-", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)

    def reads():
        """read(0, ...): number 0 on x86-64, 63 where numbers are the generic ones."""
        return open(f"/proc/{process.pid}/syscall").read().startswith(("0 0x0 ", "63 0x0 "))

    code, errors = interrupted(process, reads)
    assert code == -signal.SIGINT and "Traceback" not in errors


def test_ctrl_c_while_a_program_works(describer, tmp_path_factory):
    """Behind an espalier-simulate that says when it runs, and would do so for long."""
    tree = tmp_path_factory.mktemp("tree")
    (tree / "bin").mkdir()
    (tree / "lib").symlink_to(describer)
    (tree / "bin/espalier-simulate").write_text(f"#!/bin/sh\ntouch {tree}/started\nexec sleep 60\n")
    (tree / "bin/espalier-simulate").chmod(0o755)
    process = start("simulate", "allreduce", lib=tree / "lib", stdout=subprocess.DEVNULL, start_new_session=True)
    code, errors = interrupted(process, (tree / "started").exists)
    assert code == -signal.SIGINT and "Traceback" not in errors


def test_ctrl_c_in_a_job_of_doctor(libraries, tmp_path):
    job = f"touch {tmp_path}/started; exec sleep 60"
    words = ["doctor", "--", "sh", "-c", job]
    process = start(*words, lib=libraries, stdout=subprocess.DEVNULL, start_new_session=True)
    code, errors = interrupted(process, (tmp_path / "started").exists)
    assert code == -signal.SIGINT and "Traceback" not in errors
