"""`espalier who` and other machines: what is started there, and what is made of the answers. Scripts stand for launchers."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from espalier.problem import Problem
from espalier.who import collect, seen, show

ROOT = Path(__file__).resolve().parents[2]


def test_a_host_that_cannot_be_asked_is_said(espalier):
    """A job that does not exist is asked for: other tests may run some here."""
    done = espalier("who", "1234567890abcdef", "--hosts", "n1", ESPALIER_SSH="false")
    assert done.returncode == 1 and "n1 cannot be asked (exit code 1)" in done.stderr
    assert "there is no job 1234567890abcdef here" in done.stderr


def seen_there():
    """A job of two ranks on another machine: rank 0 waits for rank 1, which is stopped."""
    world = {"id": "w", "name": "MPI_COMM_WORLD", "size": 2, "first": 0, "stride": 1}
    ranks = [seen.Seen("00000000000000ab", rank, 2, "n1", "node", 10 + rank, "ST"[rank]) for rank in (0, 1)]
    ranks[0].inside = [seen.Call("w", "barrier", 7, bytes=0, seconds=1.5)]
    for each in ranks:
        each.communicators = [seen.Comm(**world, rank=each.rank)]
    return {"schema": "espalier-who/1", **show.document({"00000000000000ab": ranks})}


def test_what_another_machine_sees(espalier, tmp_path):
    """As the same command prints it there; a shell script stands for ssh."""
    (tmp_path / "there.json").write_text(json.dumps(seen_there()))
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\ncat {tmp_path}/there.json\n')
    ssh.chmod(0o755)
    done = espalier("who", "00000000000000ab", "--hosts", "n1", ESPALIER_SSH=str(ssh))
    assert done.returncode == 0, done.stderr
    assert "rank 0 waits in barrier #7 of MPI_COMM_WORLD since 1.5 s for rank 1, which is stopped" in done.stdout
    assert "2 of 2 ranks on n1" in done.stdout
    assert (tmp_path / "asked").read_text() == "n1 espalier who --json --no-stacks\n"


@pytest.mark.parametrize(
    "script, said",
    [
        ("echo ssh: no route >&2; exit 255", "n1 cannot be asked (ssh: no route)"),
        ("echo 'espalier: no job of this user runs here' >&2; exit 1", "n1 sees no job (espalier: no job of this user runs here)"),
        ("echo not JSON", "n1 cannot be asked (exit code 0)"),
        ("echo '{\"jobs\": [{}]}'", "n1 cannot be asked (exit code 0)"),
    ],
)
def test_why_a_host_says_nothing(espalier, tmp_path, script, said):
    launcher = a_launcher(tmp_path, "start", script)
    done = espalier("who", "1234567890abcdef", "--hosts", "n1", "--launcher", launcher)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_launcher_that_is_not_there(espalier):
    done = espalier("who", "1234567890abcdef", "--hosts", "n1", "--launcher", "/no/such/launcher")
    assert done.returncode == 1 and "n1 cannot be asked (/no/such/launcher: No such file or directory)" in done.stderr


@pytest.mark.parametrize(
    "options, settings, message",
    [
        (["--launcher", "ssh 'x"], {}, "--launcher: 'ssh 'x' cannot be read (No closing quotation)"),
        (["--launcher", " "], {}, "--launcher names no command"),
        ([], {"ESPALIER_SSH": "ssh 'x"}, "ESPALIER_SSH: 'ssh 'x' cannot be read (No closing quotation)"),
        ([], {"ESPALIER_SSH": " "}, "ESPALIER_SSH names no command"),
        ([], {"ESPALIER_REMOTE": "a 'x"}, "ESPALIER_REMOTE: 'a 'x' cannot be read (No closing quotation)"),
    ],
)
def test_commands_that_are_none_are_named(espalier, options, settings, message):
    done = espalier("who", "1234567890abcdef", "--hosts", "n1", *options, **settings)
    assert done.returncode != 0 and message in " ".join(done.stderr.split()), done.stderr


def a_job_of_two_nodes(monkeypatch, way):
    """Rank 0 of it is here."""
    world = seen.Comm("w", "MPI_COMM_WORLD", 2, 0, 0, 1)
    here = seen.Seen("00000000000000ab", 0, 2, "n0", "node", os.getpid(), "S", communicators=[world])
    here.inside = [seen.Call("w", "barrier", 7, bytes=0, seconds=1.5)]
    record_of_it = SimpleNamespace(job=here.job, process=here.pid)
    monkeypatch.setattr(collect.memory, "ranks_seen_by", lambda pids: [record_of_it])
    monkeypatch.setattr(collect.look, "jobs", lambda pids, wanted: {here.job: [here]})
    monkeypatch.setattr(collect.nodes, "of_job", lambda pids: collect.nodes.Nodes((os.uname().nodename, "n1") if way else (), way))


@pytest.mark.parametrize("launcher", ["auto", "named"])
def test_the_nodes_of_the_job_are_asked(monkeypatch, tmp_path, launcher):
    there = seen_there()
    there["jobs"][0]["seen"] = there["jobs"][0]["seen"][1:]
    (tmp_path / "there.json").write_text(json.dumps(there))
    way = a_launcher(tmp_path, "start", f"printf '%s\\n' \"$*\" >> {tmp_path}/asked\ncat {tmp_path}/there.json")
    a_job_of_two_nodes(monkeypatch, way if launcher == "auto" else "ssh")
    monkeypatch.delenv("ESPALIER_REMOTE", raising=False)
    (ranks,) = collect.jobs(None, None, "auto" if launcher == "auto" else way).values()
    assert [each.rank for each in ranks] == [0, 1] and ranks[1].is_stopped
    assert (tmp_path / "asked").read_text() == "n1 espalier who --json --no-stacks\n"


def test_that_other_nodes_may_be_asked_is_said(monkeypatch, capsys):
    a_job_of_two_nodes(monkeypatch, "ssh")
    collect.jobs(None, None)
    assert "1 rank is on another node (n1), which `espalier who 00000000000000ab --launcher auto` asks" in capsys.readouterr().err


def test_nodes_that_nothing_tells(monkeypatch):
    a_job_of_two_nodes(monkeypatch, "")
    with pytest.raises(Problem, match="name them with --hosts"):
        collect.jobs(None, None, "auto")


def a_launcher(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    "name, options, words",
    [
        ("ssh", "-p 2222", "-p 2222 n1 espalier who --json --no-stacks"),
        ("ssh", "", "n1 espalier who --json --no-stacks"),
        ("srun", "--jobid=17", "--jobid=17 --overlap --nodes=1 --ntasks=1 --nodelist=n1 espalier who --json --no-stacks"),
        ("mpirun", "-launcher ssh", "-launcher ssh -n 1 --host n1 espalier who --json --no-stacks"),
        ("mpiexec.hydra", "", "-n 1 --host n1 espalier who --json --no-stacks"),
        ("start", "--on={host} --", "--on=n1 -- espalier who --json --no-stacks"),
    ],
)
def test_what_launchers_are_told(espalier, tmp_path, name, options, words):
    (tmp_path / "there.json").write_text(json.dumps(seen_there()))
    launcher = a_launcher(tmp_path, name, f"printf '%s\\n' \"$*\" > {tmp_path}/asked\ncat {tmp_path}/there.json")
    done = espalier("who", "00000000000000ab", "--hosts", "n1", "--launcher", f"{launcher} {options}".strip())
    assert done.returncode == 0 and "2 of 2 ranks on n1" in done.stdout, done.stderr
    assert (tmp_path / "asked").read_text() == f"{words}\n"


@pytest.mark.parametrize("name", ["mpich", "openmpi", "impi"])
def test_by_the_mpirun_of_each_host(espalier, tmp_path, name):
    """It starts a command that is no rank on the machine that is named: this one."""
    (tmp_path / "there.json").write_text(json.dumps(seen_there()))
    remote = a_launcher(tmp_path, "there", f"[ \"$1\" = who ] && cat {tmp_path}/there.json")
    host = ROOT / ".venv" / name
    more = {"ESPALIER_REMOTE": remote, "LD_LIBRARY_PATH": str(host / "lib")}
    done = espalier("who", "00000000000000ab", "--hosts", os.uname().nodename, "--launcher", host / "bin/mpirun", **more)
    assert done.returncode == 0 and "2 of 2 ranks on n1" in done.stdout, done.stderr
