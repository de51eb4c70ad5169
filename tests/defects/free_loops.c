// Freed memory in loops, under flags and other names, and by functions of the library; one defect each, or none.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "items.h"

// loops
void loop1_bad(void) {
  char *p = get(10);
  for (int i = 0; i < 10; i++) {
    p[i] = 'a';  // BAD free
    if (i == 5) free(p);
  }
}

void loop2_bad(void) {
  char *p = get(10);
  for (int i = 0; i < 10; i++) {
    if (i == 9) free(p);  // BAD free
  }
  free(p);  // BAD free
}

void loop2_good(void) {
  char *p = get(10);
  for (int i = 0; i < 10; i++) {
    if (i == 10) free(p);
  }
  free(p);
}

void loop3_bad(int n) {
  char *p = get(10);
  while (n > 0) {
    free(p);  // BAD free
    n--;
  }
}

void loop3_good(int n) {
  char *p = get(10);
  while (n > 0) {
    free(p);
    break;
  }
}

void loop4_bad(int n) {
  char *p = get(10);
  for (int i = 0; i < 1; i++) free(p);
  free(p);  // BAD free
}

void loop5_bad(void) {
  char *v[4];
  for (int i = 0; i < 4; i++) v[i] = get(4);
  for (int i = 0; i < 4; i++) free(v[i]);
  v[2][0] = 'a';  // BAD free
}

void loop5_good(void) {
  char *v[4];
  for (int i = 0; i < 4; i++) v[i] = get(4);
  for (int i = 0; i < 4; i++) v[i][0] = 'a';
  for (int i = 0; i < 4; i++) free(v[i]);
}

void loop6_bad(void) {
  char *v[4];
  for (int i = 0; i < 4; i++) v[i] = get(4);
  for (int i = 0; i < 4; i++) free(v[i]);
  for (int i = 0; i < 4; i++) free(v[i]);  // BAD free
}

void loop6_good(void) {
  char *v[4], *w[4];
  for (int i = 0; i < 4; i++) {
    v[i] = get(4);
    w[i] = get(3);
  }
  for (int i = 0; i < 4; i++) free(v[i]);
  for (int i = 0; i < 4; i++) free(w[i]);
}

void loop7_bad(void) {
  char **v = malloc(4 * sizeof *v);
  if (!v) return;
  for (int i = 0; i < 4; i++) v[i] = get(4);
  for (int i = 0; i < 4; i++) free(v[i]);
  free(v);
  v[1] = NULL;  // BAD free
}

void loop7_good(void) {
  char **v = malloc(4 * sizeof *v);
  if (!v) return;
  for (int i = 0; i < 4; i++) v[i] = get(4);
  for (int i = 0; i < 4; i++) free(v[i]);
  free(v);
}

void loop8_bad(void) {
  char **v = malloc(4 * sizeof *v);
  if (!v) return;
  for (int i = 0; i < 4; i++) v[i] = get(4);
  free(v);
  for (int i = 0; i < 4; i++) free(v[i]);  // BAD free
}

void while_bad(void) {
  int flag = 1;
  char *p = get(3);
  while (1) {
    free(p);
    if (flag == 1) break;
  }
  *p = 1;  // BAD free
}

void while2_bad(void) {
  int a = 0;
  char *p = get(3);
  while (a < 10) {
    p[a] = 1;  // BAD free
    if (a == 3) {
      free(p);
    }
    a++;
  }
  free(p);
}

void do_bad(int n) {
  char *p = get(3);
  do {
    p[0] = n;  // BAD free
    free(p);
  } while (n-- > 0);
}

// flags
void flag_bad(void) {
  int flag = 0;
  char *p = get(3);
  if (flag == 0) free(p);
  free(p);  // BAD free
}

void flag_good(void) {
  int flag = 0;
  char *p = get(3);
  if (flag == 1) free(p);
  free(p);
}

void flag2_good(int c) {
  int done = 0;
  char *p = get(3);
  if (c) {
    free(p);
    done = 1;
  }
  if (!done) free(p);
}

void flag2_bad(int c) {
  int done = 0;
  char *p = get(3);
  if (c) {
    free(p);
  }
  if (!done) free(p);  // BAD free
}

void switch_bad(int c) {
  char *p = get(3);
  switch (c) {
    case 1:
      free(p);
    case 2:
      p[0] = 1;  // BAD free
      break;
    default:
      break;
  }
}

void switch_good(int c) {
  char *p = get(3);
  switch (c) {
    case 1:
      free(p);
      break;
    case 2:
      p[0] = 1;
      break;
    default:
      break;
  }
}

void goto_bad(int c) {
  char *p = get(3);
  if (c) goto fail;
  free(p);
fail:
  p[0] = 1;  // BAD free
}

void ternary_bad(int c) {
  char *p = get(3);
  c ? free(p) : puts("a");
  puts(p);  // BAD free
}

// alias
void interior_bad(void) {
  char *p = get(10), *q = p + 4;
  free(p);
  *q = 1;  // BAD free
}

void interior2_bad(int n) {
  char *p = get(10), *q = &p[n];
  free(p);
  *q = 1;  // BAD free
}

void copy_bad(void) {
  struct box a, b;
  a.label = get(3);
  b = a;
  free(a.label);
  b.label[0] = 1;  // BAD free
}

void copy_good(void) {
  struct box a, b;
  a.label = get(3);
  b = a;
  free(a.label);
  b.label = get(3);
  b.label[0] = 1;
}

void memcpy_bad(void) {
  char *p = get(4), *q;
  memcpy(&q, &p, sizeof q);
  free(p);
  q[0] = 1;  // BAD free
}

void union_bad(void) {
  union any u;
  u.text = get(8);
  free(u.text);
  *u.number = 1;  // BAD free
}

void pp_bad(void) {
  char *p = get(4);
  char **q = &p;
  free(*q);
  p[0] = 1;  // BAD free
}

void pp_good(void) {
  char *p = get(4);
  char **q = &p;
  free(*q);
  *q = get(3);
  p[0] = 1;
}

// other functions
void closed_bad(void) {
  FILE *f = fopen("a", "r");
  if (!f) return;
  fclose(f);
  fclose(f);  // BAD free
}

void closed2_bad(void) {
  char l[10];
  FILE *f = fopen("a", "r");
  if (!f) return;
  fclose(f);
  if (fgets(l, 10, f)) puts(l);  // BAD free
}

void dir_bad(void) {
  DIR *d = opendir(".");
  if (!d) return;
  closedir(d);
  readdir(d);  // BAD free
}

void realloc_bad(void) {
  char *p = get(3), *q = realloc(p, 20);
  if (q) free(p);  // BAD free
  free(q);
}

void realloc_good(void) {
  char *p = get(3), *q = realloc(p, 20);
  if (!q)
    free(p);
  else
    free(q);
}

void realloc2_bad(void) {
  char *p = get(3), *s = p;
  p = realloc(p, 20);
  if (!p) return;
  s[0] = 1;  // BAD free
}

void write_bad(void) {
  char *p = get(3);
  free(p);
  fwrite(p, 1, 3, stdout);  // BAD free
}

void strcpy_bad(void) {
  char *p = get(3);
  free(p);
  strcpy(p, "a");  // BAD free
}

void cmp_good(void) {
  char *p = get(3), *q = get(4);
  free(p);
  if (p == q) puts("equal");
}

void null_good(void) {
  char *p = NULL;
  free(p);
  free(p);
}

void test_good(int c) {
  char *p = c ? get(3) : NULL;
  if (p) free(p);
}

void fn_bad(void (*f)(void *)) {
  char *p = get(3);
  f = free;
  f(p);
  f(p);  // BAD free
}

static void (*hook)(void *) = free;

void hook_bad(void) {
  char *p = get(3);
  hook(p);
  p[0] = 1;  // BAD free
}

static struct { void (*release)(void *); } ops = {free};

void ops_bad(void) {
  char *p = get(3);
  ops.release(p);
  p[0] = 1;  // BAD free
}

void atexit_good(void) {
  static char *p;
  if (!p) p = get(3);
  p[0] = 1;
}

void static_bad(void) {
  static char *p;
  if (!p) p = get(3);
  p[0] = 1;  // BAD free
  free(p);  // BAD free
}

int main(int argc, char **argv) {
  (void)argc;
  loop1_bad();
  loop2_bad();
  loop2_good();
  loop3_bad(argc);
  loop3_good(argc);
  loop4_bad(argc);
  loop5_bad();
  loop5_good();
  loop6_bad();
  loop6_good();
  loop7_bad();
  loop7_good();
  loop8_bad();
  while_bad();
  while2_bad();
  do_bad(argc);
  flag_bad();
  flag_good();
  flag2_good(argc);
  flag2_bad(argc);
  switch_bad(argc);
  switch_good(argc);
  goto_bad(argc);
  ternary_bad(argc);
  interior_bad();
  interior2_bad(argc);
  copy_bad();
  copy_good();
  memcpy_bad();
  union_bad();
  pp_bad();
  pp_good();
  closed_bad();
  closed2_bad();
  dir_bad();
  realloc_bad();
  realloc_good();
  realloc2_bad();
  write_bad();
  strcpy_bad();
  cmp_good();
  null_good();
  test_good(argc);
  fn_bad(NULL);
  hook_bad();
  ops_bad();
  atexit_good();
  static_bad();
  static_bad();
  return argv[0] == NULL;
}
