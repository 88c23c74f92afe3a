"""torch's own tests of a distributed backend (torch.testing._internal.distributed), which know the name gloo: ESPALIER_TORCH
says who serves it. Prints a line for each test. Needs expecttest and hypothesis, as torch.testing does.
Arguments: words, of which a test's name has one; none: all tests."""

import os
import shutil
import sys
import tempfile
import unittest

os.environ["BACKEND"] = "gloo"
os.environ.setdefault("WORLD_SIZE", "2")
os.environ.setdefault("TEMP_DIR", tempfile.mkdtemp(prefix="espalier-torch-"))
words, sys.argv = sys.argv[1:], sys.argv[:1]

import espalier.torch  # noqa: E402
import torch  # noqa: E402
from torch.testing._internal.distributed import distributed_test  # noqa: E402
from torch.testing._internal.distributed.distributed_test import DistributedTest, TestDistBackend  # noqa: E402

distributed_test.PROFILING_SUPPORTED_BACKENDS = []  # the profiler's events are Espalier's, not those of gloo's code


class Own(TestDistBackend, DistributedTest._DistTestBase):
    """Ranks are forked: a spawned one would import torch for each test."""

    def setUp(self):
        super().setUp()
        self._start_processes(torch.multiprocessing.get_context("fork").Process)

    def test_who_serves(self):
        why = espalier.torch.why_gloo()
        self.assertEqual(why == "", os.environ.get("ESPALIER_TORCH") == "gloo", why)


class Lines(unittest.TextTestResult):
    def startTest(self, test):
        super().startTest(test)
        self.outcome = "ok"

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcome = "skipped"

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.outcome = "failed"

    def addError(self, test, err):
        super().addError(test, err)
        self.outcome = "failed"

    def stopTest(self, test):
        super().stopTest(test)
        print("test", test._testMethodName, self.outcome, flush=True)


def main():
    suite = unittest.TestSuite()
    for test in unittest.defaultTestLoader.loadTestsFromTestCase(Own):
        name = test._testMethodName
        if name == "test_who_serves" or not words or any(word in name for word in words):
            suite.addTest(test)
    try:
        unittest.TextTestRunner(resultclass=Lines, verbosity=0).run(suite)
    finally:
        shutil.rmtree(os.environ["TEMP_DIR"], ignore_errors=True)
    print("all done", flush=True)


if __name__ == "__main__":
    main()
