#!/usr/bin/env python3
"""The front end: a few lines of C each, and what its pointers may point to. Usage: test_extract.py PROGRAM SOURCE_DIR"""
import json
import os
import re
import shutil
import subprocess

from support import CommandLine, OTHERS_LEAK, main, run

CLANG = next((clang for clang in ("clang-14", "clang-15", "clang-16", "clang-19", "clang") if shutil.which(clang)), None)
LEVELS = (("-O0",), ("-O1", "-Xclang", "-disable-llvm-passes"), ("-O2", "-fno-inline"))


class Extract(CommandLine):
    def setUp(self):
        if CLANG is None:
            self.skipTest("clang is not here")
        if "extract" not in run("--help")[0].split():
            self.skipTest("this build has no front end")

    def compile(self, source, *options, name="program"):
        self.write(f"{name}.c", source)
        subprocess.run([CLANG, "-g", "-w", *options, "-c", "-emit-llvm", f"{name}.c", "-o", f"{name}.bc"], check=True)
        return f"{name}.bc"

    def solve(self, files, *options):
        files = [files] if isinstance(files, str) else files
        report = json.loads(run("extract", *files, "-o", "program.h5", "--json", *options)[0])
        run("pointsto", "program.h5", "-o", "program.h5")
        return report

    def targets(self, variable):
        """Names of what a variable points to; of an object's byte without a name also how far it is from one that has one."""
        out = run("pointsto", "program.h5", "--query", variable, "--count", 1000)[0]
        lines = out.split("\n")[1:]
        names = []
        for line in lines:
            if not line.startswith("  ") or line.startswith("  and, from outside"):
                break
            names.append(line.strip().rsplit(" (", 1)[0].split(" at ")[0])
        return sorted(names)

    def check(self, source, expected, levels=LEVELS, options=()):
        for level in levels:
            self.solve(self.compile(source, *level), *options)
            for variable, targets in expected.items():
                self.assertEqual(self.targets(variable), sorted(targets), f"{variable}, {' '.join(level)}")

    def aliases(self, first, second):
        return json.loads(run("pointsto", "program.h5", "--may-alias", first, second, "--json")[0])["may_alias"][0]["may_alias"]

    def calls(self):
        return [sorted(f.get("name", "") for f in call["functions"]) for call in json.loads(run("pointsto", "program.h5", "--calls", "--json")[0])["calls"]]

    def test_fields(self):
        self.check("""
            struct s { int a; int b; int *p, *q; } s;
            int x, y; int *to_b, *from_q, *from_p;
            int main() { s.p = &x; s.q = &y; to_b = &s.b; from_p = s.p; from_q = s.q; return 0; }""",
            {"to_b": ["s.b"], "from_p": ["x"], "from_q": ["y"], "s.p": ["x"]})

    def test_initialisers(self):
        self.check("""
            struct t { int n; int *p; }; struct s { char c; struct t t[2]; int *last; };
            int x, y, z; struct s s = {1, {{1, &x}, {2, &y}}, &z}; int **const inner = &s.t[1].p; int *first, *second, *last;
            int main() { first = s.t[0].p; second = *inner; last = s.last; return 0; }""",
            {"first": ["x"], "second": ["y"], "last": ["z"]})

    def test_arrays(self):
        self.check("""
            int x, y, z; int *many[100]; struct e { int *p; long n; int *q; } es[50]; int *a, *b, *c;
            int main(int argc, char **argv) {
              many[argc] = &x; many[3] = &y; a = many[argc + 1];
              es[argc].p = &x; es[7].q = &z; b = es[argc + 2].p; c = es[3].q; return 0; }""",
            {"a": ["x", "y"], "b": ["x"], "c": ["z"]})

    def test_arrays_within_structures(self):
        self.check("""
            int x, y, z; struct s { int *before; int *items[8]; int *after; } s; int *a, *b, *c;
            int main(int argc, char **argv) {
              s.before = &x; s.items[argc] = &y; s.after = &z; a = s.before; b = s.items[5]; c = s.after; return 0; }""",
            {"a": ["x"], "b": ["y"], "c": ["z"]})

    def test_functions_in_arrays(self):
        source = """
            int x, y; int *one(int *p) { return &x; } int *two(int *p) { return p; } int *three(int *p) { return 0; }
            struct { const char *name; int *(*f)(int *); } table[] = {{"one", one}, {"two", two}}; int *r;
            int main(int argc, char **argv) { r = table[argc].f(&y); return 0; }"""
        self.check(source, {"r": ["x", "y"], "two#1": ["y"], "three#1": []})
        self.assertEqual(self.calls(), [["one", "two"]])

    def test_select_of_functions(self):
        self.check("""
            int x, y; int *one() { return &x; } int *two() { return &y; } int *r;
            int main(int argc, char **argv) { int *(*f)() = argc > 1 ? one : two; r = f(); return 0; }""", {"r": ["x", "y"]})

    def test_numbers_of_arguments_differ(self):
        self.check("""
            int x, y; int *a, *b; void few(int *p) { a = p; } void many(int *p, int *q) { a = p; b = q; }
            int main(int argc, char **argv) { void (*f)(int *, int *) = argc ? (void (*)(int *, int *))few : many; f(&x, &y); return 0; }""",
            {"a": ["x"], "b": ["y"]})

    def test_calls_of_what_may_be_data(self):
        self.check("""
            int x, *data[4], *seen, *given; void f(int *p) { given = p; }
            int main(int argc, char **argv) { void *p = argc > 1 ? (void *)f : (void *)data; ((void (*)(int *, int *))p)(&x, &x); seen = data[0]; return 0; }""",
            {"given": ["x"], "seen": []})

    def test_places_between_fields(self):
        self.check("""
            struct { char text[24]; int *p, *q; } s; int x, *a; char *volatile at;
            int main() { at = s.text; at = at + 3; at = at + 5; at = at + 16; *(int **)at = &x; a = s.p; return 0; }""",
            {"a": ["x"]})

    def test_variable_arguments(self):
        self.check("""
            #include <stdarg.h>
            int x, y, z; int *a, *b, *c;
            void direct(int n, ...) { va_list l; va_start(l, n); a = va_arg(l, int *); b = va_arg(l, int *); va_end(l); }
            void inner(va_list l) { c = va_arg(l, int *); }
            void outer(int n, ...) { va_list l, m; va_start(l, n); va_copy(m, l); inner(m); va_end(m); va_end(l); }
            int main(int argc, char **argv) { direct(2, &x, &y); void (*f)(int, ...) = outer; f(1, &z); return 0; }""",
            {"a": ["x", "y"], "b": ["x", "y"], "c": ["z"]})

    def test_copies_of_memory(self):
        self.check("""
            #include <string.h>
            int x, y; struct s { long n; int *p; long m; int *q; } s; struct t { char bytes[sizeof(struct s)]; } t; struct s u; int *a, *b;
            int main() { s.p = &x; s.q = &y; memcpy(&t, &s, sizeof s); memmove(&u, &t, sizeof t); a = u.p; return 0; }""",
            {"a": ["x"]})
        self.check("""
            int x, y; struct s { long n; int *p; long m; int *q; } s, t; int *a, *b;
            int main() { s.p = &x; s.q = &y; t = s; a = t.p; b = t.q; return 0; }""", {"a": ["x"], "b": ["y"]})

    def test_structures_as_arguments(self):
        self.check("""
            int x, y, z; struct big { int *p; long n[6]; int *q; }; struct small { int *p, *q; }; int *a, *b, *c, *d;
            struct big make(int *p) { struct big s = {0}; s.p = p; s.q = &y; return s; }
            void take(struct big s) { a = s.p; b = s.q; }
            struct small pair(struct small s) { struct small t = {s.q, s.p}; return t; }
            int main() { take(make(&x)); struct small s = {&x, &z}; s = pair(s); c = s.p; return 0; }""",
            {"a": ["x"], "b": ["y"], "c": ["x", "z"]}, levels=LEVELS[:2])

    def test_container_of(self):
        self.check("""
            #include <stddef.h>
            struct link { struct link *next; }; struct item { long key; struct link link; long value; } i, j; struct link *head; struct item *found; long *value;
            int main() {
              head = &i.link; i.link.next = &j.link; struct link *l = head->next;
              found = (struct item *)((char *)l - offsetof(struct item, link)); value = &found->key; return 0; }""",
            {"found": ["j", "j.link.next", "j.value"], "head": ["i.link.next"]}, levels=LEVELS[:2])

    def test_integers(self):
        source = """
            #include <stdint.h>
            int x, y; intptr_t kept; int *a, *b;
            int main() { kept = (intptr_t)&x; a = (int *)kept; b = (int *)(((uintptr_t)&y) & ~(uintptr_t)7); return 0; }"""
        self.check(source, {"a": ["x"], "b": ["y"]})
        self.check(source, {"a": ["outside"]}, levels=LEVELS[:2], options=("--integers", "none"))

    def test_memory_from_libraries(self):
        self.check("""
            #define _GNU_SOURCE
            #include <stdlib.h>
            #include <stdio.h>
            #include <string.h>
            void *a, *b, *d; char *s, *t, *u; void *(*allocate)(size_t) = malloc;
            int main(int argc, char **argv) {
              a = malloc(8); posix_memalign(&b, 64, 128); asprintf(&s, "%d", argc); t = strdup(s); u = strchr(t, '=');
              d = allocate(16); return 0; }""",
            {"a": ["malloc"], "s": ["asprintf"]})
        for variable, name in (("b", "posix_memalign"), ("t", "strdup"), ("d", "malloc through pointers")):
            self.assertIn(name, self.targets(variable))
        self.assertTrue(self.aliases("u", "t"))
        self.assertFalse(self.aliases("a", "d"))

    def test_memory_through_old_declarations(self):
        self.check("""
            char *malloc(), *realloc(); int x; int **p, *a;
            int main() { p = (int **)malloc(8); *p = &x; p = (int **)realloc(p, 64); a = *p; return 0; }""",
            {"p": ["malloc", "realloc"], "a": ["x"]}, levels=LEVELS[:2])

    def test_callbacks(self):
        self.check("""
            #include <stdlib.h>
            #include <pthread.h>
            int x; int *items[10]; const void *p, *q; void *given;
            int compare(const void *a, const void *b) { p = a; q = b; return 0; }
            void *start(void *a) { given = a; return 0; }
            int main() { pthread_t t; qsort(items, 10, sizeof *items, compare); pthread_create(&t, 0, start, &x); return 0; }""",
            {"given": ["x"]})
        self.assertIn("items", self.targets("p"))

    def test_outside(self):
        source = """
            int hidden, seen, *kept; extern int *get(void); extern void put(int *); int *a, *b;
            int main() { a = get(); put(&seen); kept = &hidden; b = &seen; return 0; }"""
        report = self.solve(self.compile(source, "-O0"))
        self.assertEqual(report["unknown_externals"], {"get": 1, "put": 1})
        self.assertEqual((report["entry"], self.targets("a")), ("program", ["outside"]))
        self.assertTrue(self.aliases("a", "b"))
        self.assertFalse(self.aliases("a", "kept"))
        self.solve("program.bc", "--library")
        self.assertTrue(self.aliases("a", "kept"))  # it may be read, as others see it

    def test_tables_of_externals(self):
        source = "extern int *get(int *); int x, y; int *a; int main() { a = get(&x); return 0; }"
        self.write("table.txt", "# ours\nget: return = 0; return = new\n")
        report = self.solve(self.compile(source, "-O0"), "--externals", "table.txt")
        self.assertEqual((report["unknown_externals"], self.targets("a")[0]), ({}, "get"))
        self.assertIn("x", self.targets("a"))
        for line, message in (("get return = 0", "'get return = 0' has no ':' behind the names of functions"),
                              ("get: return = 0+", "'+' stands where the end of the effect"),
                              ("get: return =", "an effect ends where a value"),
                              ("get: give 0", "'give 0' stands where an effect"),
                              ("get: retrun = 0", "'retrun = 0' stands where an effect"),
                              ("get: set 1st = 0", "'1st = 0' stands where the name of a variable"),
                              ("get: set kept 0", "'0' stands where '='"),
                              ("get: free_all = new", "'free_all = new' stands where an effect"),
                              (": return = 0", "has no name of a function before ':'")):
            self.write("table.txt", f"# ours\n{line}\n")
            self.assertIn(f"table.txt:line 2: {message}", run("extract", "program.bc", "-o", "x.h5", "--externals", "table.txt", code=3)[1])

    def test_variables_that_functions_outside_set(self):
        source = "extern int *kept, *other; extern void keep(int *); int x; int *a, *b; int main() { keep(&x); a = kept; b = other; return 0; }"
        self.write("table.txt", "keep: set kept = 0; set missing = 0\n")
        self.solve(self.compile(source, "-O0"), "--externals", "table.txt")
        self.assertIn("x", self.targets("a"))
        self.assertNotIn("x", self.targets("b"))

    def test_libraries(self):
        source = """
            int x, y; static int *kept; int *get(void) { return kept; } void put(int *p) { kept = p; }
            static void inner(int **p) { *p = &y; } void fill(int **p) { inner(p); }"""
        self.assertEqual(self.solve(self.compile(source, "-O0"))["entry"], "library")
        self.assertEqual(self.targets("kept"), ["outside"])
        self.assertIn("y", self.targets("outside"))

    def test_cycles_with_offsets(self):
        self.check("""
            struct n { int a; struct n *next; } n; struct n *p;
            void walk(struct n *q) { if (q) { p = q; walk((struct n *)((char *)q->next + 8)); } }
            int main(int argc, char **argv) { n.next = &n; for (struct n *q = &n; argc--; q = (struct n *)((char *)q->next + 8)) p = q; walk(&n); return 0; }""",
            {"p": ["n", "n.next"]})

    def test_several_files(self):
        one = self.compile("extern int *shared; int *set(int *p); int x; int main() { set(&x); return 0; }", "-O0", name="one")
        two = self.compile("int *shared; int *set(int *p) { return shared = p; }", "-O0", name="two")
        self.solve([one, two])
        self.assertEqual(self.targets("shared"), ["x"])
        self.assertIn("two.bc: cannot be linked with the files before it", run("extract", one, two, two, "-o", "x.h5", code=3)[1])

    def test_places(self):
        self.solve(self.compile("int x, *a;\nint *f(int *p) { return p; }\nint main(int c, char **v) {\n  int *(*g)(int *) = c ? f : 0;\n  a = g(&x);\n  return 0; }\n", "-O0"))
        self.assertIn("program.c:5:7: ", run("pointsto", "program.h5", "--calls")[0])
        self.assertEqual(self.targets("main::g"), ["f"])

    def test_allocators(self):
        """Each call of a function that returns memory of its own has an object of its own."""
        source = """#include <stdlib.h>
            static void *get(unsigned long n) { void *p = malloc(n); if (!p) exit(1); return p; }
            static void *twice(unsigned long n) { return get(2 * n); }
            int *a, *b, *c, *d; static int *last; int *keep(void) { return last = malloc(4); }
            int main() { a = get(4);
            b = get(4); c = twice(4); d = twice(8); return *keep(); }"""
        for level in (LEVELS[0], LEVELS[1]):
            self.solve(self.compile(source, *level))
            self.assertEqual([self.targets(v) for v in "abcd"], [["get"], ["get"], ["twice"], ["twice"]])
            out = run("pointsto", "program.h5", "--may-alias", "a", "b", "--may-alias", "c", "d", "--may-alias", "a", "a")[0]
            self.assertEqual(out.count("do not point to a common object"), 2, out)

    def test_limits(self):
        source = "struct s { char c[5000]; int *p; } s; int x, *a; int main() { s.p = &x; a = s.p; return 0; }"
        report = self.solve(self.compile(source, "-O0"))
        self.assertEqual([one["what"] for one in report["folded"]], ["s, 5008 bytes"])
        self.assertEqual(self.targets("a"), ["x"])
        self.assertEqual(self.solve("program.bc", "--max-bytes", 8000)["folded"], [])

    def test_errors(self):
        self.write("text.bc", "no bitcode")
        self.assertIn("text.bc: is neither LLVM bitcode nor its text; compile", run("extract", "text.bc", "-o", "x.h5", code=3)[1])
        self.assertIn("missing.bc: cannot be read: No such file", run("extract", "missing.bc", "-o", "x.h5", code=3)[1])
        self.assertIn("has no function with a body", run("extract", self.compile("int x;", "-O0"), "-o", "x.h5", code=3)[1])
        self.write("broken.ll", "define i32 @main() {\n  ret i32 %x\n}\n")
        self.assertIn("broken.ll:line 2: ", run("extract", "broken.ll", "-o", "x.h5", code=3)[1])
        self.write("invalid.ll", "define i32 @main() {\na:\n  br label %b\nb:\n  %x = add i32 %y, 1\n  %y = add i32 1, 1\n  ret i32 %x\n}\n")
        self.assertIn("invalid.ll: is no valid program for LLVM", run("extract", "invalid.ll", "-o", "x.h5", code=3)[1])
        self.write("debug.c", "int f(int x) { return x * 2; } int main() { return f(1); }")
        text = subprocess.run([CLANG, "-g", "-S", "-emit-llvm", "debug.c", "-o", "-"], check=True, capture_output=True, text=True).stdout
        self.assertIn("!DICompileUnit", text)
        self.write("debug.ll", re.sub(r"(%\w+) = mul nsw i32 %\w+", r"\1 = mul nsw i32 \1", text))
        self.assertIn("debug.ll: is no valid program for LLVM", run("extract", "debug.ll", "-o", "x.h5", code=3, environment=OTHERS_LEAK)[1])
        if CLANG == "clang-14" and shutil.which("clang-16") and "Bitcode of LLVM 14" in run("extract", "--help")[0]:
            subprocess.run(["clang-16", "-c", "-emit-llvm", "program.c", "-o", "newer.bc"], check=True)
            message = run("extract", "newer.bc", "-o", "x.h5", code=3)[1]
            self.assertIn("newer.bc: was written by LLVM 16.", message)
            self.assertIn("compile it with clang 14, or build Hornbill with the newer LLVM", message)
        program = self.compile("int main() { return 0; }", "-O0")
        with open(program, "rb") as file:
            bitcode = file.read()
        with open("short.bc", "wb") as file:
            file.write(bitcode[:len(bitcode) // 2])
        self.assertIn("short.bc: LLVM ", run("extract", "short.bc", "-o", "x.h5", code=3)[1])
        self.assertIn("constraints are written to .h5 or .cons.txt", run("extract", program, "-o", "x.txt", code=2)[1])
        self.assertFalse(os.path.exists("x.h5"))
        run("extract", program, code=2)
        run("extract", program, "-o", "x.h5", "--program", "--library", code=2)
        self.assertIn("--integers: some not in {all,casts,none}", run("extract", program, "-o", "x.h5", "--integers", "some", code=2)[1])


if __name__ == "__main__":
    main()
