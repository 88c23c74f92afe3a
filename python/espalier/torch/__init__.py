"""PyTorch's collectives on CPUs through shared memory: `import espalier.torch`, or an installed espalier, makes "espalier" a
backend of torch.distributed. docs/pytorch.md is for its users."""

from __future__ import annotations

import torch.distributed as dist

if dist.is_available():
    from espalier.torch import operators as operators  # defines torch.ops.espalier
    from espalier.torch.register import register, why_gloo

    register()
    __all__ = ["autoload", "register", "why_gloo"]


def autoload() -> None:
    """What torch calls at `import torch`, by its entry points `torch.backends`: importing this module has done it."""
