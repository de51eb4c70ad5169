#!/usr/bin/env python3
"""Exact answers: map, partition, marginals, dpop. Usage: test_exact.py PROGRAM SOURCE_DIR"""
import json
import lzma
import math
import os
import shutil
import stat
import subprocess

from support import CommandLine, PROGRAM, SOURCE, main, run


class Exact(CommandLine):
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
                              ("{{n <1} [2] [{[1] [1 2]}]}", "'1', which is no variable"), ("{{n <1} [-5] []}", "intervals are not read"), ("{{n <1} [2] [{[0] [1 2x3]}]}", "'2x3' is not a cost"),
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
        for command, what, key, other in (("partition", "nothing", "log10_z", "v4 with likelihoods 0, 1"), ("map", "no assignment", "log10_value", "v4 with likelihoods 0, 1"), ("marginals", "nothing", "log10_z", "v5 = yes")):
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


if __name__ == "__main__":
    main()
