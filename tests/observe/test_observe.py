#!/usr/bin/env python3
"""What programs do at run time is in their points-to sets: test_observe.py HORNBILL_OBSERVE RECORDER LLVM_VERSION."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

OBSERVE, RECORDER = map(os.path.abspath, sys.argv[1:3])
CLANG = shutil.which(f"clang-{sys.argv[3]}")  # which reads what that LLVM has written

PROGRAM = r"""
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { char tag; struct node *next; int (*visit)(struct node *); union { long n; char *text; } value; };
static struct node fixed[3];
static jmp_buf back;

static int count(struct node *n) { return n->next ? 1 + n->next->visit(n->next) : 1; }
static int leave(struct node *n) { longjmp(back, n->tag); }
static struct node *push(struct node *list, char tag) {
  struct node *n = malloc(sizeof *n); n->tag = tag; n->next = list; n->visit = count; n->value.n = tag; return n; }
static int by_tag(const void *a, const void *b) { return (*(struct node *const *)a)->tag - (*(struct node *const *)b)->tag; }
static long sum(int n, ...) { va_list l; va_start(l, n); long s = 0; while (n--) s += *va_arg(l, long *); va_end(l); return s; }

int main(int argc, char **argv) {
  struct node *list = 0;
  for (int i = 0; i < 20; ++i) list = push(list, (char)(i * 7 % 20));
  for (int i = 0; i < 3; ++i) { fixed[i].visit = i ? leave : count; fixed[i].next = &fixed[(i + 1) % 3]; fixed[i].tag = 5; }
  struct node **all = 0; int n = 0;
  for (struct node *p = list; p; p = p->next) { all = realloc(all, (n + 1) * sizeof *all); all[n++] = p; }
  qsort(all, n, sizeof *all, by_tag);
  char buffer[100], *at = buffer;
  for (int i = 0; i < n; ++i) { struct node copy = *all[i]; memcpy(at, &copy.next, sizeof copy.next); at += 3; at += sizeof copy.next - 3; if (at > buffer + 80) at = buffer; }
  struct node *first; memcpy(&first, buffer, sizeof first);
  char *text = 0; asprintf(&text, "%d", n); list->value.text = strdup(text);
  long a = 1, b = 2;
  int steps = setjmp(back) ? 0 : fixed[0].visit(&fixed[0]);
  printf("%d %d %s %ld %d %d\n", n, list->visit(list), list->value.text, sum(2, &a, &b), steps, first ? first->tag : -1);
  return 0;
}
"""


class Observe(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.old = os.getcwd()
        os.chdir(self.folder.name)
        with open("program.c", "w", encoding="utf-8") as file:
            file.write("#define _GNU_SOURCE\n" + PROGRAM)

    def tearDown(self):
        os.chdir(self.old)
        self.folder.cleanup()

    def run_observed(self, *options):
        subprocess.run([CLANG, "-g", "-w", *options, "-c", "-emit-llvm", "program.c", "-o", "program.bc"], check=True)
        subprocess.run([OBSERVE, "instrument", "program.bc", "-o", "observed.bc", "--constraints", "program.h5"], check=True)
        subprocess.run([CLANG, "-w", "observed.bc", RECORDER, "-lstdc++", "-o", "program"], check=True)
        run = subprocess.run(["./program"], check=True, capture_output=True, text=True, env={**os.environ, "HORNBILL_OBSERVATIONS": "seen.txt"})
        self.assertEqual(run.stdout, "20 20 20 3 0 4\n")

    def check(self):
        run = subprocess.run([OBSERVE, "check", "program.h5", "seen.txt"], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout

    @unittest.skipUnless(CLANG, "there is no clang of LLVM's version")
    def test_nothing_is_missing(self):
        for options in (["-O0"], ["-O2"], ["-O1", "-Xclang", "-disable-llvm-passes"]):
            self.run_observed(*options)
            code, out = self.check()
            self.assertEqual(code, 0, out)
            self.assertGreater(int(out.split()[0]), 40)
            os.remove("seen.txt")

    @unittest.skipUnless(CLANG, "there is no clang of LLVM's version")
    def test_what_is_missing_is_told(self):
        self.run_observed("-O0")
        with open("program.h5.sites", encoding="utf-8") as file:
            site = next(i for i, line in enumerate(file) if "call at program.c" in line)
        with open("seen.txt", "a", encoding="utf-8") as file:
            file.write(f"{site} 0 0\n")
        code, out = self.check()
        self.assertEqual(code, 1)
        self.assertIn("met outside + 0, which is not among its", out)
        self.assertIn(" 1 of them missing", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
