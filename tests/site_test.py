"""The site of the documentation: built as `make site` builds it, but without a network."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MKDOCS = ROOT / ".venv" / "site" / "bin" / "mkdocs"
# What a page would load; the link to the theme's author at the bottom loads nothing.
LOADED = re.compile(r"<(?:script|link|img|iframe|source)[^>]*(?:src|href)=[\"']?(https?:)?//", re.I)

pytestmark = pytest.mark.skipif(
    not MKDOCS.exists() or not shutil.which("doxygen"), reason="`tools/setup/setup site` has not run"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [str(MKDOCS), "build", "--strict", "--site-dir", str(folder)]
    if os.geteuid() == 0 and shutil.which("unshare"):
        command = ["unshare", "--net", *command]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr  # also a link or an anchor that leads nowhere
    return folder


def text_of(page):
    return re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))


def test_every_page_is_in_the_navigation(site):
    navigation = set(re.findall(r"^\s*- (?:[^:\n]+: )?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages - navigation == set()


def test_nothing_is_loaded_from_elsewhere(site):
    wrong = [page.name for page in site.rglob("*.html") if LOADED.search(page.read_text(encoding="utf-8"))]
    assert wrong == []
    assert not [picture.name for picture in site.glob("pictures/*.svg") if "@font-face" in picture.read_text()]


def test_pictures_come_from_the_command(site):
    page = (site / "commands.html").read_text(encoding="utf-8")
    names = re.findall(r'src="(pictures/\w+\.svg)"', page)
    assert len(names) >= 4 and all((site / name).stat().st_size > 1000 for name in names)
    assert "<!-- screen" not in page
    assert any("package" in (site / name).read_text() for name in names)


@pytest.mark.parametrize("header", sorted((ROOT / "include" / "espalier").glob("*.h")), ids=lambda path: path.name)
def test_the_reference_has_every_function_with_its_words(site, header):
    source = header.read_text()
    page = text_of(site / "api" / f"{header.stem.replace('_', '__')}_8h.html")
    functions = re.findall(r"^ESPALIER_API [^;=]*?(\w+)\(", source, re.M)
    assert functions and [name for name in functions if name not in page] == []


def test_links_to_sources_are_paths():
    import importlib.util

    spec = importlib.util.spec_from_file_location("links", ROOT / "tools" / "site" / "links.py")
    links = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(links)
    assert links.outside_links("see [wait.hpp](../src/machine/wait.hpp)") == "see wait.hpp (`src/machine/wait.hpp`)"
    assert links.outside_links("see [src/machine](../src/machine)") == "see src/machine"
    assert links.outside_links("see [rules](rules.md#errors)") == "see [rules](rules.md#errors)"
