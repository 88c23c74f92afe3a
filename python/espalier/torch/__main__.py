"""python -m espalier.torch: builds what can be built before the first run, and says what will serve."""

import sys

import torch

from espalier.torch.library import functions
from espalier.torch.native import module

try:
    functions()
except (OSError, AttributeError) as problem:
    sys.exit(f"espalier: no library, gloo will serve: {problem}")
print(f"espalier for torch {torch.__version__}: the backend in {'C++' if module(True) else 'Python'} will serve")
