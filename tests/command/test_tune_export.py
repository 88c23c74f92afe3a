"""`espalier tune --export`: the host by its own. What it chooses is made up; the files are those that hosts read."""

import json

import pytest

from espalier.measured import host_jobs as jobs
from espalier.measured.times import Key, Sample
from espalier.problem import Problem
from espalier.tune import export, host_alone
from espalier.tune.host_alone import HostAlone, settings_of
from espalier.measured.point import Point

POINTS = [Point(2, "bcast", 8), Point(2, "bcast", 4096), Point(2, "alltoall", 64)]


def times(job, quick):
    """Which of the host's settings is quick, of bcast of 4 KiB."""
    def us(point):
        return 1.0 if point.size == 4096 and quick in dict(job.settings).items() else 5.0

    return jobs.Measured([Sample(Key(point), 0, us(point)) for point in job.points] * job.rounds, [], "MPI 1", "")


def tuned(kind, quick):
    alone = HostAlone(kind, POINTS, 60.0, lambda job: times(job, quick))
    assert len(list(alone.measure())) == sum(1 for _ in alone.jobs())
    return alone.choices()


def test_an_algorithm_that_is_faster_is_chosen():
    choices = tuned("openmpi", ("OMPI_MCA_coll_tuned_bcast_algorithm", "6"))
    assert [choice.number for choice in choices] == [0, 6, 0]
    assert choices[1].setting.environment["OMPI_MCA_coll_tuned_bcast_algorithm"] == "6"


def test_what_is_no_faster_is_not():
    assert host_alone.chosen(tuned("mpich", ("none", ""))) == []
    assert host_alone.choose(settings_of("mpich", POINTS[0]), POINTS[0], {0: [5.0, 9.0] * 6, 1: [4.0, 8.0] * 6}).setting is None
    assert host_alone.choose(settings_of("mpich", POINTS[0]), POINTS[0], {1: [4.0] * 12}).setting is None


def test_a_job_that_the_host_refuses_is_left_out():
    def run(job):
        return times(job, ("", "")) if not job.settings else jobs.Measured([], [], "", "ended with code 1: no such algorithm")

    alone = HostAlone("impi", POINTS, 60.0, run)
    list(alone.measure())
    assert host_alone.chosen(alone.choices()) == [] and "no such algorithm" in alone.refused[0]


def test_open_mpis_file():
    made = export.of("openmpi", tuned("openmpi", ("OMPI_MCA_coll_tuned_bcast_algorithm", "6")))
    numbers = [line.partition("#")[0].split() for line in made.text.splitlines()]
    assert numbers == [["1"], ["7"], ["1"], ["2"], ["2"], ["0", "0", "0", "0"], ["4096", "6", "0", "0"]]
    assert made.environment["OMPI_MCA_coll_tuned_dynamic_rules_filename"] == "FILE"


def test_intels_lines():
    made = export.of("impi", tuned("impi", ("I_MPI_ADJUST_BCAST", "3")))
    assert made.environment == {"I_MPI_ADJUST_BCAST": "3:4096-2147483647@2-2"}
    assert made.text == "# Made by `espalier tune --export`.\nexport I_MPI_ADJUST_BCAST='3:4096-2147483647@2-2'\n"


OWN = {"collective=bcast": {"comm_type=intra": {"algorithm=MPIR_Bcast_intra_binomial": {}}, "comm_type=inter": {}},
       "collective=exscan": {"algorithm=MPIR_Exscan_intra_recursive_doubling": {}}}


def test_mpichs_file(tmp_path):
    """It takes the place of all that the library chooses by: so it is the library's own, with what was found before it."""
    library = tmp_path / "libmpi.so"
    library.write_bytes(b"\x7fELF\0" + json.dumps(OWN, separators=(",", ":")).encode() + b"\0more")
    made = export.of("mpich", tuned("mpich", ("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "scatter_ring_allgather")), library)
    tree = json.loads(made.text)
    assert tree["collective=exscan"] == OWN["collective=exscan"]
    intra = tree["collective=bcast"]["comm_type=intra"]
    own = OWN["collective=bcast"]["comm_type=intra"]
    assert list(intra) == ["comm_size<2", "comm_size<=2", "comm_size=any"] and intra["comm_size=any"] == own
    assert intra["comm_size<=2"] == {"avg_msg_size<=4095": own, "avg_msg_size=any": {"algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}}}


def test_a_library_without_a_table_of_choices(tmp_path):
    (tmp_path / "libmpi.so").write_bytes(b"old")
    with pytest.raises(Problem, match="no table of choices"):
        export.of("mpich", [], tmp_path / "libmpi.so")


def test_what_is_not_confirmed_goes_back():
    choice = tuned("impi", ("I_MPI_ADJUST_BCAST", "3"))[1]
    assert host_alone.confirmed(choice, 1.2) == choice
    assert host_alone.confirmed(choice, 1.01).setting is None and host_alone.confirmed(choice, None).setting is None


def test_blocks_of_an_alltoall_are_those_for_one_rank():
    points = [Point(4, "alltoall", size) for size in (64, 1024)]
    choices = [host_alone.choose(settings_of("impi", point), point, {0: [5.0] * 12, 2: [1.0] * 12}) for point in points]
    assert export.of("impi", choices).environment == {"I_MPI_ADJUST_ALLTOALL": "2:0-255@4-4;2:256-2147483647@4-4"}


def test_what_was_written_is_tried():
    choices = tuned("impi", ("I_MPI_ADJUST_BCAST", "3"))
    kept, own = ([Sample(Key(POINTS[1]), 0, us)] * 8 for us in (1.0, 5.0))
    ((choice, factor),) = host_alone.verified(choices, jobs.Measured(kept, [], "", ""), jobs.Measured(own, [], "", ""))
    assert choice.point == POINTS[1] and factor == pytest.approx(5.0)


@pytest.mark.parametrize("words", [["--json", "x"], ["--machine", "frontera", "-o", "x"], ["--model", "frontera"]])
def test_options_that_do_not_go_with_it(espalier, words):
    done = espalier("tune", "--export", "x.conf", *words)
    assert done.returncode == 2 and "by its own" in done.stderr
