// Numbers from outside that are bounded, and texts that lead to others.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int table[9], letters[256];

int clamped_bad(char *text) {
  unsigned n = atoi(text);
  if (n == 0) n = 1;
  char *p = malloc(n);  // BAD taint
  return p != NULL;
}
int clamped_good(char *text) {
  unsigned n = atoi(text);
  if (n > 1000) n = 1000;
  char *p = malloc(n);
  return p != NULL;
}
static int limited(int i) { return i < 0 ? 0 : i > 8 ? 8 : i; }
int limited_good(char *text) { return table[limited(atoi(text))]; }

static int is_valid(int i) { return i >= 0 && i < 9; }
static int is_even(int i) { return i % 2 == 0; }
int asked_bad(char *text) {
  int i = atoi(text);
  return is_even(i) ? table[i] : 0;  // BAD taint
}
int asked_good(char *text) {
  int i = atoi(text);
  return is_valid(i) ? table[i] : 0;
}

int chosen_bad(char *text) {
  int i = atoi(text);
  switch (i) {
    case 1: return 2;
    default: return table[i];  // BAD taint
  }
}
int chosen_good(char *text) {
  int i = atoi(text);
  if (i == 3) return table[i];
  switch (i) {
    case 1:
    case 2: return table[i];
    default: return 0;
  }
}

int digit_bad(void) {
  int c = getchar();
  return table[c - '0'];  // BAD taint
}
int digit_good(void) {
  int c = getchar();
  return isdigit(c) ? table[c - '0'] : 0;
}

int no_digit_bad(void) {
  int c = getchar();
  return isdigit(c) ? 0 : table[c];  // BAD taint
}
int one_of_bad(char *text) {
  int i = atoi(text);
  return i == 3 || text[1] ? table[i] : 0;  // BAD taint
}

int byte_bad(unsigned char *text) {
  return table[text[0]];  // BAD taint
}
int byte_good(unsigned char *text) { return letters[text[0]] + letters[text[1] >> 4]; }

int length_good(char *text) {
  char *p = malloc(strlen(text) + 1);
  return p != NULL;
}

int number_bad(char *text) {
  char command[40];
  snprintf(command, sizeof command, "kill %s", text);
  return system(command);  // BAD taint
}
int number_good(char *text) {
  char command[40];
  snprintf(command, sizeof command, "kill %d", atoi(text));
  return system(command);
}

int part_bad(char *text) {
  char *copy = strdup(text), *part = copy ? strchr(copy, ':') : NULL;
  return part ? system(part) : 0;  // BAD taint
}
int part_good(char *text) {
  char *copy = strdup("ls:ps"), *part = copy ? strchr(copy, text[0]) : NULL;
  return part ? system(part) : 0;
}

// one side of a range
int upper_bad(char *text) {
  int i = atoi(text);
  if (i > 8) return 0;
  return table[i];  // BAD taint
}
int lower_bad(char *text) {
  int i = atoi(text);
  if (i < 0) return 0;
  return table[i];  // BAD taint
}
int both_good(char *text) {
  int i = atoi(text);
  if (i < 0 || i > 8) return 0;
  return table[i];
}
int raised_bad(char *text) {
  int i = atoi(text);
  if (i < 0) i = 0;
  return table[i];  // BAD taint
}
int raised_good(char *text) {
  int i = atoi(text);
  if (i < 0) i = 0;
  if (i > 8) i = 8;
  return table[i];
}
int without_sign_good(char *text) {
  unsigned i = atoi(text);
  return i < 9 ? table[i] : 0;
}

// as much as there was room for
int count_good(void) {
  char line[40];
  int n = fread(line, 1, sizeof line - 1, stdin);
  if (n < 0) return 0;
  line[n] = 0;
  return line[0];
}

int elements_good(void) {
  char line[40];
  size_t n = fread(line, 1, sizeof line - 1, stdin);
  line[n] = 0;
  return line[0];
}
int negative_bad(void) {
  char line[40];
  ssize_t n = read(0, line, sizeof line - 1);
  line[n] = 0;  // BAD taint
  return line[0];
}

// text that is copied as a block
int block_bad(char *text) {
  char command[40];
  memcpy(command, text, sizeof command - 1);
  command[39] = 0;
  return system(command);  // BAD taint
}
int block_good(char *text) {
  char command[40];
  memcpy(command, text, sizeof command - 1);
  memcpy(command, "ls", 3);
  return system(command);
}

int main(int argc, char **argv) {
  char *text = argv[argc - 1];
  return clamped_bad(text) + clamped_good(text) + limited_good(text) + asked_bad(text) + asked_good(text) +
         chosen_bad(text) + chosen_good(text) + digit_bad() + digit_good() + no_digit_bad() + one_of_bad(text) + byte_bad((unsigned char *)text) +
         byte_good((unsigned char *)text) + length_good(text) + number_bad(text) + number_good(text) + part_bad(text) +
         part_good(text) + upper_bad(text) + lower_bad(text) + both_good(text) + raised_bad(text) + raised_good(text) + without_sign_good(text) + count_good() + elements_good() + negative_bad() + block_bad(text) + block_good(text);
}
