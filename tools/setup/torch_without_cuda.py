"""torch_without_cuda.py PYTHON: lets a torch that pip installed without its dependencies be imported by PYTHON.

The wheels for Linux are linked with CUDA's libraries, which come as packages of some gigabytes, and without them `import torch`
fails, on a machine without GPUs, too. Here each of them is replaced by an empty library beside torch's own, and what they would
define by functions that say "no device" (cudaErrorNoDevice). So this torch has no GPU; what it does on a CPU is what it always
does. Needs `nm` and `readelf` (binutils) and a C compiler."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NO_DEVICE = 100  # cudaErrorNoDevice
TEXTS = r"(Error|Result)(String|Name)$|ErrorText|StatusString"  # functions that return a text


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(library, *options):
    """Without their versions."""
    return {line.split()[-1].split("@")[0] for line in said("nm", "-D", *options, library).splitlines() if line}


def weak_or_undefined(library):
    """Functions that the library takes from elsewhere; a weak one may stay away."""
    return {line.split()[-1].split("@")[0] for line in said("nm", "-D", library).splitlines() if line.split()[0] == "U"}


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", said("readelf", "-dW", library))


def of_the_system(name):
    """The path of a library that the loader finds, or nothing."""
    found = subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
    return found if os.path.isabs(found) else None


def source(names):
    lines = ["/* In place of CUDA's libraries. */"]
    for name in sorted(names):
        if re.search(TEXTS, name):
            lines.append(f'const char* {name}(void) {{ return "no CUDA in this environment"; }}')
        else:
            lines.append(f"int {name}(void) {{ return {NO_DEVICE}; }}")
    return "\n".join(lines)


def shared(target, text, *options):
    command = ["cc", "-w", "-O1", "-fno-builtin", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", str(target)]
    subprocess.run([*command, f"-Wl,-soname,{target.name}", "-Wl,--no-as-needed", *options], input=text, text=True, check=True)


def main():
    where = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    folder = Path(said(sys.argv[1], "-c", where).strip()) / "lib"
    own = sorted(folder.glob("*.so*"))
    missing, defined, wanted = set(), set(), set()
    for library in own:
        defined |= symbols(library, "--defined-only")
        wanted |= weak_or_undefined(library)
        for name in needed(library):
            if not (folder / name).exists():
                path = of_the_system(name)
                if path:
                    defined |= symbols(path, "--defined-only")
                else:
                    missing.add(name)
    if not missing:
        return
    names = {name for name in wanted - defined if re.fullmatch(r"\w+", name) and not name.startswith("Py")}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        # Their versions are CUDA's own, so that all are defined in a library of another name, which has none.
        instead = Path(scratch) / "libespalier-no-cuda.so"
        shared(instead, source(names))
        made = [instead]
        for name in sorted(missing):
            made.append(Path(scratch) / name)
            shared(made[-1], "", f"-L{scratch}", "-l:libespalier-no-cuda.so", "-Wl,-rpath,$ORIGIN")
        for each in made:
            each.rename(folder / each.name)
    print(f"{len(names)} functions of {', '.join(sorted(missing))} say that there is no device")


main()
