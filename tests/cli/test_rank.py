#!/usr/bin/env python3
"""Rankings: oracles, sessions, questions. Usage: test_rank.py PROGRAM SOURCE_DIR"""
import json
import os
import re
import subprocess
import sys

from support import CommandLine, GOLDEN, PROGRAM, SOURCE, main, run


class Rank(CommandLine):
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
        with open("marked.session", "wb") as file:  # as an editor may leave it, with a byte-order mark
            file.write(b"\xef\xbb\xbf" + lines.encode())
        run("rank", "g.h5", "--oracle", "true_alarms", "--cold", "--schedule", "topo", "--session", "marked.session", "--rounds", 3)
        with open("marked.session", "rb") as file:
            self.assertTrue(file.read().startswith(b"\xef\xbb\xbf" + lines.encode()))
        for bad, message in ((head + "what\n", "line 2: is no line of a session"), (head + label.replace('"iterations":', '"iterations":123456789012'), "line 2: is no line"),
                             (head + label.replace('"inversions":', '"inversions":1e30,"x":'), "line 2: is no line"), (head + "0 true # {\"name\": 5}\n", "line 2: is no line"), (head + label + label, "was labelled before"),
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

    def test_a_session_of_tuples_that_have_numbers_for_names(self):
        """All commands that read a session mean the tuples that were labelled, also in sessions of earlier versions, which held numbers of variables."""
        self.write("numbers.txt", 'A: NOT X, 7\nB: NOT Y, 2\nA: NOT "a b", "#3"\n')
        self.write("rules.txt", "A: 0.5\nB: 0.5\nI: 0.5\n")
        self.write("alarms.txt", '7\n2\n"#3"\n')
        run("clauses", "model", "numbers.txt", "--alarms", "alarms.txt", "--rules", "rules.txt", "--input-rule", "I", "-o", "numbers.h5")
        names = [one["name"] for one in sorted(json.loads(run("lbp", "numbers.h5", "--top", "all", "--count", 99, "--json")[0])["top"], key=lambda one: one["variable"])]
        asked = subprocess.run([PROGRAM, "rank", "numbers.h5", "--ask", "--session", "numbers.session"], input="y\nn\ny\n", capture_output=True, text=True)
        self.assertEqual(asked.returncode, 0, asked.stderr)
        with open("numbers.session") as text:
            lines = {json.loads(line[line.index("{"):])["name"]: line for line in text if "{" in line}
        said = {name: "true" if '" true #' in line else "false" for name, line in lines.items()}
        self.assertEqual(sorted(said), ["#3", "2", "7"])
        by_name = self.write("labels.txt", "".join(f'"{name}" {value}\n' for name, value in said.items()))
        by_number = self.write("earlier.session", "# session of hornbill rank\n" + "".join(re.sub('^"[^"]*"', str(names.index(name)), line) for name, line in lines.items()))
        truth = self.write("truth.txt", "".join(f'"{name}"\n' for name in said if said[name] == "true"))
        learned = json.loads(run("learn", "--run", "numbers.h5", by_name, "--json")[0])
        for session in ("numbers.session", by_number):
            with self.subTest(session=session):
                for one in json.loads(run("lbp", "numbers.h5", "--evidence", session, "--top", "all", "--count", 99, "--json")[0])["top"]:
                    if one["name"] in said:
                        self.assertEqual(one["p_true"], said[one["name"]] == "true")
                explained = [json.loads(run("explain", "numbers.h5", "7", "--evidence", labels, "--json")[0]) for labels in (by_name, session)]
                self.assertEqual(explained[0], explained[1])
                self.assertEqual({**learned, "steps": 0}, {**json.loads(run("learn", "--run", "numbers.h5", session, "--json")[0]), "steps": 0})
                again = json.loads(run("rank", "numbers.h5", "--oracle", truth, "--session", session, "--json")[0])
                self.assertEqual({one["name"]: one["label"] for one in again["rounds"]}, said)

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


if __name__ == "__main__":
    main()
