"""Completion by the shell: the scripts, and the words that options take."""

VARIABLE = "_ESPALIER_COMPLETE"  # set by the script of a shell that wants to know what may come next
