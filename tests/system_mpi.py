"""The MPIs of the system's packages, of which the tests call each by its own name."""

import subprocess


def link_options_of_fortran(flavour):
    """Debian's mpif90.openmpi finds libmpi.so by the alternative of that name alone, which there need not be
    (tools/setup/system.sh); its mpicc.openmpi knows the folder."""
    if flavour != "openmpi":
        return []
    found = subprocess.run([f"mpicc.{flavour}", "--showme:libdirs"], capture_output=True, text=True, check=True)
    return [f"-L{folder}" for folder in found.stdout.split()]
