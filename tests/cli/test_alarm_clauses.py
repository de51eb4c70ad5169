#!/usr/bin/env python3
"""Clauses of `hornbill analyse`: their premises hold, they have no cycle, they are all that the rules give, and they lead
where a run would without one of the inputs. Usage: test_alarm_clauses.py PROGRAM SOURCE_DIR"""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys

from support import SOURCE, CommandLine, main, run

sys.path.insert(0, os.path.join(SOURCE, "tests", "defects"))
import flows  # noqa: E402

CLANG = next((clang for clang in ("clang-14", "clang-15", "clang-16", "clang-19", "clang") if shutil.which(clang)), None)
Clause = collections.namedtuple("Clause", "rule body head")
Rule = collections.namedtuple("Rule", "name head body")


def plain(text):
    """A name that stands in quotes without them."""
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def clauses_of(file):
    """Clauses by the texts of their tuples."""
    found = set()
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            rule, literals = line.rstrip("\n").split(": ", 1)
            *body, head = re.findall(r'((?:[^",]|"(?:[^"\\]|\\.)*"|,(?! ))+)(?:, |$)', literals)
            assert all(literal.startswith("NOT ") for literal in body) and not head.startswith("NOT "), line
            found.add(Clause(rule, frozenset(plain(literal.removeprefix("NOT ")) for literal in body), plain(head)))
    return found


def derived(clauses, inputs):
    """Tuples that follow from inputs."""
    known, has_changed = set(inputs), True
    while has_changed:
        new = {clause.head for clause in clauses if clause.body <= known} - known
        known |= new
        has_changed = bool(new)
    return known


def leading_to(clauses, heads):
    """Clauses from which some head is reached."""
    wanted, kept = set(heads), set()
    while True:
        new = {clause for clause in clauses if clause.head in wanted} - kept
        if not new:
            return kept
        kept |= new
        wanted |= set().union(*(clause.body for clause in new))


class Rules:
    """Rules of a client, evaluated in the plainest way: all instances over all tuples, again until nothing is new."""
    ATOM = re.compile(r"(\w+)\(([^)]*)\)")

    def __init__(self, client):
        with open(os.path.join(SOURCE, "src", "alarms", "rules", f"{client}.dl"), encoding="utf-8") as source:
            lines = source.read().splitlines()
        self.client, self.sentences, self.inputs, self.outputs, self.rules = client, {}, set(), set(), []
        for line in lines:
            if declared := re.match(r"\.decl (\w+)\(([^)]*)\) ?(input|output)?", line):
                name, columns, kind = declared.groups()
                (self.inputs if kind == "input" else self.outputs if kind == "output" else set()).add(name)
                if sentence := re.search(r"//: (.*)", line):
                    self.sentences[name] = (sentence[1], [column.split(":")[0] for column in columns.split(", ")])
            elif ":-" in line:
                head, *body = [(name, tuple(terms.split(", "))) for name, terms in self.ATOM.findall(line)]
                self.rules.append(Rule(f"{client}.R{len(self.rules)}", head, body))

    def text(self, name, values):
        if name not in self.sentences:
            return name + "(" + ",".join(f'"{value}"' if re.search(r'[,()"\\ ]', value) else value for value in values) + ")"
        sentence, columns = self.sentences[name]
        for column, value in zip(columns, values):
            sentence = sentence.replace("{" + column + "}", value)
        return sentence

    def input_of(self, text):
        """The tuple of an input by its text; none if it is none."""
        if named := re.fullmatch(r"(\w+)\((.*)\)", text):
            values = tuple(quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|([^,"]+)', named[2]))
            return (named[1], values) if named[1] in self.inputs else None
        pointer, is_fact, target = text.partition(" may point to ")
        return ("PointsTo", (pointer, target)) if is_fact and "PointsTo" in self.inputs else None

    def instances(self, inputs):
        tuples, found, has_changed = set(inputs), set(), True
        while has_changed:
            size = len(found)
            by_name = collections.defaultdict(list)
            for name, values in tuples:
                by_name[name].append(values)
            for rule in self.rules:
                for bound in self.matches(rule.body, by_name, {}):
                    body = frozenset((name, tuple(bound[term] for term in terms)) for name, terms in rule.body)
                    head = (rule.head[0], tuple(bound[term] for term in rule.head[1]))
                    found.add(Clause(rule.name, body, head))
                    tuples.add(head)
            has_changed = len(found) > size
        return found

    def matches(self, body, by_name, bound):
        if not body:
            yield bound
            return
        (name, terms), *rest = body
        for values in by_name[name]:
            if all(bound.get(term, value) == value for term, value in zip(terms, values)):
                yield from self.matches(rest, by_name, {**bound, **dict(zip(terms, values))})

    def texts(self, instances):
        return {Clause(rule, frozenset(self.text(*premise) for premise in body), self.text(*head)) for rule, body, head in instances}


class AlarmClauses(CommandLine):
    def setUp(self):
        if CLANG is None or "analyse" not in run("--help")[0].split():
            self.skipTest("clang, or this build's front end, is not here")

    def programs(self):
        for path in glob.glob(os.path.join(SOURCE, "tests", "defects", "*.c")):
            yield path
        for kind in flows.KINDS:
            yield self.write(f"{kind}_flows.c", flows.program(kind))

    def analyse(self, path, *arguments):
        bitcode = os.path.basename(path).replace(".c", ".bc")
        subprocess.run([CLANG, "-g", "-w", "-O1", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm", path, "-o", bitcode], check=True)
        run("analyse", bitcode, "-o", "alarms.h5", "--clauses", "clauses.txt", *arguments)
        return clauses_of("clauses.txt")

    @staticmethod
    def given(clauses):
        return set().union(*(clause.body for clause in clauses)) - {clause.head for clause in clauses}

    def test_hold(self):
        """All tuples follow from inputs, and in an order: no clause derives what its premises follow from."""
        for path in self.programs():
            clauses = self.analyse(path)
            inputs = self.given(clauses)
            self.assertEqual([name for name in inputs if not re.match(r"\w+\(", name)], [], path)
            heads = {clause.head for clause in clauses}
            self.assertEqual(derived(clauses, inputs), inputs | heads, path)
            left = set(clauses)
            while left:  # a tuple comes when none of its clauses waits for another tuple
                waiting = {clause.head for clause in left}
                ready = {clause for clause in left if not clause.body & waiting}
                self.assertTrue(ready, f"{path}: a cycle among {len(left)} clauses")
                left -= ready

    def test_all(self):
        """Complete clauses are all instances of the rules, and without one of the inputs they lead where the rules do."""
        for path in self.programs():
            client = os.path.basename(path).split(".")[0].split("_")[0]
            rules = Rules(client)
            clauses = {clause for clause in self.analyse(path, "--client", client, "--complete") if clause.rule.startswith(client)}
            inputs = {text: given for text in set().union(*(clause.body for clause in clauses)) if (given := rules.input_of(text))}
            instances = rules.instances(inputs.values())
            alarms = {rules.text(*instance.head) for instance in instances if instance.head[0] in rules.outputs}
            self.assertEqual(leading_to(rules.texts(instances), alarms), clauses, path)
            for left_out in sorted(inputs)[:: max(1, len(inputs) // 10)]:
                rest = {text: given for text, given in inputs.items() if text != left_out}
                wanted = {rules.text(*instance.head) for instance in rules.instances(rest.values()) if instance.head[0] in rules.outputs}
                self.assertEqual(derived(clauses, rest) & alarms, wanted, f"{path} without {left_out}")

    def test_without_an_effect(self):
        """A run in which a function frees nothing has the alarms that its inputs' removal leaves."""
        source = ("void one(int *); void two(int *);\nint a(int *p, int c) {\n  if (c) one(p);\n  two(p);\n  return *p;\n}\n"
                  "int b(int *q) {\n  one(q);\n  return *q;\n}\nint main() { int x = 0, y = 0; return a(&x, x) + b(&y); }\n")
        self.write("f.c", source)
        self.write("both.txt", "one two: free 0\n")
        self.write("two.txt", "two: free 0\none:\n")
        clauses = self.analyse("f.c", "--client", "free", "--complete", "--externals", "both.txt")
        alarms = {clause.head for clause in clauses if re.search(" may be (used|freed) after ", clause.head)}
        self.assertEqual(len(alarms), 3)
        inputs = self.given(clauses)
        left = derived(clauses, {text for text in inputs if not re.search(r"Frees\(\"f.c:(3|8):", text)}) & alarms
        alone = self.analyse("f.c", "--client", "free", "--complete", "--externals", "two.txt")
        self.assertEqual(left, {clause.head for clause in alone if clause.head in alarms})
        self.assertEqual(left, {"f.c:5:10 p may be used after f.c:4:3 p is freed"})

    def test_cycles(self):
        """The model of complete clauses leaves out what closes a cycle; `explain` works on it."""
        source = ("int f(int *p, int c) { return c ? f(p, c - 1) : *p; }\n"
                  "int g(int *p, int c) { return c ? f(p, c) : *p; }\n"
                  "int main(int c, char **v) { int x = 1; return g(c > 1 ? &x : 0, c) + f(c > 2 ? &x : 0, c); }\n")
        self.write("f.c", source)
        complete = self.analyse("f.c", "--client", "null", "--complete")
        self.assertGreater(len(complete), len(self.analyse("f.c", "--client", "null", "--derivations", 1000)))
        self.analyse("f.c", "--client", "null", "--complete")
        alarm = next(clause.head for clause in complete if clause.head.endswith(" is dereferenced"))
        self.assertIn("null.R", run("explain", "alarms.h5", alarm)[0])


if __name__ == "__main__":
    main()
