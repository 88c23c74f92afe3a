"""The backend beside gloo, and what programs do with groups, threads, DDP and errors."""

import glob
import re
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_results_are_those_of_gloo(start, form, size):
    outputs = start(size, "against_gloo.py").expect_success(240)
    assert all("calls" in output for output in outputs)


@pytest.mark.parametrize("size", [2, 4])
def test_many_groups_that_overlap_and_works_that_are_not_waited_for(start, form, size):
    start(size, "groups.py").expect_success()


def test_ddp_trains_as_with_gloo(start, form):
    losses = []
    for backend, switched in (("gloo", ""), ("espalier", ""), ("gloo", "gloo")):
        refused = {} if switched or backend != "gloo" else {"ESPALIER_TEST_REFUSED": "1"}
        outputs = start(2, "train.py", ESPALIER_TEST_BACKEND=backend, ESPALIER_TORCH=switched, **refused).expect_success()
        losses.append([line for line in outputs[0].splitlines() if line.startswith("losses")])
    assert losses[0] and losses[0] == losses[1] == losses[2]


def test_functional_collectives_dtensor_and_fsdp(start, form):
    assert all("all done" in output for output in start(2, "libraries.py").expect_success())


@pytest.mark.parametrize("size", [2, 3])
def test_the_operator_does_what_all_reduce_does(start, form, size):
    assert all("all done" in output for output in start(size, "by_operator.py").expect_success())


@pytest.mark.parametrize(
    "environment",
    [
        dict(ESPALIER_TEST_BACKEND="cpu:espalier_native"),
        dict(TORCH_FR_BUFFER_SIZE="100"),
        dict(ESPALIER_NODES="2+1"),
        dict(ESPALIER_TEST_BACKEND="gloo", ESPALIER_TEST_REFUSED="1"),
    ],
    ids=["beside other devices", "recorded", "nodes", "gloo"],
)
def test_the_operator_finds_every_group(start, native, environment):
    if not native:
        pytest.skip("there is no compiler, or it could not build the backend in C++")
    assert all("all done" in output for output in start(3, "by_operator.py", **environment).expect_success())


def test_a_script_that_says_gloo_is_switched(start):
    outputs = start(2, "switched.py", ESPALIER_TEST_BACKEND="gloo", ESPALIER_TORCH="gloo").expect_success()
    assert all("Group gloo" in output and "ProcessGroup" not in output for output in outputs)


def test_the_backend_in_cpp_stands_beside_those_of_other_devices(start, native):
    if not native:
        pytest.skip("there is no compiler, or it could not build the backend in C++")
    outputs = start(2, "switched.py", ESPALIER_TEST_BACKEND="cpu:espalier_native").expect_success()
    assert all("ProcessGroup cpu:espalier_native" in output for output in outputs)


def test_an_installed_espalier_is_found_by_import_torch(start, tmp_path):
    """As pip would leave it: the entry point, without `import espalier.torch` in the program."""
    installed = tmp_path / "espalier-0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: espalier\nVersion: 0\n")
    pyproject = (ROOT / "pyproject.toml").read_text()
    entry = re.search(r'entry-points."torch.backends"\]\nespalier = "(.*)"', pyproject).group(1)
    (installed / "entry_points.txt").write_text(f"[torch.backends]\nespalier = {entry}\n")
    start(2, "autoloaded.py", PYTHONPATH=f"{ROOT / 'python'}:{tmp_path}").expect_success()


def test_ranks_that_share_no_node_get_gloo(start):
    outputs = start(2, "switched.py", ESPALIER_NODES="2", ESPALIER_TEST_REFUSED="1").expect_success()
    assert "the collectives of a group of 2 ranks are gloo's" in outputs[0]
    assert all("ProcessGroup espalier" in output for output in outputs)


@pytest.mark.parametrize("later", [[], ["later"]], ids=["at once", "async_op"])
def test_a_rank_that_is_killed_is_named(start, form, later):
    ranks = start(3, "mistakes.py", "die", *later)
    outputs = ranks.outputs(60)
    for rank in (0, 2):
        assert "rank 1 has ended before the allreduce" in outputs[rank], outputs[rank]
        assert ranks.processes[rank].returncode == 0, outputs[rank]
    assert ranks.processes[1].returncode == -signal.SIGKILL


@pytest.mark.parametrize("later", [[], ["later"]], ids=["at once", "async_op"])
def test_a_rank_that_is_stopped_is_named_when_the_time_is_over(start, form, later):
    ranks = start(2, "mistakes.py", "stop", *later)
    output = ranks.processes[0].communicate(timeout=60)[0]
    assert "have not come: 1" in output and "timeout in a collective" in output, output
    assert ranks.processes[0].returncode == 0, output


DIFFERENCES = {
    "shapes": ["allreduce of 16 bytes", "allreduce of 12 bytes"],
    "order": ["allreduce of 16 bytes", "barrier"],
    "root": ["bcast of 16 bytes with root 0", "bcast of 16 bytes with root 1"],
    "operator": ["as SUM of float32", "as MAX of float32"],
    "average": ["as SUM of float32", "as AVG of float32"],
    "all_reduce": ["as SUM of float32", "as SUM of int32"],
    "sign": ["as SUM of int8", "as SUM of uint8"],
    "all_reduce_coalesced": ["as SUM of float32", "as SUM of int32"],
    "reduce": ["reduce of 16 bytes with root 0 as", "as SUM of float32", "as SUM of int32"],
    "reduce_scatter_tensor": ["as SUM of float32", "as SUM of int32"],
    "broadcast": ["bcast of 16 bytes with root 0 as", "as float32", "as int32"],
    "all_gather": ["allgather of 16 bytes as", "as float32", "as int32"],
    "all_gather_into_tensor": ["allgather of 16 bytes as", "as float32", "as int32"],
    "gather": ["gather of 16 bytes with root 0 as", "as float32", "as int32"],
    "scatter": ["scatter of 16 bytes with root 0 as", "as float32", "as int32"],
}


@pytest.mark.parametrize("later", [[], ["later"]], ids=["at once", "async_op"])
def test_ranks_that_call_something_else_are_named(start, form, later):
    outputs = start(2, "mistakes.py", "differences", *later).expect_success()
    for mistake, words in DIFFERENCES.items():
        lines = [next(line for line in output.splitlines() if line.startswith(f"{mistake}: ")) for output in outputs]
        for line in lines:  # one may be cut, if it is what the other has told
            assert "rank 0" in line and "rank 1" in line and "timeout" not in line, line
        assert any(all(word in line for word in words) for line in lines), lines


def test_ranks_of_one_group_may_have_different_forms(start, native):
    if not native:
        pytest.skip("there is no compiler, or it could not build the backend in C++")
    outputs = start(2, "forms.py").expect_success()
    assert [output.split()[-3] for output in outputs] == ["Group", "NativeGroup"], outputs


def test_a_rank_that_never_comes_to_the_start_is_named(start):
    ranks = start(1, "late.py", WORLD_SIZE="2")
    output = ranks.expect_success(60)[0]
    assert "rank" in output and "1" in output


def test_killed_ranks_leave_nothing(start, form):
    before = set(glob.glob("/dev/shm/*espalier*"))
    ranks = start(2, "mistakes.py", "sleep")
    for process in ranks.processes:
        while "sleeps" not in process.stdout.readline():
            assert process.poll() is None
    ranks.end()
    assert set(glob.glob("/dev/shm/*espalier*")) <= before
