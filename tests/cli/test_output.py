#!/usr/bin/env python3
"""Output: what cannot be written is an error of every command, what is there is kept, and pipes are files. Usage: test_output.py PROGRAM SOURCE_DIR"""
import glob
import os
import re
import resource
import shutil
import subprocess
import time

from support import CommandLine, GOLDEN, PROGRAM, SOURCE, main, run

FIG2 = os.path.join(GOLDEN, "fig2.causal_fg")


class Output(CommandLine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open("costs.wcsp", "w") as out:
            out.write("pair 2 2 1 9\n2 2\n2 0 1 0 2\n0 0 1\n1 1 1\n")
        with open("labels.txt", "w") as out:
            out.write("2 true\n")
        run("convert", FIG2, "fig2.h5")
        for file in glob.glob(os.path.join(SOURCE, "inputs", "golden", "points_to", "list.*")):
            shutil.copy(file, ".")

    def has_front_end(self):
        return re.search(r"^  extract  ", run("--help")[0], re.M)

    def invocations(self):
        """Arguments of every command, and of each that prints in ways of its own."""
        self.clauses()
        self.write("main.ll", "define i32 @main() {\n  ret i32 0\n}\n")
        front_end = [("extract", "main.ll", "-o", "new.h5"), ("analyse", "main.ll", "-o", "new.h5"), ("analyse", "main.ll", "-o", "new.h5", "--json")] if self.has_front_end() else []
        self.write("x.csv", "0,0\n1,1\n")
        run("circuit", "build", "hmm", "--steps", 2, "--states", 2, "--categories", 2, "-o", "hmm.h5")
        circuits = [("circuit", "build", "hclt", "x.csv", "--latents", 2, "-o", "new.h5"), ("circuit", "build", "network", FIG2, "-o", "new.h5"), ("circuit", "build", "pd", "--shape", 4, "--split-every", 2, "--latents", 2, "--categories", 2, "-o", "new.h5"),
                    ("circuit", "build", "pd-hclt", "x.csv", "--shape", 2, "--split-every", 1, "--latents", 2, "-o", "new.h5"), ("circuit", "info", "hmm.h5"), ("circuit", "evaluate", "hmm.h5", "x.csv"), ("circuit", "evaluate", "hmm.h5", "x.csv", "--json"), ("circuit", "convert", "hmm.h5", "new.h5"),
                    ("circuit", "train", "hmm.h5", "x.csv", "--epochs", 2, "-o", "new.h5"), ("circuit", "train", "hmm.h5", "x.csv", "--json", "-o", "new.h5")]
        self.write("taint.dl", ".decl A(x: symbol) output\nA(\"a\").\n")
        clauses = ("clauses.txt", "--alarms", "alarms.txt")
        return [
            ("generate", "--like", "weblech", "new.h5"), ("convert", FIG2, "new.h5"), ("info", FIG2), ("info", FIG2, "--json"),
            ("clauses", "model", *clauses, "--rules", "rules.txt", "-o", "new.h5"), ("clauses", "prune", *clauses, "-o", "new.txt"),
            ("clauses", "ground", "taint.dl", "-o", "new.txt"), ("clauses", "ground", "taint.dl", "-o", "new.txt", "--json"),
            ("schedule", FIG2), ("schedule", FIG2, "--json"), ("lbp", FIG2), ("lbp", FIG2, "--json"), ("lbp", FIG2, "--top", "all"), ("rank", "g.h5", "--oracle", "true_alarms", "--rounds", 2),
            ("rank", "g.h5", "--oracle", "true_alarms", "--rounds", 1, "--json"), ("explain", "g.h5", "alarm_" + self.an_alarm()), ("explain", "g.h5", "alarm_" + self.an_alarm(), "--json"),
            ("serve", FIG2), ("map", FIG2), ("map", FIG2, "--json"), ("map", "costs.wcsp"), ("map", "costs.wcsp", "--mini-buckets", 1), ("partition", FIG2), ("marginals", FIG2), ("marginals", FIG2, "--json"), ("dpop", "costs.wcsp"),
            ("pointsto", "list.cons.txt"), ("pointsto", "list.cons.txt", "--json"), ("pointsto", "list.cons.txt", "--query", "q", "--may-alias", "p", "q", "--calls"), ("convert", "list.cons.txt", "new.h5"), ("info", "list.cons.txt"),
            *front_end, *circuits, ("learn", "--run", "m.h5", "session.txt", "-o", "new.rules"), ("--help",), ("--version",), ("lbp", "--help"),
        ]

    def outcome(self, arguments, **streams):
        return subprocess.run([PROGRAM, *map(str, arguments)], input="NL\n", stderr=subprocess.PIPE, text=True, **streams)

    def test_every_command(self):
        """With a full disk, and with standard output closed."""
        self.clauses()
        run("clauses", "model", "clauses.txt", "--alarms", "alarms.txt", "--rules", "rules.txt", "-o", "m.h5")
        self.write("session.txt", "alarm(c) true\n")
        invocations = self.invocations()
        commands = re.findall(r"^  (\w+)  ", run("--help")[0].split("Subcommands:")[1].split("Start with:")[0], re.M)
        self.assertEqual(set(commands), {arguments[0] for arguments in invocations if not arguments[0].startswith("-")})
        for arguments in invocations:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.outcome(arguments, stdout=subprocess.DEVNULL).returncode, 0)
                with open("/dev/full", "w") as full:
                    done = self.outcome(arguments, stdout=full)
                self.assertEqual(done.returncode, 3)
                self.assertIn("hornbill: standard output cannot be written: No space left on device", done.stderr)
                done = self.outcome(arguments, preexec_fn=lambda: os.close(1))
                self.assertEqual(done.returncode, 3)
                self.assertIn("hornbill: standard output cannot be written: Bad file descriptor", done.stderr)

    def test_no_file_takes_the_place_of_a_closed_stream(self):
        def close_all():
            for stream in (0, 1, 2):
                os.close(stream)
        for command in (("convert", FIG2, "closed.h5"), ("rank", "g.h5", "--oracle", "true_alarms", "--rounds", "2", "--session", "closed.session")):
            self.assertEqual(subprocess.run([PROGRAM, *command], preexec_fn=close_all).returncode, 3)
        self.assertIn("variables                  3", run("info", "closed.h5")[0])
        with open("closed.session") as session:
            self.assertEqual([line.split()[0] for line in session][0], "#")

    def test_special_files(self):
        os.mkfifo("pipe.h5")
        for arguments, message in ((("lbp", FIG2, "--evidence", "/dev/zero"), "/dev/zero: is a device from which there is no end of reading"), (("info", "pipe.h5"), "pipe.h5: is a pipe or a device"),
                                   (("convert", "pipe.h5", "new.fg"), "pipe.h5: is a pipe or a device"), (("pointsto", "pipe.h5"), "pipe.h5: is a pipe or a device"),
                                   (("rank", "g.h5", "--oracle", "true_alarms", "--session", "/dev/full"), "/dev/full: is not a file that a session can be read from")):
            self.assertIn(message, run(*arguments, code=3)[1])
        self.assertEqual(run("lbp", FIG2, "--evidence", "/dev/null")[1], "")
        self.write("zero.txt", "0 1\n1 \0 0\n")
        self.assertIn("zero.txt:line 2: holds a byte of value 0: the file is not text", run("lbp", FIG2, "--evidence", "zero.txt", code=3)[1])

    def test_files_that_may_not_grow(self):
        before = sorted(os.listdir("."))
        for arguments in (("generate", "--like", "weblech", "new.h5"), ("lbp", "g.h5", "-o", "new.MAR"), ("pointsto", "list.cons.txt", "-o", "new.h5")):
            done = self.outcome(arguments, stdout=subprocess.DEVNULL, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
            self.assertEqual(done.returncode, 3)
            self.assertIn("File too large", done.stderr)
            self.assertEqual(sorted(os.listdir(".")), before)

    def test_equal_contents_have_equal_bytes(self):
        written = []
        for seconds in (1.1, 0):
            run("generate", "--like", "weblech", "--seed", 5, "seeded.h5")
            with open("seeded.h5", "rb") as file:
                written.append(file.read())
            time.sleep(seconds)
        self.assertEqual(*written)

    def test_pipes(self):
        self.clauses()
        run("clauses", "prune", "clauses.txt", "--alarms", "alarms.txt", "-o", "pruned.txt")
        with open("pruned.txt") as text:
            pruned = text.read()
        prune = f"{PROGRAM} clauses prune <(cat clauses.txt) --alarms <(cat alarms.txt) -o /dev/stdout"
        for redirected in (f"{prune} | cat", f"{prune} > into.txt; cat into.txt"):
            done = subprocess.run(["bash", "-c", redirected], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, pruned))
            self.assertIn("clauses are left", done.stderr)
        model = f"{PROGRAM} clauses model clauses.txt --alarms /dev/stdin --rules <(cat rules.txt) -o piped.h5 < alarms.txt && {PROGRAM} lbp piped.h5 --evidence <(echo 'alarm(c) true') --json"
        done = subprocess.run(["bash", "-c", model], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        os.mkfifo("pipe.causal_fg")
        done = subprocess.run(["bash", "-c", f"cat {FIG2} > pipe.causal_fg & {PROGRAM} info pipe.causal_fg"], capture_output=True, text=True)
        self.assertIn("variables                  3", done.stdout)

    def test_permissions_are_kept(self):
        os.chmod("fig2.h5", 0o600)
        for command in (("lbp", "fig2.h5", "-o", "fig2.h5"), ("convert", FIG2, "fig2.h5")):
            run(*command)
            self.assertEqual(os.stat("fig2.h5").st_mode & 0o777, 0o600)


if __name__ == "__main__":
    main()
