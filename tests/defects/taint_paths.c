// Data from outside through structures, lists, further arguments, strings and numbers; one defect each, or none.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

struct name {
  char first[32];
  char last[32];
};

struct person {
  struct name name;
  int age;
  char *note;
  struct person *next;
};

struct header {
  unsigned magic;
  unsigned size;
  unsigned short count;
};

static void read_line(char *b, int n) {
  if (!fgets(b, n, stdin)) b[0] = 0;
}

// struct copies
void copy_bad(void) {
  struct name a, b;
  read_line(a.first, 32);
  b = a;
  system(b.first);  // BAD taint
}

void copy_good(void) {
  struct name a, b;
  read_line(a.first, 32);
  strcpy(a.last, "ls");
  b = a;
  system(b.last);
}

void nested_bad(void) {
  struct person p, q;
  read_line(p.name.last, 32);
  q.name = p.name;
  system(q.name.last);  // BAD taint
}

void array_bad(int i) {
  struct person p[3];
  read_line(p[1].name.last, 32);
  system(p[1].name.last);  // BAD taint
}

static struct name by_value(void) {
  struct name n;
  read_line(n.first, 32);
  return n;
}

void value_bad(void) {
  struct name n = by_value();
  system(n.first);  // BAD taint
}

static void take(struct name n) {
  system(n.first);  // BAD taint
}

void take_bad(void) {
  struct name n;
  read_line(n.first, 32);
  take(n);
}

void memcpy_bad(void) {
  struct name a, b;
  read_line(a.first, 32);
  memcpy(&b, &a, sizeof a);
  system(b.first);  // BAD taint
}

void heap_bad(void) {
  struct person *p = malloc(sizeof *p);
  if (!p) return;
  p->note = getenv("X");
  if (p->note) system(p->note);  // BAD taint
}

static void fill(struct person *p) {
  p->note = getenv("X");
}

static void use(struct person *p) {
  system(p->note);  // BAD taint
}

void heap2_bad(void) {
  struct person *p = malloc(sizeof *p);
  if (!p) return;
  fill(p);
  use(p);
}

void list_bad(struct person *l) {
  for (; l; l = l->next) system(l->note);  // BAD taint
}
static struct person *head;

static void add(char *s) {
  struct person *p = malloc(sizeof *p);
  if (!p) return;
  p->note = strdup(s);
  p->next = head;
  head = p;
}

void list2_bad(void) {
  char b[30];
  read_line(b, 30);
  add(b);
  list_bad(head);
}

// callbacks
static void run(const char *s) {
  system(s);  // BAD taint
}

static void each(void (*f)(const char *), const char *s) {
  f(s);
}

void callback_bad(void) {
  char b[30];
  read_line(b, 30);
  each(run, b);
}

// varargs
static void command(const char *f, ...) {
  char b[100];
  va_list l;
  va_start(l, f);
  vsnprintf(b, 100, f, l);
  va_end(l);
  system(b);  // BAD taint
}

void varargs_bad(void) {
  char b[30];
  read_line(b, 30);
  command("ls %s", b);
}

static void fixed(const char *f, ...) {
  char b[100];
  va_list l;
  va_start(l, f);
  vsnprintf(b, 100, f, l);
  va_end(l);
  system(b);
}

void varargs_good(void) {
  fixed("ls %s", "a");
}

static void logf2(const char *f, ...) {
  va_list l;
  va_start(l, f);
  vprintf(f, l);  // BAD taint
  va_end(l);
}

void vformat_bad(void) {
  char b[30];
  read_line(b, 30);
  logf2(b);
}

// sizes
void malloc_bad(FILE *f) {
  struct header h;
  if (fread(&h, sizeof h, 1, f) != 1) return;
  char *p = malloc(h.size * 4);  // BAD taint
  if (p) fread(p, 1, 3, f);
  free(p);
}

void malloc_good(FILE *f) {
  struct header h;
  if (fread(&h, sizeof h, 1, f) != 1) return;
  if (h.size > 1000) return;
  char *p = malloc(h.size * 4);
  if (p) fread(p, 1, 3, f);
  free(p);
}

void ntohl_bad(int s) {
  unsigned n;
  char b[100];
  if (recv(s, &n, 4, 0) != 4) return;
  n = ntohl(n);
  recv(s, b, n, 0);  // BAD taint
}

void bytes_bad(FILE *f) {
  unsigned char h[4];
  if (fread(h, 1, 4, f) != 4) return;
  unsigned n = h[0] | h[1] << 8 | h[2] << 16;
  char *p = malloc(n);  // BAD taint
  free(p);
}

static unsigned get32(FILE *f) {
  unsigned n = getc(f);
  n = n << 8 | getc(f);
  return n << 8 | getc(f);
}

void getc_bad(FILE *f) {
  unsigned n = get32(f);
  char *p = malloc(n * 8);  // BAD taint
  free(p);
}

void strtol_bad(char **argv) {
  long n = strtol(argv[1], NULL, 10);
  char *p = malloc(n);  // BAD taint
  free(p);
}

void scanf_bad(char *to, char *from) {
  int n;
  if (scanf("%d", &n) == 1) memcpy(to, from, n);  // BAD taint
}

void sscanf_bad(char *to, char *from) {
  int n;
  char b[30];
  read_line(b, 30);
  if (sscanf(b, "%d", &n) == 1) memcpy(to, from, n);  // BAD taint
}

void index_bad(char *t) {
  char b[10];
  read_line(b, 10);
  t[atoi(b)] = 1;  // BAD taint
}

void index_good(char *t) {
  char b[10];
  read_line(b, 10);
  int i = atoi(b);
  if (i < 0 || i > 9) return;
  t[i] = 1;
}

void mask_good(char *t) {
  char b[10];
  read_line(b, 10);
  t[atoi(b) & 7] = 1;
}

// strings
void strtok_bad(void) {
  char b[30];
  read_line(b, 30);
  char *w = strtok(b, " ");
  if (w) system(w);  // BAD taint
}

void strchr_bad(void) {
  char b[30];
  read_line(b, 30);
  char *w = strchr(b, ' ');
  if (w) execlp(w + 1, "a", (char *)NULL);  // BAD taint
}

void execv_bad(void) {
  char b[30];
  read_line(b, 30);
  char *v[] = {"sh", "-c", b, NULL};
  execv("/bin/sh", v);  // BAD taint
}

void popen_bad(char **argv) {
  char c[100];
  sprintf(c, "ls %s", argv[1]);
  FILE *f = popen(c, "r");  // BAD taint
  if (f) pclose(f);
}

void strncat_bad(char **argv) {
  char c[100] = "ls ";
  strncat(c, argv[1], 90);
  system(c);  // BAD taint
}

void loop_bad(char **argv) {
  char c[100];
  int i;
  for (i = 0; argv[1][i] && i < 99; i++) c[i] = argv[1][i];
  c[i] = 0;
  system(c);  // BAD taint
}

void pointer_bad(char **argv) {
  char c[100], *to = c, *from = argv[1];
  while ((*to++ = *from++))
    ;
  system(c);  // BAD taint
}

void upper_bad(char **argv) {
  char c[100];
  int i;
  for (i = 0; argv[1][i]; i++) c[i] = toupper(argv[1][i]);
  c[i] = 0;
  system(c);  // BAD taint
}

void syslog_bad(void) {
  char b[30];
  read_line(b, 30);
  syslog(LOG_ERR, b);  // BAD taint
}

void fprintf_bad(void) {
  char b[30];
  read_line(b, 30);
  fprintf(stderr, b);  // BAD taint
}

void snprintf_bad(void) {
  char b[30], c[30];
  read_line(b, 30);
  snprintf(c, 30, b);  // BAD taint
  puts(c);
}

void format_good(void) {
  char b[30];
  read_line(b, 30);
  fprintf(stderr, "%s", b);
}

void choice_good(char **argv) {
  const char *c = strcmp(argv[1], "a") ? "ls" : "df";
  system(c);
}

void open_good(void) {
  char b[30];
  read_line(b, 30);
  int f = open("a", O_RDONLY);
  close(f);
}

static char buffer[100];

static void get_line(void) {
  read_line(buffer, 100);
}

static void run_line(void) {
  system(buffer);  // BAD taint
}

void gbuffer_bad(void) {
  get_line();
  run_line();
}

static char gsafe[100] = "ls";

void gsafe_good(void) {
  system(gsafe);
}

void getline_bad(void) {
  char *l = NULL;
  size_t n = 0;
  if (getline(&l, &n, stdin) > 0) system(l);  // BAD taint
}

void realloc_bad(void) {
  int n = 0, c;
  char *p = NULL;
  while ((c = getchar()) != EOF) {
    p = realloc(p, n + 2);
    if (!p) return;
    p[n++] = c;
    p[n] = 0;
  }
  if (p) system(p);  // BAD taint
}

void asprintf_bad(char **argv) {
  char *p;
  if (asprintf(&p, "ls %s", argv[1]) > 0) system(p);  // BAD taint
}

void table_bad(char **argv) {
  char *v[3] = {"a", argv[1], "b"};
  system(v[1]);  // BAD taint
}

void recvfrom_bad(int s) {
  char b[100];
  recvfrom(s, b, 99, 0, NULL, NULL);
  b[99] = 0;
  system(b);  // BAD taint
}

void read_bad(int s) {
  char b[100];
  int n = read(s, b, 99);
  b[n] = 0;  // BAD taint
  system(b);  // BAD taint
}

void division_bad(char **argv) {
  int n = atoi(argv[1]);
  printf("%d", 100 / n);
}

void loopsize_bad(char **argv) {
  int n = atoi(argv[1]);
  int v[10];
  for (int i = 0; i < n; i++) v[i] = 0;
}

int main(int argc, char **argv) {
  char t[20];
  struct person p = {{"a", "b"}, 1, NULL, NULL};
  copy_bad();
  copy_good();
  nested_bad();
  array_bad(argc);
  value_bad();
  take_bad();
  memcpy_bad();
  heap_bad();
  heap2_bad();
  list2_bad();
  callback_bad();
  varargs_bad();
  varargs_good();
  vformat_bad();
  malloc_bad(stdin);
  malloc_good(stdin);
  ntohl_bad(0);
  bytes_bad(stdin);
  getc_bad(stdin);
  strtol_bad(argv);
  scanf_bad(t, t);
  sscanf_bad(t, t);
  index_bad(t);
  index_good(t);
  mask_good(t);
  strtok_bad();
  strchr_bad();
  execv_bad();
  popen_bad(argv);
  strncat_bad(argv);
  loop_bad(argv);
  pointer_bad(argv);
  upper_bad(argv);
  syslog_bad();
  fprintf_bad();
  snprintf_bad();
  format_good();
  choice_good(argv);
  open_good();
  gbuffer_bad();
  gsafe_good();
  getline_bad();
  realloc_bad();
  asprintf_bad(argv);
  table_bad(argv);
  recvfrom_bad(0);
  read_bad(0);
  division_bad(argv);
  loopsize_bad(argv);
  return 0;
}
