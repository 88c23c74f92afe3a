"""Launchers that come with an MPI."""

from __future__ import annotations

from espalier.launch.family import Family, table
from espalier.mpi import kinds

# Words of `mpiexec -help` of MPICH and of Intel MPI, and of their manuals.
HYDRA = Family(
    name="Hydra (MPICH, Intel MPI)",
    kind=kinds.MPICH,
    values=table(
        _2="genv env",
        _1="""n np f hostfile machinefile machine hosts host rankmap wdir dir configfile genvlist envlist arch path
            launcher launcher-exec bootstrap bootstrap-exec bootstrap-exec-args rmk topolib bind-to map-by membind demux
            errfile-pattern outfile-pattern prepend-pattern iface localhost nameserver order-nodes ppn perhost grr
            usize gpus-per-proc gpu-subdevs-per-proc memory-alloc-kinds pmi-args branch-count port-range tmpdir s
            gtool gtoolfile hosts-group cpu-bind hostos umask timeout ckpoint-interval ckpoint-prefix ckpoint-num
            ckpointlib soft file trace-collectives localuser localroot-exec""",
    ),
    flags=frozenset(
        """genvnone genvall envnone envall enable-x disable-x disable-auto-cleanup disable-hostname-propagation
        hybrid-hosts info pmi-port pmi prepend-rank prepend-timestamp l print-all-exitcodes print-rank-map profile
        skip-launch-node verbose v rr aps mps gdb nolocal prot silent-abort ordered-output localroot noconf ilp64
        static_mpi check_mpi cleanup""".split()
    ),
    set_environment=frozenset({"genv", "env"}),
    folder=frozenset({"wdir", "dir"}),
    configuration=frozenset({"configfile"}),
)

# Words of the manuals of Open MPI 4 (mpirun) and 5 (mpirun, prterun).
OPEN_MPI = Family(
    name="Open MPI",
    kind=kinds.OMPI,
    values=table(
        _2="mca gmca omca gomca prtemca gprtemca pmixmca gpmixmca tune-mca",
        _1="""np n c x H host hostfile machinefile default-hostfile rankfile rf map-by bind-to rank-by N npernode
            npersocket ppr wdir wd set-cwd-to-dir output output-filename stdin timeout path prefix app-prefix
            preload-files preload-file-dest-dir tune am aca cpu-list cpu-set slot-list cpus-per-proc cpus-per-rank
            personality dvm dvm-uri ompi-server server-wait-time report-uri display runtime-options max-restarts pset
            app launch-agent stream-buffering with-ft xterm pid debugger report-pid spawn-timeout
            add-hostfile add-host cpu-modifiers exec-agent max-vm-size mca-base-env-list num-connect-retries
            forward-signals tmpdir session""",
    ),
    flags=frozenset(
        """allow-run-as-root oversubscribe nooversubscribe no-oversubscribe overload-allowed overload use-hwthread-cpus
        use-hwthreads report-bindings display-map display-devel-map display-topo display-allocation display-devel-allocation
        display-diffable-map tag-output timestamp-output xml merge-stderr-to-stdout verbose v V q quiet h debug debug-daemons
        debug-daemons-file debug-devel leave-session-attached preload-binary s noprefix pernode do-not-launch
        do-not-resolve nolocal novm continuous enable-recovery disable-recovery get-stack-traces report-state-on-timeout
        report-child-jobs-separately index-argv-by-rank bycore bynode byslot bind-to-core bind-to-socket bind-to-none tv
        enable-instant-on-support set-sid show-progress no-ready-msg daemonize system-server do-not-aggregate""".split()
    ),
    set_environment=frozenset({"x"}),
    folder=frozenset({"wdir", "wd"}),
    configuration=frozenset({"app"}),
)
