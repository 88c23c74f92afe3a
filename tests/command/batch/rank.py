"""A rank that a stand-in has started: takes on the environment that its launcher gives it."""

import json
import os
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)
managers = ("PMI_", "PMIX_", "PMI2_", "PRTE_", "OMPI_MCA_", "MPI_LOCAL", "HYDI_", "HYDRA_", "OPAL_")
own = {key: value for key, value in os.environ.items() if key.startswith(managers)}
rank = os.environ.get("PMI_RANK") or os.environ["PMIX_RANK"]
said = {key: value.format(rank=rank, ranks=given["ranks"]) for key, value in given["of_rank"].items()}
program = sys.argv[2:]
environment = {**given["environment"], **own, **said}
try:
    os.execvpe(program[0], program, environment)
except OSError as error:
    sys.exit(f"{program[0]}: {error.strerror}")
