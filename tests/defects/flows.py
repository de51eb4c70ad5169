"""Programs in which a pointer, or data, becomes bad in one place and is used in another: by many ways, each once with
a defect and once without."""

KINDS = {
    "null": {"TYPE": "int *", "BAD": "p = NULL;", "GOOD": "p = &cell;", "USE": "total += *p;"},
    "free": {"TYPE": "char *", "BAD": "p = get(); free(p);", "GOOD": "p = get();", "USE": "total += p[0];"},
    "taint": {"TYPE": "char *", "BAD": 'p = getenv("X"); if (!p) exit(1);', "GOOD": 'p = "ls";', "USE": "system(p);"},
}

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int cell = 3, total;
int one = 1, zero = 0, five = 5;
static int own_five = 5;
int returns_one(void) { return 1; }
int returns_any(void) { return rand() % 2; }
static char *get(void) { char *p = malloc(9); if (!p) exit(1); p[0] = 1; return p; }
"""

# Declarations before a function, and its body. NAME is the function's; MAKE is BAD or GOOD.
FLOWS = [
    # values, and branches whose conditions are known
    ("", "TYPE p; MAKE USE"),
    ("", "TYPE p; if (one) { MAKE } else { GOOD } USE"),
    ("", "TYPE p; GOOD if (five == 5) { MAKE } USE"),
    ("", "TYPE p; GOOD if (own_five == 5) { MAKE } USE"),
    ("", "TYPE p; GOOD if (returns_one()) { MAKE } USE"),
    ("", 'TYPE p; MAKE if (zero) puts("no"); else { USE }'),
    ("", 'TYPE p; MAKE if (five != 5) puts("no"); else { USE }'),
    ("", "TYPE p; switch (6) { case 6: MAKE break; default: GOOD break; } USE"),
    ("", "TYPE p; while (1) { MAKE break; } USE"),
    ("", "TYPE p; GOOD for (int i = 0; i < 1; i++) { MAKE } USE"),
    ("", "TYPE p; goto source; source: MAKE goto sink; sink: USE"),
    ("", "TYPE p; GOOD if (returns_any()) { MAKE } USE"),
    ("", "TYPE p; MAKE TYPE r = returns_any() ? p : p; p = r; USE"),
    # memory
    ("", "TYPE p; TYPE *a = &p; TYPE **b = &a; { TYPE p = **b; MAKE **b = p; } { TYPE p = *a; USE }"),
    ("", "TYPE p; union { TYPE a; TYPE b; } u; MAKE u.a = p; { TYPE p = u.b; USE }"),
    ("", "TYPE p; TYPE q; MAKE memcpy(&q, &p, sizeof p); p = q; USE"),
    ("", "TYPE p; TYPE v[3] = {0}; MAKE for (int i = 0; i < 3; i++) v[i] = p; for (int i = 0; i < 3; i++) { p = v[i]; USE }"),
    ("", "static TYPE p; MAKE USE"),
    ("", "TYPE *h = malloc(sizeof *h); TYPE p; if (!h) return; MAKE *h = p; p = *h; USE"),
    # functions
    ("static void NAME_f(TYPE p) { USE }", "TYPE p; MAKE NAME_f(p);"),
    ("static TYPE NAME_f(TYPE p) { MAKE return p; }", "TYPE p; GOOD p = NAME_f(p); USE"),
    ("static void NAME_f(TYPE *q) { TYPE p = *q; MAKE *q = p; }", "TYPE p; GOOD NAME_f(&p); USE"),
    ("static void NAME_f(TYPE p) { USE }", "TYPE p; void (*f)(TYPE) = NAME_f; MAKE f(p);"),
    ("static TYPE NAME_p; static void NAME_f(void) { TYPE p = NAME_p; USE }", "TYPE p; MAKE NAME_p = p; NAME_f();"),
    ("static TYPE NAME_p; static void NAME_f(void) { TYPE p; MAKE NAME_p = p; }", "TYPE p; NAME_f(); p = NAME_p; USE"),
    ("static void NAME_h(TYPE p) { USE } static void NAME_g(TYPE p) { NAME_h(p); }", "TYPE p; MAKE NAME_g(p);"),
    ("static TYPE NAME_g(void) { TYPE p; MAKE return p; } static TYPE NAME_f(void) { return NAME_g(); }", "TYPE p = NAME_f(); USE"),
    ("static void NAME_f(void *v) { TYPE *q = v; TYPE p = *q; USE }", "TYPE p; MAKE NAME_f(&p);"),
    ("static void NAME_f(TYPE *q) { TYPE p = q[2]; USE }", "TYPE p; TYPE v[4]; MAKE v[2] = p; NAME_f(v);"),
    ("static void NAME_f(int n, TYPE p) { if (n == 0) { USE return; } NAME_f(n - 1, p); }", "TYPE p; MAKE NAME_f(3, p);"),
    ("static int NAME_f(TYPE *q) { TYPE p; MAKE *q = p; return 1; }", "TYPE p; if (NAME_f(&p)) { USE }"),
    # structures, by value and by address
    ("struct NAME_s { int n; TYPE p; }; static void NAME_f(struct NAME_s s) { TYPE p = s.p; USE }",
     "TYPE p; struct NAME_s s; MAKE s.p = p; NAME_f(s);"),
    ("struct NAME_s { int n; TYPE p; char t[20]; }; static void NAME_f(struct NAME_s s) { TYPE p = s.p; USE }",
     "TYPE p; struct NAME_s s; MAKE s.p = p; NAME_f(s);"),
    ("struct NAME_s { int n; TYPE p; char t[20]; }; static void NAME_f(struct NAME_s *s) { TYPE p = s->p; USE }",
     "TYPE p; struct NAME_s s; MAKE s.p = p; NAME_f(&s);"),
    ("struct NAME_s { int n; TYPE p; char t[20]; }; static struct NAME_s NAME_f(void) { TYPE p; struct NAME_s s; MAKE s.p = p; return s; }",
     "struct NAME_s s = NAME_f(); TYPE p = s.p; USE"),
    ("struct NAME_s { TYPE p; int n; }; static struct NAME_s NAME_f(void) { TYPE p; struct NAME_s s; MAKE s.p = p; return s; }",
     "struct NAME_s s = NAME_f(); TYPE p = s.p; USE"),
    # lists and tables of functions
    ("struct NAME_n { TYPE p; struct NAME_n *next; }; static void NAME_f(struct NAME_n *n) { for (; n; n = n->next) { TYPE p = n->p; USE } }",
     "TYPE p; struct NAME_n a = {0}, b = {0}; MAKE a.p = b.p = p; a.next = &b; NAME_f(&a);"),
    ("struct NAME_n { TYPE p; struct NAME_n *next; }; static struct NAME_n *NAME_l; static void NAME_a(TYPE p) "
     "{ struct NAME_n *n = malloc(sizeof *n); if (!n) exit(1); n->p = p; n->next = NAME_l; NAME_l = n; }",
     "TYPE p; MAKE NAME_a(p); if (!NAME_l) return; p = NAME_l->p; USE"),
    ("struct NAME_o { void (*f)(TYPE); }; static void NAME_f(TYPE p) { USE } static struct NAME_o NAME_t[] = {{NAME_f}};",
     "TYPE p; MAKE NAME_t[0].f(p);"),
]


def program(kind):
    """The text of a program for a client; lines with a defect end with a mark."""
    words = KINDS[kind]
    text, names = HEAD, []
    for make in ("BAD", "GOOD"):
        mark = f"  // BAD {kind}" if make == "BAD" else ""
        for number, (before, body) in enumerate(FLOWS):
            name = f"{make.lower()}_{number}"
            both = f"{before}\nvoid NAME(void) {{ {body} }}\n".replace("NAME", name).replace("MAKE", words[make])
            both = both.replace("USE", f"\n  {words['USE']}{mark}\n ")
            text += both.replace("GOOD", words["GOOD"]).replace("TYPE ", words["TYPE"]).replace("TYPE", words["TYPE"])
            names.append(name)
    return text + "int main(void) { " + " ".join(f"{name}();" for name in names) + " return total; }\n"
