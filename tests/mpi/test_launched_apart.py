"""The launcher belongs to another MPI than the program: the library says so, once, and only then."""

import dataclasses

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier
WARNING = "MPI_COMM_WORLD has only one in each"

# (launcher's host, program's host)
# Under Open MPI's launcher MPICH ends the job itself.
FOREIGN = [("mpich", "openmpi"), ("impi", "openmpi"), ("openmpi", "impi")]


def under(launcher, host, ranks, *arguments, **options):
    """The program and the library of `host`, started by the launcher of another."""
    mixed = dataclasses.replace(hosts.HOSTS[launcher], libraries=[])
    program, library = hosts.program(hosts.HOSTS[host], "alone"), hosts.HOSTS[host].library
    assert library.exists(), f"{library} does not exist: run `make build` first (or set ESPALIER_LIB)"
    settings = {"LD_LIBRARY_PATH": str(hosts.HOSTS[host].venv / "lib"), **options.pop("env", {})}
    return hosts.launch(mixed, ranks, program, *arguments, library=library, env=settings, **options)


def by_itself(host, **variables):
    """No launcher; variables as one would have set them."""
    program, settings = hosts.program(host, "alone"), {"LD_PRELOAD": hosts.preload_of(host, host.library), **variables}
    return hosts.run([str(program)], {**hosts.environment(host, 1), **settings}, 60, None)


@pytest.mark.parametrize("launcher, name", FOREIGN)
def test_is_said_once(launcher, name):
    run = under(launcher, name, 3)
    assert run.status == 0 and run.out.count("world of 1\n") == 3, str(run)
    assert run.err.count(WARNING) == 1 and "started 3 ranks" in run.err, str(run)
    assert str(hosts.HOSTS[name].venv / "lib") in run.err


@pytest.mark.every_host
def test_nothing_is_said_under_the_right_launcher(launch, host):
    for ranks in (1, 2):
        run = launch(host, ranks, "alone")
        assert run.out.count(f"world of {ranks}\n") == ranks and WARNING not in run.err, str(run)


def test_one_rank_under_a_foreign_launcher():
    run = under("mpich", "openmpi", 1)
    assert "world of 1" in run.out and WARNING not in run.err, str(run)


@pytest.mark.parametrize("launcher, name", [("mpich", "openmpi")])
def test_a_program_that_a_rank_starts_is_meant_to_be_alone(launch, launcher, name):
    """Open MPI's program in a rank of MPICH, and the other way round; the launcher's announcement is for that rank."""
    other = hosts.HOSTS[name]
    inner = hosts.program(other, "alone")
    command = f"LD_LIBRARY_PATH={other.venv}/lib LD_PRELOAD={hosts.preload_of(other, other.library)} {inner}"
    run = launch(hosts.HOSTS[launcher], 2, "alone", command)
    assert run.status == 0 and run.out.count("world of 1\n") == 2, str(run)
    assert run.out.count("world of 2\n") == 2 and WARNING not in run.err, str(run)


@pytest.mark.parametrize("name", ["mpich"])  # the others fail to spawn here, with and without Espalier
def test_a_spawned_child_is_meant_to_be_alone(launch, name):
    run = launch(hosts.HOSTS[name], 2, "spawn_one", timeout=120)
    assert run.status == 0 and run.out.count("child: world of 1") == 1, str(run)
    assert WARNING not in run.err


SLURM = {"SLURM_JOB_ID": "1", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"}


@pytest.mark.parametrize("variables, said", [
    ({"SLURM_JOB_ID": "1", "SLURM_NTASKS": "4", "SLURM_NPROCS": "4"}, False),  # a shell of salloc, a batch script
    (SLURM, False),
    ({**SLURM, "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4"}, True),      # srun without --mpi
    ({**SLURM, "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "1"}, False),      # another of its ranks
    ({**SLURM, "SLURM_STEP_NUM_TASKS": "4", "MPI_LOCALNRANKS": "1", "PMI_ID": "0"}, False),  # a launcher's own step
    ({**SLURM, "SLURM_STEP_NUM_TASKS": "4", "ALONE_FORGETS": "SLURM_PROCID"}, False),        # the program wants to be alone
    ({"JSM_NAMESPACE_SIZE": "4", "JSM_NAMESPACE_RANK": "0", "JSM_NAMESPACE_LOCAL_RANK": "0"}, True),  # jsrun
    ({"FLUX_JOB_SIZE": "4", "FLUX_TASK_RANK": "0"}, True),                     # flux run -o pmi=off
    ({"FLUX_JOB_SIZE": "4", "FLUX_TASK_RANK": "3"}, False),
    ({"FLUX_JOB_SIZE": "1", "FLUX_TASK_RANK": "0"}, False),
    ({"PALS_RANKID": "0", "PALS_LOCAL_SIZE": "4"}, False),                     # of this node alone: no size of the job
    ({"MPI_LOCALNRANKS": "4"}, False),                                         # left over where the rest was removed
    ({"PMI_SIZE": "4"}, False),
    ({"PMI_SIZE": "junk", "PMI_RANK": "0"}, False),
])
def test_what_announces_ranks(variables, said):
    run = by_itself(hosts.HOSTS["openmpi"], **variables)
    assert run.status == 0 and "world of 1\n" in run.out, str(run)
    assert (WARNING in run.err) == said, str(run)
