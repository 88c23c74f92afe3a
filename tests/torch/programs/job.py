"""What the test programs share: a rank's start and end, and that Espalier is what runs."""

import os
import sys
from datetime import timedelta

import espalier.torch
import torch
import torch.distributed as dist


class Job:
    """The default group of this rank. ESPALIER_TEST_BACKEND names another backend than espalier."""

    def __init__(self, seconds: float = 60) -> None:
        torch.set_num_threads(1)
        self.rank, self.size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        dist.init_process_group(
            os.environ.get("ESPALIER_TEST_BACKEND", "espalier"),
            init_method="file://" + os.environ["ESPALIER_TEST_STORE"],
            rank=self.rank,
            world_size=self.size,
            timeout=timedelta(seconds=seconds),
        )
        why = espalier.torch.why_gloo()
        if why and "ESPALIER_TEST_REFUSED" not in os.environ:
            sys.exit(f"gloo serves the group: {why}")

    def __enter__(self) -> "Job":
        return self

    def __exit__(self, kind, *rest) -> None:
        if kind is None:
            dist.destroy_process_group()
            sys.stdout.flush()
            # torch 2.15 with gloo at times aborts while the interpreter ends, in programs without Espalier, too.
            os._exit(0)
