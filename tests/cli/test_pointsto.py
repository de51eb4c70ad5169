#!/usr/bin/env python3
"""Points-to analysis, and constraints in `convert`, `info` and other commands. Usage: test_pointsto.py PROGRAM SOURCE_DIR"""
import glob
import json
import lzma
import os
import shutil
from unittest import mock

from support import SOURCE, CommandLine, main, run

PROGRAMS = ["zlib.fi", "zlib.fs", "lua.fi", "lua.fs", "sqlite.fs"]


def splitmix64(x):
    mask = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


class PointsTo(CommandLine):
    def setUp(self):
        for file in glob.glob(os.path.join(SOURCE, "inputs", "golden", "points_to", "list.*")):
            shutil.copy(file, ".")

    def answer(self, *arguments):
        return json.loads(run("pointsto", *arguments, "--json")[0])

    def names(self, objects):
        return [one["name"] for one in objects]

    def test_reasons(self):
        # p = &a; q = &a; x = &b; *p = x; y = *q; outside
        self.write("why.nodes.txt", "9\n2\n-1\n0,1,0,0,1\n1,1,0,0,0\n2,1,0,0,0\n")
        self.write("why.cons.txt", "9\n9\n0,1,3,0,0\n1,1,4,0,0\n2,2,5,0,0\n3,5,3,3,0\n4,4,6,2,0\n5,0,7,0,0\n6,0,0,0,0\n7,1,0,0,0\n8,0,0,2,0\n")
        self.write("why.objnames.txt", "1\ta\n2\tb\n3\tp\n4\tq\n5\tx\n6\ty\n7\tz\n")
        self.write("why.places.txt", "3\tmain.c:4:3\n4\tmain.c:5:7\n")
        self.assertEqual(run("pointsto", "why.cons.txt", "--why", "y", "b")[0], """y (6) may point to b (2):
    1  x (5) -> b (2): address-of at constraint 2
    2  p (3) -> a (1): address-of at constraint 0
    3  a (1) -> b (2): store at main.c:4:3, by 2 and 1
    4  q (4) -> a (1): address-of at constraint 1
    5  y (6) -> b (2): load at main.c:5:7, by 4 and 3
""")
        self.assertEqual(run("pointsto", "why.cons.txt", "--why", "y", "a")[0], "y (6) does not point to a (1)\n")
        out = run("pointsto", "why.cons.txt", "--why", "z", "b", "--no-cycles", "--no-hubs")[0]
        self.assertIn("z (7) may point to variable 0:\n", out)
        self.assertIn("variable 0 may point to b (2):\n", out)
        answer = json.loads(run("pointsto", "why.cons.txt", "--why", "y", "b", "--json")[0])["why"][0]
        self.assertEqual((answer["variable"]["name"], answer["object"]["name"]), ("y", "b"))
        self.assertEqual([len(step["premises"]) for step in answer["reasons"][0]], [0, 0, 2, 0, 2])
        self.assertIn("--why y p: p (3) is not an object", run("pointsto", "why.cons.txt", "--why", "y", "p", code=3)[1])

    def test_questions(self):
        for file in ("list.cons.txt", "list.h5", "solved.h5"):
            if file == "solved.h5":
                run("pointsto", "list.cons.txt", "-o", "solved.h5")
            out = self.answer(file, "--query", "q", "--query", 9, "--may-alias", "n", "p", "--may-alias", "q", "p", "--calls")
            self.assertEqual(self.names(out["queries"][0]["points_to"]), ["x", "y"])
            self.assertNotIn("pointed_to_by", out["queries"][0])
            self.assertEqual(self.names(out["queries"][1]["points_to"]), ["b.next"])
            self.assertEqual([one["variable"] for one in out["queries"][1]["pointed_to_by"]], [4, 13])
            self.assertEqual([(one["may_alias"], self.names(one["objects"])) for one in out["may_alias"]], [(True, ["a.next"]), (False, [])])
            self.assertEqual([(call["pointer"]["variable"], call["place"], self.names(call["functions"])) for call in out["calls"]], [(16, "list.c:9", ["set"])])
            self.assertEqual(out["facts"], 21)
            self.assertEqual("solve" in out, file != "solved.h5")
        self.assertEqual(run("pointsto", "list.cons.txt", "--query", "q")[0], "q (14) points to 2 objects:\n  x (6)\n  y (7)\n")
        self.assertEqual(run("pointsto", "list.cons.txt", "--query", "q", "--count", 1)[0], "q (14) points to 2 objects:\n  x (6)\n  and 1 more (--count, --json)\n")
        self.assertEqual(run("pointsto", "list.cons.txt", "--may-alias", "q", "p")[0], "q (14) and p (13) do not point to a common object\n")
        self.assertEqual(run("pointsto", "list.cons.txt", "--calls")[0], "list.c:9: variable 16 may call 1 function:\n  set (2)\n")
        self.assertEqual(run("pointsto", "list.cons.txt", "--calls", "--count", 0)[0], "and 1 more (--count, --json)\n")
        self.assertIn("21 facts; 11 distinct sets of 13 objects, the largest of 2\n", run("pointsto", "list.cons.txt")[0])

    def test_names_that_several_have(self):
        with open("list.objnames.txt") as file:
            names = file.read()
        with open("list.objnames.txt", "w") as file:
            file.write(names.replace("14\tq", "14\tp"))
        for question in (("--query", "p"), ("--may-alias", "n", "p")):
            self.assertIn("list.cons.txt: 2 variables have the name 'p': 13, 14; give the number of one", run("pointsto", "list.cons.txt", *question, code=3)[1])
        self.assertIn("p (13)", run("pointsto", "list.cons.txt", "--query", "13")[0])

    def test_names_that_are_numbers(self):
        with open("list.objnames.txt") as file:
            names = file.read()
        with open("list.objnames.txt", "w") as file:
            file.write(names.replace("14\tq", "14\t13"))
        message = run("pointsto", "list.cons.txt", "--query", "13", code=3)[1]
        self.assertIn("'13' is the number of variable 13, and the name of variable 14; 013 is the number alone, and '\"13\"' the name", message)
        for text, variable in (('"13"', 14), ("013", 13), ("p", 13), ("14", 14)):
            self.assertEqual(self.answer("list.cons.txt", "--query", text)["queries"][0]["variable"], variable)

    def test_calls_that_are_not_listed(self):
        os.remove("list.calls.txt")
        out = run("pointsto", "list.cons.txt", "--calls")[0]
        self.assertEqual(out, "list.cons.txt lists no calls: these are pointers that fields are reached from, and that may point to functions\nlist.c:9: variable 16 may call 1 function:\n  set (2)\n")
        self.assertEqual(run("pointsto", "list.cons.txt", "--calls", "--count", 0)[0].splitlines()[1:], ["and 1 more (--count, --json)"])
        self.write("none.nodes.txt", "2\n0\n-1\n0,1,0\n")
        self.write("none.cons.txt", "2\n1\n0,0,1,0,0\n")
        self.assertEqual(run("pointsto", "none.cons.txt", "--calls")[0], "none.cons.txt lists no calls, and no pointer that fields are reached from points to a function\n")
        self.assertIn("none.cons.txt: 2 variables, 1 object, 1 constraint\n", run("pointsto", "none.cons.txt")[0])

    def test_solutions_of_other_constraints(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("h5py is not here")
        run("pointsto", "list.cons.txt", "-o", "solved.h5")
        with h5py.File("solved.h5", "r+") as file:
            file["points_to/set_of_variable"][14] = 0
        self.assertIn("solve again with `hornbill pointsto solved.h5 --again -o solved.h5`", run("pointsto", "solved.h5", "--query", "q", code=3)[1])
        run("pointsto", "solved.h5", "--again", "-o", "./solved.h5")
        self.assertEqual(self.names(self.answer("solved.h5", "--query", "q")["queries"][0]["points_to"]), ["x", "y"])

    def test_outside(self):
        # p comes from outside, and the address of x goes there; that of y does not
        self.write("o.nodes.txt", "7\n2\n-1\n0,1,0,1,1\n1,1,0,0,0\n2,1,0,0,0\n")
        self.write("o.objnames.txt", "0\toutside\n1\tx\n2\ty\n3\tp\n4\tq\n5\tr\n")
        self.write("o.cons.txt", "7\n7\n0,0,0,0,0\n1,0,3,0,0\n2,1,4,0,0\n3,2,5,0,0\n4,4,3,3,0\n5,0,6,0,0\n6,3,6,2,0\n")
        for file in ("o.cons.txt", "o.h5", "solved.h5"):
            if file != "o.cons.txt":
                run(*(("convert", "o.cons.txt", file) if file == "o.h5" else ("pointsto", "o.h5", "-o", file)))
            out = self.answer(file, "--query", "p", "--query", "x", "--may-alias", "p", "q", "--may-alias", "p", "r")
            self.assertEqual((self.names(out["queries"][0]["points_to"]), out["queries"][0]["outside"]), (["outside"], True))
            self.assertEqual([one["variable"] for one in out["queries"][1]["pointed_to_by"]], [0, 3, 4, 6])
            self.assertEqual([one["may_alias"] for one in out["may_alias"]], [True, False])
        self.assertIn("and, from outside, to any of 2 objects that escape", run("pointsto", "o.cons.txt", "--query", "p")[0])

    def test_options_that_would_change_nothing(self):
        run("pointsto", "list.cons.txt", "-o", "solved.h5")
        for options in (["--no-hubs"], ["--solver", "host", "--memory", "1G"]):
            message = run("pointsto", "solved.h5", *options, code=2)[1]
            self.assertIn("solved.h5 holds a solution already", message)
            self.assertIn("give --again to solve again", message)
            self.assertIn("solve", self.answer("solved.h5", *options, "--again"))

    def test_devices(self):
        expected = self.answer("list.cons.txt", "--query", "v")["queries"]
        for options in (["--value-numbering", "none"], ["--value-numbering", "hvn"], ["--no-cycles"], ["--no-hybrid-cycles"], ["--no-hubs"]):
            self.assertEqual(self.answer("list.cons.txt", *options, "--query", "v")["queries"], expected)

    def test_number_of_threads(self):
        run("generate", "--constraints", "--variables", 60000, "--statements", 60000, "large.h5")
        facts = set()
        for threads, solver in ((7, "host"), (8, "openmp")):
            with mock.patch.dict(os.environ, OMP_NUM_THREADS=str(threads)):
                out = self.answer("large.h5", "--backend", "openmp")
            self.assertEqual(out["solve"]["backend"], solver)
            facts.add(out["facts"])
        self.assertEqual(len(facts), 1)

    def test_backends(self):
        expected = self.answer("list.cons.txt", "--query", "v", "--query", 9)["queries"]
        self.assertEqual(self.answer("list.cons.txt")["solve"]["backend"], "host")
        self.assertEqual(self.answer("list.cons.txt", "--solver", "host")["solve"]["backend"], "host")
        backends = run("pointsto", "list.cons.txt", "--backend", "abacus", code=2)[1].split("there are ")[1].split(".")[0]
        for backend in backends.split(", "):
            out = self.answer("list.cons.txt", "--backend", backend, "--solver", "backend", "--query", "v", "--query", 9)
            self.assertEqual((out["queries"], out["solve"]["backend"]), (expected, backend))
            self.assertGreater(out["solve"]["launches"], 0)
            self.assertIn(f"solved by {backend}: ", run("pointsto", "list.cons.txt", "--backend", backend, "--solver", "backend")[0])
            for solver in ("host", "backend"):
                message = run("pointsto", "list.cons.txt", "--backend", backend, "--solver", solver, "--memory", 100, code=6)[1]
                self.assertRegex(message, "list.cons.txt: the collection of distinct sets does not fit: .*; raise --memory")
        self.assertIn("--solver: none not in {auto,backend,host}", run("pointsto", "list.cons.txt", "--solver", "none", code=2)[1])
        self.assertIn("--value-numbering: x not in {", run("pointsto", "list.cons.txt", "--value-numbering", "x", code=2)[1])
        self.assertIn("'-1' is not a number of at least 0", run("pointsto", "list.cons.txt", "--count", -1, code=2)[1])
        self.assertIn("is not a number of bytes from 1 to 2^63", run("pointsto", "list.cons.txt", "--memory=99999999999999999999", code=2)[1])

    def test_more_constraints(self):
        run("pointsto", "list.cons.txt", "-o", "first.h5")
        self.write("more.txt", "23\n2\n0,10,22,1,0\n1,22,12,1,0\n")
        out = self.answer("first.h5", "--add", "more.txt", "-o", "second.h5", "--query", "b.value")
        self.assertEqual(self.names(out["queries"][0]["points_to"]), ["x", "y"])
        self.assertEqual(self.answer("second.h5", "--query", 22)["queries"], self.answer("second.h5", "--again", "--query", 22)["queries"])
        self.assertEqual(self.answer("list.cons.txt", "--add", "more.txt", "--query", 22)["queries"], self.answer("second.h5", "--query", 22)["queries"])
        self.write("more.txt", "23\n3\n0,10,22,1,0\n1,22,12,1,0\n")
        self.assertIn("list.h5: is HDF5 by its ending; constraints are added from text", run("pointsto", "first.h5", "--add", "list.h5", code=3)[1])
        self.assertIn("more.txt: has 2 constraints; its header says 3", run("pointsto", "first.h5", "--add", "more.txt", code=3)[1])

    def test_files(self):
        run("pointsto", "list.cons.txt", "-o", "solved.h5")
        self.assertIn("the solution", run("convert", "solved.h5", "again.cons.txt")[1])
        for ending in ("cons", "nodes", "objnames", "places", "calls"):
            with open(f"list.{ending}.txt") as one, open(f"again.{ending}.txt") as other:
                self.assertEqual(one.read(), other.read())
        run("convert", "solved.h5", "copy.h5")
        self.assertNotIn("solve", self.answer("copy.h5"))  # it went with them
        self.assertEqual(json.loads(run("info", "copy.h5", "--json")[0])["points_to"]["facts"], 21)
        shutil.copy("list.cons.txt", "text.h5")
        self.assertIn("text.h5: is not an HDF5 file, though its ending says so", run("pointsto", "text.h5", code=3)[1])
        self.assertIn("constraints                16\n", run("info", "list.cons.txt")[0])

    def test_generated(self):
        run("generate", "--constraints", "--like", "ex", "ex.cons.txt")
        run("generate", "--constraints", "--variables", 11000, "--statements", 13000, "ex.h5")
        summary = self.answer("ex.h5")
        self.assertEqual((summary["variables"], summary["constraints"]), (11000, 13000))
        self.assertEqual({key: summary[key] for key in ("facts", "distinct_sets")}, {key: self.answer("ex.cons.txt")[key] for key in ("facts", "distinct_sets")})
        self.assertIn("there is no program 'xalan'; known are ex, perl", run("generate", "--constraints", "--like", "xalan", "x.h5", code=3)[1])
        self.assertIn("give --like NAME, or --variables V", run("generate", "--constraints", "x.h5", code=2)[1])
        run("generate", "--statements", 5, "--variables", 50, "x.h5", code=2)
        for option in (["--alarms", 5], ["--probability", 0.5], ["--no-names"], ["--edges", 50]):  # which would say nothing here
            run("generate", "--constraints", "--variables", 50, *option, "x.h5", code=2)

    def test_errors(self):
        self.assertIn("there is no variable 'z', neither by name nor by number: numbers are 0 to 21", run("pointsto", "list.cons.txt", "--query", "z", code=3)[1])
        self.assertIn("-o x.txt: a solution is written to an .h5 file", run("pointsto", "list.cons.txt", "-o", "x.txt", code=2)[1])
        self.assertIn("holds points-to constraints, not a model", run("lbp", "list.h5", code=3)[1])
        self.assertIn("holds no points-to constraints", run("pointsto", "g.h5", code=3)[1])
        self.assertIn("missing.cons.txt", run("pointsto", "missing.cons.txt", code=3)[1])
        self.assertIn("the collection of distinct sets does not fit: ", run("pointsto", "list.cons.txt", "--memory", 100, code=6)[1])
        run("pointsto", "list.cons.txt", "--value-numbering", "x", code=2)
        run("pointsto", "list.cons.txt", "--may-alias", "q", code=2)

    def test_real_programs(self):
        data = os.path.join(SOURCE, "..", "shared", "data", "points-to")
        if not os.path.isdir(data):
            self.skipTest("reference results are not here")
        for program in PROGRAMS:
            for kind in ("cons", "nodes"):
                with lzma.open(os.path.join(data, f"{program}.{kind}.txt.xz")) as packed, open(f"{program}.{kind}.txt", "wb") as out:
                    out.write(packed.read())
            for solver in ("host", "backend"):
                run("pointsto", f"{program}.cons.txt", "--solver", solver, "-o", "out.h5")
                self.check_sets(program, os.path.join(data, f"{program}.ref.xz"))

    def check_sets(self, program, reference):
        try:
            import h5py
        except ImportError:
            self.skipTest("h5py is not here")
        with h5py.File("out.h5") as file:
            group = file["points_to"]
            set_of, offsets, objects = group["set_of_variable"][:].tolist(), group["set_offsets"][:].tolist(), group["set_objects"][:].tolist()
        hashes = [sum(splitmix64(o + 1) for o in objects[begin:end]) & ((1 << 64) - 1) for begin, end in zip(offsets, offsets[1:])]
        expected = [(0, 0)] * len(set_of)
        with lzma.open(reference, "rt") as lines:
            for line in lines:
                if not line.startswith("#"):
                    variable, count, digest = line.split()
                    expected[int(variable)] = int(count), int(digest, 16)
        self.assertEqual([(offsets[s + 1] - offsets[s], hashes[s]) for s in set_of], expected, program)


if __name__ == "__main__":
    main()
