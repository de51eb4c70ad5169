// Null pointers where several flags and counters are known at once; each function has one defect, or none.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct node {
  struct node* next;
  int kind;
};

// flags that nothing asks any more say nothing of the pointer
static int flags_good(int verbose, int quiet) {
  int errors = 0, warnings = 0, is_open = 0, is_set = 0, is_quiet = 0;
  if (rand()) errors++;
  if (rand()) warnings++;
  if (verbose) is_set = 1;
  if (quiet) is_quiet = 1;
  if (is_set) puts("set");
  if (is_quiet) puts("quiet");
  if (errors) puts("errors");
  if (warnings) puts("warnings");
  char* p = NULL;
  if (rand()) {
    p = malloc(10);
    if (!p) return 1;
    is_open = 1;
  }
  if (rand()) errors++;
  if (is_open) p[0] = 1;
  free(p);
  return errors + warnings;
}

static int flags_bad(int verbose, int quiet) {
  int errors = 0, warnings = 0, is_set = 0, is_quiet = 0;
  if (rand()) errors++;
  if (rand()) warnings++;
  if (verbose) is_set = 1;
  if (quiet) is_quiet = 1;
  if (is_set) puts("set");
  if (is_quiet) puts("quiet");
  if (errors) puts("errors");
  char* p = NULL;
  if (rand()) {
    p = malloc(10);
    if (!p) return 1;
  }
  if (rand()) errors++;
  if (is_set) p[0] = 1;  // BAD null
  free(p);
  return errors + warnings;
}

// the number that a cleanup leaves by the way on which it was entered
static int cleanup_good(void) {
  int state = 0;
  char* p = malloc(10);
  if (!p) return 1;
  if (rand()) {
    state = 1;
    goto out;
  }
  if (rand()) {
    state = 3;
    goto kept;
  }
  p[0] = 1;
  if (rand()) state = 4;
out:
  free(p);
  p = NULL;
kept:
  if (state == 3) {
    p[1] = 2;
    free(p);
  }
  return state;
}

static int cleanup_bad(void) {
  int state = 0;
  char* p = malloc(10);
  if (!p) return 1;
  if (rand()) {
    state = 1;
    goto out;
  }
  if (rand()) {
    state = 3;
    goto kept;
  }
  p[0] = 1;
  if (rand()) state = 4;
out:
  free(p);
  p = NULL;
kept:
  if (state == 4) p[1] = 2;  // BAD null
  if (state == 3) free(p);
  return state;
}

// a search that counts other things
static int search_good(struct node* list) {
  struct node* found = NULL;
  int has = 0, errors = 0, is_seen = 0, lines = 0;
  for (struct node* n = list; n; n = n->next) {
    if (n->kind == 1) {
      found = n;
      has = 1;
    }
    if (n->kind == 2) errors++;
    if (n->kind == 3) is_seen = 1;
    if (n->kind == 4) lines++;
  }
  if (errors) puts("errors");
  if (is_seen) puts("seen");
  if (lines > 10) puts("long");
  return has ? found->kind : 0;
}

static int search_bad(struct node* list) {
  struct node* found = NULL;
  int errors = 0, is_seen = 0, lines = 0;
  for (struct node* n = list; n; n = n->next) {
    if (n->kind == 1) found = n;
    if (n->kind == 2) errors++;
    if (n->kind == 3) is_seen = 1;
    if (n->kind == 4) lines++;
  }
  if (errors) puts("errors");
  if (lines > 10) puts("long");
  return is_seen ? found->kind : 0;  // BAD null
}

// what was never counted was never made
static int count_good(int argc, char** argv) {
  struct node* last = NULL;
  int count = 0;
  for (int i = 1; i < argc; ++i)
    if (argv[i][0] == '-') {
      last = malloc(sizeof *last);
      if (!last) return 1;
      last->kind = argv[i][1];
      count++;
    }
  if (count) return last->kind;
  return 0;
}

static int count_bad(int argc, char** argv) {
  struct node* last = NULL;
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') {
      last = malloc(sizeof *last);
      if (!last) return 1;
      last->kind = argv[i][1];
    }
    count++;
  }
  if (count) return last->kind;  // BAD null
  return 0;
}

// a switch on what was asked before
static int switch_good(int kind, char *text) {
  char *p = NULL;
  if (kind == 1) p = text;
  switch (kind) {
    case 1: return p[0];
    case 2: return 2;
    default: return 0;
  }
}

static int switch_bad(int kind, char *text) {
  char *p = NULL;
  if (kind == 1) p = text;
  switch (kind) {
    case 1: return 1;
    case 2: return p[0];  // BAD null
    default: return 0;
  }
}

// a loop that ends where nothing was found
static int end_good(int argc, char **argv) {
  char *found = NULL;
  int i;
  for (i = 1; i < argc; ++i)
    if (argv[i][0] == '-') {
      found = argv[i];
      break;
    }
  if (i == argc) return 0;
  return found[1];
}

static int end_bad(int argc, char **argv) {
  char *found = NULL;
  int i;
  for (i = 1; i < argc; ++i)
    if (argv[i][0] == '-') {
      found = argv[i];
      break;
    }
  if (i == 1) return 0;
  return found[1];  // BAD null
}

static int default_good(int number, char *text) {
  char *found = NULL;
  switch (number) {
    case 1: found = text; break;
    case 2: found = text + 1; break;
    default: break;
  }
  return number == 1 ? found[0] : 0;
}

static int default_bad(int number, char *text) {
  char *found = NULL;
  switch (number) {
    case 1: found = text; break;
    case 2: found = text + 1; break;
    default: break;
  }
  return number == 3 ? found[0] : 0;  // BAD null
}

static int none_good(int number, char *text) {
  char *found = NULL;
  switch (number) {
    case 1: found = text; break;
    case 2: found = text + 1; break;
  }
  return number == 2 ? found[0] : 0;
}

// what functions outside write
static int spawn_bad(char **argv) {
  int *p = NULL;
  pid_t child = 0;
  if (posix_spawn(&child, "ls", NULL, NULL, argv, NULL) != 0) return 1;
  return child != 0 ? *p : 0;  // BAD null
}

static int time_bad(time_t when) {
  int *p = NULL;
  struct tm at = {0};
  localtime_r(&when, &at);
  return at.tm_year != 0 ? *p : 0;  // BAD null
}

static int option_bad(char **argv) {
  int *p = NULL;
  optarg = NULL;
  getopt(2, argv, "a:");
  return optarg ? *p : 0;  // BAD null
}

int main(int argc, char** argv) {
  struct node one = {NULL, argc}, two = {&one, 1};
  flags_good(argc > 1, argc > 2);
  flags_bad(argc > 1, argc > 2);
  cleanup_good();
  cleanup_bad();
  search_good(&two);
  search_bad(&two);
  count_good(argc, argv);
  switch_good(argc, argv[0]);
  switch_bad(argc, argv[0]);
  spawn_bad(argv);
  time_bad(argc);
  option_bad(argv);
  default_good(argc, argv[0]);
  default_bad(argc, argv[0]);
  none_good(argc, argv[0]);
  end_good(argc, argv);
  end_bad(argc, argv);
  return count_bad(argc, argv);
}
