"""Above the number of cores the ranks that MPICH's launcher starts share one session; elsewhere each has its own."""

import os
import subprocess
import time

import hosts
import pytest
from test_killed import alive, processes_with

pytestmark = [pytest.mark.needs_espalier, pytest.mark.unsanitized]

HYDRA = ["mpich", "mpich-abi", "debian-mpich"]
OVERSUBSCRIBED = hosts.CORES + 2
MARK = "ESPALIER_TEST_LAUNCHER_SESSION"


def start(host, ranks, script, *options, **settings):
    """A launcher with Espalier preloaded, as `espalier run` starts it; each rank is a shell."""
    env = {**hosts.environment(host, ranks), "LD_PRELOAD": str(host.library), **settings}
    command = [host.mpirun, *options, "-n", str(ranks), "sh", "-c", script]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def sessions(host, ranks, *options, **settings):
    """Process, process group and session of every rank."""
    job = start(host, ranks, "cut -d' ' -f1,5,6 /proc/$$/stat", *options, **settings)
    out, _ = job.communicate(timeout=120)
    assert job.returncode == 0, out
    found = [tuple(map(int, line.split())) for line in out.splitlines()]
    assert len(found) == ranks
    return found


@pytest.mark.parametrize("options", [[], ["-bind-to", "core"]], ids=["free", "bound"])
@pytest.mark.parametrize("name", HYDRA)
def test_ranks_that_share_cores_share_a_session(name, options):
    found = sessions(hosts.HOSTS[name], OVERSUBSCRIBED, *options)
    assert len({session for _, _, session in found}) == 1
    assert all(group == process for process, group, _ in found), "the launcher's signals go to each rank's group"


@pytest.mark.parametrize("ranks", [1, hosts.CORES])
@pytest.mark.parametrize("name", HYDRA)
def test_ranks_with_a_core_each_have_sessions_of_their_own(name, ranks):
    assert all(process == group == session for process, group, session in sessions(hosts.HOSTS[name], ranks))


@pytest.mark.parametrize("settings", [{"ESPALIER": "off"}, {"ESPALIER_ONE_SESSION": "off"}], ids=["all", "this"])
def test_off(settings):
    found = sessions(hosts.HOSTS["mpich"], OVERSUBSCRIBED, **settings)
    assert all(process == group == session for process, group, session in found)


@pytest.mark.parametrize("how", ["launcher", "rank"])
@pytest.mark.parametrize("name", ["mpich", "debian-mpich"])
def test_the_launcher_ends_its_ranks_and_their_children(name, how, tmp_path):
    """It has a signal, or a rank of it dies of one; a child stays only if the signal missed its group."""
    value = f"{os.getpid()}.{name}.{how}"
    script = "sleep 1000 & echo there; wait"
    if how == "rank":
        script = f"if [ $PMI_RANK = {OVERSUBSCRIBED - 1} ]; then until [ -e {tmp_path}/die ]; do sleep 0.05; done; kill -9 $$; fi; {script}"
    job = start(hosts.HOSTS[name], OVERSUBSCRIBED, script, **{MARK: value})
    for _ in range(OVERSUBSCRIBED - (how == "rank")):
        assert job.stdout.readline() == "there\n"
    (tmp_path / "die").touch()
    if how == "launcher":
        job.terminate()
    job.communicate(timeout=120)
    if how == "rank":  # after a signal of its own Debian's may end with 0
        assert job.returncode != 0
    end = time.monotonic() + 60
    while alive(processes_with(f"{MARK}={value}")) and time.monotonic() < end:
        time.sleep(0.1)
    assert not alive(processes_with(f"{MARK}={value}"))


def test_programs_that_ask_for_a_session_get_one():
    """The library wraps setsid and execvp of every process; only the launcher's own is answered otherwise."""
    env = {**os.environ, "LD_PRELOAD": str(hosts.HOSTS["mpich"].library)}
    script = "import os; os.fork() or (os.setsid(), os.execvp('cut', ['cut', '-d ', '-f1,6', '/proc/self/stat'])); os.wait()"
    out = subprocess.run(["python3", "-c", script], env=env, capture_output=True, text=True, check=True).stdout
    process, session = out.split()
    assert process == session
