struct node { struct node *next; int *value; };
int x, y;
void set(struct node *n, int *v) { n->value = v; }
void (*callback)(struct node *, int *) = set;
int main(void) {
  struct node a, b;
  struct node *p = &a;
  a.next = &b;
  callback(p, &x);
  set(p->next, &y);
  int *q = p->value;
  return *q;
}
