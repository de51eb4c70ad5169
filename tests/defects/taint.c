// Data from outside: each function lets it do harm, in the line marked with its kind, or looks like the one before and
// does not.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
  char host[64];
  char path[64];
  int size;
};

void environment_bad(void) {
  char *command = getenv("COMMAND");
  if (command) system(command);  // BAD taint
}
void environment_good(void) {
  char *command = getenv("COMMAND");
  if (command) system("ls");
}

void input_bad(void) {
  char line[100];
  if (fgets(line, sizeof line, stdin)) system(line);  // BAD taint
}
void input_good(void) {
  char line[100], command[100] = "ls";
  if (fgets(line, sizeof line, stdin)) system(command);
}

void copied_bad(void) {
  char line[100], command[120];
  if (!fgets(line, sizeof line, stdin)) return;
  strcpy(command, "ls ");
  strcat(command, line);
  system(command);  // BAD taint
}
void copied_good(void) {
  char line[100], command[120];
  if (!fgets(line, sizeof line, stdin)) return;
  strcpy(command, line);
  strcpy(command, "ls");
  system(command);
}

void printed_bad(const char *unused) {
  char line[100], command[120];
  if (!fgets(line, sizeof line, stdin)) return;
  snprintf(command, sizeof command, "ls %s %s", unused, line);
  system(command);  // BAD taint
}
void printed_good(const char *unused) {
  char line[100], command[120];
  if (!fgets(line, sizeof line, stdin)) return;
  snprintf(command, sizeof command, "ls %s %d", "a", (int)sizeof line);
  system(command);
  (void)unused;
}

void format_bad(void) {
  char line[100];
  if (fgets(line, sizeof line, stdin)) printf(line);  // BAD taint
}
void format_good(void) {
  char line[100];
  if (fgets(line, sizeof line, stdin)) printf("%s", line);
}

static void fill(char *buffer, int size) {
  if (read(0, buffer, size - 1) > 0) buffer[size - 1] = 0;
}
static void run(const char *command) {
  system(command);  // BAD taint
}
void functions_bad(void) {
  char buffer[50];
  fill(buffer, sizeof buffer);
  run(buffer);
}
static void run_fixed(const char *command) { system(command); }
void functions_good(void) {
  char buffer[50];
  fill(buffer, sizeof buffer);
  run_fixed("ls");
}

void index_bad(void) {
  int table[10] = {0}, i = 0;
  if (scanf("%d", &i) == 1) table[i] = 1;  // BAD taint
  printf("%d\n", table[0]);
}
void index_good(void) {
  int table[10] = {0}, i = 0;
  if (scanf("%d", &i) == 1 && i >= 0 && i < 10) table[i] = 1;
  printf("%d\n", table[0]);
}

void size_bad(char *to, const char *from) {
  char *text = getenv("SIZE");
  int size = text ? atoi(text) : 0;
  memcpy(to, from, size);  // BAD taint
}
void size_good(char *to, const char *from) {
  char *text = getenv("SIZE");
  int size = text ? atoi(text) : 0;
  if (size < 0 || size > 10) return;
  memcpy(to, from, size);
}

void field_bad(struct request *r) {
  if (!fgets(r->host, sizeof r->host, stdin)) return;
  strcpy(r->path, "ls");
  system(r->host);  // BAD taint
}
void field_good(struct request *r) {
  if (!fgets(r->host, sizeof r->host, stdin)) return;
  strcpy(r->path, "ls");
  system(r->path);
}

static char *stored;
static void keep(void) { stored = getenv("PAGER"); }
void global_bad(void) {
  keep();
  if (stored) system(stored);  // BAD taint
}
static char *fixed;
static void keep_fixed(void) { fixed = "more"; }
void global_good(void) {
  keep_fixed();
  if (fixed) system(fixed);
}

void arguments_bad(char **argv) {
  system(argv[1]);  // BAD taint
}
void arguments_good(char **argv) {
  char *commands[] = {"ls", "df"};
  system(commands[argv[1] != NULL]);
}

void bytes_bad(void) {
  char command[20];
  int n = 0, c;
  while (n < 19 && (c = getchar()) != EOF) command[n++] = (char)c;
  command[n] = 0;
  system(command);  // BAD taint
}
void bytes_good(void) {
  char command[20];
  int n = 0, c;
  while (n < 19 && (c = getchar()) != EOF) command[n++] = 'a';
  command[n] = 0;
  system(command);
}

int main(int argc, char **argv) {
  char to[20], from[20] = {(char)argc};
  struct request one, other;
  environment_bad();
  environment_good();
  input_bad();
  input_good();
  copied_bad();
  copied_good();
  printed_bad("a");
  printed_good("a");
  format_bad();
  format_good();
  functions_bad();
  functions_good();
  index_bad();
  index_good();
  size_bad(to, from);
  size_good(to, from);
  field_bad(&one);
  field_good(&other);
  global_bad();
  global_good();
  if (argc > 1) arguments_bad(argv);
  if (argc > 1) arguments_good(argv);
  bytes_bad();
  bytes_good();
  return 0;
}
