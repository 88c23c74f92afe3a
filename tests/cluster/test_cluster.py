"""The emulated cluster itself: nodes that are apart from each other, a switch that delays, and nothing left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from emulated_cluster import Cluster, ClusterError, cluster as library, obstacle
from emulated_cluster.cluster import REPOSITORY

TOOLS = REPOSITORY / "tools"
needs_switch = pytest.mark.skipif(
    not library.SWITCH.exists() and "ESPALIER_SWITCH" not in os.environ,
    reason=f"the delaying switch is not built ({library.SWITCH})",
)


def output(cluster, node, *words, **more):
    done = subprocess.run([*cluster.words(node), *words], capture_output=True, text=True, timeout=60, **more)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


# --- nodes are apart ------------------------------------------------------------------------------------------------


def test_nodes_have_names_and_identities_of_their_own(cluster):
    assert [output(cluster, node, "hostname").strip() for node in ("head", "n0", "n1")] == ["head", "n0", "n1"]
    identities = {output(cluster, node, "cat", "/proc/sys/kernel/random/boot_id") for node in ("head", "n0", "n1")}
    assert len(identities) == 3


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_nodes_share_no_files_there(cluster, folder):
    path = f"{folder}/of-one-node"
    output(cluster, "n0", "touch", path)
    assert output(cluster, "n0", "ls", path).strip() == path
    gone = subprocess.run([*cluster.words("n1"), "ls", path], capture_output=True)
    assert gone.returncode != 0 and not Path(path).exists()
    output(cluster, "n0", "rm", path)


def test_nodes_see_the_repository_and_what_is_kept(cluster, tmp_path):
    (tmp_path / "note").write_text("kept")
    for node in ("head", "n0", "n7"):
        assert output(cluster, node, "cat", str(tmp_path / "note")) == "kept"
        assert output(cluster, node, "ls", str(REPOSITORY / "Makefile"))


def test_nodes_see_only_their_own_processes(cluster):
    seen = output(cluster, "n0", "sh", "-c", "ls -d /proc/[0-9]*").split()
    assert "/proc/1" in seen and len(seen) < 10


def test_nodes_reach_each_other_by_name(cluster):
    listen = (
        "import socket; s = socket.create_server(('', 7000)); print('up', flush=True); "
        "c, _ = s.accept(); c.sendall(c.recv(9))"
    )
    call = "import socket; s = socket.create_connection(('n1', 7000)); s.sendall(b'hello'); print(s.recv(9).decode())"
    with subprocess.Popen(
        [*cluster.words("n1"), sys.executable, "-c", listen], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout.readline() == "up\n"
        assert output(cluster, "n0", sys.executable, "-c", call) == "hello\n"


def test_all_are_in_one_cpu_group(cluster):
    if not cluster.group:
        pytest.skip(f"no CPU control group: {cluster.no_group}")
    name = os.path.basename(cluster.group)
    assert all(name in output(cluster, node, "cat", "/proc/self/cgroup") for node in ("head", "n0", "n7"))


def test_a_stopped_node_stands_still(cluster, tmp_path):
    counter = tmp_path / "count"
    count = f"i=0; while :; do i=$((i+1)); echo $i > {counter}.new; mv {counter}.new {counter}; sleep 0.01; done"
    with subprocess.Popen([*cluster.words("n2"), "sh", "-c", count]) as job:
        while not counter.exists():
            time.sleep(0.01)
        with cluster.stopped("n2") as held:
            assert held
            time.sleep(0.1)
            before = counter.read_text()
            time.sleep(0.3)
            assert counter.read_text() == before
        until = time.monotonic() + 60
        while counter.read_text() == before:
            assert time.monotonic() < until, "the node did not go on"
            time.sleep(0.01)
        cluster.clear()
        job.wait(60)
    assert cluster.processes("n2") == []


# --- the switch -----------------------------------------------------------------------------------------------------

SEND = """
import hashlib, socket, time
data = bytes(range(256)) * 16384
s = socket.create_connection(("n1", 7001)); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
trips = []
for _ in range(5):
    begin = time.monotonic(); s.sendall(b"x"); s.recv(1); trips.append(time.monotonic() - begin)
s.sendall(data); s.shutdown(socket.SHUT_WR)
answer = b""
while part := s.recv(100): answer += part
print(min(trips), answer.decode() == hashlib.sha256(data).hexdigest())
"""
ANSWER = """
import hashlib, socket
server = socket.create_server(("", 7001)); print("up", flush=True)
c, _ = server.accept(); c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(5): c.recv(1); c.sendall(b"y")
seen = hashlib.sha256()
while part := c.recv(1 << 16): seen.update(part)
c.sendall(seen.hexdigest().encode())
"""


@needs_switch
@pytest.mark.parametrize("delay_us, rate_mbit", [(20000, 0), (500, 400)])
def test_the_switch_delays_and_carries_everything(namespaces, delay_us, rate_mbit):
    """No round trip can be shorter than twice the delay; 4 MiB arrive as they were."""
    with Cluster(2, delay_us, rate_mbit) as cluster:
        with subprocess.Popen(
            [*cluster.words("n1"), sys.executable, "-c", ANSWER], stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout.readline() == "up\n"
            trip, same = output(cluster, "n0", sys.executable, "-c", SEND).split()
            server.wait(60)
    assert float(trip) >= 2 * delay_us / 1e6 and same == "True"


@needs_switch
def test_the_cluster_ends_with_its_switch(namespaces):
    with Cluster(2, 500) as cluster:
        switch = next(
            pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_switch_of(pid, cluster.pids["head"])
        )
        os.kill(switch, signal.SIGKILL)
        wait_for_end(list(cluster.pids.values()))


def is_switch_of(pid, head):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return "Name:\tdelaying_switch" in status and f"PPid:\t{head}\n" in status


# --- nothing is left ------------------------------------------------------------------------------------------------

MAKER = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
sys.path.insert(0, {tools!r})
from emulated_cluster import Cluster
with Cluster(2) as cluster:
    import subprocess
    job = subprocess.Popen([*cluster.words("n1"), "sleep", "1000"])
    while not cluster.processes("n1"): time.sleep(0.01)
    print(*cluster.pids.values(), *cluster.processes("n1"), cluster.group or "-", flush=True)
    if {crash}: raise RuntimeError("on purpose")
    time.sleep(1000)
"""


def wait_for_end(pids):
    until = time.monotonic() + 60
    while left := [pid for pid in pids if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < until, f"processes {left} are still there"
        time.sleep(0.02)


def machine():
    """What a cluster could leave on the machine itself."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout
    names = re.findall(r"^\d+: ([^:@]+)", links, re.M)
    spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    mounts = sorted(line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return names, spaces, mounts, os.path.exists("/run/emulated-cluster")


@pytest.mark.parametrize("end", ["crash", signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=str)
def test_nothing_is_left(namespaces, end):
    """However the maker ends: in order, by an exception, by Ctrl-C, or killed without a chance to clear up."""
    before = machine()
    script = MAKER.format(tools=str(TOOLS), crash=end == "crash")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as maker:
        *pids, group = maker.stdout.readline().split()
        if end != "crash":
            maker.send_signal(end)
        try:
            maker.wait(60)
        finally:
            maker.kill()
    wait_for_end([int(pid) for pid in pids])
    until = time.monotonic() + 60
    while group != "-" and os.path.exists(group):
        assert time.monotonic() < until, f"the control group {group} is still there"
        time.sleep(0.02)
    assert machine() == before


def test_a_killed_keeper_takes_the_cluster_along(namespaces):
    cluster = Cluster(2)
    try:
        cluster._keeper.kill()
        wait_for_end(list(cluster.pids.values()))
    finally:
        cluster.close()
    with Cluster(1):  # clears up the control group that the keeper could not remove
        assert not cluster.group or not os.path.exists(cluster.group)


# --- what goes wrong is said ----------------------------------------------------------------------------------------


def test_a_cluster_of_nothing_is_refused():
    with pytest.raises(ClusterError, match="1 to 60"):
        Cluster(0)


def test_without_the_right_the_reason_is_named():
    """As the tests of other users see it."""
    if os.geteuid() != 0:
        assert "root" in obstacle()
        return
    words = (
        f"import os, sys; sys.path[:0] = {[str(TOOLS), *sys.path]!r}; from emulated_cluster import obstacle; "
        "os.setuid(65534); print(obstacle())"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert "need root" in done.stdout, done.stderr


def test_command_line(namespaces, tmp_path):
    command = [sys.executable, str(TOOLS / "emulated_cluster"), "--layout", "2x1"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python")}
    run = lambda *words: subprocess.run([*command, *words], capture_output=True, text=True, env=environment, timeout=60)
    assert run("--node", "n1", "--", "hostname").stdout == "n1\n"
    assert run("--", "sh", "-c", "exit 7").returncode == 7
    wrong = run("--node", "n9", "--", "hostname")
    assert wrong.returncode == 2 and "no node 'n9'" in wrong.stderr
