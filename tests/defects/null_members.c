// Functions that set what a parameter leads to, and what their callers do with it.
#include <stdlib.h>
#include <string.h>

#include "shapes.h"

static void clear(struct shape *s) {
  s->data = NULL;
  s->next = NULL;
}
static void begin(struct shape *s, int *data) {
  memset(s->name, 0, sizeof s->name);
  for (unsigned i = 0; i < sizeof s->name; ++i) s->name[i] = (char)i;
  s->center = NULL;
  s->data = data;
}
static void find(struct shape *s, int wanted, struct shape **found) {
  *found = NULL;
  for (; s; s = s->next)
    if (s->data && *s->data == wanted) {
      *found = s;
      return;
    }
}

int cleared_bad(struct shape *s) {
  clear(s);
  return s->data[0];  // BAD null
}
int cleared_good(struct shape *s) {
  clear(s);
  return s->data ? s->data[0] : 0;
}

int begun_bad(int n) {
  struct shape s;
  begin(&s, &n);
  return s.center->x + *s.data;  // BAD null
}
int begun_good(int n, struct point *p) {
  struct shape s;
  begin(&s, &n);
  s.center = p;
  return p ? s.center->x + *s.data : *s.data;
}

int found_bad(struct shape *s, int n) {
  struct shape *one;
  find(s, n, &one);
  return one->data[0];  // BAD null
}
int found_good(struct shape *s, int n) {
  struct shape *one;
  find(s, n, &one);
  return one ? one->data[0] : 0;  // FALSE null
}

static void reset(struct shape *s) { clear(s); }
int twice_bad(struct shape *s) {
  reset(s);
  return *s->data;  // BAD null
}
int twice_good(struct shape *s, int *data) {
  reset(s);
  s->data = data;
  return data ? *s->data : 0;
}

static int sum(int const *data, int n) {
  int all = 0;
  for (int i = 0; i < n; ++i) all += data[i];  // BAD null
  return all;
}
int summed_bad(struct shape *s, int n) {
  clear(s);
  return sum(s->data, n);
}

// tables of functions in which one may be missing
struct operations {
  int (*open)(int);
  int (*close)(int);
};
static int open_file(int x) {
  return x + 1;
}
static int close_file(int x) {
  return x - 1;
}
static const struct operations of_files = {open_file, close_file};
static const struct operations of_pipes = {open_file, NULL};
static const struct operations *const tables[] = {&of_files, &of_pipes};

int table_bad(int n) {
  return of_pipes.close(n);  // BAD null
}

int table_good(int n) {
  return of_files.close(n);
}

int chosen_table_bad(int n) {
  const struct operations *o = tables[n & 1];
  return o->close(n);  // BAD null
}

int chosen_table_good(int n) {
  const struct operations *o = tables[n & 1];
  return o->close ? o->close(n) : o->open(n);
}

int main(int argc, char **argv) {
  int data[] = {1, 2, 3, argc};
  struct point p = {1, 2};
  struct shape s = {&p, data, NULL, "s"};
  cleared_good(&s);
  begun_good(argc, &p);
  found_good(&s, argc);
  twice_good(&s, data);
  table_bad(argc);
  table_good(argc);
  chosen_table_bad(argc);
  chosen_table_good(argc);
  return argc > 9 ? begun_bad(argc) + found_bad(&s, argc) + cleared_bad(&s) + twice_bad(&s) + summed_bad(&s, argc)
                  : argv[0] == NULL;
}
