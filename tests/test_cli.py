#!/usr/bin/env python3
"""The command line as users see it: outputs, exit codes, messages. Usage: test_cli.py PROGRAM SOURCE_DIR"""
import json
import lzma
import math
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
GOLDEN = os.path.join(SOURCE, "inputs", "golden", "horn")


def run(*arguments, code=0):
    """Runs hornbill and returns (stdout, stderr); the exit code must be `code`."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, f"exit {done.returncode}, not {code}: {arguments}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.chdir(cls.folder.name)
        run("generate", "--like", "weblech", "g.h5")

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

    def test_help_teaches(self):
        for command in ("generate", "clauses", "info", "convert", "schedule", "lbp", "rank", "explain", "learn", "serve", "map", "partition"):
            self.assertIn("Usage", run(command, "--help")[0])
        for step in ("model", "prune", "compress", "build"):
            self.assertIn("Usage", run("clauses", step, "--help")[0])
        self.assertIn("Exit codes", run("--help")[0])
        run(code=2)
        run("lbp", "g.h5", "--no-such-option", code=2)
        self.assertIn("there is no backend 'abacus' in this build; there are serial", run("lbp", "g.h5", "--backend", "abacus", code=2)[1])

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

    def test_lbp_matches_known_marginals(self):
        out = json.loads(run("lbp", os.path.join(GOLDEN, "fig2.causal_fg"), "--json", "--top", "all")[0])
        self.assertTrue(out["converged"])
        p = {entry["variable"]: entry["p_true"] for entry in out["top"]}
        self.assertAlmostEqual(p[2], 0.504, places=12)
        expected = {}
        with open(os.path.join(GOLDEN, "weblech.SEQFIX.ev10.txt")) as lines:
            for line in lines:
                if not line.startswith("#"):
                    row = line.split()
                    expected[int(row[0])] = float(row[3])
        out = json.loads(run("lbp", os.path.join(GOLDEN, "weblech.causal_fg"), "--evidence", os.path.join(GOLDEN, "weblech.ev10"), "--schedule", "seqfix",
                             "--iterations", 20, "--tolerance", 0, "--json", "--top", "all", "--count", 1000)[0])
        self.assertEqual(len(out["top"]), len(expected))
        for entry in out["top"]:
            self.assertLess(abs(entry["p_true"] - expected[entry["variable"]]), 1e-9)

    def test_lbp_schedules_precisions_backends(self):
        reference = None
        run("schedule", "g.h5", "--schedule", "topo", "--store", "mine", "--store-order", "topo_order", "-o", "s.h5")
        backends = run("lbp", "--help")[0]
        for backend in [b for b in ("serial", "openmp", "cuda") if b in backends]:
            for schedule in ("parall", "seqfix", "topo", "chromatic", "seqrnd", "seqmax", "residual", "residual_random", "mine", "topo_order"):
                for precision, places in (("double", 6), ("float", 3)):
                    out = json.loads(run("lbp", "s.h5", "--schedule", schedule, "--backend", backend, "--precision", precision,
                                         "--tolerance", 1e-8 if precision == "double" else 1e-5, "--json", "--top", "alarms", "--count", 30)[0])
                    p = {entry["variable"]: entry["p_true"] for entry in out["top"]}
                    reference = reference or p
                    for variable, value in p.items():
                        self.assertAlmostEqual(value, reference[variable], places=places, msg=f"{backend} {schedule} {precision}")

    def test_labels_converge_by_default(self):
        marginals = []
        for schedule in ("auto", "parall", "chromatic"):
            out = json.loads(run("lbp", "g.h5", "--evidence", "labels10", "--schedule", schedule, "--top", "all", "--count", 1000, "--json")[0])
            self.assertNotEqual(out["schedule"], "auto")
            marginals.append({entry["variable"]: entry["p_true"] for entry in out["top"]})
            for variable, p in marginals[-1].items():
                self.assertAlmostEqual(p, marginals[0][variable], places=4)
        run("lbp", "g.h5", "--evidence", "labels10", "--damping", 0, "--iterations", 2000, code=4)  # as libDAI iterates, it does not

    def test_default_schedule_follows_threads(self):
        if "openmp" not in run("lbp", "--help")[0]:
            self.skipTest("no OpenMP backend")
        for threads, schedule in ((1, "seqfix"), (4, "chromatic")):
            with unittest.mock.patch.dict(os.environ, OMP_NUM_THREADS=str(threads)):
                out = json.loads(run("lbp", "g.h5", "--backend", "openmp", "--json")[0])
            self.assertEqual(out["schedule"], schedule)

    def test_parameters_of_schedules(self):
        few = json.loads(run("lbp", "g.h5", "--schedule", "residual", "--share", 0.02, "--json")[0])["iterations"]
        many = json.loads(run("lbp", "g.h5", "--schedule", "residual", "--share", 0.9, "--json")[0])["iterations"]
        self.assertLess(many, few)
        run("lbp", "g.h5", "--schedule", "seqrnd", "--seed", 5)
        for wrong in ("2", "0", "nan", "half"):
            self.assertIn(f"'{wrong}' is not a number in (0, 1]", run("lbp", "g.h5", "--schedule", "residual_random", "--share", wrong, code=2)[1])
        self.assertIn("--share is for", run("lbp", "g.h5", "--share", 0.5, code=2)[1])
        self.assertIn("--seed is for", run("lbp", "g.h5", "--schedule", "residual", "--seed", 5, code=2)[1])

    def test_schedule_statistics(self):
        out = json.loads(run("schedule", "g.h5", "--json", "--print")[0])
        self.assertEqual(out["edges"], 2351)
        self.assertEqual(sorted(out["batch_edges"]), list(range(2351)))
        self.assertEqual(len(out["batch_offsets"]), out["batches"] + 1)
        self.assertEqual(json.loads(run("schedule", "g.h5", "--schedule", "parall", "--json")[0])["batches"], 1)
        self.assertIn("batch 0:", run("schedule", "g.h5", "--print")[0])
        self.assertIn("no '/'", run("schedule", "g.h5", "--store", "a/b", "-o", "s2.h5", code=3)[1])
        self.assertIn("built-in", run("schedule", "g.h5", "--store", "parall", "-o", "s2.h5", code=3)[1])
        self.assertIn("built-in", run("schedule", "g.h5", "--store", "auto", "-o", "s2.h5", code=3)[1])
        self.assertIn("chosen anew", run("schedule", "g.h5", "--schedule", "residual", "--store", "mine", "-o", "s2.h5", code=2)[1])
        run("convert", "g.h5", "text.causal_fg")
        self.assertIn("give a .h5 file with -o", run("schedule", "text.causal_fg", "--store", "mine", code=2)[1])
        self.assertIn("there are parall, seqfix, topo", run("schedule", "g.h5", "--schedule", "other", code=3)[1])

    def test_output_and_warm_start(self):
        first = json.loads(run("lbp", "g.h5", "-o", "r.h5", "--store-messages", "--json")[0])
        info = json.loads(run("info", "r.h5", "--json")[0])
        self.assertEqual(info["marginals"], {"lbp": "converged"})
        again = json.loads(run("lbp", "r.h5", "--start-from", "lbp", "--json")[0])
        self.assertLess(again["iterations"], first["iterations"])
        self.assertIn("no messages 'lbp' to start from; there are none", run("lbp", "g.h5", "--start-from", "lbp", code=3)[1])
        self.assertEqual(info["messages"], {"lbp": "2351 numbers, with 0 observations"})
        self.assertIn("there are lbp", run("lbp", "r.h5", "--start-from", "other", code=3)[1])
        first = json.loads(run("lbp", "g.h5", "--evidence", "labels10", "-o", "r.h5", "--store-messages", "--json")[0])
        with open("more.txt", "w") as out:
            out.write("0 1\n")
        for more, most in (([], 10), (["--evidence", "more.txt"], first["iterations"] / 2)):
            cold = json.loads(run("lbp", "g.h5", "--evidence", "labels10", *more, "--top", "alarms", "--json")[0])
            again = json.loads(run("lbp", "r.h5", "--evidence", "labels10", *more, "--start-from", "lbp", "--top", "alarms", "--json")[0])
            self.assertLessEqual(again["iterations"], most)
            for one, other in zip(cold["top"], again["top"]):
                self.assertAlmostEqual(one["p_true"], other["p_true"], places=4)
        run("convert", "r.h5", "sets.h5")
        with open("half.txt", "w") as out:
            out.write("0 1\n")  # without what the messages follow from
        alone = json.loads(run("lbp", "sets.h5", "--each", "labels10", "--start-from", "lbp", "--json", "--top", "alarms")[0])["sets"][0]
        beside = json.loads(run("lbp", "sets.h5", "--each", "labels10", "--each", "half.txt", "--start-from", "lbp", "--json", "--top", "alarms")[0])["sets"][0]
        self.assertEqual(alone["top"], beside["top"])
        self.assertEqual(alone["iterations"], beside["iterations"])
        without = json.loads(run("lbp", "g.h5", "--top", "alarms", "--json")[0])
        run("lbp", "r.h5", "-o", "r2.h5")
        self.assertEqual(json.loads(run("info", "r2.h5", "--json")[0])["messages"], {})  # they are not of the run that is called so now
        again = json.loads(run("lbp", "r.h5", "--start-from", "lbp", "--top", "alarms", "--json")[0])  # its evidence withdrawn
        for one, other in zip(without["top"], again["top"]):
            self.assertAlmostEqual(one["p_true"], other["p_true"], places=4)
        try:
            import h5py
        except ImportError:
            return
        with h5py.File("r.h5") as f:
            self.assertEqual(f.attrs["hornbill_format"], 1)
            self.assertEqual(f["marginals/lbp"].shape, (696,))
            self.assertIn(f["marginals/lbp"].attrs["schedule"], ("seqfix", "chromatic"))
            self.assertEqual(f["graph/factor_variables"].compression, "gzip")

    def test_evidence_sets_files_and_contradictions(self):
        with open("e.txt", "w") as out:
            out.write("# soft and hard, by name and number\nalarm_%s true\n0 0.9 0.1\n" % self.an_alarm())
        run("lbp", "--evidence", "labels10", "g.h5", "--iterations", 2, "--tolerance", 0)
        run("lbp", "g.h5", "--evidence", "e.txt", "--evidence", "labels10", "--iterations", 20, "--tolerance", 0)
        self.assertIn("neither an evidence set of this file (labels10) nor a file", run("lbp", "g.h5", "--evidence", "nothing", code=3)[1])
        with open("twice.txt", "w") as out:
            out.write("0 0\n1 1\n0 0\n0 1\n")
        self.assertIn("twice.txt:line 4: ", run("lbp", "g.h5", "--evidence", "twice.txt", code=3)[1])
        self.assertIn("is observed otherwise than on line 1", run("lbp", "g.h5", "--evidence", "twice.txt", code=3)[1])
        self.assertIn("is a directory", run("lbp", "g.h5", "--evidence", ".", code=3)[1])
        with open("contradiction.causal_fg", "w") as out:
            out.write("2\n\n0\nI\n0.5\n\n1\n*\n1\n0\n")
        with open("both.txt", "w") as out:
            out.write("0 0\n1 1\n")
        out, err = run("lbp", "contradiction.causal_fg", "--evidence", "both.txt", "--json", code=5)
        self.assertIn("contradicts itself: variable", err)
        self.assertEqual(json.loads(out)["stop"], "contradiction")

    def test_several_evidence_sets_at_once(self):
        alarm = self.an_alarm()
        for value in ("true", "false"):
            with open(f"if_{value}.txt", "w") as out:
                out.write(f"alarm_{alarm} {value}\n")
        together = json.loads(run("lbp", "g.h5", "--each", "if_true.txt", "--each", "if_false.txt", "--top", "all", "--count", 700, "--json", "-o", "each.h5")[0])["sets"]
        self.assertEqual([one["evidence"] for one in together], ["if_true.txt", "if_false.txt"])
        for one in together:
            alone = json.loads(run("lbp", "g.h5", "--evidence", one["evidence"], "--top", "all", "--count", 700, "--json")[0])
            self.assertEqual(one["iterations"], alone["iterations"])
            self.assertEqual(one["top"], alone["top"])
        self.assertEqual(json.loads(run("info", "each.h5", "--json")[0])["marginals"], {"lbp_if_true.txt": "converged", "lbp_if_false.txt": "converged"})
        self.assertIn("if_false.txt: converged", run("lbp", "g.h5", "--each", "if_true.txt", "--each", "if_false.txt")[0])
        self.assertIn("another evidence set has that name; rename one", run("lbp", "g.h5", "--each", "if_true.txt", "--each", "./if_true.txt", code=2)[1])
        for schedule in ("seqmax", "residual", "residual_random"):
            self.assertIn("one evidence set at a time", run("lbp", "g.h5", "--schedule", schedule, "--each", "if_true.txt", "--each", "if_false.txt", code=2)[1])
        self.assertIn("one evidence set", run("lbp", "g.h5", "--each", "if_true.txt", "--each", "if_false.txt", "--store-messages", "-o", "x.h5", code=2)[1])
        with open("both.txt", "w") as out:
            out.write("0 0\n1 1\n")
        with open("contradiction.causal_fg", "w") as out:
            out.write("2\n\n0\nI\n0.5\n\n1\n*\n1\n0\n")
        with open("neither.txt", "w") as out:
            out.write("0 0\n")
        out, err = run("lbp", "contradiction.causal_fg", "--each", "neither.txt", "--each", "both.txt", "-o", "rest.h5", code=5)
        self.assertIn("the evidence both.txt contradicts itself", err)
        self.assertIn("neither.txt: converged", out)
        self.assertEqual(list(json.loads(run("info", "rest.h5", "--json")[0])["marginals"]), ["lbp_neither.txt"])

    def an_alarm(self):
        top = json.loads(run("lbp", "g.h5", "--top", "alarms", "--count", 1, "--json")[0])["top"][0]
        return top["name"].removeprefix("alarm_")

    CLAUSES = """R0: NOT source, NOT edge(a,b), path(b)
R1: NOT path(b), NOT edge(b,c), path(c)
R1: NOT path(c), NOT edge(c,b), path(b)
R2: NOT path(c), alarm(c)
R1: NOT path(b), NOT edge(b,d), path(d)
R1: NOT path(d), NOT edge(d,e), path(e)
R2: NOT path(e), alarm(e)
R1: NOT path(b), path(nowhere)
"""

    def write(self, name, text):
        with open(name, "w") as out:
            out.write(text)
        return name

    def clauses(self):
        self.write("clauses.txt", self.CLAUSES)
        self.write("rules.txt", "R0: 0.9\nR1: 0.8\nR2: 0.7\n")
        self.write("alarms.txt", "alarm(c)\nalarm(e)\n")

    def test_clauses_to_a_model(self):
        self.clauses()
        common = ("--alarms", "alarms.txt")
        out = json.loads(run("clauses", "model", "clauses.txt", *common, "--rules", "rules.txt", "-o", "m.h5", "--dictionary", "dict.out", "--json")[0])
        self.assertEqual(out["pruned"]["cyclic"], 1)
        self.assertEqual(out["pruned"]["irrelevant"], 1)
        self.assertEqual(out["compressed"]["folded"], 3)
        top = {entry["name"]: entry["p_true"] for entry in json.loads(run("lbp", "m.h5", "--top", "alarms", "--json")[0])["top"]}
        self.assertAlmostEqual(top["alarm(c)"], 0.9 * 0.8 * 0.7)
        self.assertAlmostEqual(top["alarm(e)"], 0.9 * 0.8 * 0.8 * 0.7)
        with open("dict.out") as lines:
            self.assertIn("1: path(b)\n", list(lines))
        self.assertEqual(json.loads(run("info", "m.h5", "--json")[0])["rules"], 3)
        # The same step by step; without compression; as text.
        run("clauses", "prune", "clauses.txt", *common, "-o", "pruned.txt")
        run("clauses", "compress", "pruned.txt", *common, "-o", "compressed.txt")
        with open("compressed.txt") as text:
            self.assertIn("R2 + R1: NOT path(b), NOT edge(b,c), alarm(c)\n", text.read())
        run("clauses", "build", "compressed.txt", *common, "--rules", "rules.txt", "-o", "steps.h5")
        run("clauses", "model", "clauses.txt", *common, "--rules", "rules.txt", "-o", "whole.h5", "--uncompressed")
        run("clauses", "model", "clauses.txt", *common, "--rules", "rules.txt", "-o", "graph.causal_fg")
        for file in ("steps.h5", "whole.h5"):
            for entry in json.loads(run("lbp", file, "--top", "alarms", "--json")[0])["top"]:
                self.assertAlmostEqual(entry["p_true"], top[entry["name"]])
        self.assertEqual(json.loads(run("info", "graph.causal_fg", "--json")[0])["factors"], 6)
        self.write("rules.txt", "R0: 0.9\nR1: 0.8\nR2: 0.7\nIn: 0.5\n")
        run("clauses", "model", "clauses.txt", *common, "--rules", "rules.txt", "-o", "uncertain.h5", "--input-rule", "In")
        for entry in json.loads(run("lbp", "uncertain.h5", "--top", "alarms", "--json")[0])["top"]:
            self.assertAlmostEqual(entry["p_true"], top[entry["name"]] * (0.5 ** 3 if entry["name"] == "alarm(c)" else 0.5 ** 4))

    def test_bad_clauses(self):
        self.clauses()

        def fails(message, clauses="clauses.txt", alarms="alarms.txt", rules="rules.txt", step="model"):
            self.assertIn(message, run("clauses", step, clauses, "--alarms", alarms, "--rules", rules, "-o", "bad.h5", code=3)[1])
            self.assertFalse(os.path.exists("bad.h5"))

        fails("none.txt: no such file", clauses="none.txt")
        fails("b.txt:line 2: the clause has no head", clauses=self.write("b.txt", "R: a\nR: NOT a, NOT b\n"))
        fails("b.txt:line 1: no clause derives elsewhere", alarms=self.write("b.txt", "elsewhere\n"))
        fails("b.txt:line 1: no clause derives source", alarms=self.write("b.txt", "source\n"))
        fails("b.txt: has no probability for the rule R1", rules=self.write("b.txt", "R0: 0.9\nR2: 0.7\n"))
        fails("b.txt:line 2: the probability of R1 is 1.5", rules=self.write("b.txt", "R0: 0.9\nR1: 1.5\n"))
        fails("clauses.txt: the clauses have a cycle: path(b) -> path(c) -> path(b)", step="build")
        self.write("rest.txt", "R: NOT x, y\nR: NOT y, x\nR: NOT y, alarm\n")
        fails("no clause derives the alarm alarm from inputs", clauses="rest.txt", alarms=self.write("b.txt", "alarm\n"), rules=self.write("c.txt", "R: 0.5\n"))
        run("clauses", code=2)
        run("clauses", "prune", "clauses.txt", "-o", "x.txt", code=2)

    def test_rank(self):
        out = json.loads(run("rank", "g.h5", "--oracle", "true_alarms", "--schedule", "topo", "--stats", "stats.txt", "--lists", "list_", "--session", "all.session", "--json")[0])
        self.assertEqual(out["true"], 5)
        self.assertEqual(out["rank_100_percent"], len(out["rounds"]))
        self.assertEqual(out["rounds"][-1]["label"], "true")
        with open("stats.txt") as text:
            rows = [line.rstrip("\n").split("\t") for line in text]
        self.assertEqual(rows[0], ["Tuple", "Confidence", "Ground", "NumTrue", "NumFalse", "Fraction", "InversionCount", "YetToConvergeFraction", "Time(s)"])
        self.assertEqual([row[0] for row in rows[1:]], [one["name"] for one in out["rounds"]])
        self.assertEqual(int(rows[-1][3]), 5)
        with open("list_init.out") as text:
            ranked = [line.rstrip("\n").split("\t") for line in text]
        self.assertEqual(ranked[0], ["Rank", "Confidence", "Ground", "Label", "Comments", "Tuple"])
        self.assertEqual(ranked[1][5], rows[1][0])
        self.assertEqual(len(ranked), 31)
        with open("list_1.out") as text:
            second = [line.rstrip("\n").split("\t") for line in text]
        self.assertIn([rows[1][0], "PosLabel" if rows[1][2] == "TrueGround" else "NegLabel"], [[row[5], row[3]] for row in second])
        # An oracle of names; a session is evidence; cold rounds.
        self.write("oracle.txt", "".join(one["name"] + "\n" for one in out["rounds"] if one["label"] == "true"))
        named = json.loads(run("rank", "g.h5", "--oracle", "oracle.txt", "--schedule", "topo", "--json", "--rounds", 3)[0])
        self.assertEqual([one["name"] for one in named["rounds"]], [one["name"] for one in out["rounds"][:3]])
        self.assertNotIn("rank_100_percent", named)
        run("lbp", "g.h5", "--evidence", "all.session", "--iterations", 3, "--tolerance", 0)
        denied = [one for one in out["rounds"] if one["label"] == "true"][0]["name"]
        self.assertIn("the evidence says that " + denied + " is false, and the oracle otherwise", run("rank", "g.h5", "--oracle", "oracle.txt", "--evidence", self.write("denied.txt", denied + " 0\n"), code=3)[1])
        self.assertEqual(json.loads(run("rank", "g.h5", "--oracle", "oracle.txt", "--cold", "--rounds", 2, "--json")[0])["rounds"][0]["iterations"],
                         json.loads(run("lbp", "g.h5", "--json")[0])["iterations"])

    def test_curve_of_a_ranking(self):
        sys.path.insert(0, os.path.join(SOURCE, "perf"))
        import plot_ranking
        ranking = json.loads(run("rank", "g.h5", "--oracle", "true_alarms", "--json")[0])
        points = plot_ranking.roc(ranking)
        self.assertEqual(points[-2:], [(points[-2][0], 1), (1, 1)])
        self.assertAlmostEqual(plot_ranking.area(points), ranking["auc"])
        with self.assertRaisesRegex(SystemExit, "notes.json: is not what `hornbill rank"):
            plot_ranking.read([self.write("notes.json", "none")])

    def test_rank_by_a_sampled_truth(self):
        out = json.loads(run("generate", "--oracle", "g.h5", "--probability", 0.995, "--seed", 3, "sampled.txt", "--json")[0])
        self.assertEqual(out["alarms"], 30)
        with open("sampled.txt") as text:
            self.assertEqual(len(text.readlines()), out["true_alarms"])
        ranked = json.loads(run("rank", "g.h5", "--oracle", "sampled.txt", "--schedule", "topo", "--json")[0])
        self.assertEqual(ranked["true"], out["true_alarms"])
        self.assertIn("there is no query 'alarms'", run("generate", "--oracle", os.path.join(GOLDEN, "fig2.causal_fg"), "x.txt", code=3)[1])
        run("generate", "--oracle", "g.h5", "--like", "hedc", "x.txt", code=2)

    def test_rank_goes_on_after_an_interruption(self):
        whole = json.loads(run("rank", "g.h5", "--oracle", "true_alarms", "--cold", "--schedule", "topo", "--json")[0])["rounds"]
        run("rank", "g.h5", "--oracle", "true_alarms", "--cold", "--schedule", "topo", "--session", "cut.session", "--rounds", 3)
        with open("cut.session") as text:
            lines = text.read()
        self.write("cut.session", lines[:-20])  # killed while it wrote the third
        rest = json.loads(run("rank", "g.h5", "--oracle", "true_alarms", "--cold", "--schedule", "topo", "--session", "cut.session", "--stats", "cut.stats", "--json")[0])["rounds"]
        self.assertEqual([(one["name"], one["label"], one["confidence"]) for one in rest], [(one["name"], one["label"], one["confidence"]) for one in whole])
        with open("cut.stats") as text:
            self.assertEqual(len(text.readlines()), len(whole) + 1)
        head = "# session of hornbill rank\n"
        with open("cut.session") as text:
            label = text.readlines()[1]
        for bad, message in ((head + "what\n", "line 2: is no line of a session"), (head + "0 true # {\"name\": 5}\n", "line 2: is no line"), (head + label + label, "was labelled before"),
                             ("my notes", "no session of"), (head + label.replace("true" if " true " in label else "false", "false" if " true " in label else "true", 1), "the oracle otherwise")):
            self.assertIn(message, run("rank", "g.h5", "--oracle", "true_alarms", "--session", self.write("bad.session", bad), code=3)[1])
            with open("bad.session") as text:
                self.assertEqual(text.read(), bad)
        self.assertIn("--session and --stats name the same file, ./one.txt", run("rank", "g.h5", "--ask", "--session", "one.txt", "--stats", "./one.txt", code=2)[1])
        run("generate", "--like", "weblech", "--seed", 2, "other.h5")
        self.assertIn("the session is of another", run("rank", "other.h5", "--ask", "--session", "cut.session", code=3)[1])

    def test_rank_asks(self):
        asked = subprocess.run([PROGRAM, "rank", "g.h5", "--ask", "--session", "asked.session"], input="Y\nwhat?\nn\nu\nq\n", capture_output=True, text=True)
        self.assertIn("'what?' was not understood", asked.stdout)
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertIn("3 of 30 alarms looked at: 1 true, 1 false, 1 unknown", asked.stdout)
        again = subprocess.run([PROGRAM, "rank", "g.h5", "--ask", "--session", "asked.session", "--stats", "asked.stats"], input="n\n", capture_output=True, text=True)  # then the input ends
        self.assertIn("4 of 30 alarms looked at: 1 true, 2 false, 1 unknown", again.stdout)
        with open("asked.stats") as text:
            grounds = [line.split("\t")[2] for line in text][1:]
        self.assertEqual(grounds, ["TrueGround", "FalseGround", "UnknownGround", "FalseGround"])

    def test_rank_of_contradicting_labels(self):
        self.write("pair.causal_fg", "3\n\n0\nI\n0.5\n\n1\n*\n1\n0\n\n2\nI\n0.1\n")
        self.write("oracle.txt", "0\n2\n")  # 1 follows from 0, and is said to be false
        done = subprocess.run([PROGRAM, "rank", "pair.causal_fg", "--alarms", "all", "--oracle", "oracle.txt", "--json", "--session", "pair.session"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("round 2: the label of variable 1 contradicts those before it", done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual([one["variable"] for one in out["rounds"]], [0, 1, 2])
        self.assertEqual(out["contradictory_labels"], 1)
        self.assertAlmostEqual(out["rounds"][2]["confidence"], 0.1)
        for lines in (2, 3, 4):  # the header and a label; and one that contradicts it, of which nothing is known yet; and the mark that says so
            with open("pair.session") as text:
                self.write("cut.session", "".join(text.readlines()[:lines]))
            again = subprocess.run([PROGRAM, "rank", "pair.causal_fg", "--alarms", "all", "--oracle", "oracle.txt", "--json", "--session", "cut.session"], capture_output=True, text=True)
            self.assertEqual(again.returncode, 0, again.stderr)
            rounds = json.loads(again.stdout)["rounds"]
            self.assertEqual([(one["variable"], one["label"], "contradicts" in one) for one in rounds], [(0, "true", False), (1, "false", True), (2, "true", False)])
            self.assertAlmostEqual(rounds[2]["confidence"], 0.1)
        # As evidence, a session is what it holds without what contradicts it, and of the model that it was of.
        self.assertEqual(json.loads(run("lbp", "pair.causal_fg", "--evidence", "pair.session", "--top", "all", "--json")[0])["top"][0]["p_true"], 1)
        with open("pair.session") as text:
            other = self.write("other.session", text.read().replace('"name": "variable 0"', '"name": "x"').replace('"name":"variable 0"', '"name":"x"'))
        self.assertIn("the session is of another", run("lbp", "pair.causal_fg", "--evidence", other, code=3)[1])
        with open("pair.session") as text:  # with a note and a label that someone added, and other ends of lines
            kept = [line for line in text.read().splitlines() if not line.startswith("2 ")]
        edited = self.write("edited.session", "\r\n".join([*kept, "# my own note", "2 false"]))
        top = json.loads(run("lbp", "pair.causal_fg", "--evidence", edited, "--top", "all", "--json")[0])["top"]
        self.assertEqual({one["variable"]: one["p_true"] for one in top}, {0: 1, 1: 1, 2: 0})
        self.write("both.txt", "0 1\n1 0\n")
        self.assertIn("contradicts itself", run("rank", "pair.causal_fg", "--alarms", "all", "--ask", "--evidence", "both.txt", code=5)[1])

    def test_bad_rank(self):
        run("rank", "g.h5", code=2)
        run("rank", "g.h5", "--ask", "--oracle", "true_alarms", code=2)
        run("rank", "g.h5", "--ask", "--json", code=2)
        self.assertIn("o.txt:line 1: clause_120 is no alarm that is ranked", run("rank", "g.h5", "--oracle", self.write("o.txt", "clause_120\n"), code=3)[1])
        self.assertIn("o.txt:line 1: 'nobody' is no variable", run("rank", "g.h5", "--oracle", self.write("o.txt", "nobody\n"), code=3)[1])
        self.assertIn("there is no query 'none'; there are all, alarms", run("rank", "g.h5", "--ask", "--alarms", "none", code=3)[1])
        self.assertIn("names no true alarm", run("rank", "g.h5", "--oracle", self.write("o.txt", "# none\n"), code=3)[1])
        self.assertIn("'nowhere' is neither a query of this file nor a file of true alarms", run("rank", "g.h5", "--oracle", "nowhere", code=3)[1])
        self.assertIn("cannot be opened", run("rank", "g.h5", "--ask", "--session", "no/such/folder", code=3)[1])

    def serve(self, *arguments):
        """A driver's end of the pipes: a function that sends a line and returns the answer, and the process."""
        process = subprocess.Popen([PROGRAM, "serve", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)

        def send(line):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            return process.stdout.readline().rstrip("\n")

        return send, process

    def test_explain(self):
        self.clauses()
        run("clauses", "model", "clauses.txt", "--alarms", "alarms.txt", "--rules", "rules.txt", "-o", "m.h5")
        plain = json.loads(run("explain", "m.h5", "alarm(c)", "--json")[0])
        self.assertEqual([step["tuple"] for step in plain["derivation"]["steps"]], ["path(b)", "alarm(c)"])
        self.assertEqual([step["rules"] for step in plain["derivation"]["steps"]], ["R0", "R2 + R1"])
        self.assertAlmostEqual(plain["derivation"]["probability"], 0.9 * 0.8 * 0.7)
        self.assertAlmostEqual(plain["p_true"], plain["p_without_labels"])
        self.assertEqual(plain["labels"], [])
        self.write("labels.txt", "alarm(e) true\npath(b) 0.5 0.5\n")
        out = json.loads(run("explain", "m.h5", "alarm(c)", "--evidence", "labels.txt", "--dot", "why.dot", "--json")[0])
        self.assertAlmostEqual(out["p_true"], 0.8 * 0.7)  # path(b) must hold
        self.assertAlmostEqual(out["p_without_labels"], 0.9 * 0.8 * 0.7)
        self.assertEqual([(label["name"], label["label"]) for label in out["labels"]], [("alarm(e)", "true")])
        self.assertAlmostEqual(out["labels"][0]["p_without"], 0.9 * 0.8 * 0.7)
        with open("why.dot") as text:
            dot = text.read()
        self.assertIn('label="alarm(c)\\n0.5600"', dot)
        self.assertIn('[style=dashed, constraint=false, label="without: 0.5040"]', dot)
        text = run("explain", "m.h5", "alarm(c)", "--evidence", "labels.txt")[0]
        self.assertIn("alarm(c): 0.5600, without labels 0.5040\n", text)
        self.assertIn("2  0.5600  alarm(c)\n             R2 + R1 (0.5600) from 1\n", text)
        self.assertIn("   0.5040    +0.225  alarm(e) is true\n", text)
        self.assertNotIn("labels that move", run("explain", "m.h5", "alarm(c)", "--evidence", "labels.txt", "--labels", 0)[0])
        own = self.write("own.txt", "alarm(c) false\n")
        self.assertIn("alarm(c): 0.5040 (that it is labelled false is left out)\n", run("explain", "m.h5", "alarm(c)", "--evidence", own)[0])
        self.assertEqual(json.loads(run("explain", "m.h5", "alarm(c)", "--evidence", own, "--json")[0])["own_label"], "false")
        self.write("denied.txt", "path(b) false\n")
        self.assertIn("no derivation is possible under these labels", run("explain", "m.h5", "alarm(c)", "--evidence", "denied.txt")[0])
        self.assertIn("none of the 1 labels moves it", run("explain", "m.h5", "alarm(c)", "--evidence", self.write("half.txt", "path(b) 0.5 0.5\n"))[0])
        # Generated graphs have no rules: clauses go by their names. Several labels are withdrawn at once.
        text = run("explain", "g.h5", "alarm_" + self.an_alarm(), "--evidence", "labels10")[0]
        self.assertIn("clause_", text)
        self.assertIn(", of 10:", text)
        # As many sets at once as there is memory for, one by one if need be; schedules that cannot run several.
        least = re.search(r"(\d+) bytes are needed", run("explain", "m.h5", "alarm(c)", "--memory-limit", 1, code=6)[1]).group(1)
        for option in (("--memory-limit", least), ("--schedule", "residual"), ("--schedule", "seqmax")):
            alone = json.loads(run("explain", "m.h5", "alarm(c)", "--evidence", "labels.txt", "--json", *option)[0])
            self.assertAlmostEqual(alone["p_true"], out["p_true"], places=5)
            self.assertAlmostEqual(alone["labels"][0]["p_without"], out["labels"][0]["p_without"], places=5)
        self.assertIn("'alarm(z)' is no variable of the model", run("explain", "m.h5", "alarm(z)", code=3)[1])
        self.write("impossible.txt", "alarm(e) true\npath(b) false\n")
        self.assertIn("contradicts itself at ", run("explain", "m.h5", "alarm(c)", "--evidence", "impossible.txt", "--dot", "no.dot", code=5)[1])
        self.assertFalse(os.path.exists("no.dot"))
        self.write("cycle.causal_fg", "2\n\n0\n*\n1\n1\n\n1\n*\n1\n0\n")
        self.assertIn("a Bayesian network has no cycle", run("explain", "cycle.causal_fg", "1", code=3)[1])

    def test_map_and_partition(self):
        # Two variables of two states and one of three: x = 1, y = 0 costs 0 but for z, of which 2 is forbidden.
        self.write("small.wcsp", "small 3 3 3 100\n2 2 3\n2 0 1 5 1\n1 0 0\n2 1 2 3 1\n0 1 1\n1 2 0 1\n2 100\n")
        self.assertIn("small.wcsp: minimum 1\n  variable 0 = ", run("map", "small.wcsp", "-o", "small.MPE")[0])
        with open("small.MPE") as text:
            self.assertEqual(text.read(), "MPE\n3 1 0 1\n")
        for order in ("min_fill", "min_degree", "min_width", "min_weight", "degree", self.write("order.txt", "# mine\n2 0\n1\n")):
            out = json.loads(run("map", "small.wcsp", "--order", order, "--json")[0])
            self.assertEqual((out["minimum"], out["assignment"]), (1, [1, 0, 1]))
        self.assertIn("order.txt: the elimination order lacks the variable 2", run("map", "small.wcsp", "--order", self.write("order.txt", "0 1\n"), code=3)[1])
        self.assertIn("hornbill: order.txt:line 1: '7' is no variable", run("map", "small.wcsp", "--order", self.write("order.txt", "0 1 7\n"), code=3)[1])
        self.assertIn("--order guess is neither a file nor a heuristic; there are min_fill, min_degree", run("map", "small.wcsp", "--order", "guess", code=3)[1])
        self.assertIn("hornbill: order.txt:line 3: variable 0 is there a second time, after line 1", run("map", "small.wcsp", "--order", self.write("order.txt", "0 1 # these\n2\n0\n"), code=3)[1])
        self.write("order.txt", "0 1 # these\n2\n")
        self.assertIn("--tries and --seed are for heuristics; order.txt is one order", run("map", "small.wcsp", "--order", "order.txt", "--seed", 1, code=2)[1])
        self.assertIn("elimination needs", run("map", "small.wcsp", "--memory-limit", 8, code=6)[1])
        run("map", "small.wcsp", "--memory-limit", "512M")
        for wrong in ("512 bits", "1.5G", "99999999999999999999G"):
            self.assertIn(f"'{wrong}' is no number of bytes", run("map", "small.wcsp", "--memory-limit", wrong, code=2)[1])
        # A refusal says how wide the whole order is, and what may help: other orders hardly do where tables are far too large.
        pairs = [(v, w) for v in range(40) for w in range(v)]
        self.write("huge.wcsp", f"huge 40 2 {len(pairs)} 9\n" + "2 " * 40 + "\n" + "".join(f"2 {v} {w} 0 0\n" for v, w in pairs))
        self.assertRegex(run("map", "huge.wcsp", code=6)[1], r"the mildest of 10 orders has a width of 39, and the table that variable \d+ makes 5\.5e\+11 cells; 2147479552 are possible; --order min_weight --tries 200 or evidence may help; --mini-buckets bounds the best\n")
        self.assertNotIn("--tries", run("map", "huge.wcsp", "--order", "min_weight", "--tries", 200, code=6)[1])
        # What is written is no model, so that none is overwritten by mistake.
        for name in ("small.h5", "other.wcsp", "other.cfn", "other.uai", "other.bif", "other.fg", "other.causal_fg", "-"):
            for command in ("map", "dpop"):
                self.assertIn("would be", run(command, "small.wcsp", "-o", name, code=2)[1])
            self.assertFalse(os.path.exists(name))
        self.assertIn("small.wcsp", run("map", "small.wcsp", "-o", "small.wcsp", code=2)[1])
        # A link stays one, and devices are written themselves.
        os.symlink("linked.MPE", "link.MPE")
        os.mkfifo("pipe")
        reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True)
        run("map", "small.wcsp", "-o", "link.MPE")
        run("map", "small.wcsp", "-o", "pipe")
        self.assertEqual(reader.communicate(timeout=60)[0], "MPE\n3 1 0 1\n")
        self.assertTrue(os.path.islink("link.MPE") and os.path.isfile("linked.MPE") and stat.S_ISFIFO(os.stat("pipe").st_mode))
        # Evidence of costs: values by number, or by name where there are some, also with bounds.
        for bounds in ((), ("--mini-buckets", 3)):
            out = json.loads(run("map", "small.wcsp", "--evidence", self.write("observed.txt", "0 0\n"), "--json", *bounds)[0])
            self.assertEqual((out["assignment"], out["lower_bound" if bounds else "minimum"]), ([0, 0, 1], 6))
        # Contradicting evidence of costs is named too, and that nothing is possible is no exact bound.
        self.write("tiny.wcsp", "tiny 4 2 2 10\n2 2 2 2\n2 0 2 0 1\n0 0 10\n1 3 0 1\n1 20\n")
        self.write("tiny.txt", "1 0\n0 0\n2 0\n")
        message = "tiny.wcsp: every assignment comes to the bound, 10, or worse under the evidence of tiny.txt: variable 0 = 0, variable 2 = 0 cannot all be; withdraw one of them\n"
        for bounds in ((), ("--count",), ("--mini-buckets", 3)):
            self.assertIn(message, run("map", "tiny.wcsp", "--evidence", "tiny.txt", *bounds, code=5)[0])
            out = json.loads(run("map", "tiny.wcsp", "--evidence", "tiny.txt", "--json", *bounds, code=5)[0])
            self.assertEqual((out["stop"], [o["variable"] for o in out["contradiction"]]), ("contradiction", [0, 2]))
        self.assertIn("variable 3 = 1 cannot be; withdraw it\n", run("map", "tiny.wcsp", "--evidence", self.write("one.evid", "2\n1 1 3 1\n"), code=5)[0])
        self.assertIn("or worse, whatever is observed\n", run("map", self.write("full.wcsp", "full 1 2 1 1\n2\n1 0 1 0\n"), "--evidence", self.write("one.evid", "1\n0 1\n"), code=5)[0])
        self.assertIn("variable 0 is observed by likelihoods", run("map", "small.wcsp", "--evidence", self.write("likely.txt", "0 0.5 0.5\n"), code=3)[1])
        self.assertIn("small.MPE:line 1: `variable value`", run("map", "small.wcsp", "--evidence", "small.MPE", code=3)[1])
        self.assertIn("every assignment comes to the bound, 1, or worse", run("map", self.write("none.wcsp", "none 1 2 1 1\n2\n1 0 1 0\n"), code=5)[0])
        everything = "never 1 2 1 9223372036854775807\n2\n1 0 9223372036854775807 0\n"
        self.assertIn("every assignment comes to the bound", run("map", self.write("never.wcsp", everything), code=5)[0])
        self.assertIn("every assignment comes to the bound", run("map", "never.wcsp", "--mini-buckets", 1, code=5)[0])
        self.assertIn("is too large", run("map", self.write("large.wcsp", everything.replace(" 9223372036854775807 0", " 5000000000000000000 0")), code=3)[1])
        self.assertIn("salldiff", run("map", self.write("global.wcsp", "g 2 2 1 9\n2 2\n2 0 1 -1 salldiff var 1\n"), code=3)[1])
        # Names, decimals, and an objective to be large; then the same without what JSON asks for.
        self.write("names.cfn", '{"problem": {"name": "n", "mustbe": ">-20.0"},\n"variables": {"x": ["a", "b"], "y": 3},\n"functions": {\n'
                   '"f": {"scope": ["x", "y"], "costs": [1.5, -2, 0, 0.25, 3, -30]},\n"g": {"scope": ["y"], "defaultcost": 0, "costs": [1, -1.75]},\n"h": {"scope": ["y"], "costs": "k"},\n'
                   '"k": {"scope": [1], "costs": [0, 0, 0.5]}}}')
        self.assertIn("names.cfn: maximum 1.50\n", run("map", "names.cfn")[0])
        out = json.loads(run("map", "names.cfn", "--json")[0])
        self.assertEqual((out["maximum"], out["assignment"]), (1.5, [0, 0]))
        out = json.loads(run("map", "names.cfn", "--evidence", self.write("observed.txt", "x b\n"), "--json")[0])
        self.assertEqual((out["assignment"][0], out["names"], out["assigned_states"][0]), (1, ["x", "y"], "b"))
        self.write("bare.cfn", "# a comment\n{{n <20.0} [[a b] 3] [{[0 1] [-1.5 2 0 -0.25 -3 30]} {[1] defaultcost 0 [1 1.75]} {[1] [0 0 -.5]} {[1] [0 0 -0.5]}]}")
        self.assertIn("bare.cfn: minimum -1.50\n", run("map", "bare.cfn")[0])
        self.assertIn("every assignment comes to the bound, 20.00, or worse", run("map", self.write("high.cfn", "{{n >20.00} [2] [{[0] [1 2]}]}"), code=5)[0])
        self.assertIn("map and dpop read it", run("partition", "small.wcsp", code=3)[1])
        bounded = json.loads(run("map", "names.cfn", "--mini-buckets", 1, "--json")[0])
        self.assertGreaterEqual(bounded["upper_bound"], 1.5)
        self.assertLessEqual(bounded["lower_bound"], 1.5)
        for text, message in (("{{n <1} [2] [{[0] type salldiff}]}", "salldiff"), ("{{n 1} [2] []}", "line 1: '1' is no bound"), ("{{n <1}\n[2]\n[{[0] [1 2 3]}]}", "line 3: function 0 has 3 costs, not 2"),
                              ("{{n <1} [2] [{[1] [1 2]}]}", "'1', which is no variable"), ("{{n <1} [-5] []}", "intervals are not read"), ("{{n <1} [2] [{[0] [1 2e3]}]}", "'2e3' is not a cost"),
                              ("{{n <1} [2] [{[0] f}]}", "there is no such function"), ("{{n <1} [2] [{[0] [1", "the end of the file")):
            self.assertIn(message, run("map", self.write("wrong.cfn", text), code=3)[1])
        # How many are best; and tables that go through the device in slices.
        self.assertIn("small.wcsp: minimum 1; 1 assignment has it\n", run("map", "small.wcsp", "--count")[0])
        self.assertEqual(json.loads(run("map", self.write("free.wcsp", "free 3 2 1 9\n2 2 2\n2 0 1 1 2\n0 0 0\n1 1 0\n"), "--count", "--json")[0])["count"], 4)
        run("map", "small.wcsp", "--count", "--mini-buckets", 2, code=2)
        run("map", "small.wcsp", "--device-memory", 1000, "--mini-buckets", 2, code=2)
        many = self.write("many.wcsp", "many 1100 2 0 9\n" + "2 " * 1100 + "\n")
        self.assertIn("minimum 0; more than 10^308 assignments have it", run("map", many, "--count")[0])
        # Bounds by mini-buckets: a clique of five, of which three may not have one colour; exact with parts of all variables.
        pairs = [(v, w) for v in range(5) for w in range(v)]
        self.write("clique.wcsp", "clique 5 2 %d 1000\n2 2 2 2 2\n" % len(pairs) + "".join(f"2 {v} {w} 0 2\n0 0 {1 + v * w}\n1 1 {2 + v}\n" for v, w in pairs))
        exact = json.loads(run("map", "clique.wcsp", "--json")[0])["minimum"]
        for options in (("--mini-buckets", 2), ("--mini-buckets", 2, "--match-moments"), ("--mini-buckets", 3)):
            out = json.loads(run("map", "clique.wcsp", *options, "--json")[0])
            self.assertLess(out["lower_bound"], exact)
            self.assertGreaterEqual(out["upper_bound"], exact)
        # Shifts of costs loosen the bounds of some models, but the better bound is kept; and they do tighten those of others.
        shifted = []
        for seed in range(12):
            self.write("shift.wcsp", "shift 6 2 15 1000\n" + "2 " * 6 + "\n" + "".join(
                f"2 {v} {w} 0 4\n" + "".join(f"{x} {y} {(7 * v + 5 * w * w + 3 * x + 11 * y + seed * (v + 2 * x + 1) * (w + 3 * y + 2)) % 17}\n" for x in range(2) for y in range(2)) for v in range(6) for w in range(v)))
            plain, matched = (json.loads(run("map", "shift.wcsp", "--mini-buckets", 3, *options, "--json")[0]) for options in ((), ("--match-moments",)))
            self.assertGreaterEqual(matched["lower_bound"], plain["lower_bound"])
            self.assertLessEqual(matched["upper_bound"], plain["upper_bound"])
            shifted.append(matched["lower_bound"] > plain["lower_bound"])
        self.assertTrue(any(shifted) and not all(shifted))
        # Three variables of which no two may be alike have no assignment, though mini-buckets of two variables do not see it: that is not exact, nor ends the search.
        self.write("alike.uai", "MARKOV\n3\n2 2 2\n3\n2 0 1\n2 1 2\n2 0 2\n" + "4  0 1 1 0\n" * 3)
        self.assertFalse(json.loads(run("map", "alike.uai", "--mini-buckets", 2, "--json", code=4)[0])["exact"])
        self.assertNotIn("exactly", run("map", "alike.uai", "--mini-buckets", 2, code=4)[0])
        # A grid of products of what each end says, all of which like the same state: parts lose nothing, but round, and rounding must not put a bound below what was found.
        side, entries = 10, iter(range(1000))
        pairs = [(v, w) for v in range(side * side) for w in ([v + 1] if v % side < side - 1 else []) + ([v + side] if v < side * (side - 1) else [])]
        ends = lambda k: sorted((1 + 31 * next(entries) % 997) / 997 * 10.0 ** (-8 if k % 2 else 8) for _ in range(2))
        products = "".join("4\n" + " ".join(repr(a * b) for a in first for b in second) + "\n" for first, second in ((ends(k), ends(k)) for k in range(len(pairs))))
        scopes = "".join(f"2 {v} {w}\n" for v, w in pairs)
        self.write("grid.uai", f"MARKOV\n{side * side}\n{'2 ' * side * side}\n{len(pairs)}\n{scopes}{products}")
        for z in range(2, 8):
            out = json.loads(run("map", "grid.uai", "--mini-buckets", z, "--json")[0])
            self.assertLessEqual(out["log10_value"], out["log10_upper_bound"])
            self.assertTrue(out["exact"])
        run("map", "alike.uai", "--bound-gap", 0, code=5)
        by_content = json.loads(run("map", "clique.wcsp", "--mini-buckets", 3, "--partition-by", "content", "--json")[0])
        self.assertLessEqual(by_content["lower_bound"], exact)
        self.assertGreaterEqual(by_content["upper_bound"], exact)
        self.assertEqual(by_content["partition_by"], "content")
        run("map", "clique.wcsp", "--partition-by", "content", code=2)
        self.assertIn(f"clique.wcsp: {exact}, exactly\n", run("map", "clique.wcsp", "--mini-buckets", 5)[0])
        self.assertEqual(json.loads(run("map", "clique.wcsp", "--bound-gap", 0, "--json")[0])["lower_bound"], exact)
        self.assertEqual(json.loads(run("map", "clique.wcsp", "--bound-gap", 1000, "--json")[0])["stop"], "gap")
        # Costs that are the same as doubles are not the same.
        large = self.write("large.wcsp", "large 6 2 15 1000000000000000000\n2 2 2 2 2 2\n" + "".join(
            f"2 {v} {w} 0 4\n" + "".join(f"{x} {y} {2 * 10**16 + (x * 3 + y * 5 + v * w + v) % 2}\n" for x in range(2) for y in range(2)) for v in range(6) for w in range(v)))
        least = json.loads(run("map", large, "--json")[0])["minimum"]
        bounds = json.loads(run("map", large, "--mini-buckets", 2, "--json")[0])
        self.assertLess(bounds["lower_bound"], least)
        self.assertFalse(bounds["exact"])
        self.assertEqual(float(bounds["lower_bound"]), float(bounds["upper_bound"]))
        wide = self.clique("wide.wcsp", 9)
        limit = json.loads(run("map", wide, "--json")[0])["table_bytes"] // 2
        short = json.loads(run("map", wide, "--bound-gap", 0, "--memory-limit", limit, "--json", code=4)[0])
        self.assertEqual(short["stop"], "memory")
        # Where moments do not fit, what is known without them stands.
        plain = json.loads(run("map", wide, "--mini-buckets", 8, "--json")[0])
        for limit in range(30000, 200000, 5000):
            done = subprocess.run([PROGRAM, "map", wide, "--mini-buckets", "8", "--match-moments", "--memory-limit", str(limit), "--json"], capture_output=True, text=True)
            if done.returncode == 6:
                continue
            out = json.loads(done.stdout)
            self.assertEqual((done.returncode, out["stop"]), (0, "once"))
            self.assertGreaterEqual(out["lower_bound"], plain["lower_bound"])
            self.assertGreater(out["seconds"], 0)
            if out["matched_mini_buckets"] == 8:
                break
            self.assertEqual(out["matched_mini_buckets"], 0)
            self.assertIn(", no moments matched", run("map", wide, "--mini-buckets", 8, "--match-moments", "--memory-limit", limit)[0])
        self.assertLess(short["lower_bound"], short["upper_bound"])
        run("map", "clique.wcsp", "--match-moments", code=2)
        run("map", "clique.wcsp", "--mini-buckets", 0, code=2)
        # More than 32 bits hold: x costs 3e8 or 4e8, y as much, and both at once a thousand million more.
        self.write("dear.wcsp", "dear 2 2 3 9000000000\n2 2\n1 0 0 2\n0 300000000\n1 400000000\n1 1 0 2\n0 300000000\n1 400000000\n2 0 1 0 1\n0 0 1000000000\n")
        dear = json.loads(run("map", "dear.wcsp", "--count", "--json")[0])
        self.assertEqual((dear["minimum"], dear["count"]), (700000000, 2))
        self.assertEqual(json.loads(run("map", "dear.wcsp", "--mini-buckets", 2, "--json")[0])["lower_bound"], 700000000)
        self.assertIn("costs may add up to", run("map", self.write("much.wcsp", "much 1 2 2 9223372036854775807\n2\n1 0 0 1\n0 500000000000000000\n1 0 0 1\n0 500000000000000000\n"), code=3)[1])
        # Rain, and what it makes wet: the last row adds to 0.8.
        self.write("rain.bif", "network n { }\nvariable rain { type discrete [ 2 ] { no, yes }; }\nvariable grass { type discrete [ 3 ] { dry, damp, wet }; }\n"
                   "probability ( rain ) { table 0.75, 0.25; }\nprobability ( grass | rain ) { (no) 0.5, 0.25, 0.25; (yes) 0.0, 0.2, 0.6; }\n")
        out, warning = run("partition", "rain.bif", "--evidence", self.write("wet.txt", "grass wet\n"), "--json")
        self.assertAlmostEqual(json.loads(out)["log10_z"], math.log10(0.75 * 0.25 + 0.25 * 0.75))
        self.assertIn("rain.bif:line 5: the row (yes) of grass adds to 0.8", warning)
        self.assertIn("rain.bif: largest value 10^-0.726998727936\n", run("map", "rain.bif", "--evidence", "wet.txt")[0])
        self.assertIn("\n  rain = no, grass = wet\n", run("map", "rain.bif", "--evidence", "wet.txt")[0])
        out = json.loads(run("map", "rain.bif", "--evidence", "wet.txt", "--json")[0])
        self.assertEqual((out["assignment"], out["names"], out["assigned_states"]), ([0, 2], ["rain", "grass"], ["no", "wet"]))
        out = json.loads(run("marginals", "rain.bif", "--json")[0])
        self.assertEqual((len(out["marginals"]), out["names"], out["states"]), (2, ["rain", "grass"], [["no", "yes"], ["dry", "damp", "wet"]]))
        # Loopy propagation says of which state it tells the probability.
        self.assertIn("0.250000  rain = yes\n", run("lbp", "rain.bif", "--top", "all")[0])
        top = json.loads(run("lbp", "rain.bif", "--top", "all", "--json")[0])["top"]
        self.assertEqual({entry["name"]: entry["state"] for entry in top}, {"rain": "yes", "grass": "damp"})
        warning = run("partition", self.write("rows.uai", "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2\n0.5 0.5\n4\n0.5 0.5 0.4 0.4\n"))[1]
        self.assertIn("rows.uai: in the table over the variables 0, 1, row 1 adds to 0.8, not to 1 as in a BAYES network", warning)
        self.assertIn("leave them out", run("partition", self.write("small.uai", "MARKOV\n1\n2\n2\n0\n1 0\n1\n1e-200\n2\n1e-200 2\n"), code=3)[1])
        out = json.loads(run("map", "rain.bif", "--evidence", "wet.txt", "--evidence", self.write("soft.txt", "rain 0.4 0.5\n"), "--json")[0])
        self.assertEqual(out["assignment"], [1, 2])
        bounded = json.loads(run("map", "rain.bif", "--evidence", "wet.txt", "--evidence", "soft.txt", "--mini-buckets", 1, "--json")[0])
        self.assertGreaterEqual(bounded["log10_upper_bound"], out["log10_value"])
        self.assertEqual(len(bounded["assignment"]), 2)
        # Evidence that contradicts itself: which observations do, of all that were made.
        self.write("chain.bif", "network n { }\n" + "".join(f"variable v{i} {{ type discrete [ 2 ] {{ no, yes }}; }}\n" for i in range(6)) + "probability ( v0 ) { table 0.5, 0.5; }\n" +
                   "".join(f"probability ( v{i} | v{i - 1} ) {{ (no) 1, 0; (yes) 0.5, 0.5; }}\n" for i in range(1, 6)))
        self.write("first.txt", "v1 no\n")
        self.write("second.txt", "v0 yes\nv2 no\nv4 0 1\nv5 yes\n")
        for command, what, key, other in (("partition", "nothing", "log10_z", "v4 with likelihoods 0 and 1"), ("map", "no assignment", "log10_value", "v4 with likelihoods 0 and 1"), ("marginals", "nothing", "log10_z", "v5 = yes")):
            evidence = ("--evidence", "first.txt", "--evidence", "second.txt")
            self.assertIn(f"chain.bif: {what} is possible under the evidence of first.txt, second.txt: v1 = no, {other} cannot all be; withdraw or soften one of them\n", run(command, "chain.bif", *evidence, code=5)[1])
            out = json.loads(run(command, "chain.bif", *evidence, "--json", code=5)[0])
            self.assertEqual((out["stop"], out[key]), ("contradiction", None))
            self.assertEqual(out["contradiction"][0], {"variable": 1, "name": "v1", "value": 0, "state": "no"})
        self.write("never.bif", "network n { }\nvariable a { type discrete [ 2 ] { no, yes }; }\nvariable b { type discrete [ 2 ] { no, yes }; }\nprobability ( a ) { table 1, 0; }\nprobability ( b ) { table 0.5, 0.5; }\n")
        self.assertIn("never.bif: nothing is possible under the evidence of alone.txt: a = yes cannot be; withdraw or soften it\n", run("partition", "never.bif", "--evidence", self.write("alone.txt", "b yes\na yes\n"), code=5)[1])
        odd = self.write("odd.uai", "MARKOV\n1\n2\n2\n1 0\n1 0\n2\n0 1\n2\n1 0\n")
        self.assertIn("odd.uai: nothing is possible\n", run("partition", odd, code=5)[1])
        self.assertIn("odd.uai: nothing is possible, whatever is observed\n", run("partition", odd, "--evidence", self.write("one.evid", "1\n0 1\n"), code=5)[1])
        # Names may be no UTF-8, and files may begin with a mark that no editor shows.
        with open("rain.bif", encoding="utf-8") as text, open("latin.bif", "wb") as out:
            out.write(text.read().replace("rain", "pl\u00f6tzlich").encode("latin-1"))
        self.assertEqual(json.loads(run("map", "latin.bif", "--json")[0])["names"][1], "grass")
        self.assertEqual(json.loads(run("marginals", "latin.bif", "--json")[0])["names"][1], "grass")
        run("partition", "rain.bif", "--evidence", self.write("mark.txt", "\ufeffrain yes\n"))
        self.assertIn("rain is observed otherwise in other.txt than in one.txt; the last counts", run("partition", "rain.bif", "--evidence", self.write("one.txt", "rain no\n"), "--evidence", self.write("other.txt", "rain yes\n"))[1])
        run("convert", "rain.bif", "rain.h5")
        run("convert", "rain.h5", "rain.uai")
        for file in ("rain.h5", "rain.uai"):
            self.assertAlmostEqual(json.loads(run("partition", file, "--evidence", self.write("wet.evid", "1\n1 1 2\n"), "--json")[0])["log10_z"], math.log10(0.375))
        self.assertIn("cannot be written", run("convert", "rain.h5", "again.bif", code=3)[1])

    def clique(self, name, num_variables):
        """Costs over all pairs of variables of three states."""
        pairs = [(v, w) for v in range(num_variables) for w in range(v)]
        costs = lambda v, w: "".join(f"{x} {y} {(x * 5 + y * 3 + v * w + 2 * v) % 13}\n" for x in range(3) for y in range(3))
        return self.write(name, f"clique {num_variables} 3 {len(pairs)} 1000\n" + " ".join(["3"] * num_variables) + "\n" + "".join(f"2 {v} {w} 0 9\n{costs(v, w)}" for v, w in pairs))

    def test_tables_in_slices(self):
        file = self.clique("slices.wcsp", 9)
        whole = json.loads(run("map", file, "--json")[0])
        sliced = json.loads(run("map", file, "--json", "--device-memory", 10000)[0])
        self.assertEqual((whole["slices"], sliced["minimum"], sliced["assignment"]), (0, whole["minimum"], whole["assignment"]))
        self.assertGreater(sliced["slices"], 20)
        self.assertIn(", through 9.8 KiB in ", run("map", file, "--device-memory", 10000)[0])
        self.assertIn("one row of a table needs", run("map", file, "--device-memory", 100, code=6)[1])
        self.assertIn("elimination needs", run("map", file, "--device-memory", 10000, "--memory-limit", 20000, code=6)[1])
        self.write("slices.uai", "MARKOV\n8\n" + "3 " * 8 + "\n28\n" + "".join(f"2 {w} {v}\n" for v in range(8) for w in range(v)) + "".join("9 " + " ".join(str((5 * i + v * w) % 7 + 1) for i in range(9)) + "\n" for v in range(8) for w in range(v)))
        marginals = ("marginals", "slices.uai", "--joint", "0,5", "--top", "all", "--count", 8)
        whole, sliced = (json.loads(run(*marginals, "--json", *options)[0]) for options in ((), ("--device-memory", 60000)))
        self.assertEqual(whole["slices"], 0)
        self.assertGreater(sliced["slices"], 1)
        self.assertAlmostEqual(sliced["log10_z"], whole["log10_z"])
        for entry, of_whole in zip(sliced["top"] + sliced["joint"], whole["top"] + whole["joint"]):
            for p, expected in zip(entry["p"], of_whole["p"]):
                self.assertAlmostEqual(p, expected)
        self.assertIn(", through 58.6 KiB in ", run(*marginals, "--device-memory", 60000)[0])
        self.assertIn("one row of a table needs", run(*marginals, "--device-memory", 100, code=6)[1])

    def test_dpop(self):
        file = self.clique("agents.wcsp", 7)
        exact = json.loads(run("map", file, "--json")[0])["minimum"]
        out = json.loads(run("dpop", file, "--json", "-o", "agents.MPE")[0])
        self.assertEqual((out["minimum"], out["bound"], out["found"], out["exact"], out["agents"], out["depth"], out["processes"]), (exact, exact, exact, True, 7, 6, 1))
        self.assertEqual((out["util"]["messages"], out["util"]["largest_bytes"], out["value"]["messages"], out["value"]["bytes"]), (6, 3**6 * 8, 6, 4 * 21))
        with open("agents.MPE") as text:
            self.assertEqual(text.read(), "MPE\n7 " + " ".join(map(str, out["assignment"])) + "\n")
        text = run("dpop", file)[0]
        self.assertIn(f"agents.wcsp: minimum {exact}\n  variable 0 = ", text)
        self.assertIn("\n  7 agents, tree of depth 6, width 6;", text)
        self.assertIn("one process", text)
        bounded = json.loads(run("dpop", file, "--mini-buckets", 3, "--match-moments", "--json")[0])
        self.assertFalse(bounded["exact"])
        self.assertIsNone(bounded["minimum"])
        self.assertLessEqual(bounded["bound"], exact)
        self.assertGreaterEqual(bounded["found"], exact)
        self.assertLess(bounded["util"]["largest_bytes"], out["util"]["largest_bytes"])
        self.assertIn("every assignment comes to the bound", run("dpop", self.write("no.wcsp", "none 1 2 1 1\n2\n1 0 1 0\n"), code=5)[0])
        run("dpop", file, "--match-moments", code=2)
        self.assertIn("dpop takes costs", run("dpop", self.write("none.uai", "MARKOV\n1\n2\n0\n"), code=2)[1])
        self.assertIn("DPOP needs", run("dpop", file, "--memory-limit", 8, code=6)[1])

    def test_dpop_in_several_processes(self):
        mpirun = shutil.which("mpirun")
        if mpirun is None or b"libmpi" not in subprocess.run(["ldd", PROGRAM], capture_output=True).stdout:
            self.skipTest("a build without MPI")
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", ASAN_OPTIONS="detect_leaks=0")  # what MPI leaks is its own
        start = lambda *arguments: subprocess.run([mpirun, "--oversubscribe", "-n", "3", PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=120)
        file = self.clique("ranks.wcsp", 7)
        for options in ((), ("--mini-buckets", 3), ("--order", "min_fill")):
            alone = json.loads(run("dpop", file, "--json", *options)[0])
            done = start("dpop", file, "--json", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            together = json.loads(done.stdout)  # one process prints
            self.assertEqual(together["processes"], 3)
            for key in ("bound", "found", "assignment", "exact", "util", "value"):
                self.assertEqual(together[key], alone[key])
        one_fails = subprocess.run([mpirun, "--oversubscribe", "-n", "2", PROGRAM, "dpop", file, ":", "-n", "1", PROGRAM, "dpop", "missing.wcsp"], capture_output=True, text=True, env=environment, timeout=120)
        self.assertEqual(one_fails.returncode, 3)  # and nobody waits for it
        failed = start("dpop", "missing.wcsp")
        self.assertEqual(failed.returncode, 3)
        self.assertEqual(failed.stderr.count("hornbill: "), 1, failed.stderr)

    def test_products_out_of_range(self):
        # Of 400 words half speak for one class, half for the other.
        count = 400
        cpts = ""
        for i in range(count):
            ham, spam = ("0.99, 0.01", "0.01, 0.99") if i < count // 2 else ("0.01, 0.99", "0.99, 0.01")
            cpts += f"variable w{i} {{ type discrete [ 2 ] {{ no, yes }}; }}\nprobability ( w{i} | class ) {{ (ham) {ham}; (spam) {spam}; }}\n"
        self.write("words.bif", "network words { }\nvariable class { type discrete [ 2 ] { ham, spam }; }\nprobability ( class ) { table 0.75, 0.25; }\n" + cpts)
        seen = self.write("words.txt", "".join(f"w{i} yes\n" for i in range(count)))
        log10_z = count / 2 * math.log10(0.99 * 0.01)
        observed = ("words.bif", "--evidence", seen, "--json")
        for precision in ("double", "float"):
            found = json.loads(run("marginals", *observed, "--joint", "class", "--precision", precision)[0])
            self.assertAlmostEqual(found["log10_z"], log10_z, 9)
            self.assertAlmostEqual(found["joint"][0]["p"][0], 0.75, 9)
            self.assertEqual(found["arithmetic"], "logarithms")
        found = json.loads(run("partition", *observed)[0])
        self.assertAlmostEqual(found["log10_z"], log10_z, 9)
        self.assertEqual(found["arithmetic"], "logarithms")
        self.assertIn("logarithms)", run("map", *observed[:-1])[0])
        for bounds in ((), ("--mini-buckets", 2)):
            found = json.loads(run("map", *observed, *bounds)[0])
            self.assertAlmostEqual(found["log10_value"], log10_z + math.log10(0.75), 9)
            self.assertEqual(found["assignment"][0], 0)
            self.assertEqual(found["arithmetic"], "logarithms")
        # What only single precision cannot hold: products, a likelihood.
        some = ("marginals", "words.bif", "--precision", "float", "--json", "--each", self.write("some.txt", "".join(f"w{i} yes\nw{i + count // 2} yes\n" for i in range(30))))
        found = json.loads(run(*some)[0])["sets"][0]
        self.assertEqual(found["arithmetic"], "double")
        self.assertAlmostEqual(found["log10_z"], 30 * math.log10(0.99 * 0.01), 9)
        few = self.write("few.txt", "w0 yes\nw1 yes\n")
        found = json.loads(run(*some, "--each", few, "--each", self.write("likelihood.txt", "w0 1 1e-50\n"))[0])["sets"]
        self.assertEqual([of_set["arithmetic"] for of_set in found[1:]], ["double", "double"])
        found = json.loads(run("marginals", "words.bif", "--precision", "float", "--json", "--each", few, "--each", "likelihood.txt")[0])["sets"]
        self.assertEqual([of_set["arithmetic"] for of_set in found], ["float", "double"])
        self.assertEqual(json.loads(run("marginals", "words.bif", "--evidence", few, "--json")[0])["arithmetic"], "double")
        both = run("marginals", "words.bif", "--each", few, "--each", seen)[0]
        self.assertIn("few.txt: partition function", both)
        self.assertIn(f"words.txt: partition function 10^{log10_z:.12g}", both)
        # What was impossible before is so still; what is merely tiny is not.
        self.write("tiny.uai", "MARKOV\n1\n2\n2\n1 0\n1 0\n2\n 1e-200 0\n2\n 1e-200 1\n")
        self.assertAlmostEqual(json.loads(run("partition", "tiny.uai", "--json")[0])["log10_z"], -400, 9)
        self.assertIn("no assignment is possible", run("map", self.write("no.uai", "MARKOV\n1\n2\n2\n1 0\n1 0\n2\n 1 0\n2\n 0 1\n"), code=5)[1])

    def test_marginals(self):
        # Rain makes the grass wet, and the road; whoever sees the grass damp knows more of the road.
        self.write("road.bif", "network n { }\nvariable rain { type discrete [ 2 ] { no, yes }; }\nvariable grass { type discrete [ 3 ] { dry, damp, wet }; }\n"
                   "variable road { type discrete [ 2 ] { dry, wet }; }\nprobability ( rain ) { table 0.75, 0.25; }\n"
                   "probability ( grass | rain ) { (no) 0.5, 0.25, 0.25; (yes) 0.0, 0.25, 0.75; }\nprobability ( road | rain ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }\n")
        out = run("marginals", "road.bif", "--exact", "--joint", "rain,road", "--top", "all", "--count", 1)[0]
        self.assertIn("road.bif: partition function 1\n    0.275000  road = wet\n", out)
        self.assertIn("partition function 1\n    rain: no 0.750000, yes 0.250000\n    grass: dry 0.375000, damp 0.250000, wet 0.375000\n", run("marginals", "road.bif")[0])
        self.assertAlmostEqual(json.loads(run("marginals", "road.bif", "--json")[0])["marginals"][2][1], 0.275)
        self.assertIn("    0.200000  rain = yes, road = wet\n", out)
        self.assertIn("width 1, 2 cliques", out)
        wet = self.write("road_wet.txt", "grass wet\n")
        damp, dry = self.write("road_damp.txt", "grass damp\n"), self.write("road_dry.txt", "grass dry\n")
        run("marginals", "road.bif", "--evidence", wet, "-o", "road.MAR")
        p = 0.25 * 0.75 / (0.75 * 0.25 + 0.25 * 0.75)
        with open("road.MAR") as text:
            numbers = text.read().split()
        self.assertEqual(numbers[:3], ["MAR", "3", "2"])
        for found, expected in zip(numbers[3:], (1 - p, p, 3, 0, 0, 1, 2, 0.9 * (1 - p) + 0.2 * p, 0.1 * (1 - p) + 0.8 * p), strict=True):
            self.assertAlmostEqual(float(found), expected)
        self.assertIn("against road.MAR: largest difference 0, at rain; 0 on average", run("marginals", "road.bif", "--evidence", wet, "--against", "road.MAR")[0])
        self.assertIn("largest difference 1, at grass", run("marginals", "road.bif", "--evidence", damp, "--against", "road.MAR")[0])
        # Of what was observed, in the order that was asked for, with all states.
        joint = json.loads(run("marginals", "road.bif", "--evidence", wet, "--joint", "road,grass,rain", "--json")[0])["joint"][0]
        self.assertEqual(joint["variables"], ["road", "grass", "rain"])
        self.assertEqual(joint["states"], [["dry", "wet"], ["dry", "damp", "wet"], ["no", "yes"]])
        self.assertAlmostEqual(joint["p"][5 + 6], p * 0.8)  # wet, wet, yes
        self.assertAlmostEqual(joint["p"][4], (1 - p) * 0.9)
        self.assertEqual(joint["p"][6:10], [0, 0, 0, 0])
        text = run("marginals", "road.bif", "--evidence", wet, "--joint", "road,grass")[0]
        self.assertIn(f"    {0.9 * (1 - p) + 0.2 * p:.6f}  road = dry, grass = wet\n    {0.1 * (1 - p) + 0.8 * p:.6f}  road = wet, grass = wet\n", text)
        self.assertNotIn("damp", text)
        # Together with sets of which some observe it.
        sets = json.loads(run("marginals", "road.bif", "--each", wet, "--each", self.write("road_no.txt", "rain no\n"), "--joint", "grass,rain", "--json")[0])["sets"]
        self.assertAlmostEqual(sets[0]["joint"][0]["p"][5], p)
        self.assertEqual(sets[0]["joint"][0]["p"][:4], [0, 0, 0, 0])
        joint = sets[1]["joint"][0]["p"]
        for found, expected in zip(joint, (0.5, 0, 0.25, 0, 0.25, 0), strict=True):
            self.assertAlmostEqual(found, expected)
        # Of many that are observed: few cells are possible, but there is a limit.
        self.write("many.uai", "MARKOV\n70\n" + "2 " * 70 + "\n1\n1 0\n2\n0.5 0.5\n")
        all_seen = self.write("all_seen.txt", "".join(f"{v} 1\n" for v in range(70)))
        some = ",".join(map(str, range(20)))
        self.assertIn("    1.000000  variable 0 = 1, ", run("marginals", "many.uai", "--evidence", all_seen, "--joint", some)[0])
        self.assertIn("List fewer variables", run("marginals", "many.uai", "--evidence", all_seen, "--joint", ",".join(map(str, range(70))), code=6)[1])
        self.assertIn("rain is listed twice", run("marginals", "road.bif", "--joint", "rain,rain", code=2)[1])
        # Sets of one name: fine, unless they are to be stored under it.
        for folder in ("one", "two"):
            os.makedirs(folder)
            shutil.copy(wet, os.path.join(folder, "seen.txt"))
        alike = ("marginals", "road.bif", "--each", "one/seen.txt", "--each", "two/seen.txt")
        self.assertIn("two/seen.txt: partition function", run(*alike)[0])
        self.assertIn("rename one", run(*alike, "-o", "alike.h5", code=2)[1])
        # Several sets: at once, and one by one where memory is short.
        sets = ("--each", wet, "--each", damp, "--each", dry, "--evidence", self.write("road_soft.txt", "rain 0.5 1\n"), "--joint", "rain,grass", "--json")
        together = json.loads(run("marginals", "road.bif", *sets)[0])
        self.assertEqual(together["sets_at_once"], 3)
        apart = json.loads(run("marginals", "road.bif", *sets, "--memory-limit", together["table_bytes"] - 1)[0])
        self.assertLess(apart["sets_at_once"], 3)
        for one, other, z in zip(together["sets"], apart["sets"], (0.75 * 0.5 * 0.25 + 0.25 * 0.75, 0.75 * 0.5 * 0.25 + 0.25 * 0.25, 0.75 * 0.5 * 0.5)):
            self.assertAlmostEqual(one["log10_z"], math.log10(z))
            self.assertAlmostEqual(other["log10_z"], math.log10(z))
            self.assertAlmostEqual(sum(one["joint"][0]["p"]), 1)
        self.assertEqual(together["sets"][2]["evidence"], dry)
        run("marginals", "road.bif", "--each", wet, "--each", damp, "-o", "road.h5")
        self.assertIn("exact_road_damp.txt", run("info", "road.h5")[0])
        # What cannot be.
        impossible = self.write("road_never.txt", "grass dry\nrain yes\n")
        self.assertIn("road.bif: nothing is possible under the evidence of road_never.txt: grass = dry, rain = yes cannot all be", run("marginals", "road.bif", "--evidence", impossible, code=5)[1])
        out, error = run("marginals", "road.bif", "--each", wet, "--each", impossible, code=5)
        self.assertIn("road_wet.txt: partition function", out)
        self.assertIn("road.bif, road_never.txt: nothing is possible under the evidence of road_never.txt: grass = dry, rain = yes cannot all be", error)
        self.assertIn("'roof' is no variable", run("marginals", "road.bif", "--joint", "rain,roof", code=3)[1])
        self.assertIn("--against nothing is neither a file nor", run("marginals", "road.bif", "--against", "nothing", code=3)[1])
        self.assertIn("the junction tree needs", run("marginals", "road.bif", "--memory-limit", 8, code=6)[1])
        run("marginals", "road.bif", "-o", "road.txt", code=2)
        run("marginals", "road.bif", "--each", wet, "--each", damp, "-o", "several.MAR", code=2)
        # Exact, and how far loopy propagation is off: not at all where there is no cycle.
        self.write("tree.causal_fg", "3\n\n0\nI\n0.3\n\n1\n*0.9;0.1\n1\n0\n\n2\n*0.8\n1\n1\n")
        run("lbp", "tree.causal_fg", "-o", "tree.h5", "--name", "loopy", "--tolerance", "1e-12")
        self.assertLess(json.loads(run("marginals", "tree.h5", "--against", "loopy", "--json")[0])["against"]["largest"], 1e-9)
        self.assertIn("against exact_road_wet.txt: largest difference 0, at", run("marginals", "road.h5", "--evidence", wet, "--against", "exact_road_wet.txt")[0])
        run("marginals", "road.bif", "--against", "road.MAR", "-o", "road.MAR", code=2)
        run("marginals", self.write("single.uai", "MARKOV\n2\n1 2\n1\n2 0 1\n2\n0.25 0.75\n"), "-o", "single.h5", "--name", "stored")
        self.assertIn("against stored: largest difference 0, at", run("marginals", "single.h5", "--against", "stored")[0])
        # A derivation graph that is too wide is refused before long.
        for command, other in (("marginals", "; lbp approximates marginals\n"), ("map", "; --mini-buckets bounds the best\n"), ("partition", "evidence may help\n")):
            error = run(command, "g.h5", "--tries", 1, code=6)[1]
            self.assertRegex(error, r"elimination is too wide: the order that was tried has a width of \d+, and the table that (part of the body of )?(tuple|input|clause)_\d+ makes [\d.]+e\+\d+ cells; 2147479552 are possible; evidence may help")
            self.assertTrue(error.endswith(other), error)

    def test_real_networks(self):
        data = os.path.join(SOURCE, "..", "shared", "data")
        if not os.path.isdir(os.path.join(data, "wcsp")):
            self.skipTest("reference results are not here")

        def unpacked(*path):
            name = os.path.basename(path[-1]).removesuffix(".xz")
            with lzma.open(os.path.join(data, *path)) as packed, open(name, "wb") as out:
                out.write(packed.read())
            return name

        for name, minimum in (("GEOM40_3", 7), ("GEOM40_6", 0), ("spot5_54", 37), ("spot5_503", 11113), ("spot5_1502", 28042), ("pedigree1", 76911689), ("example", 27), ("zebra", 0)):
            self.assertEqual(json.loads(run("map", unpacked("wcsp", name + ".wcsp.xz"), "--json")[0])["minimum"], minimum)
        for name in ("asia", "alarm", "child", "hailfinder", "hepar2", "insurance", "pigs", "win95pts", "munin2"):
            network = unpacked("bn", "bif", name + ".bif.xz")
            for observed in ("leaf3", "p5", "p20"):
                out = json.loads(run("partition", network, "--evidence", os.path.join(data, "bn", "evid", f"{name}.{observed}.evid"), "--order", "min_weight", "--json")[0])
                with open(os.path.join(data, "bn", "ref", f"{name}.{observed}.PR")) as text:
                    self.assertAlmostEqual(out["log10_z"], float(text.read().split()[-1]), delta=1e-9)
                reference = os.path.join(data, "bn", "ref", f"{name}.{observed}.MAR")
                out = json.loads(run("marginals", network, "--evidence", os.path.join(data, "bn", "evid", f"{name}.{observed}.evid"), "--against", reference, "--order", "min_weight", "--json")[0])
                self.assertLess(out["against"]["largest"], 1e-9)
        for name in ("grid_50-14-5", "promedas_or_chain_42.fg", "segmentation_12_4_s.binary"):
            model = unpacked("uai", "models", name + ".uai.xz")
            with open(os.path.join(data, "uai", "ref", name + ".PR")) as text:
                self.assertAlmostEqual(json.loads(run("partition", model, "--json")[0])["log10_z"], float(text.read().split()[-1]), delta=1e-9)
            with open(os.path.join(data, "uai", "ref", name + ".MPE.log10value")) as text:
                self.assertAlmostEqual(json.loads(run("map", model, "--json")[0])["log10_value"], float(text.read().split()[-1]), delta=1e-6)

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

    def test_learn(self):
        facts = "".join(f"R: NOT in, alarm({i})\n" for i in range(8))
        self.write("clauses.txt", facts + "Certain: NOT in, always\n")
        self.write("alarms.txt", "".join(f"alarm({i})\n" for i in range(8)) + "always\n")
        self.write("rules.txt", "R: 0.9\nCertain: 1\n")
        run("clauses", "model", "clauses.txt", "--alarms", "alarms.txt", "--rules", "rules.txt", "-o", "m.h5")
        self.write("labels.txt", "".join(f"alarm({i}) {'true' if i < 2 else 'false'}\n" for i in range(8)))
        out = json.loads(run("learn", "--run", "m.h5", "labels.txt", "--run", "m.h5", "labels.txt", "--prior", 4, "-o", "learned.txt", "--json")[0])
        learned = {rule["name"]: rule for rule in out["rules"]}
        self.assertTrue(out["converged"])
        self.assertAlmostEqual(learned["R"]["probability"], (2 + 2 + 4 * 0.9) / (8 + 8 + 4))
        self.assertAlmostEqual(learned["R"]["tried"], 16)
        self.assertEqual(learned["Certain"]["probability"], 1)
        self.assertLess(out["steps"][0]["log_likelihood"], out["log_likelihood"])
        self.assertAlmostEqual(out["log_likelihood"], 2 * (2 * math.log(0.38) + 6 * math.log(1 - 0.38)))
        with open("learned.txt") as text:
            self.assertIn("R: 0.38\n", [line[:7] + "\n" for line in text])
        run("clauses", "model", "clauses.txt", "--alarms", "alarms.txt", "--rules", "learned.txt", "-o", "better.h5")
        # From other probabilities, and with rules that stay as they are.
        out = json.loads(run("learn", "--run", "m.h5", "labels.txt", "--start", self.write("start.txt", "R: 0.5\nCertain: 1\n"), "--fix", "R", "--json")[0])
        self.assertEqual([rule["probability"] for rule in out["rules"]], [1, 0.5])
        out = json.loads(run("learn", "--run", "m.h5", self.write("true.txt", "alarm(0) true\n"), "--start", self.write("start.txt", "R: 1\nCertain: 0.5\n"), "--json")[0])
        self.assertEqual(out["rules"][1]["probability"], 1)  # what is certain of the start stays so
        self.assertIn("R          0.9000    0.3222         8.0\n", run("learn", "--run", "m.h5", "labels.txt")[0])
        self.assertIn("no steps; log-likelihood of the labels -14.0262\n", run("learn", "--run", "m.h5", "labels.txt", "--steps", 0, code=4)[0])
        self.assertIn("stopped at the limit (--steps); log-likelihood of the labels -14.0262 -> -4.59", run("learn", "--run", "m.h5", "labels.txt", "--steps", 1, "--change", 0, code=4)[0])
        # What cannot be learned from.
        self.write("impossible.txt", "always false\n")
        self.assertIn("m.h5 with impossible.txt: the labels contradict each other, or what is certain of the model, at ", run("learn", "--run", "m.h5", "impossible.txt", "-o", "none.txt", code=5)[1])
        self.assertFalse(os.path.exists("none.txt"))
        self.assertIn("g.h5 with labels10:/rules: says nothing of rules", run("learn", "--run", "g.h5", "labels10", code=3)[1])
        self.assertIn("start.txt: has no probability for the rule R of m.h5", run("learn", "--run", "m.h5", "labels.txt", "--start", self.write("start.txt", "Certain: 1\n"), code=3)[1])
        self.assertIn("the rule 'S'", run("learn", "--run", "m.h5", "labels.txt", "--fix", "S", code=3)[1])
        self.assertIn("empty.txt: holds no label to learn from", run("learn", "--run", "m.h5", self.write("empty.txt", "# none\n"), code=3)[1])
        run("learn", "--run", "m.h5", code=2)

    def test_serve_as_a_driver_sees_it(self):
        send, process = self.serve(os.path.join(GOLDEN, "fig2.causal_fg"))
        self.assertEqual(send("Q 2"), "error: there are no beliefs before a BP command")
        self.assertEqual(send("BP 1e-6 500 1000 100"), "0")
        self.assertEqual(send("Q 2"), "0.504")
        self.assertEqual(send("O 2 true"), "O 2 true")
        self.assertEqual(send("Q 2"), "0.504")  # not before the next BP
        self.assertEqual(send("BP 1e-6 500 1000 100"), "0")
        self.assertEqual(send("Q 2"), "1")
        self.assertEqual(send("UC 2"), "UC 2")
        self.assertEqual(send("OS 2 0.2 0.8"), "OS 2 0.2 0.8")
        self.assertEqual(send("BP 1e-6 500 1000 100"), "0")
        self.assertEqual(send("Q 2"), f"{0.8 * 0.504 / (0.8 * 0.504 + 0.2 * 0.496):g}")
        self.assertEqual(send("NL"), "")
        beliefs = [float(send(f"FQ 2 {state}")) for state in range(8)]
        self.assertAlmostEqual(sum(beliefs), 1, places=5)
        for wrong, answer in (("X", "there is no command 'X'"), ("Q", "is written `Q variable`"), ("Q 99", "there is no variable 99: they are 0 to 2"), ("Q a", "'a' is not variable"),
                              ("O 1 yes", "'yes' is neither true nor false"), ("OS 1 0 0", "two finite likelihoods"), ("BP 1e-6 500", "is written `BP tolerance"),
                              ("BP 2 500 1000 100", "above 0 and below 1"), ("BP 1e-6 100 1000 500", "histLength < minIters < maxIters"), ("FQ 2 8", "its states are 0 to 7"),
                              ("FQ 9 0", "there is no factor 9")):
            self.assertIn(answer, send(wrong))
            self.assertTrue(send(wrong).startswith("error: "))
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def test_serve_iterates_as_libdai(self):
        with open(os.path.join(GOLDEN, "weblech.ev10")) as text:
            lines = [f"O {line.split()[0]} {'true' if line.split()[1] == '1' else 'false'}" for line in text if not line.startswith("#")]
        expected = json.loads(run("lbp", os.path.join(GOLDEN, "weblech.causal_fg"), "--evidence", os.path.join(GOLDEN, "weblech.ev10"), "--damping", 0, "--schedule", "seqfix", "--json", "--top", "all", "--count", 700)[0])
        queries = [f"Q {entry['variable']}" for entry in expected["top"]]
        out = subprocess.run([PROGRAM, "serve", os.path.join(GOLDEN, "weblech.causal_fg")], input="\n".join([*lines, "BP 1e-6 500 1000 100", *queries]), capture_output=True, text=True).stdout.split("\n")
        self.assertEqual(out[len(lines)], "0")
        for answer, entry in zip(out[len(lines) + 1:], expected["top"]):
            self.assertEqual(answer, f"{entry['p_true']:g}")

    def test_serve_answers_a_mean_where_beliefs_swing(self):
        send, process = self.serve("g.h5", "--schedule", "parall")
        labels = json.loads(run("rank", "g.h5", "--oracle", "true_alarms", "--schedule", "topo", "--json", "--rounds", 6)[0])["rounds"]
        for one in labels:
            send(f"O {one['variable']} {one['label']}")
        swinging = float(send("BP 1e-9 40 60 20"))
        self.assertGreater(swinging, 0)
        self.assertLess(swinging, 1)
        for one in labels:
            self.assertEqual(float(send(f"Q {one['variable']}")), one["label"] == "true")

    def test_serve_withdraws_contradictions_and_ends_quietly(self):
        self.write("pair.causal_fg", "3\n\n0\nI\n0.5\n\n1\n*\n1\n0\n\n2\nI\n0.1\n")
        send, process = self.serve("pair.causal_fg")
        send("O 0 true")
        send("O 1 false")
        self.assertEqual(send("BP 1e-6 500 1000 100"), "0")
        self.assertEqual([send("Q 0"), send("Q 1"), send("Q 2")], ["1", "1", "0.1"])
        self.assertIn("the observation of variable 1 contradicts those before it", process.stderr.readline())
        send, process = self.serve("pair.causal_fg")
        process.stdout.close()  # the driver is gone
        process.stdin.write("NL\nNL\n")
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

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
        self.assertIn("written to .h5 files", run("lbp", "g.h5", "-o", "r.txt", code=2)[1])
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
            self.assertIn(target + ": cannot be written: is the disk full?", done.stderr)
            self.assertFalse([name for name in os.listdir(".") if "full" in name])

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
    unittest.main(argv=sys.argv[:1], verbosity=1)
