"""Writes FOLDER, with which g++ links programs and libraries that an old glibc loads, too: glibc_stubs.py FOLDER [VERSION].

A library that is linked on this machine wants the newest version of each symbol that this machine's glibc has. The folder has
the glibc's libraries as they were in VERSION, without their code, and the objects that every program of that time was
linked with: zig (PyPI: ziglang) makes both from its lists of symbols. Compilers, headers and so the objects stay those
that the tests ran: that is sound because a symbol version of glibc never changes its layout, and a symbol that came later is
an error of the linker. compatible.c has those few that libstdc++ wants. FOLDER/flags holds the linker's flags."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LINKED_BY_NAME = ("m", "pthread", "dl", "rt")
# libgcc itself before libgcc_s, which converts _Float16 only since GCC 12; the unwinder is in libgcc_s alone.
LIBGCC_S = "GROUP ( -lgcc libgcc_s.so.1 )\n"
LIBC = """GROUP ( libc.so.6 libc_nonshared.a libcompatible.a
        AS_NEEDED ( libpthread.so.0 libdl.so.2 librt.so.1 libm.so.6 libld.so.2 ) )
"""


def made_by_zig(folder: Path, version: str) -> list[Path]:
    """What zig links a program with; it takes a minute the first time."""
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"x86_64-linux-gnu.{version}", "-fPIE", "-pie", "-v"]
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"), "ZIG_LOCAL_CACHE_DIR": str(folder / "zig")}
    linked = [*command, "-o", str(folder / "empty"), str(source), "-lm", "-lpthread", "-ldl", "-lrt"]
    done = subprocess.run(linked, env=environment, capture_output=True, text=True)
    found = sorted(path for path in (folder / "zig").rglob("*") if re.fullmatch(r"lib\w+\.so\.\d+|libc_nonshared\.a|Scrt1\.o", path.name))
    if done.returncode or not any(path.name == "libc.so.6" for path in found):
        sys.exit(f"glibc_stubs: zig made no stubs: {done.stderr.strip()[-2000:]}")
    return found


def compatible(folder: Path) -> None:
    compiled = folder / "compatible.o"
    subprocess.run(["cc", "-O2", "-fPIC", "-c", str(HERE / "compatible.c"), "-o", str(compiled)], check=True)
    (folder / "libcompatible.a").unlink(missing_ok=True)
    subprocess.run(["ar", "qc", str(folder / "libcompatible.a"), str(compiled)], check=True)


def main() -> None:
    folder, version = Path(sys.argv[1]).absolute(), (sys.argv[2:] or ["2.28"])[0]
    flags = f'-B"{folder}/" -L"{folder}" -Wl,--allow-shlib-undefined'  # libgcc_s itself may want more than the stubs have
    folder.mkdir(parents=True, exist_ok=True)
    for path in made_by_zig(folder, version):
        shutil.copy(path, folder)
    shutil.rmtree(folder / "zig")
    for name in LINKED_BY_NAME:
        file = next(folder.glob(f"lib{name}.so.*"))
        (folder / f"lib{name}.so").unlink(missing_ok=True)
        (folder / f"lib{name}.so").symlink_to(file.name)
    compatible(folder)
    (folder / "libc.so").write_text(LIBC)
    (folder / "libgcc_s.so").write_text(LIBGCC_S)
    (folder / "flags").write_text(f"{flags}\n")


main()
