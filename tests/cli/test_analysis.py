#!/usr/bin/env python3
"""From clauses to models; explanations; learning. Usage: test_analysis.py PROGRAM SOURCE_DIR"""
import json
import math
import os
import re

from support import SOURCE, CommandLine, main, run


class Analysis(CommandLine):
    def test_rules_to_clauses(self):
        self.write("taint.dl", """.type Node <: symbol
.decl Edge(x: Node, y: Node)
.input Edge(filename="edges.csv", delimiter=",")
.decl Source(x: Node) input
.decl Path(x: Node, y: Node)
.decl Alarm(x: Node, y: Node)
.output Alarm
Path(x, y) :- Source(x), Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
Alarm(x, y) :- Path(x, y), y != "b".
""")
        os.mkdir("facts")
        self.write("facts/edges.csv", "a,b\nb,c\nc,b\n")
        self.write("facts/Source.facts", "a\n")
        report = json.loads(run("clauses", "ground", "taint.dl", "--facts", "facts", "-o", "grounded.txt", "--alarms", "alarms.txt", "--json")[0])
        self.assertEqual((report["clauses"], report["outputs"], report["relations"]["Path"]), (4, 1, 2))
        with open("grounded.txt") as file:
            self.assertEqual(file.read(), "R0: NOT Source(a), NOT Edge(a,b), Path(a,b)\nR1: NOT Path(a,b), NOT Edge(b,c), Path(a,c)\nR1: NOT Path(a,c), NOT Edge(c,b), Path(a,b)\nR2: NOT Path(a,c), Alarm(a,c)\n")
        run("clauses", "model", "grounded.txt", "--alarms", "alarms.txt", "--default-probability", "0.9", "-o", "grounded.h5")
        self.assertAlmostEqual(json.loads(run("lbp", "grounded.h5", "--top", "alarms", "--json")[0])["top"][0]["p_true"], 0.9 ** 3)
        self.write("facts/edges.csv", "a,b\nb\n")
        self.assertIn("edges.csv:line 2: has 1 columns; 2 are needed, as relation Edge is declared", run("clauses", "ground", "taint.dl", "--facts", "facts", "-o", "x.txt", code=3)[1])
        self.write("facts/edges.csv", "a,b,c\n")
        self.assertIn("edges.csv:line 1: has more than 2 columns", run("clauses", "ground", "taint.dl", "--facts", "facts", "-o", "x.txt", code=3)[1])
        self.write("facts/edges.csv", "a,b\n")
        run("clauses", "ground", "taint.dl", "--facts", "facts", "-o", "facts/edges.csv", code=2)
        with open("facts/Source.facts", "wb") as file:
            file.write(b"a\n\xff\n")
        self.assertIn("Source.facts:line 2: is not UTF-8", run("clauses", "ground", "taint.dl", "--facts", "facts", "-o", "x.txt", code=3)[1])
        os.remove("facts/Source.facts")
        self.write("facts/edges.csv", "a,b\n")
        self.assertIn("Source.facts", run("clauses", "ground", "taint.dl", "--facts", "facts", "-o", "x.txt", code=3)[1])
        self.write("wrong.dl", ".decl A(x: symbol)\nA(x) :- B(x).\n")
        self.assertIn("wrong.dl:line 2, column 9: relation B is not declared", run("clauses", "ground", "wrong.dl", "-o", "x.txt", code=3)[1])
        self.write("silent.dl", ".decl A(n: number)\nA(1).\n.decl B(x: symbol)\n")
        self.assertIn("has no .output of a relation that is derived", run("clauses", "ground", "silent.dl", "-o", "x.txt", "--alarms", "y.txt", code=3)[1])
        self.assertIn("B                          0 tuples: no rule derives it, and it is not an .input", run("clauses", "ground", "silent.dl", "-o", "x.txt")[0])

    def test_rules_give_recorded_clauses(self):
        recorded = os.path.join(SOURCE, "..", "shared", "data", "clauses", "minigzip.named_cons_all.txt")
        if not os.path.exists(recorded):
            self.skipTest("there are no recorded clauses")
        with open(recorded) as file:
            lines = file.read().splitlines()
        facts = {name: set() for name in ("DUEdge", "Source", "Sink")}
        for line in lines:
            for name, values in re.findall(r"NOT (\w+)\(([^)]*)\)", line):
                facts.get(name, set()).add(values)
        for name, rows in facts.items():
            self.write(f"{name}.facts", "".join(row.replace(",", "\t") + "\n" for row in sorted(rows)))
        self.write("taint.dl", """.decl DUEdge(x: symbol, y: symbol) input
.decl Source(x: symbol) input
.decl Sink(x: symbol) input
.decl DUPath(x: symbol, y: symbol)
.decl Alarm(x: symbol, y: symbol)
DUPath(x, y) :- DUEdge(x, y), Source(x).
DUPath(x, z) :- DUPath(x, y), DUEdge(y, z).
Alarm(x, y) :- DUPath(x, y), Sink(y).
""")
        run("clauses", "ground", "taint.dl", "-o", "grounded.txt")
        def canonical(line):
            rule, literals = line.split(": ", 1)
            *premises, head = literals.split(", ")
            return rule, sorted(premises), head
        with open("grounded.txt") as file:
            self.assertEqual(sorted(map(canonical, file.read().splitlines())), sorted(map(canonical, lines)))

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
        fails("b.txt: has no probability for the rule R1; add a line `R1: 0.999`", rules=self.write("b.txt", "R0: 0.9\nR2: 0.7\n"))
        fails("b.txt: has no probability for the rules R0, R1, R2; add a line `R0: 0.999`, say, for each, or give a default", rules=self.write("b.txt", ""))
        fails("b.txt:line 1: a blank is missing behind the colon of 'R1:NOT E(1), x'", clauses=self.write("b.txt", "R1:NOT E(1), x\n"))
        for clause in ("R: edge(a, b)", "R: NOT edge(a, b), c"):
            fails("separate literals, so leave out the blank, or put the name in double quotes", clauses=self.write("b.txt", clause + "\n"))
        run("clauses", "model", "clauses.txt", "--alarms", "alarms.txt", "-o", "bad.h5", code=2)
        for rules in (("--default-probability", 0.8), ("--default-probability", 0.8, "--rules", self.write("b.txt", "# none\n"))):
            run("clauses", "model", "clauses.txt", "--alarms", "alarms.txt", *rules, "-o", "default.h5")
        run("clauses", "model", "clauses.txt", "--alarms", "alarms.txt", "--rules", self.write("c.txt", "R0: 0.8\nR1: 0.8\nR2: 0.8\n"), "-o", "given.h5")
        for top in zip(*(json.loads(run("lbp", model, "--top", "all", "--json")[0])["top"] for model in ("default.h5", "given.h5")), strict=True):
            self.assertEqual(*top)
        fails("b.txt:line 2: the probability of R1 is 1.5", rules=self.write("b.txt", "R0: 0.9\nR1: 1.5\n"))
        fails("clauses.txt: the clauses have a cycle: path(b) -> path(c) -> path(b)", step="build")
        self.write("rest.txt", "R: NOT x, y\nR: NOT y, x\nR: NOT y, alarm\n")
        fails("no clause derives the alarm alarm from inputs", clauses="rest.txt", alarms=self.write("b.txt", "alarm\n"), rules=self.write("c.txt", "R: 0.5\n"))
        run("clauses", code=2)
        run("clauses", "prune", "clauses.txt", "-o", "x.txt", code=2)

    def test_explain_derivations(self):
        """Where a tuple has other derivations, that is said."""
        self.write("two.txt", "R: NOT a, y\nS: NOT b, y\nT: NOT y, alarm\n")
        run("clauses", "model", "two.txt", "--alarms", self.write("a.txt", "alarm\n"), "--rules", self.write("p.txt", "R: 0.5\nS: 0.75\nT: 0.5\n"), "-o", "two.h5")
        steps = json.loads(run("explain", "two.h5", "alarm", "--json")[0])["derivation"]["steps"]
        self.assertEqual([(step["tuple"], step["rules"], step["derivations"]) for step in steps], [("y", "S", 2), ("alarm", "T", 1)])
        self.assertIn("S (0.7500); one of 2 derivations\n", run("explain", "two.h5", "alarm")[0])

    def test_explain(self):
        self.clauses()
        run("clauses", "model", "clauses.txt", "--alarms", "alarms.txt", "--rules", "rules.txt", "-o", "m.h5")
        plain = json.loads(run("explain", "m.h5", "alarm(c)", "--json")[0])
        self.assertEqual([step["tuple"] for step in plain["derivation"]["steps"]], ["path(b)", "alarm(c)"])
        self.assertEqual([step["rules"] for step in plain["derivation"]["steps"]], ["R0", "R2 + R1"])
        self.assertEqual([step["derivations"] for step in plain["derivation"]["steps"]], [1, 1])
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


if __name__ == "__main__":
    main()
