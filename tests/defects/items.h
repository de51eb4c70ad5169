// Things that programs with freed memory have.
#pragma once

#include <stdlib.h>
#include <string.h>

struct item {
  int value;
  char *name;
  struct item *next;
  int refs;
};

struct box {
  struct item *items[8];
  int count;
  char *label;
  struct item *head;
};

union any {
  char *text;
  int *number;
};

static char *get(size_t n) {
  char *p = malloc(n);
  if (!p) exit(1);
  p[0] = 0;
  return p;
}

static struct item *item(const char *s) {
  struct item *i = calloc(1, sizeof *i);
  if (!i) exit(1);
  i->name = get(strlen(s) + 1);
  strcpy(i->name, s);
  return i;
}
