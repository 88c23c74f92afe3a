#include "plan.h"

#include "messages.h"

static void add(struct plan* plan, const struct options* o, int size, struct point p) {
  if (layout_bytes(&p, size) <= o->memory / (size_t)size)
    plan->point[plan->points++] = p;
  else
    plan->left_out[plan->left++] = p;
}

void plan_list(struct plan* plan, const struct options* o, int size) {
  plan->points = plan->left = 0;
  if (o->wanted[BARRIER]) add(plan, o, size, (struct point){BARRIER, 0, 0, o->shape});
  for (int c = BCAST; c < COLLECTIVES; ++c)
    for (int s = 0; o->wanted[c] && s < o->sizes; ++s)
      add(plan, o, size, (struct point){c, o->bytes[s], 0, o->shape});
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

void plan_buffers(const struct plan* plan, const struct options* o, int size, size_t* send, size_t* receive) {
  static struct layout l;  // large for a stack
  *send = *receive = 4096;
  for (int i = 0; i < plan->points; ++i)
    for (int rank = 0; rank < size; ++rank) {
      layout_make(&l, &plan->point[i], rank, size);
      *send = larger(*send, (size_t)l.send.total * sizeof(double));
      *receive = larger(*receive, (size_t)l.receive.total * sizeof(double));
    }
  if (o->messages) {
    *send = larger(*send, LONGEST_MESSAGE);
    *receive = larger(*receive, LONGEST_MESSAGE);
  }
  for (int s = 0; o->limits && s < o->sizes; ++s) {
    *send = larger(*send, o->bytes[s]);
    *receive = larger(*receive, o->bytes[s]);
  }
}

// As many calls as the quicker side deserves, but no more than twice what the slower one gets.
void plan_calls(struct plan* plan, const struct options* o, struct bench* b) {
  for (int i = 0; i < plan->points; ++i) {
    const int host = measure_plan(b, &plan->point[i], HOST);
    const int other = o->host_only ? host : measure_plan(b, &plan->point[i], ESPALIER);
    const int few = host < other ? host : other, many = host < other ? other : host;
    plan->calls[i] = many < 2 * few ? many : 2 * few;
  }
}
