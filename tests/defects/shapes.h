// Things that programs with null pointers have.
#pragma once

struct point {
  int x, y;
};

struct shape {
  struct point *center;
  int *data;
  struct shape *next;
  char name[8];
};

union either {
  int *p;
  char *c;
};
