#%Module1.0
# Environment Modules: as espalier/0.2.0 in a folder of MODULEPATH. ESPALIER_PREFIX names another prefix than the one below.
set prefix /opt/espalier
if {[info exists env(ESPALIER_PREFIX)]} {
  set prefix $env(ESPALIER_PREFIX)
}

proc ModulesHelp {} {
  puts stderr "Makes the collectives of MPI programs fast on the nodes they run on, without changing the programs:"
  puts stderr "    espalier run -- mpirun -n 4 ./app"
}
module-whatis "collectives of MPI programs through shared memory, version 0.2.0"
conflict espalier
prepend-path PATH $prefix/bin
prepend-path MANPATH $prefix/share/man
prepend-path CMAKE_PREFIX_PATH $prefix
prepend-path PKG_CONFIG_PATH $prefix/lib/pkgconfig
prepend-path LD_LIBRARY_PATH $prefix/lib
