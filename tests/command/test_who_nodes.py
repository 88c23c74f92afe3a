"""Which nodes a job has, as `espalier who` finds them: from what its launcher and its ranks were started with."""

import os
import subprocess

import pytest

from espalier.who import nodes


def started(monkeypatch, name, *words):
    """What would be found of a launcher with that command line."""
    monkeypatch.setattr(nodes, "_strings", lambda pid, file: [name, *words] if file == "cmdline" else [])
    monkeypatch.setattr(nodes, "_executable", lambda pid: nodes.Path(f"/usr/bin/{name}"))
    monkeypatch.setattr(nodes, "_with_ancestors", lambda pids: list(pids))
    return nodes.of_job([1])


@pytest.mark.parametrize(
    "words, names, way",
    [
        ("mpiexec.hydra -hosts n1,n2:4 -n 8 ./app -hosts n3", ("n1", "n2"), "ssh"),
        ("mpirun -launcher ssh -launcher-exec /opt/rsh -host n1,n1,n2 ./app", ("n1", "n2"), "/opt/rsh"),
        ("prterun --host n1:2,n2:2 -x A=B ./app", ("n1", "n2"), "ssh"),
        ("prterun --prtemca plm_ssh_agent /opt/rsh -H n1,n2 ./app", ("n1", "n2"), "/opt/rsh"),
        ("srun -w n[1-2] -n 4 ./app", ("n1", "n2"), "ssh"),
        ("mpirun -n 4 ./app", (), "ssh"),
    ],
)
def test_of_a_command_line(monkeypatch, words, names, way):
    assert started(monkeypatch, *words.split()) == nodes.Nodes(names, way)


def test_of_a_file_that_the_launcher_names(monkeypatch, tmp_path):
    file = tmp_path / "machines"
    file.write_text("# two\nn1:2\n\nn2 slots=4\nn1\n")
    monkeypatch.setattr(nodes, "_lines", lambda pid, path, read=nodes._lines: read("self", path))
    for option in ("-f", "-machinefile"):
        assert started(monkeypatch, "mpirun", option, str(file), "./app").names == ("n1", "n2")


def test_another_users_job_is_not_believed(monkeypatch):
    """Root would run what its command line names."""
    monkeypatch.setattr(nodes.processes, "owner_of", lambda pid: os.geteuid() + 1)
    monkeypatch.setattr(nodes, "_strings", lambda pid, file: ["mpirun", "-launcher-exec", "/tmp/evil", "-hosts", "n1"])
    assert nodes.of_job([os.getpid()]) == nodes.Nodes()


def test_what_is_no_plain_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, "/dev/zero"):
        assert nodes._lines("self", str(path)) == []


@pytest.mark.parametrize(
    "environment, expected",
    [
        ({"SLURM_JOB_NODELIST": "n[01-03,7],gpu1", "SLURM_JOB_ID": "17"}, (("n01", "n02", "n03", "n7", "gpu1"), "srun --jobid=17")),
        ({"SLURM_STEP_NODELIST": "n2", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_ID": "17; rm"}, (("n2",), "srun")),
        ({"PBS_NODEFILE": "FILE"}, (("n1", "n2"), "ssh")),
        ({"LSB_DJOB_HOSTFILE": "FILE"}, (("n1", "n2"), "ssh")),
        ({"PE_HOSTFILE": "/no/such/file"}, ((), "ssh")),
        ({}, ((), "ssh")),
    ],
)
def test_of_a_batch_system(tmp_path, environment, expected):
    """A real process has these variables."""
    (tmp_path / "file").write_text("n1 2 all.q\nn1\nn2\n")
    environment = {name: value.replace("FILE", str(tmp_path / "file")) for name, value in environment.items()}
    with subprocess.Popen(["sleep", "60"], env={"PATH": "/bin:/usr/bin", **environment}) as process:
        try:
            while not nodes._strings(process.pid, "environ"):
                pass  # the kernel is about to start it
            found = nodes._of_environment(process.pid) or nodes.Nodes()
        finally:
            process.kill()
    assert (found.names, found.way or "ssh") == expected


@pytest.mark.parametrize(
    "words, host",
    [
        ("/usr/bin/ssh -x n1 hydra_pmi_proxy --proxy-id 0", "n1"),
        ("ssh -q -x -p 2222 -oBatchMode=yes me@n2 prted", "n2"),
        ("ssh", ""),
        ("sh -c n1", ""),
    ],
)
def test_of_what_was_begun_by_ssh(words, host):
    assert nodes._asked_by_ssh(words.split()) == host


@pytest.mark.parametrize(
    "text, names",
    [
        ("n1", ["n1"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
        ("r[1-2]c[1,3]", ["r1c1", "r1c3", "r2c1", "r2c3"]),
        ("n[1-99999999]", []),
        ("n[x-y]", []),
        ("", []),
    ],
)
def test_lists_of_nodes(text, names):
    assert nodes.expanded(text) == names
