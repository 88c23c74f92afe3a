"""A release build ships stripped libraries and programs; gdb and perf find the symbols of each in the file that it names."""

import re
import zlib
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
PROGRAMS = ["espalier-aggd", "espalier-simulate", "espalier-measure", "espalier-simgrid", "delaying_switch"]


def is_split():
    cache = BUILD / "CMakeCache.txt"
    return cache.exists() and re.search(r"^ESPALIER_SPLIT_DEBUG:BOOL=ON$", cache.read_text(encoding="utf-8"), re.M) is not None


def shipped():
    libraries = [path for path in BUILD.glob("lib/libespalier*.so*") if path.suffix != ".debug" and not path.is_symlink()]
    return sorted([*libraries, *(path for path in (BUILD / "bin" / name for name in PROGRAMS) if path.exists())])


pytestmark = pytest.mark.skipif(not is_split(), reason="build/ is no release build with ESPALIER_SPLIT_DEBUG")


def sections(path):
    with path.open("rb") as file:
        return {section.name: section.data() for section in ELFFile(file).iter_sections()}


def test_something_is_shipped():
    assert shipped(), f"there is no library and no helper program in {BUILD}"


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_it_is_stripped(path):
    kept = [name for name in sections(path) if name.startswith((".debug", ".zdebug")) or name == ".symtab"]
    assert kept == [], f"call espalier_split_debug() for the target of {path.name}"


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_its_symbols_are_in_the_file_that_it_names(path):
    """The link is a name, zeros up to a multiple of four bytes, and the checksum of the named file."""
    link = sections(path)[".gnu_debuglink"]
    named = path.with_name(link[: link.index(0)].decode())
    assert named.exists() and zlib.crc32(named.read_bytes()) == int.from_bytes(link[-4:], "little")
    assert {".debug_info", ".debug_line", ".symtab"} <= set(sections(named))
