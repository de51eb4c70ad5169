#!/usr/bin/env python3
"""BINGO's protocol. Usage: test_serve.py PROGRAM SOURCE_DIR"""
import itertools
import json
import math
import os
import random
import subprocess

from support import CommandLine, GOLDEN, PROGRAM, main, run


SWINGING = (2, 8, 24, 44, 52)  # of the graphs below, without labels or with


class PlainPropagation:
    """libDAI's of a .fg, by its definition: factor by factor, tables whole. Variables are numbered from 0."""

    def __init__(self, factors):
        self.factors = factors  # (variables, ascending; {states: value})
        self.num_variables = 1 + max(v for variables, _ in factors for v in variables)
        self.messages = {(a, v): (0.5, 0.5) for a, (variables, _) in enumerate(factors) for v in variables}

    def observe(self, variable, value):
        self.factors = [(variables, {states: x if variable not in variables or states[variables.index(variable)] == value else 0 for states, x in table.items()})
                        for variables, table in self.factors]

    @staticmethod
    def normalised(weights):
        return [w / sum(weights) for w in weights]

    def product_of_messages(self, v, without=None):
        return [math.prod(message[s] for (a, u), message in self.messages.items() if u == v and a != without) for s in (0, 1)]

    def joint(self, a, without=None):
        variables, table = self.factors[a]
        weights = [self.product_of_messages(v, without=a) if v != without else (1, 1) for v in variables]
        return {states: value * math.prod(w[s] for w, s in zip(weights, states)) for states, value in table.items()}

    def iterate(self):
        for a, (variables, _) in enumerate(self.factors):
            for i, v in enumerate(variables):
                joint = self.joint(a, without=v)
                self.messages[a, v] = self.normalised([sum(x for states, x in joint.items() if states[i] == s) for s in (0, 1)])

    def beliefs(self):
        return [*(self.normalised(self.product_of_messages(v)) for v in range(self.num_variables)),
                *(self.normalised(self.joint(a).values()) for a in range(len(self.factors)))]

    def run(self, tolerance, least, most, length):
        """Returns the share that has not converged, and beliefs of variables."""
        before = [[1 / len(belief)] * len(belief) for belief in self.beliefs()]
        history = []
        for n in itertools.count(1):
            self.iterate()
            after = self.beliefs()
            moves = [max(abs(x - y) for x, y in zip(*pair)) for pair in zip(before, after)]
            before = after
            history.append([belief[1] for belief in after[:self.num_variables]])
            share = sum(move > tolerance for move in moves) / len(moves)
            if share == 0:
                return share, history[-1]
            if n > most or n > least and share < (n - least) / (most - least):
                return share, [sum(column) / length for column in zip(*history[-length:])]

    def text(self):
        """The .fg file."""
        lines = [str(len(self.factors))]
        for variables, table in self.factors:
            lines += ["", str(len(variables)), " ".join(map(str, variables)), " ".join("2" for _ in variables), str(len(table))]
            lines += [f"{sum(s << i for i, s in enumerate(states))} {value!r}" for states, value in table.items()]
        return "\n".join(lines) + "\n"

    @classmethod
    def random(cls, seed):
        """Couplings so strong that messages swing."""
        source = random.Random(seed)
        factors = [([v], {(0,): 0.375, (1,): 0.625}) for v in range(7)]
        factors.append(([0, 1, 2], {states: 0.9 if all(states) else 0.0 if states[0] else 0.1 if all(states[1:]) else 1.0 for states in itertools.product((0, 1), repeat=3)}))  # a conjunction
        for _ in range(12):
            variables = sorted(source.sample(range(7), source.choice((2, 3))))
            factors.append((variables, {states: round(math.exp(source.gauss(0, 3)), 4) for states in itertools.product((0, 1), repeat=len(variables))}))
        return cls(factors)


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
        self.assertEqual([send("O 2 TRUE"), send("UC 2")], ["O 2 TRUE", "UC 2"])
        self.assertEqual(send("NL"), "")
        beliefs = [float(send(f"FQ 2 {state}")) for state in range(8)]
        self.assertAlmostEqual(sum(beliefs), 1, places=5)
        for wrong, answer in (("X", "there is no command 'X'"), ("Q 99", "there is no variable 99: they are 0 to 2"), ("Q a", "'a' is not the number of a variable; the command is written `Q variable`"),
                              ("O 1 yes", "'yes' is neither true nor false"), ("OS 1 0 0", "all likelihoods are 0"), ("BP 1e-6 500 Q 1", "'Q' is not a number of iterations; the command is written `BP tolerance"),
                              ("BP 2 500 1000 100", "above 0 and below 1"), ("BP 1e-6 100 1000 500", "histLength < minIters < maxIters"), ("FQ 2 8", "its states are 0 to 7"),
                              ("FQ 9 0", "there is no factor 9")):
            self.assertIn(answer, send(wrong))
            self.assertTrue(send(wrong).startswith("error: "))
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def test_serve_iterates_as_libdai(self):
        """To far more digits than are printed, as backends may end at other iterations."""
        with open(os.path.join(GOLDEN, "weblech.ev10")) as text:
            lines = [f"O {line.split()[0]} {'true' if line.split()[1] == '1' else 'false'}" for line in text if not line.startswith("#")]
        expected = json.loads(run("lbp", os.path.join(GOLDEN, "weblech.causal_fg"), "--evidence", os.path.join(GOLDEN, "weblech.ev10"), "--damping", 0, "--schedule", "seqfix", "--tolerance", 1e-12, "--json", "--top", "all", "--count", 700)[0])
        queries = [f"Q {entry['variable']}" for entry in expected["top"]]
        out = subprocess.run([PROGRAM, "serve", os.path.join(GOLDEN, "weblech.causal_fg")], input="\n".join([*lines, "BP 1e-12 500 1000 100", *queries]), capture_output=True, text=True).stdout.split("\n")
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

    def test_serve_ends_a_plain_graph_where_libdai_ends(self):
        """Of a .fg libDAI compares joint beliefs of factors."""
        for seed in SWINGING:
            for observed in ({}, {3: 1, 5: 0}):
                plain = PlainPropagation.random(seed)
                send, process = self.serve(self.write("plain.fg", plain.text()))
                for variable, value in observed.items():
                    plain.observe(variable, value)
                    send(f"O {variable} {'true' if value else 'false'}")
                share, beliefs = plain.run(1e-6, 60, 120, 20)
                self.assertEqual(send("BP 1e-6 60 120 20"), f"{share:g}", msg=f"{seed} {observed}")
                for variable, belief in enumerate(beliefs):
                    self.assertAlmostEqual(float(send(f"Q {variable}")), belief, delta=1e-5)
                for a, (variables, table) in enumerate(plain.factors):
                    of_states = dict(zip(table, plain.normalised(plain.joint(a).values())))
                    for number in range(2**len(variables)):
                        states = tuple(number >> i & 1 for i in range(len(variables)))
                        self.assertAlmostEqual(float(send(f"FQ {a} {number}")), of_states[states], delta=1e-5)
                process.stdin.close()

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
