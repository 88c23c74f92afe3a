"""The only rank of two: the making of the group ends with its time."""

import time

from job import Job

began = time.monotonic()
try:
    Job(seconds=2)
except Exception as problem:
    print(f"{type(problem).__name__} after {time.monotonic() - began:.1f} s: {problem}", flush=True)
else:
    raise SystemExit("a group of one rank of two was made")
