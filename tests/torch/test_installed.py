"""What an installed package needs of the backend, without the sources of a clone."""

import os
import subprocess

from conftest import ROOT

PROGRAM = """
from types import SimpleNamespace
from espalier import install
install.installed = SimpleNamespace(INCLUDE="../../include", LIB="../../build/lib", BIN="../../build/bin", HELPERS=None)
from espalier.torch import native
print(native._header())
"""


def test_the_backend_in_cpp_is_built_with_the_headers_of_the_installation(torch_there, torch_python):
    done = subprocess.run(
        [torch_python, "-c", PROGRAM], env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True
    )
    assert done.stdout.strip() == str(ROOT / "include" / "espalier"), done.stdout + done.stderr
