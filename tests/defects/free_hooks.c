// Memory by hooks: variables through which a program allocates and frees, and that it may set; each function has one
// defect, or none.
#include <stdlib.h>
#include <string.h>
void (*my_free)(void*) = free;
void* (*my_malloc)(size_t) = malloc;
struct hooks {
  void* (*allocate)(size_t);
  void (*release)(void*);
};
static struct hooks hooks = {malloc, free};
static void* debug_malloc(size_t n) { return calloc(1, n); }
static void debug_free(void* p) {
  memset(p, 0, 1);
  free(p);
}
void set_debug(void) {
  my_free = debug_free;
  my_malloc = debug_malloc;
  hooks.release = debug_free;
}
struct item {
  char* name;
  int value;
};

int use_bad(const char* s) {
  char* p = my_malloc(strlen(s) + 1);
  if (!p) return 1;
  strcpy(p, s);
  my_free(p);
  return p[0];  // BAD free
}
int use_good(const char* s) {
  char* p = my_malloc(strlen(s) + 1);
  if (!p) return 1;
  strcpy(p, s);
  int c = p[0];
  my_free(p);
  return c;
}
int twice_bad(int n) {
  struct item* i = hooks.allocate(sizeof *i);
  if (!i) return 1;
  i->value = n;
  if (n > 3) hooks.release(i);
  hooks.release(i);  // BAD free
  return 0;
}
static void drop(struct item* i) {
  if (i) {
    my_free(i->name);
    my_free(i);
  }
}

int drop_bad(struct item* i) {
  drop(i);
  return i->value;  // BAD free
}

int drop_good(struct item* i) {
  int v = i->value;
  drop(i);
  return v;
}

int main(int argc, char** argv) {
  if (argc > 5) set_debug();
  struct item *i = hooks.allocate(sizeof *i), *k = hooks.allocate(sizeof *k);
  if (!i || !k) return 1;
  memset(i, 0, sizeof *i);
  memset(k, 0, sizeof *k);
  return use_bad(argv[0]) + use_good(argv[0]) + twice_bad(argc) + drop_bad(i) + drop_good(k);
}
