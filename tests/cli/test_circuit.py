#!/usr/bin/env python3
"""Probabilistic circuits. Usage: test_circuit.py PROGRAM SOURCE_DIR"""
import gzip
import json
import math
import os

from support import SOURCE, CommandLine, main, run

DENSITY = os.path.join(SOURCE, "..", "shared", "data", "density")
DUMPS = os.path.join(SOURCE, "..", "shared", "data", "circuits")
ROWS = "0,0,1\n1,1,0\n0,?,1\n1,1,\n0,0,1\n1,0,0\n"


class Circuit(CommandLine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open("x.csv", "w") as out:
            out.write(ROWS)

    def json(self, *arguments):
        return json.loads(run("circuit", *arguments, "--json")[0])

    def test_build_and_evaluate(self):
        for structure in (("hmm", "--steps", 3, "--states", 5, "--categories", 2), ("hclt", "x.csv", "--latents", 4), ("rat-spn", "--variables", 3, "--latents", 4, "--depth", 1, "--categories", 2),
                          ("hclt", "x.csv", "--latents", 70, "--latent-leaves"), ("hmm", "--steps", 3, "--states", 2, "--inputs", "gaussian", "--inhomogeneous"), ("chow-liu", "x.csv")):
            with self.subTest(structure=structure):
                built = self.json("build", *structure, "-o", "c.h5")
                info = self.json("info", "c.h5")
                self.assertEqual((built["variables"], built["inputs"], built["edges"]), (3, info["inputs"], info["sum_edges"] + info["product_edges"]))
                fp32, fp64 = self.json("evaluate", "c.h5", "x.csv"), self.json("evaluate", "c.h5", "x.csv", "--precision", "fp64", "--batch", 2, "-o", "ll.txt")
                self.assertEqual((fp32["samples"], fp32["impossible"]), (6, []))
                self.assertAlmostEqual(fp32["mean_log_likelihood"], fp64["mean_log_likelihood"], delta=2e-5)
                with open("ll.txt") as file:
                    self.assertAlmostEqual(sum(map(float, file)) / 6, fp64["mean_log_likelihood"], places=12)

    def test_the_same_seed_gives_the_same_bytes(self):
        files = []
        for seed in (1, 1, 2):
            run("circuit", "build", "rat-spn", "--variables", 8, "--latents", 3, "--depth", 2, "--categories", 4, "--seed", seed, "-o", "c.h5")
            with open("c.h5", "rb") as file:
                files.append(file.read())
        self.assertEqual(files[0], files[1])
        self.assertNotEqual(files[0], files[2])

    def test_impossible_samples(self):
        run("circuit", "build", "chow-liu", "x.csv", "--pseudo-count", 0, "-o", "tree.h5")
        self.assertEqual(self.json("info", "tree.h5")["deterministic"], "yes")
        self.write("never.csv", "a,b,c\n1,1,0\n0,0,1\n0,1,0\n")
        out = self.json("evaluate", "tree.h5", "never.csv")
        self.assertEqual(out["impossible"], [2])
        self.assertIn("impossible: 1 sample, in rows (from 0) 2", run("circuit", "evaluate", "tree.h5", "never.csv")[0])
        self.write("only.csv", "0,1,0\n")
        self.assertEqual((self.json("evaluate", "tree.h5", "only.csv")["mean_log_likelihood"], run("circuit", "evaluate", "tree.h5", "only.csv")[0].split("\n")[0]), (None, "  impossible: 1 sample, in rows (from 0) 0"))

    def test_refusals(self):
        run("circuit", "build", "hmm", "--steps", 3, "--states", 2, "--categories", 2, "-o", "hmm.h5")
        for text, message in (("0,0,2\n", "x2 is '2'; it must be a whole number from 0 to 1, or `?` where it is missing"), ("0,0\n", "has 2 values; the circuit's variables are 3"), ("", "has no samples"),
                              ("0,0.5,0\n", "x1 is '0.5'"), ("0,nan,0\n", "x1 is 'nan'")):
            self.write("bad.csv", text)
            self.assertIn(message, run("circuit", "evaluate", "hmm.h5", "bad.csv", code=3)[1])
        self.assertIn("bad.csv:line 2: has 3 values; the lines before have 2", (self.write("bad.csv", "0,0\n0,0,0\n"), run("circuit", "build", "hclt", "bad.csv", "--latents", 2, "-o", "n.h5", code=3))[1][1])
        self.assertIn("no such file", run("circuit", "evaluate", "none.h5", "x.csv", code=3)[1])
        self.assertIn("holds a probabilistic circuit, not a model", run("info", "hmm.h5", code=3)[1])
        self.assertIn("holds no circuit", run("circuit", "info", "g.h5", code=3)[1])
        self.assertIn("needs --categories", run("circuit", "build", "hmm", "--steps", 3, "--states", 2, "-o", "n.h5", code=2)[1])
        self.assertIn("--categories: a Gaussian's values are real numbers", run("circuit", "build", "hmm", "--steps", 3, "--states", 2, "--inputs", "gaussian", "--categories", 3, "-o", "n.h5", code=2)[1])
        self.assertIn("variable x0 has the value 4", (self.write("bad.csv", "4,0\n"), run("circuit", "build", "hclt", "bad.csv", "--latents", 2, "--categories", 3, "-o", "n.h5", code=2))[1][1])
        self.assertIn("SAMPLES and -o", run("circuit", "evaluate", "hmm.h5", "x.csv", "-o", "x.csv", code=2)[1])
        self.write("many.csv", ROWS * 50)
        self.assertIn("a batch size of 128 fits", run("circuit", "evaluate", "hmm.h5", "many.csv", "--memory", "24K", code=6)[1])
        self.assertEqual(self.json("evaluate", "hmm.h5", "many.csv", "--memory", "24K", "--batch", 128)["samples"], 300)
        self.assertIn("the evaluation of the circuit", run("circuit", "evaluate", "hmm.h5", "x.csv", "--memory", "100", code=6)[1])
        self.assertFalse(os.path.exists("n.h5"))

    def test_dumps(self):
        for name, variables in (("hmm", 8), ("hclt", 16)):
            dump = os.path.join(DUMPS, f"pyjuice_small_{name}.h5")
            if not os.path.exists(dump):
                self.skipTest("data beside the project is missing")
            run("circuit", "convert", dump, "own.h5")
            self.assertEqual(self.json("info", "own.h5")["variables"], variables)
            results = [self.json("evaluate", circuit, dump)["mean_log_likelihood"] for circuit in (dump, "own.h5")]
            self.assertEqual(results[0], results[1])

    def test_chow_liu_trees_of_known_data(self):
        """Test log-likelihoods of the trees, as the data's page has them."""
        for name, expected in (("nltcs", -6.759), ("plants", -16.524), ("dna", -87.662)):
            files = [os.path.join(DENSITY, f"{name}.{part}.data.gz") for part in ("train", "test")]
            if not all(map(os.path.exists, files)):
                self.skipTest("data beside the project is missing")
            for file, to in zip(files, ("train.csv", "test.csv")):
                with gzip.open(file, "rt") as data:
                    self.write(to, data.read())
            run("circuit", "build", "chow-liu", "train.csv", "-o", "tree.h5")
            self.assertAlmostEqual(self.json("evaluate", "tree.h5", "test.csv")["mean_log_likelihood"], expected, delta=5e-4)


if __name__ == "__main__":
    main()
