#!/usr/bin/env python3
"""BINGO's protocol. Usage: test_serve.py PROGRAM SOURCE_DIR"""
import json
import os
import subprocess

from support import CommandLine, GOLDEN, PROGRAM, main, run


class Serve(CommandLine):
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
        self.assertEqual(send("OS 2 2e-1 0.80"), "OS 2 2e-1 0.80")  # as it is written
        self.assertEqual(send("BP 1e-6 500 1000 100"), "0")
        self.assertEqual(send("Q 2"), f"{0.8 * 0.504 / (0.8 * 0.504 + 0.2 * 0.496):g}")
        self.assertEqual(send("NL"), "")
        beliefs = [float(send(f"FQ 2 {state}")) for state in range(8)]
        self.assertAlmostEqual(sum(beliefs), 1, places=5)
        for wrong, answer in (("X", "there is no command 'X'"), ("Q 99", "there is no variable 99: they are 0 to 2"), ("Q a", "'a' is not the number of a variable; the command is written `Q variable`"),
                              ("O 1 yes", "'yes' is neither true nor false"), ("OS 1 0 0", "two finite likelihoods"), ("BP 1e-6 500 Q 1", "'Q' is not a number of iterations; the command is written `BP tolerance"),
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

    def test_serve_ends_where_libdai_ends(self):
        """Its share is of variables and factors; here propagation swings, so that the share decides when it ends."""
        def lines(name):
            with open(os.path.join(GOLDEN, name)) as text:
                return [line.split() for line in text if not line.startswith("#")]
        beliefs = lines("weblech-fgn.serve.ev10.txt")
        observations = [f"O {variable} {'true' if value == '1' else 'false'}" for variable, value in lines("weblech-fgn.ev10")]
        out = subprocess.run([PROGRAM, "serve", os.path.join(GOLDEN, "weblech-fgn.causal_fg")], input="\n".join([*observations, "BP 1e-6 500 1000 100", *(f"Q {variable}" for variable, _ in beliefs)]), capture_output=True, text=True).stdout.split("\n")
        self.assertEqual(out[len(observations)], "0.725575")
        for answer, (variable, belief) in zip(out[len(observations) + 1:-1], beliefs, strict=True):
            # a unit in the last of six printed digits, and what libDAI's numbers near 1 cannot tell from 0
            self.assertAlmostEqual(float(answer), float(belief), delta=1e-5 * float(belief) + 1e-16, msg=variable)

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
        said = "contradiction: the observation of variable 1 contradicts those before it (found at variable 0) and is withdrawn; 0 has not converged"
        self.assertEqual(send("BP 1e-6 500 1000 100"), said)
        self.assertEqual([send("Q 0"), send("Q 1"), send("Q 2")], ["1", "1", "0.1"])
        self.assertEqual(send("BP 1e-6 500 1000 100"), "0")
        self.assertIn("the observation of variable 1 contradicts those before it", process.stderr.readline())
        send, process = self.serve("pair.causal_fg")
        process.stdout.close()  # the driver is gone
        process.stdin.write("NL\nNL\n")
        process.stdin.close()
        self.assertEqual(process.wait(), 0)


    def test_serve_reads_words_wherever_lines_end(self):
        def serve(text, *arguments):
            return subprocess.run([PROGRAM, "serve", os.path.join(GOLDEN, "fig2.causal_fg"), *arguments], input=text, capture_output=True, text=True)
        self.assertEqual(serve("BP\n1e-6 500\n1000 100 Q\n\n2 Q 2\nQ\n2").stdout, "0\n0.504\n0.504\n0.504\n")
        self.assertEqual(serve("Q a 2 NL\nNL").stdout.split("\n")[1:], ["", ""])  # the rest of a bad line counts no more
        self.assertIn("error: the input ends within `O variable true|false`", serve("O 2").stdout)
        for end in ("exit", "BYE", ""):
            done = serve(f"NL\n{end}\nX" if end else "NL")
            self.assertEqual((done.returncode, done.stdout), (0, "\n"))
        with open("/dev/null") as closed:
            self.assertEqual(subprocess.run([PROGRAM, "serve", os.path.join(GOLDEN, "fig2.causal_fg")], stdin=closed).returncode, 0)

    def test_serve_takes_what_other_wrappers_take(self):
        graph = os.path.join(GOLDEN, "fig2.causal_fg")
        for arguments in (["12345"], ["jtree"], ["--no-history"], ["--auto"], ["--manual", "3"]):
            done = subprocess.run([PROGRAM, "serve", graph, *arguments], input="NL", capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, "\n"))
            self.assertIn(f"serve does not use {arguments[0]}", done.stderr)
        done = subprocess.run([PROGRAM, "serve", graph, "jtreee"], input="NL", capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("jtreee", done.stderr)


if __name__ == "__main__":
    main()
