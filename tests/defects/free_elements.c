// Elements that a function frees one after the other, and containers that still lead to them; each function has one
// defect, or none.
#include "items.h"

static void clear(struct box *b) {
  for (int i = 0; i < b->count; ++i) free(b->items[i]);
}

static void fill(struct box *b, int n) {
  b->count = 0;
  for (int i = 0; i < n && i < 8; ++i) b->items[b->count++] = item("element");
}

// all elements are freed, and the array has them still
int array_bad(int n) {
  struct box b;
  fill(&b, n);
  clear(&b);
  return b.items[0]->value;  // BAD free
}

int array_good(int n) {
  struct box b;
  fill(&b, n);
  int value = b.items[0]->value;
  clear(&b);
  return value;
}

// freed twice
static void clear_again(struct box *b) {
  for (int i = 0; i < b->count; ++i) free(b->items[i]);  // BAD free
}

int twice_bad(int n) {
  struct box b;
  fill(&b, n);
  clear_again(&b);
  clear_again(&b);
  return 0;
}

static void drop_list(struct box *b) {
  for (struct item *i = b->head; i;) {
    struct item *next = i->next;
    free(i);
    i = next;
  }
}

static void push(struct box *b, int n) {
  b->head = NULL;
  for (int i = 0; i < n; ++i) {
    struct item *first = item("element");
    first->next = b->head;
    b->head = first;
  }
}

// the list's head leads to what was freed
int list_bad(int n) {
  struct box b;
  push(&b, n);
  drop_list(&b);
  return b.head ? b.head->value : 0;  // BAD free
}

int list_good(int n) {
  struct box b;
  push(&b, n);
  drop_list(&b);
  b.head = NULL;
  return b.head ? b.head->value : 0;
}

// an element that is freed stays in the list
int linked_bad(int n) {
  struct box b;
  push(&b, n);
  for (struct item *i = b.head; i; i = i->next)
    if (i->value == n) {
      free(i);
      break;
    }
  for (struct item *i = b.head; i; i = i->next)
    if (i->value == 3) return 1;  // BAD free
  return 0;
}

int linked_good(int n) {
  struct box b;
  push(&b, n);
  for (struct item **i = &b.head; *i; i = &(*i)->next)
    if ((*i)->value == n) {
      struct item *gone = *i;
      *i = gone->next;
      free(gone);
      break;
    }
  for (struct item *i = b.head; i; i = i->next)
    if (i->value == 3) return 1;
  return 0;
}

int main(int argc, char **argv) {
  array_bad(argc);
  array_good(argc);
  twice_bad(argc);
  list_bad(argc);
  list_good(argc);
  linked_bad(argc);
  return linked_good(argc);
}
