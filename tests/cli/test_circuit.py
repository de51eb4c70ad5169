#!/usr/bin/env python3
"""Probabilistic circuits. Usage: test_circuit.py PROGRAM SOURCE_DIR"""
import gzip
import json
import math
import os
import subprocess
import time

from support import GOLDEN, PROGRAM, SOURCE, CommandLine, main, run

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
                          ("hclt", "x.csv", "--latents", 70, "--latent-leaves"), ("hmm", "--steps", 3, "--states", 2, "--inputs", "gaussian", "--inhomogeneous"), ("chow-liu", "x.csv"),
                          ("pd", "--shape", "3,1", "--split-every", 1, "--latents", 3, "--categories", 2), ("pd", "--shape", 3, "--split-points", "1,2", "--latents", 40, "--categories", 2, "--divisions", 1, "--keep", 0.5),
                          ("pd-hclt", "x.csv", "--shape", 3, "--split-points", 2, "--latents", 3), ("hmm", "--steps", 3, "--states", 5, "--categories", 2, "--block", 2, "--band", 0)):
            with self.subTest(structure=structure):
                built = self.json("build", *structure, "-o", "c.h5")
                info = self.json("info", "c.h5")
                self.assertEqual((built["variables"], built["inputs"], built["edges"]), (3, info["inputs"], info["sum_edges"] + info["product_edges"]))
                fp32, fp64 = self.json("evaluate", "c.h5", "x.csv"), self.json("evaluate", "c.h5", "x.csv", "--precision", "fp64", "--batch", 2, "-o", "ll.txt")
                self.assertEqual((fp32["samples"], fp32["impossible"]), (6, []))
                self.assertAlmostEqual(fp32["mean_log_likelihood"], fp64["mean_log_likelihood"], delta=2e-5)
                with open("ll.txt") as file:
                    self.assertAlmostEqual(sum(map(float, file)) / 6, fp64["mean_log_likelihood"], places=12)

    def test_precisions(self):
        run("circuit", "build", "hmm", "--steps", 3, "--states", 64, "--categories", 2, "-o", "c.h5")
        found = {precision: self.json("evaluate", "c.h5", "x.csv", "--precision", precision) for precision in ("fp32", "tf32", "bf16", "fp64")}
        means = {precision: of["mean_log_likelihood"] for precision, of in found.items()}
        self.assertEqual([of["precision"] for of in found.values()], list(found))
        self.assertEqual(means["tf32"], means["fp32"])
        self.assertNotEqual(means["fp64"], means["fp32"])
        if found["bf16"]["backend"] == "cuda":  # a CPU computes with all digits
            self.assertNotEqual(means["bf16"], means["fp32"])
        else:
            self.assertEqual(means["bf16"], means["fp32"])
        self.assertAlmostEqual(means["bf16"], means["fp64"], delta=3e-3)

    def test_the_same_seed_gives_the_same_bytes(self):
        files = []
        for seed in (1, 1, 2):
            run("circuit", "build", "rat-spn", "--variables", 8, "--latents", 3, "--depth", 2, "--categories", 4, "--seed", seed, "-o", "c.h5")
            with open("c.h5", "rb") as file:
                files.append(file.read())
        self.assertEqual(files[0], files[1])
        self.assertNotEqual(files[0], files[2])

    def test_grids(self):
        def refusal(*arguments, code=2):
            return run("circuit", "build", *arguments, "--latents", 2, "-o", "n.h5", code=code)[1]
        self.assertIn("[--split-every,--split-points]", refusal("pd", "--shape", 4, "--categories", 2))
        self.assertIn("--split-every: intervals are 2, axes 3", refusal("pd", "--shape", "4,4,4", "--split-every", "1,2", "--categories", 2))
        self.assertIn("--split-points: lists of points are 1, axes 2", refusal("pd", "--shape", "4,4", "--split-points", 2, "--categories", 2))
        for points in ("2,x", "", "2,", ",2", "99999999999"):
            self.assertIn(f"--split-points {points}: write an axis as 4,8,12, or as none", refusal("pd", "--shape", 4, "--split-points", points, "--categories", 2))
        self.assertIn("axis 0 is split at 4; split points ascend from 1 to 3", refusal("pd", "--shape", 4, "--split-points", "2,4", "--categories", 2, code=3))
        self.assertIn("needs --categories", refusal("pd", "--shape", 4, "--split-every", 2))
        self.assertIn("boxes of 2 sums are more than", refusal("pd", "--shape", "900,900", "--split-every", 1, "--categories", 2, code=6))
        self.assertIn("--shape: the grid has 4 variables, x.csv has 3", refusal("pd-hclt", "x.csv", "--shape", 4, "--split-every", 2))
        self.assertEqual(self.json("build", "pd", "--shape", "2,4", "--split-points", "none", 2, "--latents", 3, "--categories", 2, "-o", "c.h5")["variables"], 8)
        self.assertFalse(os.path.exists("n.h5"))

    def test_blocks_of_edges(self):
        hmm = ("hmm", "--steps", 4, "--states", 6, "--categories", 2, "--block", 2)
        self.write("blocks.csv", "0,1\n1,2\n2,0\n")
        self.write("x4.csv", "0,0,1,1\n1,0,0,0\n")
        for options, edges in ((("--keep", 0.5), 3 * 6 * 4 + 4), (("--band", 0), 3 * 12 + 6), (("--blocks", "blocks.csv"), 3 * 12 + 6)):
            with self.subTest(options=options):
                self.json("build", *hmm, *options, "-o", "c.h5")
                self.assertEqual(self.json("info", "c.h5")["sum_edges"], edges)
                self.assertLess(self.json("evaluate", "c.h5", "x4.csv")["mean_log_likelihood"], 0)

        def refusal(*options, code):
            return run("circuit", "build", *hmm, *options, "-o", "n.h5", code=code)[1]
        self.assertIn("--keep: '0' is not a number over 0, up to 1", refusal("--keep", 0, code=2))
        self.assertIn("--block: all blocks are kept; say which", refusal(code=2))
        self.json("build", *hmm, "--keep", 1, "-o", "c.h5")
        self.assertEqual(self.json("info", "c.h5")["sum_edges"], 3 * 36 + 6)
        self.assertIn("--keep excludes --band", refusal("--keep", 0.5, "--band", 1, code=2))
        for text, message in (("0,1\n1,2\n", "sum node 22, in row 2 of blocks, keeps no edge"), ("0,1\n1,2\n2,0\n2,3\n", "in row 2 and column 3, which is listed"), ("0,1,1\n", "has 3 numbers in a line"),
                              ("0,1\n1,?\n", "block 1, counted from 0, lacks its row or column"), ("0,-1\n", "x1 is '-1'")):
            self.write("bad.csv", text)
            self.assertIn(message, refusal("--blocks", "bad.csv", code=3))
        self.assertFalse(os.path.exists("n.h5"))

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
        self.assertFalse(os.path.exists("n.h5"))

    def test_memory(self):
        """What `info` says is enough, and a byte less is refused with a batch size that fits."""
        run("circuit", "build", "hmm", "--steps", 3, "--states", 2, "--categories", 2, "-o", "hmm.h5")
        self.write("many.csv", ROWS * 50)
        for command, part in ((("evaluate", "hmm.h5", "many.csv"), "evaluation"), (("train", "hmm.h5", "many.csv", "--epochs", 1, "-o", "m.h5"), "training")):
            for precision in ("fp32", "fp64"):
                with self.subTest(part=part, precision=precision):
                    given = (*command, "--precision", precision)
                    needed = {batch: self.json("info", "hmm.h5", "--batch", batch, "--precision", precision)[part]["bytes_at_peak"] for batch in (1, 192, 300)}
                    self.assertEqual(self.json(*given, "--memory", str(needed[300]))["samples"], 300)
                    refusal = run("circuit", *given, "--memory", str(needed[300] - 1), code=6)[1]
                    self.assertIn(f"a batch of 300 samples needs {needed[300]} bytes, and {needed[300] - 1} are there; a batch size of ", refusal)
                    fitting = int(refusal.split("a batch size of ")[1].split()[0])
                    self.assertEqual(self.json(*given, "--memory", str(needed[300] - 1), "--batch", fitting)["samples"], 300)
                    run("circuit", *given, "--memory", str(needed[300] - 1), "--batch", fitting + 1, code=6)
                    self.assertIn(f"even one sample needs {needed[1]}", run("circuit", *given, "--memory", "100", code=6)[1])
        os.remove("m.h5")
        run("circuit", "train", "hmm.h5", "many.csv", "--memory", "100", "-o", "m.h5", code=6)
        self.assertFalse(os.path.exists("m.h5"))

    def test_layers(self):
        run("circuit", "build", "pd", "--shape", "4,4", "--split-every", 1, "--latents", 2, "--categories", 2, "-o", "pd.h5")
        info = self.json("info", "pd.h5")
        groups = [group for layer in info["layers"] if layer["kind"] == "sums" for group in layer["groups"]]
        self.assertEqual(len(groups), info["plan"]["groups"])
        self.assertEqual(sum(group["edges"] for group in groups), info["sum_edges"])
        self.assertEqual(sum(kernel["edges"] for kernel in info["plan"]["sums_by_kernel"].values()), info["sum_edges"])
        text = run("circuit", "info", "pd.h5", "--layers")[0]
        self.assertEqual(text.count("  layer "), len(info["layers"]))
        self.assertNotIn("  layer ", run("circuit", "info", "pd.h5")[0])

    def test_train(self):
        run("circuit", "build", "hclt", "x.csv", "--latents", 4, "-o", "c.h5")
        before = self.json("evaluate", "c.h5", "x.csv")["mean_log_likelihood"]
        for update in ("full", "mini", "anemone"):
            with self.subTest(update=update):
                trained = self.json("train", "c.h5", "x.csv", "--update", update, "--epochs", 30, "--batch", 4, "--pseudo-count", 0, "-o", "m.h5")
                means = [epoch["mean_log_likelihood"] for epoch in trained["epochs"]]
                self.assertEqual((len(means), trained["samples"], trained["update"]), (30, 6, update))
                after = self.json("evaluate", "m.h5", "x.csv")["mean_log_likelihood"]
                self.assertGreater(after, before + 0.2)
                if update == "full":
                    for earlier, later in zip(means, means[1:]):
                        self.assertGreater(later, earlier - 1e-6)
                    self.assertAlmostEqual(means[0], before, delta=2e-5)
        self.assertIn("epoch 2: mean ln p -", run("circuit", "train", "c.h5", "x.csv", "--epochs", 2, "-o", "m.h5")[0])
        self.write("never.csv", "1,1,1\n0,0,1\n")
        run("circuit", "build", "chow-liu", "x.csv", "--pseudo-count", 0, "-o", "tree.h5")
        self.assertIn("1 sample impossible and skipped", run("circuit", "train", "tree.h5", "never.csv", "--epochs", 1, "-o", "m.h5")[0])

    def test_weights_are_as_many_samples(self):
        run("circuit", "build", "hmm", "--steps", 3, "--states", 3, "--categories", 2, "-o", "c.h5")
        self.write("w.txt", "2\n0\n1\n0\n0\n0.5\n")
        self.write("thrice.csv", "0,0,1\n" * 4 + "0,?,1\n" * 2 + "1,0,0\n")
        options = ("--epochs", 3, "--precision", "fp64", "--pseudo-count", 0, "-o", "m.h5")
        a, b = self.json("train", "c.h5", "x.csv", "--weights", "w.txt", *options), self.json("train", "c.h5", "thrice.csv", *options)
        for of_weights, of_repeats in zip(a["epochs"], b["epochs"]):
            self.assertAlmostEqual(of_weights["mean_log_likelihood"], of_repeats["mean_log_likelihood"], places=11)

    def kill_behind_a_checkpoint(self, checkpoint, *train):
        """Starts a training, and kills it soon after it wrote a checkpoint. Whether it was still there."""
        def written():
            return os.stat(checkpoint).st_mtime_ns if os.path.exists(checkpoint) else None

        before = written()
        process = subprocess.Popen([PROGRAM, *map(str, train), "--checkpoint", checkpoint, "--checkpoint-seconds", "0", "-o", "parts.h5"], stdout=subprocess.DEVNULL)
        while written() == before and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        return process.wait() != 0

    def test_a_training_that_is_stopped_goes_on(self):
        """Killed at any time; what comes out is what would have come out, bit for bit."""
        self.write("many.csv", ROWS * 400)
        run("circuit", "build", "hmm", "--steps", 3, "--states", 40, "--categories", 2, "-o", "c.h5")
        for update in ("full", "mini", "anemone"):
            with self.subTest(update=update):
                train = ("circuit", "train", "c.h5", "many.csv", "--update", update, "--epochs", 25, "--batch", 64)
                whole = run(*train, "-o", "whole.h5")[0].split("\n")
                kills = sum(self.kill_behind_a_checkpoint(f"{update}.h5", *train) for _ in range(3))
                parts = run(*train, "--checkpoint", f"{update}.h5", "-o", "parts.h5")[0].split("\n")
                self.assertGreater(kills, 0)
                self.assertTrue("goes on in epoch" in parts[0] or "has seen all epochs" in parts[0], parts[0])
                with open("whole.h5", "rb") as a, open("parts.h5", "rb") as b:
                    self.assertEqual(a.read(), b.read())
                for line in parts:
                    if line.startswith("epoch"):
                        self.assertIn(line.rsplit(",", 1)[0], [of.rsplit(",", 1)[0] for of in whole])
                self.assertEqual(self.json("info", f"{update}.h5")["variables"], 3)

    def test_checkpoints_of_other_trainings(self):
        run("circuit", "build", "hmm", "--steps", 3, "--states", 3, "--categories", 2, "-o", "c.h5")
        run("circuit", "build", "hmm", "--steps", 3, "--states", 4, "--categories", 2, "-o", "other.h5")
        self.write("others.csv", "0,0,0\n")
        train = ("--update", "mini", "--epochs", 2, "--checkpoint", "k.h5", "-o", "m.h5")
        run("circuit", "train", "c.h5", "x.csv", *train)
        for arguments, message in ((("other.h5", "x.csv"), "is of another circuit than other.h5"), (("c.h5", "others.csv"), "is of other samples, weights or first parameters than others.csv and c.h5"), (("c.h5", "x.csv", "--batch", 7), "was written with --batch 512, not 7"),
                                   (("c.h5", "x.csv", "--step-size", 0.2), "was written with --step-size 0.1, not 0.2"), (("c.h5", "x.csv", "--precision", "fp64"), "was written with --precision fp32, not fp64"), (("c.h5", "x.csv", "--precision", "bf16"), "was written with --precision fp32, not bf16"), (("c.h5", "x.csv", "--seed", 3), "--seed 0, not 3")):
            self.assertIn("k.h5: " + message if message.startswith(("is", "was")) else message, run("circuit", "train", *arguments, *train, code=3)[1])
        run("circuit", "build", "hmm", "--steps", 3, "--states", 3, "--categories", 2, "--seed", 5, "-o", "seed.h5")
        self.assertIn("first parameters", run("circuit", "train", "seed.h5", "x.csv", *train, code=3)[1])
        self.assertIn("has seen 2 epochs, more than --epochs 1", run("circuit", "train", "c.h5", "x.csv", "--update", "mini", "--epochs", 1, "--checkpoint", "k.h5", "-o", "m.h5", code=3)[1])
        self.assertIn("has seen all epochs", run("circuit", "train", "c.h5", "x.csv", *train)[0])
        rounded = ("circuit", "train", "c.h5", "x.csv", "--epochs", 1, "--precision", "bf16", "--checkpoint", "b.h5", "-o", "m.h5")
        self.assertNotIn("has seen", run(*rounded)[0])
        self.assertIn("has seen all epochs", run(*rounded)[0])
        self.assertIn("goes on in epoch 3", run("circuit", "train", "c.h5", "x.csv", "--update", "mini", "--epochs", 4, "--checkpoint", "k.h5", "-o", "m.h5")[0])
        with open("k.h5", "rb") as file:
            whole = file.read()
        with open("k.h5", "wb") as file:
            file.write(whole[:len(whole) // 2])
        self.assertIn("k.h5: ", run("circuit", "train", "c.h5", "x.csv", *train, code=3)[1])
        self.assertIn("holds no training", run("circuit", "train", "c.h5", "x.csv", "--checkpoint", "other.h5", "-o", "m.h5", code=3)[1])

    def test_networks(self):
        """The circuit of a model gives what elimination and junction trees give."""
        model = os.path.join(GOLDEN, "fig2.causal_fg")
        built = self.json("build", "network", model, "-o", "net.h5")
        partition = json.loads(run("partition", model, "--json")[0])
        self.assertAlmostEqual(built["log_partition"], partition["log10_z"] * math.log(10), places=9)
        of_states = [marginal[1] for marginal in json.loads(run("marginals", model, "--json")[0])["marginals"]]
        self.assertEqual(built["variables"], len(of_states))
        for v, marginal in enumerate(of_states):
            self.write("one.csv", ",".join("1" if w == v else "?" for w in range(len(of_states))) + "\n")
            found = self.json("evaluate", "net.h5", "one.csv", "--precision", "fp64")
            self.assertAlmostEqual(math.exp(found["mean_log_likelihood"]), marginal, places=9)
        self.write("order.txt", " ".join(map(str, range(len(of_states)))))
        self.assertAlmostEqual(self.json("build", "network", model, "--order", "order.txt", "-o", "net.h5")["log_partition"], partition["log10_z"] * math.log(10), places=9)
        self.assertIn("neither a file nor a heuristic", run("circuit", "build", "network", model, "--order", "none", "-o", "n.h5", code=3)[1])

    def test_impossible_networks(self):
        self.write("z.uai", "MARKOV\n2\n2 2\n2\n1 0\n1 0\n2\n1 0\n2\n0 1\n")
        self.assertIn("z.uai: nothing is possible", run("circuit", "build", "network", "z.uai", "-o", "n.h5", code=5)[1])

    def test_scales_stay_in_range(self):
        """Also where 1 / (1 / scale) is less than the scale."""
        run("circuit", "build", "hmm", "--steps", 1, "--states", 1, "--categories", 8, "--inputs", "logistic", "--min-scale", 0.9, "-o", "l.h5")
        run("circuit", "train", "l.h5", self.write("three.csv", "3\n" * 20), "-o", "m.h5")

    def test_refused_trainings(self):
        run("circuit", "build", "hmm", "--steps", 3, "--states", 2, "--categories", 2, "-o", "c.h5")
        for arguments, message in ((("--momentum", 0.5), "--momentum: --update full has none"), (("--step-size", 0.5), "--step-size: --update full has none"), (("--update", "mini", "--step-size", 0), "a number above 0, and at most 1"),
                                   (("--update", "anemone", "--momentum", 1), "below 1"), (("--batches-per-update", 2), "--update full has none"), (("--pseudo-count", -1), "at least 0"), (("--checkpoint", "n.h5"), "name the same file")):
            self.assertIn(message, run("circuit", "train", "c.h5", "x.csv", *arguments, "-o", "n.h5", code=2)[1])
        for text, message in (("1\n1\n", "w.txt: has 2 weights; there are 6 samples"), ("1\n" * 5 + "-1\n", "w.txt:line 6"), ("0\n" * 6, "gives no sample a weight above 0")):
            self.write("w.txt", text)
            self.assertIn(message, run("circuit", "train", "c.h5", "x.csv", "--weights", "w.txt", "-o", "n.h5", code=3)[1])
        self.assertIn("more than a number can hold", run("circuit", "train", "c.h5", "x.csv", "--weights", self.write("w.txt", "1e308\n" * 6), "-o", "n.h5", code=3)[1])
        for option in (("-o", "n.txt"), ("-o", "n.h5", "--checkpoint", "k.txt")):
            self.assertIn("has not the ending of a circuit", run("circuit", "train", "c.h5", "x.csv", *option, code=3)[1])
        self.assertIn("has no samples", run("circuit", "train", "c.h5", self.write("empty.csv", ""), "-o", "n.h5", code=3)[1])
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
