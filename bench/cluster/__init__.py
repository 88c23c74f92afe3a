"""`make bench-cluster`: the host MPIs and Espalier across emulated nodes (bench/cluster/README.md)."""
