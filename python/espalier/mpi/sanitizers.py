"""Runtimes of sanitizers, shared libraries that refuse to work unless they are loaded before all others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from espalier.elf import file, loader

# gcc's names, and those that clang uses with -shared-libsan. Clang's default is a runtime in the program itself.
_RUNTIME = re.compile(r"^lib(asan|hwasan|tsan|lsan|clang_rt\.(asan|hwasan|tsan|lsan|memprof)([-_].*)?)\.so(\.|$)")


def is_runtime(name: str) -> bool:
    return _RUNTIME.match(Path(name).name) is not None


def needed(path: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Those that the program is linked with, in its order."""
    elf = file.read(path)
    if elf is None or not any(is_runtime(name) for name in elf.needed):
        return ()
    found = (loaded for loaded in loader.libraries(elf, environment) if is_runtime(loaded.name))
    return tuple(dict.fromkeys(str(loaded.path or loaded.name) for loaded in found))
