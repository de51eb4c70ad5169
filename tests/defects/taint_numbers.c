// Numbers from outside as indices, in parts and in bounds, and lists of further arguments; one defect each, or none.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int table[100];

static int number(void) {
  char *text = getenv("N");
  return text ? atoi(text) : 0;
}

int plain_bad(void) {
  int n = number();
  return table[n];  // BAD taint
}

int less_good(void) {
  int n = number();
  if (n < 0 || n > 99) return 0;
  return table[n];
}

int scaled_good(void) {
  int n = number();
  if (n < 0 || n > 9) return 0;
  return table[n * 4 + 3];
}

int shifted_good(void) {
  int n = number();
  if (n * 4 > 90 || n < 0) return 0;
  return table[n];
}

int part_bad(void) {
  int n = number();
  if ((n & 7) > 3) return 0;
  return table[n];  // BAD taint
}

int part_good(void) {
  int n = number();
  return table[n & 7];
}

int rest_bad(void) {
  int n = number();
  if (n % 2 > 0) return 0;
  return table[n];  // BAD taint
}

int rest_good(void) {
  unsigned n = number();
  return table[n % 2];
}

int equal_bad(void) {
  int n = number();
  if (n == 7) return 0;
  return table[n];  // BAD taint
}

int lower_bad(void) {
  return table[tolower(getchar())];  // BAD taint
}

int absolute_bad(void) {
  return table[abs(number())];  // BAD taint
}

int class_good(void) {
  return table[isdigit(getchar()) != 0];
}

struct block {
  char name[4];
  int first, second;
};

int block_bad(void) {
  struct block b;
  if (read(0, &b, sizeof b) < 0) return 0;
  return table[b.second];  // BAD taint
}

int block_good(void) {
  struct block b;
  b.second = 7;
  if (read(0, &b, 8) < 0) return 0;
  return table[b.second];
}

static void run(const char *format, va_list list) {
  char c[99];
  vsnprintf(c, sizeof c, format, list);
  system(c);  // BAD taint
}

static void start(const char *format, ...) {
  va_list list;
  va_start(list, format);
  run(format, list);
  va_end(list);
}

void list_bad(void) {
  start("ls %s", getenv("A"));
}

static void run_fixed(const char *format, va_list list) {
  char c[99];
  vsnprintf(c, sizeof c, format, list);
  system(c);
}

static void start_fixed(const char *format, ...) {
  va_list list;
  va_start(list, format);
  run_fixed(format, list);
  va_end(list);
}

void list_good(void) {
  start_fixed("ls %s", "a");
}

int main(void) {
  int n = plain_bad() + less_good() + scaled_good() + shifted_good() + part_bad() + part_good() + rest_bad() +
          rest_good() + equal_bad() + lower_bad() + absolute_bad() + class_good() + block_bad() + block_good();
  list_bad();
  list_good();
  return n;
}
