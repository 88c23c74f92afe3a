"""`make bench-cluster`: the host MPIs and Espalier across emulated nodes. The file that is written: bench/cluster/README.md."""
