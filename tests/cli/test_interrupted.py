#!/usr/bin/env python3
"""Writes that fail or are interrupted: the old file or the new one, and nothing between. Usage: test_interrupted.py PROGRAM SOURCE_DIR"""
import os
import re
import shutil
import subprocess
import unittest

from support import CommandLine, GOLDEN, PROGRAM, SOURCE, main, run

FIG2 = os.path.join(GOLDEN, "fig2.causal_fg")
LIST = os.path.join(SOURCE, "inputs", "golden", "points_to", "list.cons.txt")
STRACE = shutil.which("strace")
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
CALLS = "write,fsync,rename,fchmod,fchown,ftruncate"


def may_trace():
    return STRACE is not None and subprocess.run([STRACE, "-o", os.devnull, "true"], capture_output=True).returncode == 0


def has_sanitizers():
    return b"libasan" in subprocess.run(["ldd", PROGRAM], capture_output=True).stdout


@unittest.skipUnless(may_trace(), "strace is not there, or may not trace")
@unittest.skipIf(has_sanitizers(), "sanitizers make each of the many runs take seconds, and look for leaks, which a tracer forbids")
class Interrupted(CommandLine):
    def traced(self, arguments, *options):
        return subprocess.run([STRACE, "-f", "-o", "trace.txt", *options, PROGRAM, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=ENVIRONMENT)

    def commands(self):
        """What writes a file, and that file; one of each way to write."""
        self.clauses()
        run("clauses", "model", "clauses.txt", "--alarms", "alarms.txt", "--rules", "rules.txt", "-o", "m.h5")
        self.write("truth.txt", "alarm(c)\n")
        self.write("labels.txt", "alarm(c) true\n")
        return [
            (("convert", FIG2, "out.h5"), "out.h5"),
            (("convert", FIG2, "out.fg"), "out.fg"),
            (("pointsto", LIST, "-o", "out.h5"), "out.h5"),
            (("clauses", "prune", "clauses.txt", "--alarms", "alarms.txt", "-o", "out.txt"), "out.txt"),
            (("lbp", "m.h5", "-o", "out.h5"), "out.h5"),
            (("marginals", FIG2, "-o", "out.MAR"), "out.MAR"),
            (("map", FIG2, "-o", "out.MPE"), "out.MPE"),
            (("explain", "m.h5", "alarm(c)", "--dot", "out.dot"), "out.dot"),
            (("learn", "--run", "m.h5", "labels.txt", "-o", "out.rules"), "out.rules"),
            (("rank", "m.h5", "--oracle", "truth.txt", "--lists", "out"), "outinit.out"),
        ]

    def contents(self, file):
        with open(file, "rb") as bytes_of:
            return bytes_of.read()

    def is_whole(self, file, old, new):
        """Whether a file is the old one or a new one; of models, whose attributes hold times, whether it is read."""
        if self.contents(file) in (old, new):
            return True
        return file.endswith(".h5") and subprocess.run([PROGRAM, "info", file], capture_output=True).returncode == 0

    def test_every_call(self):
        for arguments, file in self.commands():
            self.write(file, "old\n")
            old = self.contents(file)
            done = self.traced(arguments, "-e", f"trace={CALLS}")
            self.assertEqual(done.returncode, 0, done.stderr)
            new = self.contents(file)
            with open("trace.txt") as trace:
                calls = [found.group(1) for found in map(re.compile(r"^\d+ +(\w+)\(").match, trace) if found]
            self.assertIn("rename", calls)
            self.assertIn("fsync", calls)
            for call in sorted(set(calls)):
                for number in range(1, calls.count(call) + 1):
                    for fault in (("error=ENOSPC", "signal=KILL") if call == "write" else ("error=EIO", "signal=KILL")):
                        with self.subTest(arguments=arguments, call=call, number=number, fault=fault):
                            self.write(file, "old\n")
                            before = set(os.listdir("."))
                            done = self.traced(arguments, "-e", f"trace={CALLS}", "-e", f"inject={call}:{fault}:when={number}")
                            self.assertTrue(self.is_whole(file, old, new))
                            if fault == "signal=KILL":
                                for left in set(os.listdir(".")) - before:
                                    os.remove(left)
                                continue
                            self.assertEqual(set(os.listdir(".")) - before, set())
                            if call == "fchown":  # only the superuser may give files away
                                self.assertEqual(done.returncode, 0)
                                continue
                            if done.returncode == 0:  # it was a line on standard error
                                self.assertNotEqual(self.contents(file), old)
                            else:
                                self.assertEqual(done.returncode, 3)
                                self.assertRegex(done.stderr, "cannot be (written|given its permissions): (No space left on device|Input/output error)")

    def test_files_that_belong_together(self):
        """All are the old ones or all are new, unless names cannot be given; nothing is left beside them."""
        files = ["out." + ending + ".txt" for ending in ("cons", "nodes", "objnames", "places", "calls")]
        done = self.traced(("convert", LIST, "out.cons.txt"), "-e", f"trace={CALLS}")
        self.assertEqual(done.returncode, 0, done.stderr)
        new = [self.contents(file) for file in files]
        with open("trace.txt") as trace:
            lines = trace.read()
        for call, fault in (("write", "error=ENOSPC"), ("write", "signal=KILL"), ("fsync", "error=EIO"), ("fchmod", "error=EIO")):
            for number in range(1, len(re.findall(rf"^\d+ +{call}\(", lines, re.M)) + 1):
                for file in files:
                    self.write(file, "# old\n")
                old, before = [self.contents(file) for file in files], set(os.listdir("."))
                done = self.traced(("convert", LIST, "out.cons.txt"), "-e", f"trace={CALLS}", "-e", f"inject={call}:{fault}:when={number}")
                found = [self.contents(file) for file in files]
                self.assertIn(found, (old, new), (call, fault, number))
                if fault == "signal=KILL":
                    for left in set(os.listdir(".")) - before:
                        os.remove(left)
                else:
                    self.assertEqual(set(os.listdir(".")), before)


if __name__ == "__main__":
    main()
