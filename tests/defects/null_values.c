// Null pointers from numbers, arrays, blocks of zeros, unions and loops; each function has one defect, or none.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shapes.h"

// values of integers
int number_bad(void) {
  int n = 3;
  int *p = (int *)(intptr_t)(2 * n - 6);
  return *p;  // BAD null
}

int number_good(void) {
  static int x;
  int *p = (int *)((intptr_t)&x + 0 * 3);
  return *p;
}

static intptr_t zero(void) {
  return 0;
}

int zero_bad(void) {
  int *p = (int *)zero();
  return *p;  // BAD null
}

int table_bad(void) {
  intptr_t v[4] = {1, 2, 0, 4};
  int *p = (int *)v[2];
  return *p;  // BAD null
}

// arrays
int array_bad(void) {
  int a = 1, b = 2;
  int *v[3] = {&a, NULL, &b};
  return *v[1];  // BAD null
}

int array_good(void) {
  int a = 1, b = 2;
  int *v[3] = {&a, NULL, &b};
  return *v[2];
}

int array_loop_bad(void) {
  int a = 1, s = 0;
  int *v[3];
  for (int i = 0; i < 3; i++) v[i] = NULL;
  v[0] = &a;
  for (int i = 0; i < 3; i++) s += *v[i];  // BAD null
  return s;
}

int array_loop_good(void) {
  int a = 1, s = 0;
  int *v[3];
  for (int i = 0; i < 3; i++) v[i] = &a;
  for (int i = 0; i < 3; i++) s += *v[i];
  return s;
}

int array_test_good(void) {
  int a = 1, s = 0;
  int *v[3] = {&a, NULL, &a};
  for (int i = 0; i < 3; i++)
    if (v[i]) s += *v[i];
  return s;
}

// array of structs
int structs_bad(int i) {
  struct shape s[3];
  memset(s, 0, sizeof s);
  return *s[i].data;  // BAD null
}

int structs_good(int i) {
  int x = 1;
  struct shape s[3];
  memset(s, 0, sizeof s);
  for (int k = 0; k < 3; k++) s[k].data = &x;
  return *s[i].data;
}

int zeroed_bad(void) {
  struct shape *s = calloc(1, sizeof *s);
  if (!s) return 0;
  return s->center->x;  // BAD null
}

int zeroed_good(void) {
  struct shape *s = calloc(1, sizeof *s);
  if (!s) return 0;
  s->center = malloc(sizeof(struct point));
  if (!s->center) return 0;
  s->center->x = 1;
  return s->center->x;
}

int init_bad(void) {
  struct shape s = {0};
  return *s.data;  // BAD null
}

int init2_bad(void) {
  struct shape s = {.name = "a"};
  return s.center->y;  // BAD null
}

int init_good(void) {
  int x = 1;
  struct shape s = {.data = &x};
  return *s.data;
}
static struct shape shapes[4];

int gstructs_bad(int i) {
  return *shapes[i].data;  // BAD null
}

int gstructs_good(int i) {
  if (!shapes[i].data) return 0;
  return *shapes[i].data;
}

// double pointers
int twice_bad(void) {
  int *p = NULL;
  int **q = &p;
  return **q;  // BAD null
}

int twice_good(void) {
  int x = 1;
  int *p = NULL;
  int **q = &p;
  *q = &x;
  return **q;
}

int thrice_bad(void) {
  int *p = NULL;
  int **q = &p;
  int ***r = &q;
  return ***r;  // BAD null
}

// union
int union_bad(void) {
  union either u;
  u.p = NULL;
  return *u.c;  // BAD null
}

int union_good(void) {
  int x = 1;
  union either u;
  u.c = NULL;
  u.p = &x;
  return *u.c;
}

// logic
int and_bad(struct point *p) {
  if (p == NULL && p->x == 3) return 1;  // BAD null
  return 0;
}

int and_good(struct point *p) {
  if (p != NULL && p->x == 3) return 1;
  return 0;
}

int or_bad(struct point *p) {
  if (p != NULL || p->x == 3) return 1;  // BAD null
  return 0;
}

int or_good(struct point *p) {
  if (p == NULL || p->x == 3) return 1;
  return 0;
}

int not_bad(struct point *p) {
  if (!p) printf("no point at %d\n", p->x);  // BAD null
  return 0;
}

int not_good(struct point *p) {
  if (!p)
    printf("no point\n");
  else
    printf("%d\n", p->x);
  return 0;
}

int after_bad(struct point *p) {
  int x = p->x;  // BAD null
  if (!p) return 0;
  return x;
}

// control
int goto_bad(int c) {
  int x = 1;
  int *p = &x;
  if (c) {
    p = NULL;
    goto end;
  }
  x = 2;
end:
  return *p;  // BAD null
}

int goto_good(int c) {
  int x = 1;
  int *p = NULL;
  if (c) goto end;
  p = &x;
  x = *p;
end:
  return x;
}

int while_bad(int n) {
  int x = 1;
  int *p = &x;
  while (n-- > 0) {
    x += *p;  // BAD null
    p = NULL;
  }
  return x;
}

int while_good(int n) {
  int x = 1;
  int *p = &x;
  while (n-- > 0) {
    x += *p;
    p = NULL;
    if (!p) p = &x;
  }
  return x;
}

int do_bad(int n) {
  int x = 1;
  int *p = NULL;
  do {
    if (n > 5) p = &x;
  } while (n++ < 3);
  return *p;  // BAD null
}

int once_good(void) {
  int x = 1;
  int *p = NULL;
  for (int i = 0; i < 1; i++) p = &x;
  return *p;
}

int const_if_good(void) {
  int x = 1;
  int *p = NULL;
  if (1) p = &x;
  return *p;
}

int const_flag_bad(void) {
  int five = 5, x = 1;
  int *p = &x;
  if (five == 5) p = NULL;
  return *p;  // BAD null
}

int const_flag_good(void) {
  int five = 5, x = 1;
  int *p = &x;
  if (five != 5) p = NULL;
  return *p;
}

static const int t = 1, f = 0;
static int st = 1;

int sconst_good(void) {
  int x = 1;
  int *p = NULL;
  if (t) p = &x;
  return *p;
}

int sconst2_good(void) {
  int x = 1;
  int *p = &x;
  if (f) p = NULL;
  return *p;
}

int sstatic_good(void) {
  int x = 1;
  int *p = NULL;
  if (st) p = &x;
  return *p;
}

static int yes(void) {
  return 1;
}

int fconst_good(void) {
  int x = 1;
  int *p = NULL;
  if (yes()) p = &x;
  return *p;
}

int main(int argc, char **argv) {
  struct shape s;
  struct point p = {argc, 1};
  int x = argc;
  memset(&s, 0, sizeof s);
  shapes[argc & 3].data = &x;
  number_bad();
  number_good();
  zero_bad();
  table_bad();
  array_bad();
  array_good();
  array_loop_bad();
  array_loop_good();
  array_test_good();
  structs_bad(argc);
  structs_good(argc);
  zeroed_bad();
  zeroed_good();
  init_bad();
  init2_bad();
  init_good();
  gstructs_bad(argc);
  gstructs_good(argc);
  twice_bad();
  twice_good();
  thrice_bad();
  union_bad();
  union_good();
  and_bad(&p);
  and_good(&p);
  or_bad(&p);
  or_good(&p);
  not_bad(&p);
  not_good(&p);
  after_bad(&p);
  goto_bad(argc);
  goto_good(argc);
  while_bad(argc);
  while_good(argc);
  do_bad(argc);
  once_good();
  const_if_good();
  const_flag_bad();
  const_flag_good();
  sconst_good();
  sconst2_good();
  sstatic_good();
  fconst_good();
  return argv[0] == NULL;
}
