// Freed memory of structures, containers, lists and variables that several functions share; one defect each, or none.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "items.h"

// callee
static void drop(char **p) {
  free(*p);  // BAD free
}

static void drop0(char **p) {
  free(*p);
  *p = NULL;
}

void drop_bad(void) {
  char *p = get(4);
  drop(&p);
  p[0] = 1;  // BAD free
}

void drop_good(void) {
  char *p = get(4);
  drop0(&p);
  if (p) p[0] = 1;
}

void drop2_bad(void) {
  char *p = get(4);
  drop(&p);
  drop(&p);
}

void drop2_good(void) {
  char *p = get(4);
  drop0(&p);
  drop0(&p);
}

static void kill_item(struct item *i) {
  free(i->name);  // BAD free
  free(i);
}

void kill_bad(void) {
  struct item *i = item("a");
  kill_item(i);
  puts(i->name);  // BAD free
}

void kill2_bad(void) {
  struct item *i = item("a");
  kill_item(i);
  kill_item(i);  // BAD free
}

void kill_good(void) {
  struct item *i = item("a"), *j = item("b");
  kill_item(i);
  kill_item(j);
}

void kill3_bad(void) {
  struct item *i = item("a");
  char *n = i->name;
  kill_item(i);
  puts(n);  // BAD free
}

static void maybe(struct item *i, int c) {
  if (c > 3) free(i);
}

void maybe_bad(int c) {
  struct item *i = item("a");
  maybe(i, c);
  i->value = 1;  // BAD free
}

static int unref(struct item *i) {
  if (--i->refs == 0) {
    free(i->name);
    free(i);
    return 1;
  }
  return 0;
}

int unref_bad(void) {
  struct item *i = item("a");
  i->refs = 1;
  unref(i);
  return i->value;  // BAD free
}

int unref_good(void) {
  struct item *i = item("a");
  i->refs = 2;
  if (unref(i)) return 0;
  return i->value;
}

static char *pass(char *p) {
  free(p);
  return p;
}

void pass_bad(void) {
  char *p = get(3);
  p = pass(p);
  p[0] = 1;  // BAD free
}

void ret_bad(void) {
  char *p = get(3);
  free(p);
  p = pass(p);  // BAD free
}

// globals in several functions
static char *g1;

static void g1_make(void) {
  g1 = get(3);
}

static void g1_drop(void) {
  free(g1);
}

static void g1_use(void) {
  g1[0] = 1;  // BAD free
}

void g1_bad(void) {
  g1_make();
  g1_drop();
  g1_use();
}

static char *g2;

static void g2_make(void) {
  g2 = get(3);
}

static void g2_drop(void) {
  free(g2);
  g2 = NULL;
}

static void g2_use(void) {
  if (g2) g2[0] = 1;
}

void g2_good(void) {
  g2_make();
  g2_drop();
  g2_use();
}

static char *g3;

static void g3_make(void) {
  g3 = get(3);
}

static void g3_drop(void) {
  free(g3);  // BAD free
}

void g3_bad(void) {
  g3_make();
  g3_drop();
  g3_drop();
}

static char *g4;

static void g4_make(void) {
  g4 = get(3);
}

static void g4_drop(void) {
  free(g4);
}

static void g4_use(void) {
  g4[0] = 1;
}

void g4_good(void) {
  g4_make();
  g4_use();
  g4_drop();
}

static char *g5;

static void g5_make(void) {
  g5 = get(3);
}

static void g5_drop(void) {
  free(g5);
  g5 = get(2);
}

static void g5_use(void) {
  g5[0] = 1;
}

void g5_good(void) {
  g5_make();
  g5_drop();
  g5_use();
}

// containers
static struct box *box(void) {
  struct box *b = calloc(1, sizeof *b);
  if (!b) exit(1);
  return b;
}

static void add(struct box *b, struct item *i) {
  b->items[b->count++ & 7] = i;
}

static void free_box(struct box *b) {
  for (int i = 0; i < b->count; i++) kill_item(b->items[i]);  // BAD free
  free(b);
}

void box_bad(void) {
  struct box *b = box();
  struct item *i = item("a");
  add(b, i);
  free_box(b);
  puts(i->name);  // MISSED free
}

void box2_bad(void) {
  struct box *b = box();
  struct item *i = item("a");
  add(b, i);
  kill_item(i);
  puts(b->items[0]->name);  // BAD free
}

void box3_bad(void) {
  struct box *b = box();
  struct item *i = item("a");
  add(b, i);
  kill_item(i);
  free_box(b);
}

void box_good(void) {
  struct box *b = box();
  struct item *i = item("a");
  add(b, i);
  puts(i->name);
  free_box(b);
}
static struct box table;

static struct item *lookup(const char *s) {
  for (struct item *i = table.head; i; i = i->next)  // BAD free
    if (!strcmp(i->name, s)) return i;  // BAD free
  return NULL;
}

static void insert(struct item *i) {
  i->next = table.head;
  table.head = i;
}

static void remove_item(struct item *i) {
  struct item **p = &table.head;
  while (*p && *p != i) p = &(*p)->next;
  if (*p) *p = i->next;
}

void table_bad(void) {
  struct item *i = item("a");
  insert(i);
  free(i);
  struct item *j = lookup("a");
  if (j) j->value = 1;  // BAD free
}

void list1_bad(struct box *b) {
  struct item *i = b->head;
  while (i) {
    free(i);
    i = i->next;  // BAD free
  }
}

void list1_good(struct box *b) {
  struct item *i = b->head, *n;
  while (i) {
    n = i->next;
    free(i);
    i = n;
  }
  b->head = NULL;
}

void list2_bad(struct box *b) {
  for (struct item *i = b->head; i; i = i->next)  // BAD free
    if (i->value == 3) {
      b->head = i->next;
      kill_item(i);
    }
}

void list2_good(struct box *b) {
  for (struct item *i = b->head; i; i = i->next)
    if (i->value == 3) {
      b->head = i->next;
      kill_item(i);
      break;
    }
}

void head_bad(struct box *b) {
  free(b->head);
  b->head->value = 1;  // BAD free
}

void head_good(struct box *b) {
  free(b->head);
  b->head = NULL;
  b->count = 1;
}

// recursion
static void tree(struct item *i) {
  if (!i) return;
  tree(i->next);
  free(i);
}

void tree_bad(void) {
  struct item *i = item("a");
  tree(i);
  i->value = 1;  // BAD free
}

void tree_good(void) {
  struct item *i = item("a");
  tree(i);
}

struct in {
  char *data;
};

struct out {
  struct in *in;
};

void nested_bad(void) {
  struct out o;
  o.in = malloc(sizeof(struct in));
  if (!o.in) return;
  o.in->data = get(3);
  free(o.in->data);
  o.in->data[0] = 1;  // BAD free
}

void nested2_bad(void) {
  struct out o;
  o.in = malloc(sizeof(struct in));
  if (!o.in) return;
  o.in->data = get(3);
  free(o.in);
  o.in->data[0] = 1;  // BAD free
}

void nested3_bad(void) {
  struct out o;
  o.in = malloc(sizeof(struct in));
  if (!o.in) return;
  o.in->data = get(3);
  free(o.in->data);
  free(o.in->data);  // BAD free
}

void nested_good(void) {
  struct out o;
  o.in = malloc(sizeof(struct in));
  if (!o.in) return;
  o.in->data = get(3);
  o.in->data[0] = 1;
  free(o.in->data);
  free(o.in);
}

struct point {
  int x, y;
};

void aos_bad(int n) {
  struct item *v = calloc(n, sizeof *v);
  if (!v) return;
  for (int i = 0; i < n; i++) v[i].name = get(3);
  for (int i = 0; i < n; i++) free(v[i].name);
  puts(v[0].name);  // BAD free
}

void aos_good(int n) {
  struct item *v = calloc(n, sizeof *v);
  if (!v) return;
  for (int i = 0; i < n; i++) v[i].name = get(3);
  puts(v[0].name);
  for (int i = 0; i < n; i++) free(v[i].name);
  free(v);
}

// getters and setters
struct session {
  char *user;
};

static char *user_of(struct session *s) {
  return s->user;
}

static void set_user(struct session *s, char *user) {
  s->user = user;
}

int getter_bad(void) {
  struct session s = {get(10)};
  char *user = user_of(&s);
  free(s.user);
  return user[0];  // BAD free
}

int getter_good(void) {
  struct session s = {get(10)};
  char *user = user_of(&s);
  int first = user[0];
  free(s.user);
  return first;
}

int setter_bad(void) {
  struct session s;
  char *user = get(10);
  set_user(&s, user);
  free(user);
  return s.user[0];  // BAD free
}

int setter_good(void) {
  struct session s;
  char *user = get(10);
  set_user(&s, user);
  free(user);
  set_user(&s, "nobody");
  return s.user[0];
}

int main(int argc, char **argv) {
  struct box *b = box();
  b->head = item("x");
  table = *b;
  remove_item(b->head);
  drop_bad();
  drop_good();
  drop2_bad();
  drop2_good();
  kill_bad();
  kill2_bad();
  kill_good();
  kill3_bad();
  maybe_bad(argc);
  unref_bad();
  unref_good();
  pass_bad();
  ret_bad();
  g1_bad();
  g2_good();
  g3_bad();
  g4_good();
  g5_good();
  box_bad();
  box2_bad();
  box3_bad();
  box_good();
  table_bad();
  list1_bad(b);
  list1_good(b);
  list2_bad(b);
  list2_good(b);
  head_bad(b);
  head_good(b);
  tree_bad();
  tree_good();
  nested_bad();
  nested2_bad();
  nested3_bad();
  nested_good();
  aos_bad(argc);
  aos_good(argc);
  getter_bad();
  getter_good();
  setter_bad();
  setter_good();
  return argv[0] == NULL;
}
