"""MPI_Error_string of the code of one of our errors says what happened; its class stays MPI_ERR_OTHER."""

import re

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier

ALL = [*hosts.THREE, "mpich-abi", "impi-abi"]
DEBIAN = ["debian-mpich", "debian-openmpi"]
STRICT = {"ESPALIER_FALLBACK": "error"}
# Where one rank finds the mistake the other may only hear of it.
WORDS = r"Espalier: rank \d of 2: MPI_\w+ of \d+ bytes failed: .*rank 0 wanted allreduce of {} bytes, rank 1 allreduce of {} bytes"


def says(text, short):
    return re.search(WORDS.format(short, short + 4), text) or re.search(WORDS.format(short + 4, short), text) or re.search(
        r"Espalier: rank \d of 2: MPI_\w+ of \d+ bytes failed: .*" + f"rank 1 wanted allreduce of {short + 4} bytes, rank 0 allreduce of {short} bytes", text)


@pytest.mark.parametrize("name", ALL)
def test_words_name_both_sides(launch, name):
    run = launch(hosts.HOSTS[name], 2, "error_words", env=STRICT, timeout=120)
    assert run.status == 0, str(run)
    lines = re.findall(r"rank \d round 0: class MPI_ERR_OTHER, handler same, fits: .*", run.out)
    assert len(lines) == 2, str(run)
    assert all("Espalier: rank" in line for line in lines) and any(says(line, 4) for line in lines), str(run)


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_codes_are_used_again(launch, name):
    """More mistakes than Espalier has codes, all with words of their own."""
    run = launch(hosts.HOSTS[name], 2, "error_words", 300, env=STRICT, timeout=120)
    assert run.status == 0, str(run)
    lines = re.findall(r"rank \d round 299: class MPI_ERR_OTHER, handler same, fits: .*", run.out)
    assert len(lines) == 2 and any(says(line, 4 * 300) for line in lines), str(run)
    assert "does not fit" not in run.out


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_in_mpi4py(launch, name):
    host = hosts.HOSTS[name]
    run = launch(host, 2, host.venv / "bin" / "python", hosts.SOURCES / "error_words_mpi4py.py", env=STRICT, timeout=120)
    lines = re.findall(r"^rank \d: True: .*", run.out, re.M)
    assert len(lines) == 2 and any(says(line, 16) for line in lines), str(run)


@pytest.mark.parametrize("name", DEBIAN)
def test_in_fortran(launch, name):
    host = hosts.HOSTS[name]
    if why := hosts.missing(host):
        pytest.skip(why)
    run = launch(host, 2, "error_words_f90", env=STRICT, timeout=120)
    is_other = "F" if name == "debian-mpich" else "T"  # which forgets the words of codes of predefined classes
    lines = re.findall(rf"rank \d: {is_other}: .*", run.out)
    assert len(lines) == 2 and any(says(line, 16) for line in lines), str(run)


@pytest.mark.unsanitized
def test_no_memory_is_left_for_words(launch, host):
    """The call fails for want of memory, and so do the words that say so: an error all the same, and the program goes on."""
    run = launch(host, 2, "no_memory_left", timeout=60)
    assert run.status == 0 and run.out.count("an error") == 2, str(run)
    assert "no memory is left to say which" in run.err, str(run)
