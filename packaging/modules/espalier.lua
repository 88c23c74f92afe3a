-- Lmod: as espalier/0.2.0.lua in a folder of MODULEPATH. ESPALIER_PREFIX names another prefix than the one below.
local prefix = os.getenv("ESPALIER_PREFIX") or "/opt/espalier"

help([[Makes the collectives of MPI programs fast on the nodes they run on, without changing the programs:
    espalier run -- mpirun -n 4 ./app]])
whatis("Name: espalier")
whatis("Version: 0.2.0")
whatis("Description: collectives of MPI programs through shared memory")
conflict("espalier")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))
