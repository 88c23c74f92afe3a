"""Jobs in containers as users have them: namespaces of an ordinary user, /dev/shm of 64 MiB, Docker's seccomp filter."""

import json
import os
import re
import shutil
import subprocess
import sys

import hosts
import pytest
from namespaces import ORDINARY_USER, in_a_container

SUBJECTS = "barrier,roots,sizes,communicators,random"


def passed(run):
    assert run.status == 0, str(run)
    assert re.search(r"^\d+ passed, 0 failed", run.out, re.M), str(run)
    assert "left behind:" not in run.err and "still runs:" not in run.err, str(run)


def seccomp(*options):
    wrap = [str(hosts.plain_program("docker_seccomp")), *options]
    tried = subprocess.run([*wrap, "true"], capture_output=True, text=True)
    if tried.returncode == 3:
        pytest.skip(tried.stderr.strip())
    assert tried.returncode == 0, tried.stderr
    return wrap


def test_the_filter_refuses():
    """What Docker's does; without it the tests below would show nothing."""
    for words in (["unshare", "--mount", "true"], ["unshare", "--user", "true"]):
        assert subprocess.run([*seccomp(), *words], capture_output=True).returncode != 0
    for wrap, call in ((seccomp(), "add_key"), (seccomp("--old-kernel"), "process_vm_readv")):
        assert error_of(wrap, call) == "1"  # EPERM
    assert error_of(seccomp(), "process_vm_readv") != "1"


def error_of(wrap, call):
    """Of a call with arguments that make no sense."""
    numbers = {"x86_64": {"add_key": 248, "process_vm_readv": 310}, "aarch64": {"add_key": 217, "process_vm_readv": 270}}
    number = numbers.get(os.uname().machine, {}).get(call) or pytest.skip(f"the number of {call} is not known here")
    script = f"import ctypes; ctypes.CDLL(None, use_errno=True).syscall({number}, 0, 0, 0, 0, 0, 0); print(ctypes.get_errno())"
    return subprocess.run([*wrap, sys.executable, "-c", script], capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.full)])
def test_a_rootless_container(launch, host, ranks, statistics):
    passed(launch(host, ranks, "checked", "--only", SUBJECTS, wrap=in_a_container(), env=statistics.env))
    statistics.check(host, ranks)


@pytest.mark.parametrize("ranks", [3, pytest.param(8, marks=pytest.mark.full)])
def test_like_docker(launch, host, ranks, statistics):
    """The filter, 64 MiB of /dev/shm and processes of its own, all at once."""
    passed(launch(host, ranks, "checked", "--only", SUBJECTS, wrap=[*in_a_container(), *seccomp()], env=statistics.env))
    statistics.check(host, ranks)


@pytest.mark.parametrize("name", ["mpich", pytest.param("openmpi", marks=pytest.mark.full), "impi"])
def test_like_docker_on_an_old_kernel(launch, name, statistics):
    """Without single copy between processes. MPICH reads other ranks' memory by that call, unless it is told not to."""
    env = {**statistics.env, "MPIR_CVAR_CH4_CMA_ENABLE": "0", "OMPI_MCA_btl_sm_use_cma": "0"}
    wrap = [*in_a_container(), *seccomp("--old-kernel")]
    passed(launch(hosts.HOSTS[name], 3, "checked", "--only", SUBJECTS, wrap=wrap, env=env))
    statistics.check(hosts.HOSTS[name], 3)


@pytest.fixture
def open_copy(tmp_path_factory):
    """A library and a program that an ordinary user may read, wherever this tree lies."""
    folder = tmp_path_factory.mktemp("open")
    for above in [folder, *folder.parents][:-1]:
        if above.owner() == "root" and above.stat().st_mode & 0o001 == 0:
            above.chmod(above.stat().st_mode | 0o011)
    return folder


@pytest.mark.needs_espalier
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can play another user")
@pytest.mark.skipif(not shutil.which("setpriv"), reason="there is no `setpriv`")
def test_an_ordinary_users_container(launch, open_copy):
    """One that has no right on this machine: root in there has no rights outside."""
    host = hosts.HOSTS["mpich"]
    program = shutil.copy(hosts.program(host, "checked"), open_copy)
    library = shutil.copy(host.library, open_copy)
    out = open_copy / "out"
    out.mkdir()
    out.chmod(0o777)
    if subprocess.run([*ORDINARY_USER, host.mpirun, "-info"], capture_output=True).returncode != 0:
        pytest.skip("this tree's MPI may not be read by an ordinary user")
    wrap = [*in_a_container(as_user=tuple(ORDINARY_USER)), *seccomp()]
    env = {"ESPALIER_STATS": str(out / "run.json"), "HOME": "/tmp", "TMPDIR": "/tmp"}
    passed(launch(host, 3, program, "--only", SUBJECTS, wrap=wrap, env=env, library=library, cwd="/"))
    rows = json.loads((out / "run.json").read_text())["rows"]
    assert rows and {row["transport"] for row in rows} == {"shared memory"}


def test_two_containers_on_one_machine_are_apart(launch, host, statistics, tmp_path):
    """Jobs of one name, of equal process numbers, in containers that share a machine: neither sees the other. Each has a folder
    for temporary files, since Open MPI's launchers meet there otherwise, with and without Espalier."""
    wrap = in_a_container()
    first = hosts.command_for(host, 2, [hosts.program(host, "checked"), "--only", "barrier,roots"],
                              hosts.preload_of(host, host.library), {})
    surroundings = {**hosts.environment(host, 2), "TMPDIR": str(tmp_path)}
    other = subprocess.Popen([*wrap, *first], env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    passed(launch(host, 2, "checked", "--only", "barrier,roots", wrap=wrap, env=statistics.env))
    out, err = other.communicate(timeout=120)
    assert other.returncode == 0 and re.search(r"^\d+ passed, 0 failed", out, re.M), out + err
    statistics.check(host, 2, ["barrier"])


def test_killed_in_a_container(launch, statistics):
    """By SIGKILL, the whole of it, as `docker kill` does: nothing of the job is in this machine's /dev/shm."""
    before = set(os.listdir("/dev/shm"))
    script = "true"  # /dev/shm is this machine's
    host = hosts.HOSTS["mpich"]
    command = hosts.command_for(host, 2, [hosts.program(host, "checked"), "--only", SUBJECTS],
                                hosts.preload_of(host, host.library), {})
    process = subprocess.Popen([*in_a_container(script), *command], env=hosts.environment(host, 2), stdout=subprocess.PIPE, text=True)
    process.stdout.readline()  # it has begun
    process.kill()
    process.wait()
    left = {name for name in set(os.listdir("/dev/shm")) - before if "espalier" in name.lower()}
    assert not left, left
