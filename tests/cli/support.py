"""What tests of the command line share: a folder of their own with a small model, and how hornbill is run."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
GOLDEN = os.path.join(SOURCE, "inputs", "golden", "horn")


# For runs in which a library that fails, not Hornbill, loses memory.
OTHERS_LEAK = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def run(*arguments, code=0, environment=None):
    """Runs hornbill and returns (stdout, stderr); the exit code must be `code`."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=environment)
    assert done.returncode == code, f"exit {done.returncode}, not {code}: {arguments}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.chdir(cls.folder.name)
        run("generate", "--like", "weblech", "g.h5")

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

    def an_alarm(self):
        top = json.loads(run("lbp", "g.h5", "--top", "alarms", "--count", 1, "--json")[0])["top"][0]
        return top["name"].removeprefix("alarm_")

    CLAUSES = """R0: NOT source, NOT edge(a,b), path(b)
R1: NOT path(b), NOT edge(b,c), path(c)
R1: NOT path(c), NOT edge(c,b), path(b)
R2: NOT path(c), alarm(c)
R1: NOT path(b), NOT edge(b,d), path(d)
R1: NOT path(d), NOT edge(d,e), path(e)
R2: NOT path(e), alarm(e)
R1: NOT path(b), path(nowhere)
"""

    def write(self, name, text):
        with open(name, "w") as out:
            out.write(text)
        return name

    def clauses(self):
        self.write("clauses.txt", self.CLAUSES)
        self.write("rules.txt", "R0: 0.9\nR1: 0.8\nR2: 0.7\n")
        self.write("alarms.txt", "alarm(c)\nalarm(e)\n")

    def serve(self, *arguments):
        """A driver's end of the pipes: a function that sends a line and returns the answer, and the process."""
        process = subprocess.Popen([PROGRAM, "serve", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)

        def send(line):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            return process.stdout.readline().rstrip("\n")

        return send, process

    def clique(self, name, num_variables):
        """Costs over all pairs of variables of three states."""
        pairs = [(v, w) for v in range(num_variables) for w in range(v)]
        costs = lambda v, w: "".join(f"{x} {y} {(x * 5 + y * 3 + v * w + 2 * v) % 13}\n" for x in range(3) for y in range(3))
        return self.write(name, f"clique {num_variables} 3 {len(pairs)} 1000\n" + " ".join(["3"] * num_variables) + "\n" + "".join(f"2 {v} {w} 0 9\n{costs(v, w)}" for v, w in pairs))


def main():
    unittest.main(argv=sys.argv[:1], verbosity=1)
