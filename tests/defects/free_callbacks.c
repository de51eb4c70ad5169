// Freed memory by functions that are called through pointers, and passed on; each function has one defect, or none.
#include <stdio.h>
#include <stdlib.h>
static int total;

static char *get(void) {
  char *p = malloc(9);
  if (!p) exit(1);
  p[0] = 1;
  return p;
}

static void keep(void *p) {
  total += p != NULL;
}

typedef void (*destructor)(void *);

static void either(destructor d, char *p) {
  d(p);
  total += p[0];  // BAD free
}

void either_bad(int c) {
  either(c > 5 ? free : keep, get());
}

static void never(destructor d, char *p) {
  d(p);
  total += p[0];
}

void never_good(void) {
  never(keep, get());
}

static const destructor always = free;

void always_bad(void) {
  char *p = get();
  always(p);
  total += p[0];  // BAD free
}

static char *same(char *p) {
  return p;
}

void back_bad(void) {
  char *p = get();
  free(p);
  char *q = same(p);
  total += q[0];  // BAD free
}

void back_good(void) {
  char *p = get();
  char *q = same(p);
  total += q[0];
  free(p);
}

static void maybe(char *p) {
  if (total > 3) free(p);
}

void maybe_bad(void) {
  char *p = get();
  free(p);
  maybe(p);  // BAD free
}

void maybe_good(void) {
  char *p = get();
  if (total > 3) maybe(p);
}

struct vtable {
  void (*release)(void *);
  void (*use)(void *);
};

struct object {
  struct vtable *table;
  char *data;
};

static void release(void *v) {
  struct object *o = v;
  free(o->data);
  free(o);
}

static void use(void *v) {
  struct object *o = v;
  total += o->data[0];  // BAD free
}
static struct vtable operations = {release, use};

static struct object *create(void) {
  struct object *o = malloc(sizeof *o);
  if (!o) exit(1);
  o->table = &operations;
  o->data = get();
  return o;
}

void object_bad(void) {
  struct object *o = create();
  void (*last)(void *) = o->table->use;
  o->table->release(o);
  last(o);  // BAD free
}

void object_good(void) {
  struct object *o = create();
  o->table->use(o);
  o->table->release(o);
}

int main(int argc, char **argv) {
  either_bad(argc);
  never_good();
  always_bad();
  back_bad();
  back_good();
  maybe_bad();
  maybe_good();
  object_bad();
  object_good();
  return argv[0] == NULL;
}
