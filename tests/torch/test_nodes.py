"""Groups over several nodes, which are pretended; parts of groups."""

import pytest


@pytest.mark.parametrize("nodes", ["3+1", "2:cyclic"])
def test_results_over_nodes_are_those_of_gloo(start, nodes):
    outputs = start(4, "over_nodes.py", ESPALIER_NODES=nodes).expect_success(240)
    assert all("all done" in output for output in outputs)


def test_groups_within_a_node_and_of_ranks_that_share_none(start, form):
    outputs = start(4, "kinds.py", ESPALIER_NODES="2").expect_success()
    of_a_node = "NativeGroup" if form == "C++" else "Group"
    expected = [f"AcrossGroup {of_a_node} ProcessGroup", f"AcrossGroup {of_a_node}", "AcrossGroup ProcessGroup", "AcrossGroup"]
    for output, kinds in zip(outputs, expected):
        assert f"kinds {kinds}" in output.splitlines(), output


def test_ddp_over_nodes_trains_as_on_one(start):
    losses = []
    for nodes in ("2+1", ""):
        outputs = start(3, "train.py", ESPALIER_NODES=nodes).expect_success()
        losses.append([line for line in outputs[0].splitlines() if line.startswith("losses")])
    of_nodes, of_one = ([float(number) for number in line[0].split("[")[1].rstrip("]").split(",")] for line in losses)
    assert of_nodes == pytest.approx(of_one, rel=1e-3)  # sums of three depend on their order


def test_a_rank_of_one_node_that_is_killed_ends_all(start):
    ranks = start(3, "mistakes.py", "die", ESPALIER_NODES="2+1")
    outputs = ranks.outputs(100)
    assert "rank 1 has ended before" in outputs[0], outputs[0]
    assert "leaders' exchange over the nodes failed" in outputs[2], outputs[2]
    assert ranks.processes[0].returncode == 0 and ranks.processes[2].returncode == 0, outputs


def test_split_group(start, form):
    ranks = start(4, "split.py")
    outputs = ranks.outputs()
    if any("no split_group of CPUs" in output for output in outputs):
        pytest.skip("torch's split_group takes groups of CPUs from version 2.15 on")
    for process, output in zip(ranks.processes, outputs):
        assert process.returncode == 0 and "all done" in output, output
