"""Where the program is among a launcher's words."""

import pytest

from espalier.launch import command_line, launchers, wrappers

FAMILIES = {"hydra": launchers.HYDRA, "ompi": launchers.OPEN_MPI, "slurm": launchers.SLURM}
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


def read(family, text, tmp_path):
    launcher = tmp_path / "mpirun"
    launcher.write_text("")
    launcher.chmod(0o755)
    words = [str(launcher) if word == "mpirun" else word for word in text.split()]
    return command_line.read(words, ENVIRONMENT, lambda _: FAMILIES[family])


@pytest.mark.parametrize(
    "family, text",
    [
        ("hydra", "mpirun -n 4 ./app x"),
        ("hydra", "mpirun -np 4 -bind-to core:1 -genv A B -genvlist C,D -l ./app x"),
        ("hydra", "mpirun --hosts a,b -ppn=2 -genv A=B -genvall -print-rank-map ./app x"),
        ("hydra", "mpirun -iface eth0 -wdir /tmp -env A B -n 2 env C=D ./app x"),
        ("ompi", "mpirun -np 4 ./app x"),
        (
            "ompi",
            "mpirun --allow-run-as-root --oversubscribe --mca btl self,sm -x A=B -x C --map-by ppr:2:node -n 2 ./app x",
        ),
        (
            "ompi",
            "mpirun --prtemca a b --pmixmca c d --bind-to none -H a:2 --output tag --display bind ./app x",
        ),
        ("ompi", "mpirun --map-by=core --tag-output --timeout 60 taskset -c 0,1 ./app x"),
        ("slurm", "srun -n4 -N 2 --mpi=pmix --cpu-bind cores -u -l ./app x"),
        ("slurm", "srun --ntasks=4 --exclusive --time 5 --export=ALL,A=B -- ./app x"),
        ("slurm", "srun -n 4 numactl --membind=0 -C 0-3 ./app x"),
    ],
)
def test_program_is_found(family, text, tmp_path, monkeypatch):
    line = read(family, text.replace("srun", "mpirun"), tmp_path)
    assert [program.words for program in line.programs] == [["./app", "x"]]
    assert line.unknown == []


def test_variables_of_the_job(tmp_path):
    line = read(
        "hydra", "mpirun -genv A 1 -env B 2 -n 1 env C=3 -u D ./app : -env E 5 -n 1 ./other", tmp_path
    )
    first, second = line.programs
    assert first.environment({"D": "4", "Z": "9"}) == {"A": "1", "B": "2", "C": "3", "Z": "9"}
    assert {"A": "1", "E": "5"}.items() <= second.environment({}).items()


def test_unknown_option_with_a_value_and_without(tmp_path):
    line = read("ompi", "mpirun --future 3 -n 1 ls x", tmp_path)
    assert (line.unknown, line.programs[0].words) == (["--future"], ["ls", "x"])
    line = read("ompi", "mpirun --future ls x", tmp_path)
    assert (line.unknown, line.programs[0].words) == (["--future"], ["ls", "x"])


def test_option_at_the_very_end(tmp_path):
    for text in ("mpirun -n", "mpirun -genv A", "mpirun", "mpirun -n 2 env", "mpirun -n 2 :"):
        assert read("hydra", text, tmp_path).programs == []


def test_configuration_file(tmp_path):
    assert read("hydra", "mpirun -configfile jobs.txt", tmp_path).configured == "jobs.txt"
    assert read("ompi", "mpirun --app jobs.txt", tmp_path).configured == "jobs.txt"


@pytest.mark.parametrize(
    "text",
    [
        "env -i A=B ./app",
        "env -u X -- ./app",
        "taskset 0x3 ./app",
        "taskset -c 0-3 ./app",
        "nice ./app",
        "nice -n 5 ./app",
        "timeout -k 5 60s ./app",
        "timeout -- 60 ./app",
        "/usr/bin/time -f %e -o out ./app",
        "numactl -N 0 -m 0 stdbuf -oL ./app",
        "chrt -f 10 ./app",
        "gdb -ex run --args ./app",
    ],
)
def test_wrappers(text):
    words = text.split()
    found = wrappers.unwrap(words, 0, len(words))
    assert words[found.start] == "./app"


def test_wrapper_without_a_program():
    assert wrappers.unwrap(["env", "A=B"], 0, 2).start is None
