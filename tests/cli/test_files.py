#!/usr/bin/env python3
"""Help, generation, conversion, limits and what goes wrong with files. Usage: test_files.py PROGRAM SOURCE_DIR"""
import json
import os
import random
import subprocess

from support import CommandLine, GOLDEN, OTHERS_LEAK, PROGRAM, SOURCE, main, run


class Files(CommandLine):
    def test_models_are_not_written_as_costs(self):
        for name in ("x.wcsp", "x.cfn", "x.cons.txt"):
            self.assertIn(f"{name}: cannot be written: a model has no costs or constraints", run("convert", "g.h5", name, code=3)[1])

    def test_help_teaches(self):
        for command in ("generate", "clauses", "info", "convert", "schedule", "lbp", "rank", "explain", "learn", "serve", "map", "marginals", "partition", "dpop", "pointsto"):
            self.assertIn("Usage", run(command, "--help")[0])
        for step in ("model", "prune", "compress", "build"):
            self.assertIn("Usage", run("clauses", step, "--help")[0])
        self.assertIn("Exit codes", run("--help")[0])
        run(code=2)
        run("lbp", "g.h5", "--no-such-option", code=2)
        self.assertRegex(run("lbp", "g.h5", "--backend", "abacus", code=2)[1], "there is no backend 'abacus' in this build; there are (serial|openmp)")

    def test_generate(self):
        for like, reading, edges in (("weblech", "bn", 2351), ("weblech", "fg", 1655), ("hedc", "bn", 19578)):
            run("generate", "--like", like, "--edges", reading, "x.h5")
            self.assertEqual(json.loads(run("info", "x.h5", "--json")[0])["edges"], edges)
        run("generate", "--variables", 3000, "--edges", 12000, "--seed", 4, "x.causal_fg")
        self.assertEqual(json.loads(run("info", "x.causal_fg", "--json")[0])["edges"], 12000)
        self.assertEqual(json.loads(run("generate", "--variables", 3000, "--json", "x.h5")[0])["variables"], 3000)
        run("generate", "--variables", 3000, "--like", "hedc", "x.h5", code=2)
        self.assertIn("not a number", run("generate", "--variables", 3000, "--edges", "12000x", "x.h5", code=2)[1])
        self.assertIn("give --like NAME (and --edges bn or fg), or --variables", run("generate", "x.h5", code=2)[1])
        self.assertIn("known are weblech", run("generate", "--like", "nothing", "x.h5", code=2)[1])
        for wrong in ("0", "1", "1.5", "nan"):
            self.assertIn(f"'{wrong}' is not a number above 0 and below 1", run("generate", "--like", "hedc", "--probability", wrong, "x.h5", code=2)[1])
        self.assertIn("at least", run("generate", "--variables", 3000, "--edges", 4000, "x.h5", code=3)[1])

    def test_convert_both_ways(self):
        run("convert", os.path.join(GOLDEN, "weblech.causal_fg"), "a.h5")
        run("convert", "a.h5", "b.fg")
        run("convert", "b.fg", "c.causal_fg")
        before = json.loads(run("info", os.path.join(GOLDEN, "weblech.causal_fg"), "--json")[0])
        after = json.loads(run("info", "c.causal_fg", "--json")[0])
        for key in ("variables", "factors", "edges", "tables"):
            self.assertEqual(before[key], after[key])
        self.assertIn("left out: 696 names", run("convert", "g.h5", "d.causal_fg")[1])
        self.assertEqual(json.loads(run("convert", "a.h5", "b.h5", "--json")[0])["left_out"], [])
        self.assertIn("no known ending", run("convert", "g.h5", "d.txt", code=3)[1])

    def test_no_input_is_overwritten(self):
        self.clauses()
        model = ("clauses", "model", "clauses.txt", "--alarms", "alarms.txt", "--rules", "rules.txt")
        run(*model, "-o", "m.h5")
        truth = self.write("truth.txt", "alarm(c)\n")
        files = ("clauses.txt", "alarms.txt", "rules.txt", "m.h5", "truth.txt")
        def contents():
            for file in files:
                with open(file, "rb") as text:
                    yield text.read()

        before = list(contents())
        for command in ((*model, "-o", "rules.txt"), (*model, "-o", "new.h5", "--dictionary", "./clauses.txt"), (*model, "-o", "new.h5", "--dictionary", "new.h5"),
                        ("clauses", "prune", "clauses.txt", "--alarms", "alarms.txt", "-o", "clauses.txt"), ("learn", "--run", "m.h5", "truth.txt", "-o", "truth.txt"), ("learn", "--run", "m.h5", "truth.txt", "-o", "m.h5"),
                        ("generate", "--oracle", "m.h5", "m.h5"), ("generate", "--oracle", "m.h5", "new.h5"), ("explain", "m.h5", "alarm(c)", "--dot", "m.h5"), ("explain", "m.h5", "alarm(c)", "--evidence", "truth.txt", "--dot", "truth.txt"),
                        ("rank", "m.h5", "--oracle", "truth.txt", "--stats", "truth.txt"), ("rank", "m.h5", "--oracle", "truth.txt", "--session", "m.h5"), ("rank", "m.h5", "--oracle", "truth.txt", "--evidence", "alarms.txt", "--stats", "alarms.txt")):
            run(*command, code=2)
        self.assertEqual(list(contents()), before)
        self.assertFalse(os.path.exists("new.h5"))
        self.assertIn("--stats name the same file, truth.txt, which would be overwritten", run("rank", "m.h5", "--oracle", truth, "--stats", truth, code=2)[1])

    def test_limits(self):
        self.assertIn("iteration limit after 2 iterations", run("lbp", "g.h5", "--iterations", 2, code=4)[0])
        self.assertIn("not converged: marginals are those of the last iteration", run("lbp", "g.h5", "--iterations", 2, code=4)[0])
        self.assertIn("after 0 iterations, residual inf", run("lbp", "g.h5", "--time-limit", 0, code=4)[0])
        for wrong in ["-1", "nan", "abc"]:
            self.assertIn("'%s' is not a number of at least 0" % wrong, run("lbp", "g.h5", "--tolerance=" + wrong, code=2)[1])
        for wrong in ("1", "-0.5", "some"):
            self.assertIn(f"'{wrong}' is not auto or a number in [0, 1)", run("lbp", "g.h5", f"--damping={wrong}", code=2)[1])
        for option in (["--store-messages"], ["--name", "a"], ["-o", ""], ["--count", 3], ["--top", ""]):
            run("lbp", "g.h5", *option, code=2)
        self.assertIn("a longer --time-limit", run("lbp", "g.h5", "--time-limit", 0, code=4)[0])
        self.assertIn("written to .MAR or .h5 files", run("lbp", "g.h5", "-o", "r.txt", code=2)[1])
        run("generate", "--variables", 100, "--alarms=-5", "never.h5", code=2)
        run("lbp", "g.h5", "--time-limit", 0, "--tolerance", 0, code=4)
        run("lbp", "g.h5", "--iterations", 2, "--tolerance", 0)

    def test_bad_input(self):
        self.assertIn("none.h5: no such file", run("lbp", "none.h5", code=3)[1])
        with open("text.h5", "w") as out:
            out.write("text")
        self.assertIn("text.h5: is not an HDF5 file", run("info", "text.h5", code=3)[1])
        self.assertIn("bytes are needed, 1000 are available", run("lbp", "g.h5", "--memory-limit", 1000, code=6)[1])
        self.assertIn("does not exist", run("lbp", "g.h5", "-o", "no/such/folder/r.h5", code=3)[1])
        self.assertFalse([name for name in os.listdir(".") if ".tmp" in name])

    def test_full_disk(self):
        """A file that does not fit is reported, and nothing is left of it."""
        limited = ["bash", "-c", 'trap "" XFSZ; ulimit -f 8; exec "$@"', "bash", PROGRAM]
        for target in ("full.h5", "full.causal_fg"):
            done = subprocess.run([*limited, "generate", "--like", "hedc", target], capture_output=True, text=True)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(target + ": cannot be written: File too large", done.stderr)
            self.assertFalse([name for name in os.listdir(".") if "full" in name])

    def test_the_first_format_is_read_and_written_anew(self):
        old = os.path.join(SOURCE, "inputs", "golden", "formats", "format1.h5")
        run("convert", old, "anew.h5")
        before, after = (json.loads(run("info", file, "--json")[0]) for file in (old, "anew.h5"))
        self.assertEqual({**before, "file": ""}, {**after, "file": ""})
        names = [[one["name"] for one in json.loads(run("lbp", file, "--schedule", "batches", "--top", "alarms", "--json")[0])["top"]] for file in (old, "anew.h5")]
        self.assertEqual(names, [["alarm(2)", "alarm(é)"]] * 2)
        with open("anew.h5", "rb") as file:
            self.assertNotIn(b"GCOL", file.read())  # the library's heap, which it trusts
        run("convert", "anew.h5", "anew.h5")

    def test_the_second_format_is_read(self):
        second = os.path.join(SOURCE, "inputs", "golden", "formats", "format2.h5")
        info = json.loads(run("info", second, "--json")[0])
        self.assertEqual(info["messages"], {"lbp": "13 numbers, with 2 observations"})
        self.assertEqual(info["schedules"], {"mine": "batches (3 edges)", "order": "order (3 edges)"})
        self.write("seen.txt", "road 0.5 0 2 0.25\nsky 0.5 1 1\n")
        out = json.loads(run("marginals", second, "--evidence", "seen.txt", "--against", "lbp", "--json")[0])
        self.assertLess(out["against"]["largest"], 1e-12)
        again = json.loads(run("lbp", second, "--evidence", "seen.txt", "--start-from", "lbp", "--json")[0])
        self.assertEqual((again["iterations"], again["states"][0]), (1, ["clear", "cloudy", "storm"]))

    def test_damage_is_found(self):
        """Whatever bytes are changed: neither a fault nor an endless read, and what is wrong is named."""
        random_bytes = random.Random(7)
        for source, runs in ((os.path.join(SOURCE, "inputs", "golden", "formats", "format1.h5"), 40), ("g.h5", 80)):
            with open(source, "rb") as file:
                whole = file.read()
            messages = ""
            for _ in range(runs):
                damaged = bytearray(whole)
                for _ in range(random_bytes.choice((1, 2, 4))):
                    damaged[random_bytes.randrange(len(damaged))] = random_bytes.randrange(256)
                with open("damaged.h5", "wb") as file:
                    file.write(damaged)
                done = subprocess.run([PROGRAM, "info", "damaged.h5"], capture_output=True, text=True, timeout=60, env=OTHERS_LEAK)
                self.assertIn(done.returncode, (0, 3, 6), done.stderr)
                messages += done.stderr
        self.assertRegex(messages, "damaged.h5:/graph/[a-z0-9_/]+: the checksum is not that of the data: the file is damaged")

    def test_list_valued_attributes_of_others(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("needs h5py")
        run("lbp", "g.h5", "-o", "tags.h5")
        with h5py.File("tags.h5", "a") as f:
            f["marginals/lbp"].attrs["tags"] = ["a", "b", "c"]
        run("info", "tags.h5")

    def test_no_progress_off_terminal(self):
        self.assertEqual(run("lbp", "g.h5")[1], "")


if __name__ == "__main__":
    main()
