// Null pointers through functions, lists and the library; each function has one defect, or none.
#include <error.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shapes.h"

// functions
static struct point *make(int c) {
  struct point *p;
  if (c < 0) return NULL;
  p = malloc(sizeof *p);
  if (p) p->x = 0;
  return p;
}

int make_bad(int c) {
  struct point *p = make(c);
  return p->x;  // BAD null
}

int make_good(int c) {
  struct point *p = make(c);
  if (!p) return 0;
  return p->x;
}

static int get(int c, struct point **out) {
  if (c < 0) {
    *out = NULL;
    return -1;
  }
  static struct point o;
  *out = &o;
  return 0;
}

int get_bad(int c) {
  struct point *p;
  get(c, &p);
  return p->x;  // BAD null
}

int get_good(int c) {
  struct point *p;
  if (get(c, &p) != 0) return 0;
  return p->x;
}

static void deep3(struct shape *s) {
  printf("%d", s->center->x);  // BAD null
}

static void deep2(struct shape *s) {
  deep3(s);
}

static void deep1(struct shape *s) {
  deep2(s);
}

void deep_bad(void) {
  struct shape s;
  s.center = NULL;
  deep1(&s);
}

static void deepg3(struct shape *s) {
  printf("%d", s->center->x);
}

static void deepg2(struct shape *s) {
  deepg3(s);
}

void deep_good(void) {
  struct point p = {1, 2};
  struct shape s;
  s.center = &p;
  deepg2(&s);
}

static int by_value(struct shape s) {
  return *s.data;  // BAD null
}

int value_bad(void) {
  struct shape s;
  int x = 1;
  s.data = NULL;
  s.center = NULL;
  return by_value(s);
}

static int by_valueg(struct shape s) {
  return *s.data;
}

int value_good(void) {
  struct shape s;
  int x = 1;
  s.data = &x;
  s.center = NULL;
  return by_valueg(s);
}

struct small {
  int *p;
  int n;
};

static struct small small_make(int c) {
  struct small s = {NULL, c};
  return s;
}

int small_bad(int c) {
  struct small s = small_make(c);
  return *s.p;  // BAD null
}

// function pointers
int fp_bad(int c) {
  int (*g)(int) = NULL;
  if (c > 3) g = make_good;
  return g(c);  // BAD null
}

int fp_good(int c) {
  int (*g)(int) = NULL;
  if (c > 3) g = make_good;
  return g ? g(c) : 0;
}

// library
void strchr_bad(char *s) {
  char *q = strchr(s, '=');
  *q = 0;  // BAD null
}

void strchr_good(char *s) {
  char *q = strchr(s, '=');
  if (q) *q = 0;
}

int fopen_bad(void) {
  FILE *h = fopen("a", "r");
  int c = fgetc(h);  // BAD null
  fclose(h);
  return c;
}

int fopen_good(void) {
  FILE *h = fopen("a", "r");
  if (h == NULL) return 0;
  int c = fgetc(h);
  fclose(h);
  return c;
}

void strdup_bad(char *s) {
  char *q = strdup(s);
  q[0] = 'a';  // BAD null
  puts(q);
}

void realloc_bad(char *s) {
  s = realloc(s, 20);
  s[0] = 'a';  // BAD null
  puts(s);
}

void copy_bad(char *to) {
  char *from = NULL;
  strcpy(to, from);  // BAD null
}

void copyn_bad(char *to) {
  memcpy(to, getenv("A"), 3);  // BAD null
}

void compare_bad(char *to) {
  if (strcmp(to, getenv("A")) == 0) puts("a");  // BAD null
}

// lists
int list_bad(struct shape *s) {
  while (s) {
    s = s->next;
    printf("%d", s->name[0]);  // BAD null
  }
  return 0;
}

int list_good(struct shape *s) {
  while (s) {
    printf("%s", s->name);
    s = s->next;
  }
  return 0;
}

int list2_bad(void) {
  struct shape a, b;
  a.next = &b;
  b.next = NULL;
  return a.next->next->name[0];  // BAD null
}

int list2_good(void) {
  struct shape a, b;
  a.next = &b;
  b.next = NULL;
  b.name[0] = 1;
  return a.next->name[0];
}

struct list {
  struct shape *head;
};

static void push(struct list *l, struct shape *s) {
  s->next = l->head;
  l->head = s;
}

int list3_bad(struct shape *s) {
  struct list l = {NULL};
  push(&l, s);
  return l.head->next->name[0];  // BAD null
}

int empty_bad(void) {
  struct list *l = malloc(sizeof *l);
  if (!l) return 0;
  l->head = NULL;
  return l->head->name[0];  // BAD null
}

// not dereferences
size_t address_good(void) {
  struct shape *s = NULL;
  return sizeof(*s) + sizeof s->name;
}

// static local
int local_bad(void) {
  static int *p;
  return *p;  // BAD null
}

int local_good(void) {
  static int x;
  static int *p;
  if (!p) p = &x;
  return *p;
}

// alias
int alias_bad(int *p) {
  int *q = p;
  int *r;
  if (q == NULL) puts("null");
  r = q;
  return *r;  // BAD null
}

int alias_good(int *p) {
  int *q = p;
  if (q == NULL) return 0;
  return *p;
}

int alias2_good(void) {
  int x = 1;
  int *p = NULL, *q = p;
  p = &x;
  (void)q;
  return *p;
}

// reset
void reset_bad(void) {
  int *p = malloc(4);
  if (!p) return;
  *p = 1;
  free(p);
  p = NULL;
  *p = 2;  // BAD null
}

int global_init_good(void);
static int *gp;
static int gx;

static void ginit(void) {
  gp = &gx;
}

int global_init_good(void) {
  ginit();
  return *gp;
}

static int *gq;

static void gclear(void) {
  gq = NULL;
}

int gclear_bad(void) {
  gq = &gx;
  gclear();
  return *gq;  // BAD null
}

// bool result
static bool valid(struct shape *s) {
  return s != NULL && s->data != NULL;
}

int valid_good(void) {
  struct shape *s = calloc(1, sizeof *s);
  if (!valid(s)) return 0;
  return *s->data;  // FALSE null
}

int recursion_bad(struct shape *s, int n) {
  if (n == 0) return *s->data;  // BAD null
  return recursion_bad(n > 4 ? NULL : s, n - 1);
}

int ternary_bad(int c) {
  struct point a = {1, 2};
  struct point *p = c ? &a : NULL;
  return c ? 0 : p->x;  // BAD null
}

int ternary_good(int c) {
  struct point a = {1, 2};
  struct point *p = c ? &a : NULL;
  return c ? p->x : 0;
}

int comma_bad(void) {
  int *p;
  return p = NULL, *p;  // BAD null
}

int write_bad(void) {
  int *p = 0;
  *p = 3;  // BAD null
  return 0;
}

void arrow_bad(void) {
  struct point *p = 0;
  p->y = 1;  // BAD null
}

void index_bad(void) {
  int *p = NULL;
  p[3] = 1;  // BAD null
}

void plus_bad(void) {
  int *p = NULL;
  for (int i = 0; i < 3; i++) *(p + i) = i;  // BAD null
}

void step_bad(void) {
  char *p = NULL;
  p++;
  *p = 1;  // BAD null
}

void dbl_bad(void) {
  int **p = calloc(4, sizeof *p);
  if (p) *p[2] = 1;  // BAD null
}

void dbl_good(void) {
  int **p = calloc(4, sizeof *p);
  if (p)
    for (int i = 0; i < 4; i++) {
      p[i] = malloc(4);
      if (p[i]) *p[i] = 1;
    }
}

// functions that end the program by an argument, and flags that are joined more than once
static void fail(int status, const char *text) {
  fputs(text, stderr);
  if (status) exit(status);
}
int ended_bad(void) {
  int *p = malloc(4);
  if (!p) fail(0, "memory");
  return *p = 3;  // BAD null
}
int ended_good(void) {
  int *p = malloc(4), *q = malloc(4);
  if (!p) fail(2, "memory");
  if (!q) error(1, 0, "memory");
  return (*p = 3) + (*q = 4);
}
int error_bad(void) {
  int *p = malloc(4);
  if (!p) error(0, 0, "memory");
  return *p = 3;  // BAD null
}
static void *sized(size_t n) {
  void *p = malloc(n);
  if (!p && n != 0) abort();
  return p;
}
int sized_bad(size_t n) {
  char *p = sized(n), *q = malloc(n);
  return p[0] + q[0];  // BAD null
}
int sized_good(size_t n) {
  char *p = sized(n);
  return p[0];
}
int joined_bad(int c) {
  int ok = 1;
  char *p = malloc(3);
  if (!p) ok = 0;
  if (c > 3) ok = 1;
  return ok ? *p : 0;  // BAD null
}
int joined_good(int c) {
  int ok = 1, errors = 0;
  char *p = malloc(3), *q = malloc(3);
  if (!p) ok = 0;
  if (!q) ++errors;
  if (c > 3) ok = 0;
  if (c > 4) ++errors;
  if (errors) return 1;
  return ok ? *p + *q : 0;
}
int loop_flag_good(int c, char **v) {
  char *found = NULL;
  int is_found = 0;
  for (int i = 0; i < c && !is_found; ++i)
    if (v[i][0] == 'x') {
      found = v[i];
      is_found = 1;
    }
  return is_found ? *found : 0;
}
int tested_twice_good(struct shape *s) {
  if (!s) return 0;
  int const sum = s->data != NULL;
  return s ? sum + (s->next != NULL) : sum + (int)sizeof *s->next;
}

// an allocator that programs may set
static void *(*allocate)(size_t) = malloc;
static void *clear(size_t n) {
  void *p = calloc(1, n);
  if (!p) abort();
  return p;
}
void set_allocator(void) {
  allocate = clear;
}

int hook_good(const char *s) {
  char *p = allocate(strlen(s) + 1);
  if (!p) return 0;
  strcpy(p, s);
  return p[0];
}

int hook_bad(const char *s) {
  char *p = allocate(strlen(s) + 1);
  strcpy(p, s);  // BAD null
  return p[0];
}

// whether a search has succeeded, which a caller may not ask
static struct point origin;
static int search(int n, struct point **found) {
  *found = NULL;
  for (int i = 0; i < n; i++)
    if (i == 7) {
      *found = &origin;
      return 1;
    }
  return 0;
}

int unasked_bad(int n) {
  struct point *p;
  search(n, &p);
  return p->x;  // BAD null
}

int asked_good(int n) {
  struct point *p;
  if (!search(n, &p)) return 0;
  return p->x;  // FALSE null
}

int main(int argc, char **argv) {
  ended_bad();
  ended_good();
  error_bad();
  sized_bad(argc);
  sized_good(argc);
  joined_bad(argc);
  joined_good(argc);
  loop_flag_good(argc, argv);
  struct shape tested = {0};
  tested_twice_good(argc > 1 ? &tested : NULL);
  struct shape s;
  int x = argc;
  memset(&s, 0, sizeof s);
  make_bad(argc);
  make_good(argc);
  get_bad(argc);
  get_good(argc);
  unasked_bad(argc);
  asked_good(argc);
  deep_bad();
  deep_good();
  value_bad();
  value_good();
  small_bad(argc);
  fp_bad(argc);
  fp_good(argc);
  strchr_bad(argv[1]);
  strchr_good(argv[1]);
  fopen_bad();
  fopen_good();
  strdup_bad(argv[1]);
  realloc_bad(argv[1]);
  copy_bad(argv[1]);
  copyn_bad(argv[1]);
  compare_bad(argv[1]);
  list_bad(&s);
  list_good(&s);
  list2_bad();
  list2_good();
  list3_bad(&s);
  empty_bad();
  address_good();
  local_bad();
  local_good();
  alias_bad(&x);
  alias_good(&x);
  alias2_good();
  reset_bad();
  global_init_good();
  gclear_bad();
  valid_good();
  recursion_bad(&s, argc);
  ternary_bad(argc);
  ternary_good(argc);
  comma_bad();
  write_bad();
  arrow_bad();
  index_bad();
  plus_bad();
  step_bad();
  dbl_bad();
  dbl_good();
  if (argc > 5) set_allocator();
  hook_good(argv[0]);
  hook_bad(argv[0]);
  return argv[0] == NULL;
}
