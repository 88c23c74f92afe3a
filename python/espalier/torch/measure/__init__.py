"""What `espalier bench --torch` runs on each rank."""
