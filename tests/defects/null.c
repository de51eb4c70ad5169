// Null pointers: each function has one defect, in the line marked with its kind, or none that looks like the one before.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  int value;
  struct node *next;
};
struct pair {
  int *first, *second;
};
typedef int *(*source)(int *);

static int *find(int *values, int count, int wanted) {
  for (int i = 0; i < count; i++)
    if (values[i] == wanted) return &values[i];
  return NULL;
}

int result_bad(int *values) {
  int *found = find(values, 3, 7);
  return *found;  // BAD null
}
int result_good(int *values) {
  int *found = find(values, 3, 7);
  if (found == NULL) return 0;
  return *found;
}

int branch_bad(int c) {
  int x = 3, *p = NULL;
  if (c > 3) p = &x;
  x++;
  if (c > 2) return *p;  // BAD null
  return 0;
}
int branch_good(int c) {
  int x = 3, *p = NULL;
  if (c > 3) p = &x;
  x++;
  if (c > 3) return *p;
  return 0;
}

int flag_bad(int c) {
  int x = 3, *p = NULL, found = 1;
  if (c > 3) {
    p = &x;
    found = 2;
  }
  if (found) return *p;  // BAD null
  return 0;
}
int flag_good(int c) {
  int x = 3, *p = NULL, found = 0;
  if (c > 3) {
    p = &x;
    found = 1;
  }
  if (found) return *p;
  return 0;
}

int field_bad(void) {
  int x = 1;
  struct pair s;
  s.second = NULL;
  s.first = &x;
  return *s.second;  // BAD null
}
int field_good(void) {
  int x = 1;
  struct pair s;
  s.first = NULL;
  s.second = &x;
  return *s.second;
}

static void clear(struct pair *s) { s->first = NULL; }
static void fill(struct pair *s, int *x) {
  s->first = x;
  s->second = x;
}
int callee_bad(void) {
  int x = 1;
  struct pair s;
  fill(&s, &x);
  clear(&s);
  return *s.first;  // BAD null
}
int callee_good(void) {
  int x = 1;
  struct pair s;
  fill(&s, &x);
  return *s.second;
}

static int length(struct node *list) {
  int n = 0;
  for (; list != NULL; list = list->next) n++;
  return n;
}
int loop_bad(struct node *list) {
  while (list != NULL && list->value != 3) list = list->next;
  return list->value;  // BAD null
}
int loop_good(struct node *list) {
  while (list != NULL && list->value != 3) list = list->next;
  if (!list) return length(NULL);
  return list->value;
}

struct node *allocate_bad(int value) {
  struct node *n = malloc(sizeof *n);
  n->value = value;  // BAD null
  return n;
}
struct node *allocate_good(int value) {
  struct node *n = malloc(sizeof *n);
  if (!n) abort();
  n->value = value;
  n->next = NULL;
  return n;
}

size_t library_bad(void) {
  char *home = getenv("HOME");
  return strlen(home);  // BAD null
}
size_t library_good(void) {
  char *home = getenv("HOME");
  return home ? strlen(home) : 0;
}

static int *nothing(int *x) {
  (void)x;
  return NULL;
}
static int *itself(int *x) { return x; }
static int call(source f, int *x) {
  int *p = f(x);
  return *p;  // BAD null
}
int callback_bad(void) {
  int x = 3;
  return call(nothing, &x);
}
static int call_checked(source f, int *x) {
  int *p = f(x);
  return p ? *p : 0;
}
int callback_good(void) {
  int x = 3;
  return call_checked(nothing, &x) + call_checked(itself, &x);
}

static int parameter(int *p) {
  return *p;  // BAD null
}
int parameter_bad(int c) {
  int x = c;
  return c ? parameter(&x) : parameter(NULL);
}
static int checked_parameter(int *p) {
  if (!p) return 0;
  return *p;
}
int parameter_good(int c) {
  int x = c;
  return c ? checked_parameter(&x) : checked_parameter(NULL);
}

static int *slots[4];
int array_bad(int i) {
  int *p = slots[i & 3];
  return *p;  // BAD null
}
static int one;
static int *filled[2] = {&one, &one};
int array_good(int i) {
  int *p = filled[i & 1];
  return *p;
}

int late_bad(struct pair *s) {
  int x = s->first ? 1 : 0;
  return *s->first + x;  // BAD null
}
int late_good(struct pair *s) {
  if (!s->first) return 0;
  int x = s->second != NULL;
  return *s->first + x;
}

int choice_bad(int c, int *p) {
  int *q = c ? p : NULL;
  return *q;  // BAD null
}
int choice_good(int c, int *p) {
  int x = 0;
  int *q = c ? p : &x;
  return *q;
}

static struct node *last;
int global_bad(void) {
  return last->value;  // BAD null
}
int global_good(void) {
  if (last) return last->value;
  return 0;
}

int switch_bad(int c) {
  int x = 1, *p = NULL;
  switch (c) {
    case 1: p = &x; break;
    case 2: break;
    default: return 0;
  }
  return *p;  // BAD null
}
int switch_good(int c) {
  int x = 1, *p = NULL;
  switch (c) {
    case 1: p = &x; break;
    default: return 0;
  }
  return *p;
}

static void out(int **p, int *x, int c) { *p = c ? x : NULL; }
int out_bad(int c) {
  int x = 1, *p;
  out(&p, &x, c);
  return *p;  // BAD null
}
int out_good(int c) {
  int x = 1, *p;
  out(&p, &x, c);
  if (!p) return 1;
  return *p;
}

int number_bad(int c, int n) {
  int x = 1, *p = NULL, size = c ? n : 0;
  if (size > 3) p = &x;
  if (c && n != 3) return *p;  // BAD null
  return size;
}
int number_good(int c, int n) {
  int x = 1, *p = NULL, size = c ? n : 0;
  if (size > 3) p = &x;
  if (size > 3 && (char)size) return *p;
  return size;
}

static void stop(void) {
  puts("no memory");
  exit(1);
}
static void warn(void) { puts("no memory"); }
static int *get_warned(void) {
  int *p = malloc(sizeof *p);
  if (!p) warn();
  return p;
}
int warned_bad(void) {
  int *p = get_warned();
  return *p = 1;  // BAD null
}
static int *get_or_stop(unsigned long size) {
  int *p = malloc(size);
  if (p || size == 0) return p;
  stop();
  return NULL;
}
int warned_good(void) {
  int *p = get_or_stop(sizeof *p);
  return *p = 1;
}

int main(int argc, char **argv) {
  int values[3] = {1, 2, argc}, x = argc;
  struct node second = {2, NULL}, first = {1, &second};
  struct pair pair = {argc > 1 ? &x : NULL, &x};
  last = argc > 4 ? &first : NULL;
  slots[2] = &x;
  int sum = result_bad(values) + result_good(values) + branch_bad(argc) + branch_good(argc) + flag_bad(argc) +
            flag_good(argc) + field_bad() + field_good() + callee_bad() + callee_good() + loop_bad(&first) +
            loop_good(&first) + (int)library_bad() + (int)library_good() + callback_bad() + callback_good() +
            parameter_bad(argc) + parameter_good(argc) + array_bad(argc) + array_good(argc) + late_bad(&pair) +
            late_good(&pair) + choice_bad(argc, &x) + choice_good(argc, &x) + global_bad() + global_good() +
            switch_bad(argc) + switch_good(argc) + out_bad(argc) + out_good(argc) + warned_bad() + warned_good() +
            number_bad(argc, argc) + number_good(argc, argc);
  struct node *n = allocate_bad(sum), *m = allocate_good(sum);
  printf("%d %d %s\n", n->value, m->value, argv[0]);
  return 0;
}
