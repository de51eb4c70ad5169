// Null pointers by functions whose result says what became of them, and by branches; each function has one defect, or
// none.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buf {
  char *data;
  int len, cap;
};

// contexts: one caller passes null, another one does not and the callee checks by its own flag
static int length(const char *s) {
  return s ? (int)strlen(s) : 0;
}

int use1_good(void) {
  return length(NULL);
}

static char *dup_or_null(const char *s) {
  if (!s) return NULL;
  char *t = malloc(strlen(s) + 1);
  if (!t) abort();
  return strcpy(t, s);
}

int dup_good(const char *s) {
  if (!s) return 0;
  char *t = dup_or_null(s);
  int c = t[0];
  free(t);
  return c;
}

int dup_bad(const char *s) {
  char *t = dup_or_null(s);
  return t[0];  // BAD null
}

static int grow(struct buf *b, int n) {
  if (b->cap >= n) return 0;
  char *p = realloc(b->data, n);
  if (!p) return -1;
  b->data = p;
  b->cap = n;
  return 0;
}

int grow_good(struct buf *b) {
  if (grow(b, 10) < 0) return -1;
  b->data[0] = 1;  // FALSE null
  return 0;
}

static int buf_init(struct buf *b) {
  b->data = malloc(10);
  if (!b->data) return 0;
  b->cap = 10;
  return 1;
}

int init_good(void) {
  struct buf b;
  if (!buf_init(&b)) return 0;
  b.data[0] = 1;
  free(b.data);
  return 1;
}

int init_bad(void) {
  struct buf b;
  buf_init(&b);
  b.data[0] = 1;  // BAD null
  free(b.data);
  return 1;
}

static struct buf *new_buf(void) {
  struct buf *b = malloc(sizeof *b);
  if (!b) return NULL;
  b->data = malloc(10);
  if (!b->data) {
    free(b);
    return NULL;
  }
  return b;
}

int new_good(void) {
  struct buf *b = new_buf();
  if (!b) return 0;
  b->data[0] = 1;
  free(b->data);
  free(b);
  return 1;
}

static void free_buf(struct buf *b) {
  if (!b) return;
  free(b->data);
  free(b);
}

int free_good(void) {
  struct buf *b = new_buf();
  struct buf *c = new_buf();
  free_buf(b);
  free_buf(c);
  return 0;
}

static int is_empty(struct buf *b) {
  return b == NULL || b->data == NULL;
}

int empty_good(struct buf *b) {
  if (is_empty(b)) return 0;
  return b->data[0];
}

static struct buf *pick(int c, struct buf *a) {
  return c ? a : NULL;
}

int pick_good(struct buf *a) {
  return pick(1, a)->len;
}

// blocks of zeros, and branches
struct two {
  int *p, *q;
};

int zeros_good(int c) {
  struct two t = {0};
  int x = c, filled = 0;
  if (c > 3) {
    t.p = &x;
    filled = 1;
  }
  return filled ? *t.p : 0;
}

int zeros_bad(int c) {
  struct two t = {0};
  int x = c, filled = 1;
  if (c > 3) {
    t.p = &x;
    filled = 2;
  }
  return filled ? *t.p : 0;  // BAD null
}

int set_good(int c) {
  struct two t;
  int x = c;
  memset(&t, 0, sizeof t);
  if (c > 1) t.p = &x;
  if (c > 1) return *t.p;
  return 0;
}

int set_bad(int c) {
  struct two t;
  int x = c;
  memset(&t, 0, sizeof t);
  if (c > 1) t.p = &x;
  if (c > 0) return *t.p;  // BAD null
  return 0;
}

int address_good(void) {
  int x;
  x = 1;
  if (&x) return x;
  return 0;
}

static int *shared;

static void set_shared(int c) {
  static int x;
  if (c)
    shared = &x;
  else
    set_shared(1);
}

int shared_good(int c) {
  set_shared(c);
  return *shared;
}

// conditions that are values
int held_good(int argc, char **argv) {
  char *t = argv[0];
  while (argc > 2 && (t = strchr(argv[1], 'x'))) {
    if (t[0] == 'y') return 1;
    argc--;
  }
  return 0;
}

int held_bad(int argc, char **argv) {
  char *t = argv[0];
  while (argc > 2 || (t = strchr(argv[1], 'x'))) {
    if (t[0] == 'y') return 1;
    argc--;
  }
  return t[0];  // BAD null
}

int chosen_good(int *t, int *b) {
  int *q = t ? b : NULL;
  if (q) return *t;
  return 0;
}

int chosen_bad(int *t, int *b) {
  int *q = t ? b : NULL;
  if (!q) return *t;  // BAD null
  return 0;
}

int main(int argc, char **argv) {
  struct buf b = {0};
  buf_init(&b);
  use1_good();
  dup_good(argv[1]);
  dup_bad(argv[2]);
  grow_good(&b);
  init_good();
  init_bad();
  new_good();
  free_good();
  empty_good(&b);
  empty_good(NULL);
  pick_good(&b);
  zeros_good(argc);
  zeros_bad(argc);
  set_good(argc);
  set_bad(argc);
  address_good();
  shared_good(argc);
  int x = argc;
  held_good(argc, argv);
  held_bad(argc, argv);
  chosen_good(&x, &x);
  chosen_bad(&x, &x);
  return 0;
}
