#!/usr/bin/env python3
"""Loopy propagation: schedules, evidence, outputs, warm starts. Usage: test_lbp.py PROGRAM SOURCE_DIR"""
import json
import os
import unittest
import unittest.mock

from support import CommandLine, GOLDEN, main, run


class Lbp(CommandLine):
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
        backends = run("lbp", "g.h5", "--backend", "abacus", code=2)[1].split("there are ")[1].split(".")[0]
        for backend in backends.split(", "):
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
            self.assertEqual(f.attrs["hornbill_format"], 2)
            self.assertEqual(f["marginals/lbp"].shape, (696,))
            self.assertIn(f["marginals/lbp"].attrs["schedule"].decode(), ("seqfix", "chromatic"))
            self.assertEqual(f["graph/factor_variables"].compression, "gzip")

    def test_variables_of_several_states(self):
        """A tree, where propagation is exact: beside Bayes' rule in Python, and beside `marginals`."""
        cause, effect, likelihoods = [0.5, 0.3, 0.2], [[0.7, 0.2, 0.06, 0.04], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]], [0.5, 0, 2.0, 0.25]
        states = "network n {}\nvariable sky { type discrete [3] { clear, cloudy, storm }; }\nvariable road { type discrete [4] { dry, wet, icy, snow }; }\n"
        tables = f"probability (sky) {{ table {', '.join(map(str, cause))}; }}\nprobability (road | sky) {{\n" + "".join(
            f"  ({name}) {', '.join(map(str, row))};\n" for name, row in zip(("clear", "cloudy", "storm"), effect)) + "}\n"
        self.write("sky.bif", states + tables)
        run("convert", "sky.bif", "sky.h5")
        self.write("seen.txt", "road " + " ".join(map(str, likelihoods)) + "  # hardly dry\n")
        joint = [[p * q * l for q, l in zip(row, likelihoods)] for p, row in zip(cause, effect)]
        total = sum(map(sum, joint))
        expected = [[sum(row) / total for row in joint], [sum(column) / total for column in zip(*joint)]]

        def check(marginals):
            self.assertEqual([len(p) for p in marginals], [3, 4])
            for p, q in zip(sum(marginals, []), sum(expected, [])):
                self.assertAlmostEqual(p, q, places=10)

        for file in ("sky.bif", "sky.h5"):
            for schedule in ("seqfix", "parall", "topo"):
                out = json.loads(run("lbp", file, "--evidence", "seen.txt", "--schedule", schedule, "--tolerance", 1e-12, "--json")[0])
                check(out["marginals"])
                self.assertEqual((out["names"], out["states"][1]), (["sky", "road"], ["dry", "wet", "icy", "snow"]))
        check(json.loads(run("marginals", "sky.h5", "--evidence", "seen.txt", "--json")[0])["marginals"])
        top = json.loads(run("lbp", "sky.h5", "--evidence", "seen.txt", "--top", "all", "--json")[0])["top"]
        check([one["p"] for one in sorted(top, key=lambda one: one["variable"])])
        self.assertEqual(top[0]["states"][1], top[0]["state"])
        self.assertIn(f"    road: dry {expected[1][0]:.6f}, wet 0.000000, icy", run("lbp", "sky.h5", "--evidence", "seen.txt")[0])
        # The likelihood of each value of several sets, at once.
        self.write("icy.txt", "road icy\n")
        sets = json.loads(run("lbp", "sky.h5", "--each", "seen.txt", "--each", "icy.txt", "--json")[0])["sets"]
        check(sets[0]["marginals"])
        self.assertEqual(sets[1]["marginals"][1], [0, 0, 1, 0])

        run("lbp", "sky.h5", "--evidence", "seen.txt", "-o", "lbp.MAR")
        run("lbp", "sky.h5", "--evidence", "seen.txt", "-o", "lbp.h5", "--store-messages")
        for model, against in (("sky.h5", "lbp.MAR"), ("lbp.h5", "lbp")):
            out = json.loads(run("marginals", model, "--evidence", "seen.txt", "--against", against, "--json")[0])
            self.assertLess(out["against"]["largest"], 1e-9)
        run("marginals", "sky.h5", "-o", "exact.h5")
        out = json.loads(run("marginals", "exact.h5", "--evidence", "seen.txt", "--against", "exact", "--json")[0])
        prior = [cause, [sum(p * row[s] for p, row in zip(cause, effect)) for s in range(4)]]
        self.assertAlmostEqual(out["against"]["largest"], max(abs(p - q) for p, q in zip(sum(prior, []), sum(expected, []))))
        again = json.loads(run("lbp", "lbp.h5", "--evidence", "seen.txt", "--start-from", "lbp", "--json")[0])
        check(again["marginals"])
        self.assertIn(".MAR or .h5", run("lbp", "sky.h5", "-o", "x.txt", code=2)[1])
        self.assertIn("an .h5 file, not a .MAR file", run("lbp", "sky.h5", "-o", "x.MAR", "--store-messages", code=2)[1])
        self.assertIn("one evidence set", run("lbp", "sky.h5", "-o", "x.MAR", "--each", "seen.txt", "--each", "icy.txt", code=2)[1])

        # What is hardly possible is no 0, however many states there are.
        self.write("rare.uai", "MARKOV\n2\n2 3\n2\n1 0\n1 1\n\n2\n1e-18 1\n3\n1e-18 1 0\n")
        for precision, places in (("double", 1e-30), ("float", 1e-23)):
            p = json.loads(run("lbp", "rare.uai", "--precision", precision, "--json")[0])["marginals"]
            self.assertAlmostEqual(p[0][0], 1e-18, delta=places)
            self.assertAlmostEqual(p[1][0], 1e-18, delta=places)
        self.assertIn("-o FILE.h5 writes all", run("lbp", "g.h5", "--each", "labels10", "--iterations", 1, "--tolerance", 0)[0])

        self.write("never.txt", "road 0 0 0 0\n")
        self.assertIn("never.txt:line 1: variable 1: all likelihoods are 0", run("lbp", "sky.h5", "--evidence", "never.txt", code=3)[1])
        self.write("storm.txt", "road 1 0 0 0\nsky 0 0 1\n")
        self.write("sure.bif", states + tables.replace("0.25, 0.25, 0.25, 0.25", "0, 0, 0, 1"))
        self.assertIn(" can have none of its ", run("lbp", "sure.bif", "--evidence", "storm.txt", code=5)[1])
        self.assertIn("road with likelihoods 1, 0, 0, 0, sky with likelihoods 0, 0, 1 cannot all be", run("marginals", "sure.bif", "--evidence", "storm.txt", code=5)[1])

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


if __name__ == "__main__":
    main()
