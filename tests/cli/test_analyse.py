#!/usr/bin/env python3
"""From C to alarms: what they say, why, and what is refused. Usage: test_analyse.py PROGRAM SOURCE_DIR"""
import json
import os
import re
import shutil
import subprocess

from support import SOURCE, CommandLine, main, run

CLANG = next((clang for clang in ("clang-14", "clang-15", "clang-16", "clang-19", "clang") if shutil.which(clang)), None)

LIST = """#include <stdlib.h>
struct node { int value; struct node *next; };
static void drop(struct node *n) {
  free(n->next);
}
int main(int argc, char **argv) {
  struct node first = {1, malloc(sizeof(struct node))};
  if (!first.next) return 1;
  first.next->value = argc;
  drop(&first);
  return first.next->value;
}
"""


COMMANDS = """#include <stdlib.h>
int main(int argc, char **argv) {
  char *command = getenv("A"), *other = getenv("B");
  int *p = malloc(4);
  *p = 1;
  if (argc > 1) command = other;
  system(command);
  return 0;
}
"""


SHARED = """#include <stdlib.h>
struct node { int value; struct node *next; } *shared;
void drop(struct node *n) { free(n->next); }
int read(struct node *n) { return n->next->value; }
int main(int argc, char **argv) {
  struct node first = {1, malloc(sizeof(struct node))}, *p = &first;
  if (!first.next) return 1;
  first.next->value = argc;
  shared = p;
  drop(p);
  return read(shared);
}
"""


class Analyse(CommandLine):
    def setUp(self):
        if CLANG is None:
            self.skipTest("clang is not here")
        if "analyse" not in run("--help")[0].split():
            self.skipTest("this build has no front end")

    def compile(self, source, name="list", flags=()):
        self.write(f"{name}.c", source)
        subprocess.run([CLANG, "-g", "-w", "-O1", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm", *flags, f"{name}.c"], check=True)
        return f"{name}.bc"

    def alarms(self, model="alarms.h5"):
        return {one["name"]: one["p_true"] for one in json.loads(run("lbp", model, "--top", "alarms", "--json")[0]).get("top", [])}

    def test_alarm(self):
        """It names both places; its derivation has the statements; ranking and labels work on the model."""
        out = run("analyse", self.compile(LIST), "-o", "alarms.h5", "--clauses", "clauses.txt")[0]
        self.assertIn("alarms.h5: 1 alarm, ", out)
        alarm = "list.c:11:22 first.next may be used after list.c:4:3 n->next is freed"
        self.assertEqual(list(self.alarms()), [alarm])
        steps = run("explain", "alarms.h5", alarm)[0]
        self.assertIn("list.c:4:3 n->next is freed", steps)
        self.assertIn("list.c:10:3 first.next behind drop(...) may be freed, as list.c:4:3 n->next is\n", steps)
        self.assertEqual(run("explain", "alarms.h5", "list.c:11:22")[0], steps)  # by its place, which no other name begins with
        self.assertIn("alarms.h5: 'list.c:9:9' is no variable of the model", run("explain", "alarms.h5", "list.c:9:9", code=3)[1])
        self.assertIn("most probable of null:\n    none", run("lbp", "alarms.h5", "--top", "null")[0])
        with open("clauses.txt") as clauses:
            lines = clauses.read().splitlines()
        self.assertIn('free.R0: NOT Frees("list.c:4:3 n->next"), list.c:4:3 n->next is freed', lines)
        self.write("true.txt", alarm + "\n")
        self.assertIn(alarm, run("rank", "alarms.h5", "--oracle", "true.txt")[0])

    def test_several_alarms_of_a_place(self):
        source = '#include <stdlib.h>\nint main(int n) { char *s = n > 1 ? getenv("A") : getenv("B"); return system(s); }\n'
        run("analyse", self.compile(source), "-o", "alarms.h5", "--client", "taint")
        places = [alarm.split()[0] for alarm in self.alarms()]
        twice = next(place for place in places if places.count(place) > 1)
        out = run("explain", "alarms.h5", twice, code=3)[1]
        self.assertIn(f"alarms.h5: '{twice}' begins the names of {places.count(twice)} variables; give a whole name:\n", out)
        self.assertIn("\n  " + next(alarm for alarm in self.alarms() if alarm.startswith(twice + " ")), out)

    def test_memory(self):
        """Where another function reads what is freed, points-to facts are in the derivation."""
        run("analyse", self.compile(SHARED), "-o", "alarms.h5")
        alarm = "list.c:4:44 n->next may be used after list.c:3:29 n->next is freed"
        self.assertEqual(list(self.alarms()), [alarm])
        steps = run("explain", "alarms.h5", alarm)[0]
        self.assertIn("drop#1 may point to main::first\n", steps)
        self.assertIn("main::first.next may hold what is freed as list.c:3:29 n->next\n", steps)

    def test_limits(self):
        program = self.compile(SHARED)
        small = json.loads(run("analyse", program, "-o", "alarms.h5", "--max-clauses", 7, "--json")[0])
        self.assertEqual(small["alarms"], 1)
        self.assertGreater(small["given_facts"], 0)
        self.assertLessEqual(small["clauses"], 7)
        none = json.loads(run("analyse", program, "-o", "alarms.h5", "--max-clauses", 2, "--json")[0])
        self.assertEqual((none["alarms"], none["clients"]["free"]["complete"]), (0, False))
        single = json.loads(run("analyse", program, "-o", "alarms.h5", "--derivations", 1, "--json")[0])
        self.assertEqual(single["given_facts"], 0)
        several = self.compile(SHARED.replace("drop(p)", "struct node other = {2, 0}; drop(argc > 1 ? p : &other)"))
        for most, alarms in ((1, 0), (2, 1)):
            found = json.loads(run("analyse", several, "-o", "alarms.h5", "--client", "free", "--max-objects", most, "--json")[0])
            self.assertEqual(found["alarms"], alarms, most)

    def test_queries(self):
        """Each client has a query of its alarms; of a place, the most probable one can be had."""
        run("analyse", self.compile(COMMANDS), "-o", "alarms.h5")
        names = {query: [one["name"] for one in json.loads(run("lbp", "alarms.h5", "--top", query, "--json")[0]).get("top", [])]
                 for query in ("alarms", "null", "free", "taint")}
        self.assertEqual(sorted(names["null"] + names["taint"]), sorted(names["alarms"]))
        self.assertEqual((len(names["null"]), names["free"], len(names["taint"])), (1, [], 2))
        self.assertEqual({name.split()[0] for name in names["taint"]}, {"list.c:7:3"})
        first = json.loads(run("lbp", "alarms.h5", "--top", "taint", "--by-place", "--json")[0])["top"]
        self.assertEqual([one["name"] for one in first], names["taint"][:1])
        self.assertIn("--by-place requires --top", run("lbp", "alarms.h5", "--by-place", code=2)[1])

    def test_no_alarm(self):
        program = self.compile("int main() { return 0; }\n")
        self.assertIn("alarms.h5: 0 alarms, ", run("analyse", program, "-o", "alarms.h5", "--compress")[0])
        self.assertEqual(self.alarms(), {})

    def test_externals(self):
        program = self.compile("int *find(void); void release(int *); int main() { int *p = find(); *p = 1; release(p); return *p; }\n")
        run("analyse", program, "-o", "alarms.h5")
        self.assertEqual(self.alarms(), {})
        self.write("mine.txt", "find: return = new; return = null\nrelease: free 0\n")
        run("analyse", program, "-o", "alarms.h5", "--externals", "mine.txt")
        alarms = " ".join(self.alarms())
        self.assertEqual(len(self.alarms()), 2)
        self.assertIn(" p may be null where it is dereferenced", alarms)
        self.assertIn(" p is freed", alarms)

    def test_taint(self):
        program = self.compile('#include <stdlib.h>\nvoid run(char *);\nchar *ask(void);\nint main() {\n  char *c = ask();\n  run(c);\n  return 0;\n}\n')
        self.write("mine.txt", "ask: return = static; taint return\nrun: sink 0\n")
        run("analyse", program, "-o", "alarms.h5", "--externals", "mine.txt", "--client", "taint", "--clauses", "clauses.txt")
        self.assertEqual(list(self.alarms()), ["list.c:6:3 c may be data from list.c:5:13 c"])
        with open("clauses.txt") as clauses:
            self.assertIn('taint.R0: NOT DUEdge("list.c:5:13 c","list.c:6:3 c"), NOT Source("list.c:5:13 c"), DUPath("list.c:5:13 c","list.c:6:3 c")', clauses.read())
        self.write("mine.txt", "ask: return = static; taint return\nrun: sink *0\n")
        run("analyse", program, "-o", "alarms.h5", "--externals", "mine.txt", "--client", "taint")
        self.assertEqual(len(self.alarms()), 1)
        for effect, wanted in (("zero 1", "'1' stands where 'return' is needed"), ("taint *0 1*", "ends where the number of an argument")):
            self.write("mine.txt", f"run: {effect}\n")
            self.assertIn(wanted, run("analyse", program, "-o", "alarms.h5", "--externals", "mine.txt", code=3)[1])
        self.write("mine.txt", "run: sink\n")
        self.assertIn("mine.txt:line 1: an effect ends where the number of an argument, from 0 is needed", run("analyse", program, "-o", "alarms.h5", "--externals", "mine.txt", code=3)[1])

    def test_header_bodies(self):
        """Functions to which headers give a body are the library's: alarms are where they are called."""
        source = ("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint table[9];\nint main() {\n  char to[9];\n"
                  '  strcpy(to, getenv("A"));\n  printf(to);\n  return table[atoi(to)];\n}\n')
        other = "#include <string.h>\nstruct s { int *p, n; };\nint other() {\n  struct s s;\n  memset(&s, 0, sizeof s);\n  return *s.p;\n}\n"
        for flags in ((), ("-D_FORTIFY_SOURCE=2",)):
            files = [self.compile(source, flags=flags), self.compile(other, "other", flags), self.compile(other.replace("other", "third"), "third", flags)]
            run("analyse", *files, "-o", "alarms.h5")
            places = sorted(alarm.split()[0] for alarm in self.alarms())
            self.assertEqual(places, ["list.c:7:3", "list.c:8:3", "list.c:9:10", "other.c:6:10", "third.c:6:10"], flags)

    def test_new_and_delete(self):
        self.write("list.cpp", "int main() {\n  int *p = new int(1);\n  int x = *p;\n  delete p;\n  return *p + x;\n}\n")
        subprocess.run([CLANG, "-x", "c++", "-g", "-w", "-O1", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm", "list.cpp"], check=True)
        run("analyse", "list.bc", "-o", "alarms.h5")
        self.assertEqual(list(self.alarms()), ["list.cpp:5:10 p may be used after list.cpp:4:3 p is freed"])

    def test_rules(self):
        program = self.compile(LIST)
        self.write("mine.dl", ".decl Frees(u: symbol) input\n.decl Bad(u: symbol) output //: {u} is bad\nBad(u) :- Frees(u).\n")
        self.assertIn("has no probability for the rule mine.R0", run("analyse", program, "-o", "alarms.h5", "--rules", "mine.dl", code=3)[1])
        run("analyse", program, "-o", "alarms.h5", "--rules", "mine.dl", "--client", "null", "--default-probability", 0.25)
        self.assertEqual(list(self.alarms()), ["list.c:4:3 n->next is bad"])
        self.assertAlmostEqual(self.alarms()["list.c:4:3 n->next is bad"], 0.25)
        self.write("p.txt", "mine.R0: 0.5\nfree.R0: 0.125\n")
        run("analyse", program, "-o", "alarms.h5", "--rules", "mine.dl", "--probabilities", "p.txt")
        self.assertAlmostEqual(self.alarms()["list.c:4:3 n->next is bad"], 0.5)
        self.write("mine.dl", ".decl Frees(u: symbol, v: symbol) input\n")
        self.assertIn("mine.dl: line 1: input Frees has 2 columns; it needs 1", run("analyse", program, "-o", "alarms.h5", "--rules", "mine.dl", code=3)[1])
        self.write("mine.dl", ".decl Freed(u: symbol) input\n")
        self.assertIn("mine.dl: line 1: input Freed is not a relation of programs; there are ", run("analyse", program, "-o", "alarms.h5", "--rules", "mine.dl", code=3)[1])
        self.write("mine.dl", ".decl A(u: symbol) output\nA(u) :- B(u).\n")
        self.assertIn("mine.dl:line 2, column 9: relation B is not declared", run("analyse", program, "-o", "alarms.h5", "--rules", "mine.dl", code=3)[1])
        self.write("mine.dl", ".decl Reaches(p: symbol, u: symbol) input\n.decl A(p: symbol, u: symbol) output\nA(p, u) :- Reaches(p, u).\n")
        self.assertIn("mine.dl: line 3: a relation cannot be looked up; other premises must have p of Reaches", run("analyse", program, "-o", "alarms.h5", "--rules", "mine.dl", code=3)[1])
        self.write("p.txt", "mine.R0: 0.5\nnull.R99: 0.5\n")
        self.assertIn("p.txt: no client has the rule mine.R0; in the order of CLIENT.dl", run("analyse", program, "-o", "alarms.h5", "--probabilities", "p.txt", code=3)[1])
        self.write("p.txt", "null.R99: 0.5\n")
        self.assertIn("p.txt: no client has the rule null.R99", run("analyse", program, "-o", "alarms.h5", "--probabilities", "p.txt", code=3)[1])
        self.write("p.txt", "null.R0: 0.5\nany-offset: 0.5\n")
        run("analyse", program, "-o", "alarms.h5", "--client", "free", "--probabilities", "p.txt")
        self.write("null.dl", ".decl A(u: symbol) output\n")
        self.assertIn("two clients are called null", run("analyse", program, "-o", "alarms.h5", "--rules", "null.dl", code=2)[1])

    def test_rules_of_the_manual(self):
        with open(os.path.join(SOURCE, "include/hornbill/alarms/README.md"), encoding="utf-8") as manual:
            block = re.search(r"\n\n(    \.type Pointer.*?)\n\n", manual.read(), re.S)
        self.write("passed.dl", re.sub(r"(?m)^    ", "", block[1]) + "\n")
        program = self.compile("void use(int *p);\nint main(int argc) {\n  use(argc > 1 ? &argc : 0);\n  return 0;\n}\n")
        run("analyse", program, "-o", "alarms.h5", "--rules", "passed.dl", "--client", "null", "--default-probability", 0.5)
        self.assertEqual([alarm.split(" ", 1)[0] for alarm in self.alarms()], ["list.c:3:3"])
        self.assertIn("may be null where a function outside gets it", next(iter(self.alarms())))

    SARIF = {"version": "2.1.0", "runs": [{"artifacts": [{"location": {"uri": "src/list.c"}}], "results": [
        {"ruleId": "overflow", "message": {"text": "may be too large"}, "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": "file:///x/src/list.c"}, "region": {"startLine": 9, "startColumn": 3}}}]},
        {"rule": {"id": "leak"}, "message": {"text": "of memory"}, "locations": [
            {"physicalLocation": {"artifactLocation": {"index": 0}, "region": {"startLine": 11}}}]},
        {"message": {"text": "no place"}}]}]}

    def test_reported(self):
        """Alarms of another analyser get derivations; where one of ours is in the line, it counts."""
        program = self.compile(LIST, name="list")
        self.write("other.sarif", json.dumps(self.SARIF))
        report = json.loads(run("analyse", program, "-o", "alarms.h5", "--reported", "other.sarif", "--clauses", "clauses.txt", "--json")[0])
        self.assertEqual((report["alarms"], report["unplaced_reports"], report["reports_without_place"]), (3, 0, 1))
        alarms = self.alarms()
        self.assertIn("/x/src/list.c:9:3 may be too large (overflow)", alarms)
        self.assertIn("src/list.c:11 of memory (leak)", alarms)
        self.assertGreater(alarms["/x/src/list.c:9:3 may be too large (overflow)"], 0.3)
        with open("clauses.txt") as clauses:
            self.assertIn("reported.agrees: NOT list.c:11:22 first.next may be used after list.c:4:3 n->next is freed, src/list.c:11 of memory (leak)\n", clauses.read())
        self.write("other.txt", "# of a compiler\nlist.c:9:3: warning: may be too large\nother.c:4\n")
        out = run("analyse", program, "-o", "alarms.h5", "--reported", "other.txt", "--client", "null")[0]
        self.assertIn("1 of the reports are of lines in which the program has no statement", out)
        self.assertEqual(set(self.alarms()), {"list.c:9:3 warning: may be too large", "other.c:4"})
        self.assertAlmostEqual(self.alarms()["other.c:4"], 0.1)

    def test_bad_reports(self):
        program = self.compile(LIST)
        for name, text, message in (
                ("a.sarif", "{", "a.sarif: is not JSON"), ("a.sarif", "{}", "a.sarif: has no list `runs`, so it is not SARIF"),
                ("a.sarif", '{"runs": [{"results": [{"message": {"text": "m"}}]}]}', "a.sarif:runs[].results[0]: has no place, nor has any other result"),
                ("a.txt", "list.c:9\nlist.c\n", "a.txt:line 2: 'list.c' is not a place such as file.c:12"),
                ("a.txt", "nofile:0: m\nlist.c:0: m\n", "a.txt:line 2: 'list.c:0: m' is not a place")):
            self.write(name, text)
            self.assertIn(message, run("analyse", program, "-o", "alarms.h5", "--reported", name, code=3)[1])

    def test_errors(self):
        program = self.compile(LIST)
        self.assertIn("a model is written to .h5", run("analyse", program, "-o", "alarms.txt", code=2)[1])
        self.assertIn("--client: leak not in", run("analyse", program, "-o", "alarms.h5", "--client", "leak", code=2)[1])
        self.assertIn("missing.bc", run("analyse", "missing.bc", "-o", "alarms.h5", code=3)[1])
        run("analyse", program, code=2)


if __name__ == "__main__":
    main()
