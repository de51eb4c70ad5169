// Functions that free what a parameter leads to, and what their callers do with it.
#include <stdio.h>

#include "items.h"

static void drop_name(struct item *i) { free(i->name); }  // FALSE free
static void clear_name(struct item *i) {
  free(i->name);  // FALSE free
  i->name = NULL;
}
static void drop_names(struct box *b) {
  drop_name(b->head);
  free(b->label);
}
static int try_drop(struct item *i, int n) {
  if (n < 3) return 0;
  for (int k = 0; k < n; ++k) i->value += k;
  free(i->name);
  return 1;
}

void member_bad(struct item *i) {
  drop_name(i);
  puts(i->name);  // BAD free
}
void member_good(struct item *i) {
  drop_name(i);
  i->name = get(3);
  puts(i->name);
}

void again_bad(struct item *i) {
  drop_name(i);  // its caller does it again
  free(i->name);  // BAD free
}
void again_good(struct item *i) {
  clear_name(i);
  free(i->name);
}

// A copy of the pointer stays as it is.
void copy_bad(struct item *i) {
  char *name = i->name;
  clear_name(i);
  puts(name);  // BAD free
}
void copy_good(struct item *i) {
  char *name = i->name;
  puts(name);
  clear_name(i);
}

void local_bad(int n) {
  struct item one = {n, get(3), NULL, 1};
  drop_name(&one);
  one.name[0] = 1;  // BAD free
}
void local_good(int n) {
  struct item one = {n, get(3), NULL, 1};
  drop_name(&one);
  one.name = get(2);
  one.name[0] = 1;
  free(one.name);
}

void deeper_bad(struct box *b) {
  drop_names(b);
  puts(b->label);  // BAD free
}
void deeper_good(struct box *b) {
  drop_names(b);
  b->label = NULL;
}

// The result says whether it is gone.
int told_bad(struct item *i, int n) {
  if (!try_drop(i, n)) return 0;
  return i->name[0];  // BAD free
}

static void release(struct item *i) { drop_name(i); }
char through_bad(struct item *i) {
  release(i);
  return i->name[0];  // BAD free
}
static char first(char const *text) {
  return text[0];  // BAD free
}
char passed_bad(struct item *i) {
  clear_name(i);
  i->name = get(4);
  drop_name(i);
  return first(i->name);  // BAD free
}

// structures of two words, which are passed in registers
struct text {
  char *begin;
  long length;
};

static void drop_text(struct text t) {
  free(t.begin);
}

int text_bad(int n) {
  struct text t = {get(10), n};
  drop_text(t);
  return t.begin[0];  // BAD free
}

int text_good(int n) {
  struct text t = {get(10), n};
  int first = t.begin[0];
  drop_text(t);
  return first;
}

int main(int argc, char **argv) {
  struct box b = {{item("a")}, 1, get(2), item("a")}, c = {{item("a")}, 1, get(2), item("a")};
  member_bad(item("a"));
  member_good(item("a"));
  again_bad(item("a"));
  again_good(item("a"));
  copy_bad(item("a"));
  copy_good(item("a"));
  local_bad(argc);
  local_good(argc);
  deeper_bad(&b);
  deeper_good(&c);
  text_bad(argc);
  text_good(argc);
  return told_bad(item("a"), argc) + through_bad(item("a")) + passed_bad(item("a")) + (argv[0] != NULL);
}
