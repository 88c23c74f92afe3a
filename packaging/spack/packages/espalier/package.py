# spack repo add packaging/spack && spack install espalier
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.python import PythonExtension

from spack.package import *


class Espalier(CMakePackage, PythonExtension):
    """Makes the collectives of MPI programs fast on the nodes they run on, without changing the programs: a library that is
    preloaded over the program's own MPI."""

    homepage = "https://example.org/espalier"
    git = "https://example.org/espalier.git"
    license("BSD-3-Clause", checked_by="the authors")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    # Headers alone are used, and those of both at once; so neither is a dependency that provides mpi.
    variant("simulate", default=True, description="Build what `espalier simulate` starts")
    variant("aggregation", default=True, description="Build the aggregation daemon")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("hwloc@2:")
    depends_on("fmt@9:", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("asio", type="build", when="+aggregation")
    depends_on("boost@1.70: +context", when="+simulate")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-pip", type="build")  # fetches the headers of the MPIs
    depends_on("py-typer", type=("build", "run"))
    depends_on("py-rich", type=("build", "run"))
    depends_on("py-jinja2", type=("build", "run"))
    depends_on("py-pyelftools", type=("build", "run"))

    conflicts("%gcc@:11", msg="C++20 as in g++ 12 is needed")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("ESPALIER_TESTS", False),
            self.define("ESPALIER_BENCH", False),
            self.define("ESPALIER_FETCH_MPI", True),
            self.define("ESPALIER_PYTHON", self.spec["python"].command.path),
            self.define("CMAKE_UNITY_BUILD", True),
            self.define("CMAKE_UNITY_BUILD_BATCH_SIZE", 12),
        ]

    def setup_run_environment(self, env):
        env.prepend_path("LD_LIBRARY_PATH", self.spec["hwloc"].prefix.lib)
