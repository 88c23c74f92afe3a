"""The reader of ELF files beside pyelftools, on this machine's files and on small ones of other forms; and on broken ones."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import VENVS
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from espalier.elf import file

LIBRARIES = sorted({*VENVS.glob("*/lib/libmpi*.so.*"), *VENVS.glob("*/lib/libhwloc.so.*"), *Path("/usr/aarch64-linux-gnu/lib").glob("libc.so.6")})
PROGRAMS = [Path(sys.executable).resolve(), *map(Path, filter(None, map(shutil.which, ("ls", "cmake", "ldconfig", "busybox", "qemu-aarch64-static"))))]
FIELDS = {"DT_NEEDED": "needed", "DT_RPATH": "rpath", "DT_RUNPATH": "runpath", "DT_SONAME": "soname"}


def expected(path):
    with open(path, "rb") as opened:
        elf = ELFFile(opened)
        values = {tag: [] for tag in FIELDS}
        dynamic = [segment for segment in elf.iter_segments() if isinstance(segment, DynamicSegment)]
        for tag in dynamic[0].iter_tags() if dynamic else ():
            if tag.entry.d_tag in values:
                values[tag.entry.d_tag].append(getattr(tag, tag.entry.d_tag[3:].lower()))
        for tag in ("DT_RPATH", "DT_RUNPATH"):
            values[tag] = [folder for text in values[tag] for folder in text.split(":")]
        soname = next(iter(values.pop("DT_SONAME")), None)
        return {"bits": elf.elfclass, "dynamic": bool(dynamic), "soname": soname, **{FIELDS[tag]: tuple(found) for tag, found in values.items()}}


def symbols(path, most=200):
    """Some of its defined symbols."""
    with open(path, "rb") as opened:
        tables = [section for section in ELFFile(opened).iter_sections() if isinstance(section, SymbolTableSection)]
        every = [one.name for table in tables for one in table.iter_symbols() if one.name and one["st_shndx"] != "SHN_UNDEF"]
    return every[:: max(1, len(every) // most)]


@pytest.mark.parametrize("path", [*LIBRARIES, *PROGRAMS], ids=lambda path: path.name)
def test_as_pyelftools_reads_it(path):
    found = file.read(path)
    wanted = expected(path)
    assert {name: getattr(found, name) for name in wanted} == wanted
    names = symbols(path)
    assert [name for name in names if not file.defines(path, name, only_dynamic=False)] == []
    assert not file.defines(path, "no_such_symbol_anywhere", only_dynamic=False)


SOURCE = """
.data
.globl both_know_me
both_know_me: .long 0
.globl me_too
me_too: .long 0
local_alone: .long 0
.globl somewhere_else
.{word} somewhere_else
"""


def linked(folder, bits, hash_style):
    (folder / "a.s").write_text(SOURCE.format(word={64: "quad", 32: "long"}[bits]))
    emulation = {64: "elf_x86_64", 32: "elf_i386"}[bits]
    for words in (["as", f"--{bits}", "a.s", "-o", "a.o"],
                  ["ld", "-m", emulation, "-shared", f"--hash-style={hash_style}", "-soname", "liba.so.1", "-rpath", "/one:/two",
                   "a.o", "-o", "liba.so"]):  # fmt: skip
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"this machine's {words[0]} does not make {bits}-bit x86 files: {done.stderr.strip()}")
    return folder / "liba.so"


@pytest.mark.parametrize("hash_style", ["gnu", "sysv", "both"])
@pytest.mark.parametrize("bits", [32, 64])
def test_word_sizes_and_hash_tables(tmp_path, bits, hash_style):
    path = linked(tmp_path, bits, hash_style)
    found = file.read(path)
    assert {name: getattr(found, name) for name in expected(path)} == expected(path)
    assert (found.bits, found.soname) == (bits, "liba.so.1") and set(found.rpath + found.runpath) == {"/one", "/two"}
    for name in ("both_know_me", "me_too"):
        assert file.defines(path, name)
    for name in ("somewhere_else", "know_me", "local_alone", "missing"):  # another file's, the end of a name, not the loader's, none
        assert not file.defines(path, name)
    assert file.defines(path, "local_alone", only_dynamic=False) and not file.defines(path, "know_me", only_dynamic=False)


def test_broken_files_are_no_elf_files(tmp_path):
    whole = Path(shutil.which("ls")).read_bytes()
    broken = tmp_path / "broken"
    for length in (0, 3, 4, 16, 63, 64, 100, 500, 1000, len(whole) // 3, len(whole) // 2):
        broken.write_bytes(whole[:length])
        file.read.cache_clear()
        file.read(broken)  # what is there may be enough
        file.defines(broken, "main", only_dynamic=False)
    assert length > 1000
    for at in range(16, 800, 3):  # each byte of the headers wrong
        broken.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        file.read.cache_clear()
        file.read(broken)
        file.defines(broken, "main", only_dynamic=False)
    assert file.read(tmp_path) is None and file.read(tmp_path / "none") is None and not file.is_elf(tmp_path / "none")
