"""`espalier bench --setup`: what it costs to start, and to set communicators, requests and windows up."""
