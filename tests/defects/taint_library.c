// Data from outside through functions of the library that keep it, cut it up or check it; one defect each, or none.
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>

// where the library leaves it
int option_bad(int argc, char **argv) {
  int status = 0;
  while (getopt(argc, argv, "c:") != -1) status += system(optarg);  // BAD taint
  return status;
}
int option_good(int argc, char **argv) {
  int status = 0, which;
  while ((which = getopt(argc, argv, "c:")) != -1) status += system(which == 'c' ? "date" : "ls");
  return status;
}
int entry_bad(void) {
  DIR *folder = opendir(".");
  struct dirent *entry = folder ? readdir(folder) : NULL;
  return entry ? system(entry->d_name) : 0;  // BAD taint
}
int entry_good(void) {
  DIR *folder = opendir(".");
  struct dirent *entry = folder ? readdir(folder) : NULL;
  return entry ? system("ls") : 0;
}
int link_bad(char *path) {
  char target[64] = "";
  if (readlink(path, target, 63) < 0) return 1;
  return system(target);  // BAD taint
}
int host_bad(void) {
  char name[64];
  if (gethostname(name, sizeof name) != 0) return 1;
  return system(name);  // BAD taint
}
int wide_bad(void) {
  wchar_t line[64];
  char command[64];
  if (!fgetws(line, 64, stdin)) return 1;
  wcstombs(command, line, 64);
  return system(command);  // BAD taint
}
int wide_good(void) {
  wchar_t line[64];
  char command[64];
  if (!fgetws(line, 64, stdin)) return 1;
  wcstombs(command, L"ls", 64);
  return system(command);
}

// in parts
int parts_bad(void) {
  char *text = getenv("COMMANDS"), *part;
  int status = 0;
  while (text && (part = strsep(&text, ":")) != NULL) status += system(part);  // BAD taint
  return status;
}
int parts_good(void) {
  char *text = getenv("COMMANDS"), *part;
  int status = 0;
  while (text && (part = strsep(&text, ":")) != NULL) status += system("ls");
  return status;
}

// sizes of local arrays
int array_bad(char *text) {
  int count = atoi(text);
  char array[count];  // BAD taint
  memset(array, 1, 1);
  return array[0];
}
int array_good(char *text) {
  int count = atoi(text);
  if (count < 1 || count > 100) return 0;
  char array[count];
  memset(array, 1, 1);
  return array[0];
}

// a header that bytes begin with
struct head {
  unsigned kind;
  unsigned length;
};
static char frame[1024];
int header_bad(int from) {
  unsigned char raw[2048];
  struct head head;
  if (recv(from, raw, sizeof raw, 0) < (ssize_t)sizeof head) return 1;
  memcpy(&head, raw, sizeof head);
  memcpy(frame, raw, head.length);  // BAD taint
  return 0;
}
int header_good(int from) {
  unsigned char raw[2048];
  struct head head;
  if (recv(from, raw, sizeof raw, 0) < (ssize_t)sizeof head) return 1;
  memcpy(&head, raw, sizeof head);
  if (head.length > sizeof frame) return 1;
  memcpy(frame, raw, head.length);
  return 0;
}

// texts that are compared
int equal_good(char *text) {
  if (strcmp(text, "date") != 0) return 1;
  return system(text);
}
int either_good(char *text) {
  if (strcasecmp(text, "date") == 0) return system(text);
  return 1;
}
int other_bad(char *text) {
  if (strcmp(text, "date") == 0) return 1;
  return system(text);  // BAD taint
}
int order_bad(char *text) {
  if (strcmp(text, "date") < 0) return 1;
  return system(text);  // BAD taint
}

int other_text_bad(char **texts) {
  if (strcmp(texts[1], texts[2]) != 0) return 1;
  return system(texts[1]);  // BAD taint
}
int one_bad(char *text) {
  if (strcmp(text, "date") == 1) return system(text);  // BAD taint
  return 1;
}
int again_bad(void) {
  char line[64];
  if (!fgets(line, 64, stdin) || strcmp(line, "begin\n") != 0) return 1;
  if (!fgets(line, 64, stdin)) return 1;
  return system(line);  // BAD taint
}
int joined_bad(char *more) {
  char line[64];
  if (!fgets(line, 32, stdin) || strcmp(line, "ls ") != 0) return 1;
  strncat(line, more, 31);
  return system(line);  // BAD taint
}
static const char *const commands[] = {"ls", "date", "who"};
int table_good(char *text) {
  for (int i = 0; i < 3; i++)
    if (strcmp(text, commands[i]) == 0) return system(text);
  return 1;
}

static char *saved;
int saved_bad(char **texts) {
  saved = texts[2];
  if (strcmp(texts[1], saved) != 0) return 1;
  return system(texts[1]);  // BAD taint
}
static char *names[3];
int filled_bad(char **texts) {
  names[1] = texts[2];
  if (strcmp(texts[1], names[1]) != 0) return 1;
  return system(texts[1]);  // BAD taint
}

// numbers whose comparison is kept
int kept_good(char *text) {
  static int table[8];
  int i = atoi(text), is_there = i >= 0 && i < 8;
  if (!is_there) return 1;
  return table[i];
}
int kept_bad(char *text) {
  static int table[8];
  int i = atoi(text), is_there = i != 3 && i < 8;
  if (!is_there) return 1;
  return table[i];  // BAD taint
}
int outside_good(char *text) {
  static int table[8];
  int i = atoi(text), is_outside = i < 0 || i > 7;
  if (is_outside) return 1;
  return table[i];
}

static _Bool is_small(int number) { return number >= 0 && number < 8; }
int asked_good(char *text) {
  static int table[8];
  int i = atoi(text), is_there = is_small(i);
  return is_there ? table[i] : 0;
}
int asked_at_once_good(char *text) {
  static int table[8];
  int i = atoi(text);
  if (!is_small(i)) return 0;
  return table[i];
}
int round_bad(int argc, char **argv) {
  static int table[8];
  int sum = 0, i = 0, is_there = 0;
  for (int k = 1; k < argc; k++) {
    i = atoi(argv[k]);
    if (is_there) sum += table[i];  // BAD taint
    is_there = i >= 0 && i < 8;
  }
  return sum;
}

int main(int argc, char **argv) {
  char *text = argv[argc - 1];
  return saved_bad(argv) + filled_bad(argv) + other_text_bad(argv) + one_bad(text) + again_bad() + joined_bad(text) + table_good(text) + asked_good(text) +
         asked_at_once_good(text) + round_bad(argc, argv) + option_bad(argc, argv) + option_good(argc, argv) + entry_bad() + entry_good() + link_bad(argv[0]) + host_bad() +
         wide_bad() + wide_good() + parts_bad() + parts_good() + array_bad(text) + array_good(text) + header_bad(argc) +
         header_good(argc) + equal_good(text) + either_good(text) + other_bad(text) + order_bad(text) + kept_good(text) +
         kept_bad(text) + outside_good(text);
}
