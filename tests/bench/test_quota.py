import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from espalier.bench import quota

V2 = "30 23 0:26 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
V1 = "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n32 23 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"


def test_v2_tries_the_own_group_and_its_parent():
    found = quota.places(V2, "0::/user.slice/shell\n")
    assert found == [(2, Path("/sys/fs/cgroup/user.slice/shell")), (2, Path("/sys/fs/cgroup/user.slice"))]
    assert quota.places(V2, "0::/\n") == [(2, Path("/sys/fs/cgroup"))]


def test_v1_is_the_cpu_controller_not_cpuset():
    assert quota.places(V1, "5:cpuset:/a\n4:cpu,cpuacct:/b\n") == [(1, Path("/sys/fs/cgroup/cpu/b"))]


def test_no_cgroup_file_system():
    assert quota.places("", "") == []
    assert "no cgroup file system" in quota.make(1, []).why


def v2_folder(path, controllers="cpu memory", handed_on="cpu"):
    (path / "cgroup.controllers").write_text(controllers)
    (path / "cgroup.subtree_control").write_text(handed_on)
    return path


def test_a_quota_of_v2_in_a_made_up_tree(tmp_path):
    """Only the kernel fills a new group with files, so there is just the one that was written."""
    found = quota.make(1.5, [(2, v2_folder(tmp_path))])
    assert found.made and found.folder == tmp_path / f"espalier-bench-{os.getpid()}"
    assert (found.folder / "cpu.max").read_text() == "150000 100000"
    assert found.described() == {"made": True, "how": f"cgroup v2, {found.folder}"}


def test_the_second_place_is_tried_and_the_reasons_are_told(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    found = quota.make(1, [(2, v2_folder(first, handed_on="memory")), (2, v2_folder(second))])
    assert found.folder.parent == second
    found = quota.make(1, [(2, v2_folder(first, controllers="memory")), (2, tmp_path / "none")])
    assert not found.made and "has no cpu controller" in found.why and "No such file" in found.why


def real():
    found = quota.make(1)
    if not found.made:
        pytest.skip(f"no control group can be made here: {found.why}")
    quota.remove(found.folder)


def test_a_real_group_holds_the_job_and_goes_with_what_is_left_in_it():
    real()
    with quota.quota(1) as made:
        with subprocess.Popen(made.wrapped(["sh", "-c", "sleep 100"])) as job:
            until = time.monotonic() + 60
            while not (made.folder / "cgroup.procs").read_text().split() and time.monotonic() < until:
                time.sleep(0.01)
            assert str(job.pid) in (made.folder / "cgroup.procs").read_text().split()
            quota.remove(made.folder)
            assert job.wait(timeout=60) == -signal.SIGKILL
    assert not made.folder.exists()


def test_a_terminated_command_removes_its_group():
    real()
    text = (
        "import time; from espalier.bench import process, quota; process.die_with_jobs()\n"
        "with quota.quota(1) as made:\n    print(made.folder, flush=True); time.sleep(100)"
    )
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as command:
        folder = Path(command.stdout.readline().strip())
        assert folder.exists()
        command.terminate()
        assert command.wait(timeout=60) == 143
    assert not folder.exists()


def test_a_killed_command_leaves_its_group_to_the_next():
    real()
    text = "import time; from espalier.bench import quota; print(quota.make(1).folder, flush=True); time.sleep(100)"
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as command:
        folder = Path(command.stdout.readline().strip())
        command.kill()
    assert folder.exists()
    with quota.quota(1):
        assert not folder.exists()
