"""`cmake --install`, and a user's project that builds against the result by CMake and by pkg-config."""

import os
import shutil

import pytest
from conftest import BUILDS, PYTHON, run

PI = "pi is about 3.14159265"


@pytest.fixture(scope="module")
def installed(build, tmp_path_factory):
    """A prefix with a space that has been moved since `cmake --install`."""
    folder = tmp_path_factory.mktemp("install")
    run("cmake", "--install", build, "--prefix", folder / "first place")
    prefix = folder / "the prefix"
    (folder / "first place").rename(prefix)
    return prefix


def espalier(prefix, *words, **more):
    return run(prefix / "bin/espalier", *words, ESPALIER_PYTHON=str(PYTHON), **more)


def library_folder(prefix):
    return next(path for path in (prefix / "lib", *prefix.glob("lib*/*"), *prefix.glob("lib*")) if (path / "libespalier.so").exists())


def test_libraries_of_all_abis_and_the_daemon(installed):
    lib = library_folder(installed)
    for name in [*(f"libespalier-{build}.so" for build in BUILDS), "libespalier.so", "libespalier-sharp.so"]:
        assert (lib / name).exists(), name
        assert "not found" not in run("ldd", lib / name).stdout
    assert "usage: espalier-aggd" in run(installed / "bin/espalier-aggd", check=False).stderr


def test_what_is_built_is_installed(installed, build):
    """Also a library that came after this test was written."""
    built = {path.name for path in (build / "lib").glob("libespalier*.so*")}
    there = {path.name for path in library_folder(installed).glob("libespalier*")}
    assert built - there == {name for name in built if name.endswith(".debug")} and len(there) >= 5
    headers = {path.name for path in (installed / "include").rglob("*.h")}
    assert {"espalier.h", "espalier_window.h", "describe.h"} <= headers and "sharp_coll.h" not in headers


def test_libraries_are_stripped_and_name_their_symbols(installed):
    lib = library_folder(installed)
    sections = run("readelf", "-SW", lib / "libespalier-mpich.so").stdout
    if ".gnu_debuglink" not in sections:
        pytest.skip("build/ is no release build with ESPALIER_SPLIT_DEBUG")
    assert ".symtab" not in sections and ".debug_info" not in sections
    assert (lib / ".debug/libespalier-mpich.so.debug").exists()


def test_the_command_finds_its_own_libraries(installed):
    lib = library_folder(installed)
    doctor = espalier(installed, "doctor", check=False).stdout
    for build in BUILDS:
        assert f"{lib}/libespalier-{build}.so" in doctor
    assert "algorithm" in espalier(installed, "explain", "allreduce", "64KiB", "-n", "8").stdout


def test_the_command_reaches_a_program(installed):
    """The path has a space, so the command preloads by a link."""
    maps = espalier(installed, "run", "--mpi", "mpich", "--", "cat", "/proc/self/maps").stdout
    assert f"{library_folder(installed)}/libespalier-mpich.so" in maps


def test_version_commit_and_build(installed):
    words = espalier(installed, "--version").stdout
    assert words.startswith("espalier 0.") and "(commit " in words or "(unknown commit" in words


def test_nothing_is_written_into_the_prefix_by_its_use(installed):
    before = sorted(installed.rglob("*"))
    espalier(installed, "explain", "barrier", "-n", "2")
    assert sorted(installed.rglob("*")) == before


def test_manual_pages(installed):
    pages = {path.name for path in (installed / "share/man/man1").glob("*.1")}
    assert {"espalier.1", "espalier-run.1", "espalier-doctor.1", "espalier-aggd.1"} <= pages
    text = (installed / "share/man/man1/espalier-run.1").read_text()
    assert "\\-\\-fallback" in text and "\\-\\-stats" in text


COMPLETIONS = {"bash": "bash-completion/completions/espalier", "zsh": "zsh/site-functions/_espalier",
               "fish": "fish/vendor_completions.d/espalier.fish"}  # fmt: skip


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_completion_lies_where_the_shell_looks(installed, shell):
    assert (installed / "share" / COMPLETIONS[shell]).read_text() == espalier(installed, "completion", shell).stdout


def test_bash_completes_the_installed_command(installed):
    """As bash-completion loads the script: when the command's name is first completed."""
    script = installed / "share" / COMPLETIONS["bash"]
    program = 'source "$1"; complete -p espalier; COMP_WORDS=(espalier expl); COMP_CWORD=1; _espalier_completion espalier; echo "${COMPREPLY[@]}"'
    path = f"{installed / 'bin'}:{os.environ['PATH']}"
    said = run("bash", "-c", program, "bash", script, PATH=path, ESPALIER_PYTHON=str(PYTHON)).stdout.splitlines()
    assert "-F _espalier_completion espalier" in said[0] and said[1] == "explain"


def test_a_python_without_what_the_command_needs_is_told(installed, tmp_path):
    run("python3", "-m", "venv", "--without-pip", tmp_path / "bare")
    done = run(installed / "bin/espalier", "--version", check=False, ESPALIER_PYTHON=str(tmp_path / "bare/bin/python"))
    assert done.returncode == 1 and "pip install typer rich jinja2 pyelftools" in done.stderr
    done = run(installed / "bin/espalier", "--version", check=False, ESPALIER_PYTHON="no-such-python")
    assert done.returncode == 1 and "no Python at 'no-such-python'" in done.stderr


def test_a_project_by_cmake(installed, examples, tmp_path):
    run("cmake", "-S", examples / "consumer", "-B", tmp_path / "a build", f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", tmp_path / "a build")
    assert PI in run(tmp_path / "a build/pi").stdout


@pytest.mark.parametrize("wanted, fits", [("0.2", True), ("0.3", False), ("1.0", False)])
def test_versions_for_cmake(installed, tmp_path, wanted, fits):
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.22)\nproject(p NONE)\nfind_package(Espalier {wanted} REQUIRED)\n"
        "get_target_property(place Espalier::mpich IMPORTED_LOCATION_RELEASE)\nmessage(STATUS \"at ${place}\")\n"
    )
    done = run("cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={installed}", check=False)
    assert (done.returncode == 0) == fits
    assert not fits or f"at {library_folder(installed)}/libespalier-mpich.so" in done.stdout


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="there is no pkg-config")
def test_a_project_by_pkg_config(installed, examples):
    run("make", cwd=examples / "consumer", PKG_CONFIG_PATH=f"{library_folder(installed)}/pkgconfig")
    assert PI in run(examples / "consumer/pi").stdout


def test_uninstall_leaves_nothing(build, tmp_path):
    prefix = tmp_path / "a prefix"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "share").mkdir()
    (prefix / "share/mine").touch()
    run("cmake", "--install", build, "--prefix", prefix)
    run("cmake", "--install", build, "--prefix", prefix)  # once more over it: what was there before is not forgotten
    assert (prefix / "bin/espalier").exists()
    run("cmake", "--build", build, "--target", "uninstall")
    left = sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*"))
    assert left == ["lib", "share", "share/mine"]


def test_destdir(build, tmp_path):
    stage = str(tmp_path / "stage")
    run("cmake", "--install", build, "--prefix", "/opt/espalier", DESTDIR=stage)
    inside = tmp_path / "stage/opt/espalier"
    assert os.listdir(tmp_path / "stage") == ["opt"] and not os.path.exists("/opt/espalier")
    assert "mpich" in espalier(inside, "doctor", check=False).stdout
    for text in [*inside.rglob("*.pc"), *inside.rglob("*.cmake"), inside / "bin/espalier", *inside.rglob("*.py")]:
        assert stage not in text.read_text(), text
    run("cmake", "--build", build, "--target", "uninstall", DESTDIR=stage)
    assert not inside.exists() and list((tmp_path / "stage/opt").iterdir()) == []
