// Memory that is taken out of where it was found before it is freed, or not.
#include <stdlib.h>
#include <string.h>

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) exit(1);
  memset(memory, 0, bytes);
  return memory;
}

struct item {
  struct item *next, *previous;
  char *text;
  int number;
};

static void insert(struct item *head, int number) {
  struct item *i = allocate(sizeof *i);
  i->number = number;
  i->next = head->next;
  i->previous = head;
  head->next->previous = i;
  head->next = i;
}

// The first item leaves the list by its neighbours' pointers, which may be to anything.
static struct item taken = {&taken, &taken}, kept = {&kept, &kept};
int unlink_bad(void) {
  insert(&kept, 1);
  struct item *i = kept.next;
  free(i);
  return kept.next->number;  // BAD free
}
int unlink_good(void) {
  insert(&taken, 1);
  struct item *i = taken.next;
  i->next->previous = i->previous;
  i->previous->next = i->next;
  free(i);
  return taken.next->number;  // FALSE free
}

// Elements of an array move up by one.
int shift_bad(int n) {
  struct item *all[9], **at = all, *old;
  for (int k = 0; k < 8; ++k) {
    all[k] = allocate(sizeof **all);
    all[k]->number = n + k;
  }
  all[8] = NULL;
  for (; *at; ++at) {
    if ((*at)->number != 3) continue;
    old = *at;
    free(old);
    for (struct item **p = at; *p; ++p) {
      (*p)->number += 1;  // BAD free
      *p = *(p + 1);
    }
  }
  return 0;
}
int shift_good(int n) {
  struct item *all[9], **at = all, *old;
  for (int k = 0; k < 8; ++k) {
    all[k] = allocate(sizeof **all);
    all[k]->number = n + k;
  }
  all[8] = NULL;
  while (*at) {
    if ((*at)->number == 3) {
      old = *at;
      for (struct item **p = at; *p; ++p) *p = *(p + 1);
      free(old);
      continue;
    }
    ++at;
  }
  return 0;
}

// The same memory may stay.
static char *current;
int same_bad(const char *text) {
  char *old = current, *now = old;
  if (text) now = strdup(text);
  if (!now) return 1;
  if (old) free(old);
  current = now;
  return now[0];  // BAD free
}
static char *chosen;
int same_good(const char *text) {
  char *old = chosen, *now = old;
  if (text) now = strdup(text);
  if (!now) return 1;
  if (old != now && old) free(old);
  chosen = now;
  return now[0];
}

// A function that runs again has another variable.
struct reader {
  char *text;
};
static int read_all(struct reader *reader, int depth);
static int nested(int depth) {
  struct reader reader;
  reader.text = allocate(8);
  int const sum = reader.text[0] + read_all(&reader, depth);
  free(reader.text);
  return sum;
}
static int nested_twice(int depth) {
  struct reader reader;
  reader.text = allocate(8);
  free(reader.text);
  return read_all(&reader, depth);
}
static int read_all(struct reader *reader, int depth) {
  int const first = reader->text[0];  // BAD free
  return depth > 0 ? nested(depth - 1) + first : first;
}

// Another object's member is set meanwhile.
int other_bad(struct item *one, struct item *other) {
  free(one->text);
  other->text = allocate(2);
  return one->text[0];  // BAD free
}
int other_good(struct item *one, struct item *other) {
  free(one->text);
  other->text = allocate(2);
  one->text = other->text;
  return one->text[0];
}

int main(int argc, char **argv) {
  struct item *one = allocate(sizeof *one), *other = allocate(sizeof *other);
  one->text = allocate(2);
  int const sum = other_bad(one, other) + other_good(one, other);
  return sum + unlink_bad() + unlink_good() + shift_bad(argc) + shift_good(argc) + same_bad(argv[1]) +
         same_good(argv[1]) + nested(2) + nested_twice(2);
}
