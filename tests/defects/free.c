// Freed memory: each function has one defect, in the line marked with its kind, or none that looks like the one before.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  int value;
  struct node *next;
  char *name;
};

static void *allocate(size_t size) {
  void *p = malloc(size);
  if (!p) abort();
  return p;
}

int simple_bad(void) {
  int *p = allocate(sizeof *p);
  *p = 1;
  free(p);
  return *p;  // BAD free
}
int simple_good(void) {
  int *p = allocate(sizeof *p);
  *p = 1;
  int x = *p;
  free(p);
  return x;
}

void twice_bad(int c) {
  char *p = allocate(10);
  if (c) free(p);
  free(p);  // BAD free
}
void twice_good(int c) {
  char *p = allocate(10);
  if (c) {
    free(p);
    p = NULL;
  }
  free(p);
}

void either_bad(int c) {
  char *p = allocate(10);
  if (c > 2) free(p);
  if (c < 4) free(p);  // BAD free
}
void either_good(int c) {
  char *p = allocate(10);
  if (c > 2) free(p);
  if (c <= 2) free(p);
}

int loop_bad(int n) {
  int sum = 0;
  int *p = allocate(sizeof *p);
  for (int i = 0; i < n; i++) {
    *p = i;  // BAD free
    sum += *p;
    free(p);
  }
  return sum;
}
int loop_good(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    int *p = allocate(sizeof *p);
    *p = i;
    sum += *p;
    free(p);
  }
  return sum;
}

void list_bad(struct node *n) {
  for (; n; n = n->next)  // BAD free
    free(n);
}
void list_good(struct node *n) {
  while (n) {
    struct node *next = n->next;
    free(n);
    n = next;
  }
}

static void destroy(struct node *n) {
  if (!n) return;
  free(n->name);  // BAD free
  free(n);
}
int wrapper_bad(void) {
  struct node *n = allocate(sizeof *n);
  n->value = 1;
  n->name = NULL;
  destroy(n);
  return n->value;  // BAD free
}
int wrapper_good(void) {
  struct node *n = allocate(sizeof *n);
  n->value = 1;
  n->name = NULL;
  int x = n->value;
  destroy(n);
  return x;
}

void wrapper_twice_bad(struct node *n) {
  free(n->name);
  destroy(n);
}
void wrapper_twice_good(struct node *n) {
  free(n->name);
  n->name = NULL;
  destroy(n);
}

static void drop_name(struct node *n) { free(n->name); }
static void clear_name(struct node *n) {
  free(n->name);
  n->name = NULL;
}
int member_bad(void) {
  struct node n = {1, NULL, allocate(4)};
  n.name[0] = 'a';
  drop_name(&n);
  return n.name[0];  // BAD free
}
int member_good(void) {
  struct node n = {1, NULL, allocate(4)};
  n.name[0] = 'a';
  clear_name(&n);
  return n.name ? n.name[0] : 0;
}

static char *buffer;
static void release(void) { free(buffer); }
int global_bad(void) {
  buffer = allocate(4);
  release();
  return buffer[0];  // BAD free
}
static char *other;
static void renew(void) {
  free(other);
  other = allocate(4);
}
int global_good(void) {
  other = allocate(4);
  renew();
  other[0] = 1;
  return other[0];
}

char *grow_bad(char *p) {
  char *q = realloc(p, 100);
  if (!q) abort();
  q[0] = p[0];  // BAD free
  return q;
}
char *grow_good(char *p) {
  char *q = realloc(p, 100);
  if (!q) {
    p[0] = 0;
    return p;
  }
  q[0] = 1;
  return q;
}

static char *dangling(void) {
  char *p = allocate(3);
  p[0] = 1;
  free(p);
  return p;
}
static char *fresh(void) {
  char *p = allocate(3), *q = allocate(3);
  p[0] = q[0] = 1;
  free(q);
  return p;
}
int returned_bad(void) {
  char *p = dangling();
  return p[0];  // BAD free
}
int returned_good(void) {
  char *p = fresh();
  int x = p[0];
  free(p);
  return x;
}

int alias_bad(void) {
  char *p = allocate(3), *q = p;
  p[0] = 1;
  free(p);
  return q[0];  // BAD free
}
int alias_good(void) {
  char *p = allocate(3), *q = allocate(3);
  p[0] = q[0] = 1;
  free(p);
  int x = q[0];
  free(q);
  return x;
}

void passed_bad(void) {
  char *p = allocate(10);
  strcpy(p, "a");
  free(p);
  printf("%s\n", p);  // BAD free
}
void passed_good(void) {
  char *p = allocate(10);
  strcpy(p, "a");
  printf("%s\n", p);
  free(p);
}

void array_bad(void) {
  char *all[3];
  all[1] = allocate(2);
  all[1][0] = 1;
  free(all[1]);
  all[1][1] = 2;  // BAD free
}
void array_good(void) {
  char *all[3];
  all[0] = allocate(2);
  all[1] = allocate(2);
  free(all[0]);
  all[1][1] = 2;
  free(all[1]);
}

typedef void (*visitor)(struct node *);
static void dispose(struct node *n) { free(n); }
static void print(struct node *n) { printf("%d\n", n->value); }
static void visit_bad(struct node *n, visitor f) {
  f(n);
  n->value = 1;  // BAD free
}
static void visit_good(struct node *n, visitor f) {
  f(n);
  n->value = 1;
}
void callback_bad(void) {
  struct node *n = allocate(sizeof *n);
  n->value = 0;
  visit_bad(n, dispose);
}
void callback_good(void) {
  struct node *n = allocate(sizeof *n);
  n->value = 0;
  visit_good(n, print);
  free(n);
}

int error_bad(int c) {
  char *p = allocate(4);
  p[0] = 1;
  if (c) {
    free(p);
    goto end;
  }
  p[1] = 2;
end:
  free(p);  // BAD free
  return 0;
}
int error_good(int c) {
  char *p = allocate(4);
  p[0] = 1;
  if (c) goto end;
  p[1] = 2;
end:
  free(p);
  return 0;
}

int close_bad(void) {
  FILE *f = fopen("a", "r");
  if (!f) return 1;
  fclose(f);
  return fgetc(f);  // BAD free
}
int close_good(void) {
  FILE *f = fopen("a", "r");
  if (!f) return 1;
  int c = fgetc(f);
  fclose(f);
  return c;
}

int buffer_bad(int n) {
  char small[8], *p = n > 8 ? allocate(n) : small;
  p[0] = 1;
  if (p != small) free(p);
  return p[0];  // BAD free
}
int buffer_good(int n) {
  char small[8], *p = n > 8 ? allocate(n) : small;
  p[0] = 1;
  int x = p[0];
  if (p != small) free(p);
  return p == small ? p[0] : x;
}

// by ranges of one number
int sign_good(int status) {
  int *p = allocate(sizeof *p);
  *p = 1;
  if (status < 0) free(p);
  return status > 0 ? *p : 0;
}
int sign_bad(int status) {
  int *p = allocate(sizeof *p);
  *p = 1;
  if (status < 0) free(p);
  return status != 0 ? *p : 0;  // BAD free
}
int above_good(int status) {
  int *p = allocate(sizeof *p);
  *p = 1;
  if (status > 5) free(p);
  return status == 3 ? *p : 0;
}
int above_bad(int status) {
  int *p = allocate(sizeof *p);
  *p = 1;
  if (status > 5) free(p);
  return status == 8 ? *p : 0;  // BAD free
}

int left_good(int status) {
  int *p = allocate(sizeof *p);
  *p = 1;
  if (0 < status) free(p);
  return status <= 0 ? *p : 0;
}
int left_bad(int status) {
  int *p = allocate(sizeof *p);
  *p = 1;
  if (0 < status) free(p);
  return 0 <= status ? *p : 0;  // BAD free
}

static int drop_if_less(int a, int b, int *p) {
  if (a >= b) return 0;
  free(p);
  return 1;
}
int passed_constant_good(int status) {
  int *p = allocate(sizeof *p);
  *p = 1;
  drop_if_less(0, status, p);
  return status <= 0 ? *p : 0;
}

int main(int argc, char **argv) {
  struct node *n = allocate(sizeof *n), *m = allocate(sizeof *m);
  memset(n, 0, sizeof *n);
  memset(m, 0, sizeof *m);
  list_bad(n);
  list_good(m);
  struct node *k = allocate(sizeof *k), *l = allocate(sizeof *l);
  k->name = allocate(3);
  l->name = allocate(3);
  wrapper_twice_bad(k);
  wrapper_twice_good(l);
  twice_bad(argc);
  twice_good(argc);
  either_bad(argc);
  either_good(argc);
  passed_bad();
  passed_good();
  array_bad();
  array_good();
  callback_bad();
  callback_good();
  free(grow_bad(allocate(3)));
  free(grow_good(allocate(3)));
  return passed_constant_good(argc) + left_good(argc) + left_bad(argc) + sign_good(argc) + sign_bad(argc) + above_good(argc) + above_bad(argc) + simple_bad() + simple_good() + loop_bad(argc) + loop_good(argc) + wrapper_bad() + wrapper_good() +
         member_bad() + member_good() + global_bad() + global_good() + returned_bad() + returned_good() + alias_bad() +
         alias_good() + error_bad(argc) + error_good(argc) + close_bad() + close_good() + buffer_bad(argc) +
         buffer_good(argc) + (argv[0] != NULL);
}
