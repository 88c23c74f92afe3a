"""The shape of the Python package: folders that can be looked over, and no way out of the package into the rest of the tree."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "espalier"
MOST = 20  # modules of one folder
MODULES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted({module.parent for module in MODULES})


def name_of(path):
    return str(path.relative_to(PACKAGE.parent))


def outside():
    """What an import could call a part of bench/ or tools/: the folders, and what is in them when they are on the path."""
    folders = [ROOT / "bench", ROOT / "tools"]
    inside = [path for folder in folders for path in folder.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))]
    return {path.stem for path in [*folders, *inside]}


def imported(text):
    """The first words of absolute imports, also of those within functions."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_a_folder_has_few_modules(folder):
    modules = [path.name for path in folder.glob("*.py")]
    assert len(modules) <= MOST, f"{name_of(folder)} has {len(modules)} modules: give some of them a folder"


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_a_folder_is_a_package(folder):
    assert (folder / "__init__.py").exists(), f"{name_of(folder)} needs an __init__.py that says what it holds"


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_nothing_outside_the_package_is_imported(module):
    found = imported(module.read_text(encoding="utf-8")) & outside()
    assert not found, f"{name_of(module)} imports {', '.join(sorted(found))}, which is not installed with the package"


def test_imports_are_found():
    text = "import os.path\nfrom bench.cluster import jobs\nfrom . import tools\ndef f():\n    import emulated_cluster\n"
    assert imported(text) == {"os", "bench", "emulated_cluster"}
    assert imported(text) & outside() == {"bench", "emulated_cluster"}
